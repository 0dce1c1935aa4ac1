"""A run as chat messages, a conversation an episode, for supervised training; docs/trainers.md."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from arena.agents import tool_message
from arena.corpus import Corpus
from arena.errors import DataError
from arena.kit.files import atomic_write
from arena.llm.answers import Completion, clean
from arena.results.comparison import usage_of
from arena.results.messages import MALFORMED, answers_by_step, call_of, open_answers
from arena.runs.credit import read_credit
from arena.runs.directory import OpenedRun
from arena.runs.episodes import PlayedStep
from arena.runs.replaying import replay_episodes
from arena.runs.trajectories import TRAJECTORIES
from arena.session import opening_text
from arena.tools import tool_schemas

_EPISODE = ("topic_id", "repeat")
Said = Mapping[int, Sequence[Completion]]
"""Number of a step, from 1 -> the model's answers that come before it."""


def write_messages(
    run: str | Path,
    corpus: Corpus | str | Path,
    output: str | Path,
    answers: str | Path | None = None,
    *,
    reward: bool = False,
    text_arguments: bool = False,
    credit: bool = False,
) -> int:
    """Write a finished run as chat messages, one row an episode; return their number.

    The run is replayed. A row has ``topic_id``, ``messages``, ``tools`` (their schemas) and no
    labels; with `reward` also the sum of the episode's rewards, and with `credit` what ``arena
    credit`` wrote of each call; both depend on labels. Arguments of calls are objects, or with
    `text_arguments` JSON text. The name of `output` ends with
    ``.jsonl`` or ``.parquet``; `answers` is the file of the language model's answers, for the text
    that it wrote. Raise CorpusError and DataError as `replay_with_answers` does.
    """
    output, rows = Path(output), list[dict[str, Any]]()
    if output.suffix not in (".jsonl", ".parquet"):
        raise DataError(f"{str(output)!r} is neither .jsonl nor .parquet: name such a file.")
    recorded = finished(run)
    shares = read_credit(recorded) if credit else {}
    if credit and not shares:
        raise DataError(f"{str(run)!r} has no credit of its calls. Run `arena credit` on it first.")
    corpus, _ = recorded.open_corpus(corpus)
    with closing(recorded.environment(corpus, recorded.manifest["topics"])) as env:
        tools = tool_schemas(env)
    for record, steps, said in replay_with_answers(recorded, corpus, answers):
        messages = conversation(steps, said, text_arguments)
        row = {"topic_id": record["topic_id"], "messages": clean(messages), "tools": tools}
        if reward:
            row["reward"] = math.fsum(step.reward for step in steps)
        if credit:
            calls = shares[record["topic_id"], record.get("repeat", 0)]
            row["credit"] = [{k: v for k, v in call.items() if k not in _EPISODE} for call in calls]
        rows.append(row)
    if output.suffix == ".jsonl":
        atomic_write(output, "".join(f"{json.dumps(row)}\n" for row in rows))
        return len(rows)
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns: dict[str, Any] = {name: [row[name] for row in rows] for name in rows[0]}
    for name in ("messages", "tools"):
        texts = [[json.dumps(each) for each in part] for part in columns[name]]
        columns[name] = pa.array(texts, pa.list_(pa.string())).cast(pa.list_(pa.json_()))
    pq.write_table(pa.table(columns), buffer := pa.BufferOutputStream())
    atomic_write(output, buffer.getvalue().to_pybytes())
    return len(rows)


def finished(run: str | Path) -> OpenedRun:
    """Open a run; raise CorpusError if it is not finished, or was changed."""
    recorded = OpenedRun(run)
    recorded.finished_files()
    recorded.refuse_changed("metrics.json", TRAJECTORIES)
    return recorded


def replay_with_answers(
    recorded: OpenedRun, corpus: Corpus | str | Path, answers: str | Path | None
) -> Iterator[tuple[dict[str, Any], list[PlayedStep], Said]]:
    """Replay a run; yield each record, its steps and the model's answers.

    Raise CorpusError if the run does not replay, and DataError if `answers`, the file of the
    model's answers, lacks one.
    """
    store = open_answers(answers)
    for record, steps in replay_episodes(recorded, recorded.open_corpus(corpus)[0], every=True):
        yield record, steps, answers_by_step(record, store)


def conversation(steps: Sequence[PlayedStep], said: Said, text: bool) -> list[dict[str, Any]]:
    """Return an episode as messages up to the agent's last; `text` writes arguments as JSON."""
    opening = opening_text(steps[0].observation)
    messages: list[dict[str, Any]] = [{"role": "user", "content": opening}]
    for number, step in enumerate(steps[1:], 1):
        name, arguments = call_of(step.action)
        wrote, result = said_text(said, number), tool_message(f"call_{number}", step.observation)
        if name == MALFORMED:
            wrote = wrote or (
                step.action if isinstance(step.action, str) else json.dumps(step.action)
            )
            result = {"role": "user", "content": result["content"]}
            messages += [{"role": "assistant", "content": wrote}, result]
            continue
        function = {"name": name, "arguments": json.dumps(arguments) if text else arguments}
        call = {"id": result["tool_call_id"], "type": "function", "function": function}
        messages += [{"role": "assistant", "content": wrote, "tool_calls": [call]}, result]
    last = said_text(said, len(steps))
    return [*messages, {"role": "assistant", "content": last}] if last else messages[:-1]


def said_text(said: Said, number: int) -> str:
    """Return what the model wrote before a step."""
    return "\n\n".join(answer.text for answer in said.get(number, ()) if answer.text)


def tokens_of(record: Mapping[str, Any]) -> dict[str, int] | None:
    """Return the tokens of an episode's model, as inspect_ai calls them; None if one is unknown."""
    usage = usage_of(record["notes"]) or {}
    read, wrote = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if read is None or wrote is None:
        return None
    return {"input_tokens": read, "output_tokens": wrote, "total_tokens": read + wrote}
