"""A run as a log of inspect_ai, version 2, which `inspect view` opens; docs/integrations.md.

Written with the standard library: the layout is that of inspect_ai 0.3.285.
"""

from __future__ import annotations

import datetime
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from arena.agents import actions_from, tool_message
from arena.corpus import Corpus
from arena.errors import DataError
from arena.kit.files import atomic_write, sha256_file
from arena.llm.answers import Completion, clean
from arena.results.messages import call_of
from arena.runs.directory import OpenedRun, read_timing
from arena.runs.episodes import PlayedStep
from arena.version import __version__
from arena_integrations._messages import (
    Said,
    finished,
    replay_with_answers,
    said_text,
    tokens_of,
)

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
"""The time of everything in a log: a run keeps no clock."""

_NO_MODEL = "none"
_FORMATS = (".eval", ".json")
_SUMMARY = ("id", "epoch", "uuid", "input", "target", "metadata", "scores", "model_usage")


def write_inspect_log(
    run: str | Path,
    corpus: Corpus | str | Path,
    output: str | Path,
    answers: str | Path | None = None,
) -> int:
    """Write a finished run as a log of inspect_ai; return the number of its samples.

    The run is replayed, since its files have actions, but only hashes of what they returned. The
    log has no labels: every target is empty. The name of `output` ends with ``.eval`` (a zip
    archive) or ``.json``; `answers` is the file of the language model's answers, for the text that
    it wrote. Raise CorpusError if the replay differs, and DataError if an answer of the run is not
    in `answers`.
    """
    output = Path(output)
    if output.suffix not in _FORMATS:
        raise DataError(f"{str(output)!r} is neither {' nor '.join(_FORMATS)}: name such a file.")
    recorded = finished(run)
    summary = json.loads((recorded.directory / "metrics.json").read_bytes())
    headline = recorded.manifest["definition"].get("headline")  # inspect shows the first one most
    summary["mean"] = dict(sorted(summary["mean"].items(), key=lambda kv: kv[0] != headline))
    log = _header(recorded, summary)
    samples: list[dict[str, Any]] = []  # whole in .json; in .eval their summaries
    with io.BytesIO() as file, zipfile.ZipFile(file, "w") as archive:
        for record, steps, said in replay_with_answers(recorded, corpus, answers):
            sample = _sample(record, steps, summary, said, log["eval"]["model"])
            if output.suffix == ".eval":
                _put(archive, f"samples/{sample['id']}_epoch_1.json", sample)
                sample = {key: sample[key] for key in _SUMMARY} | {"completed": True}
            samples.append(sample)
        if output.suffix == ".json":
            atomic_write(output, _text(log | {"samples": samples}))
        else:
            _put(archive, "_journal/start.json", {k: log[k] for k in ("version", "eval", "plan")})
            _put(archive, "summaries.json", samples)
            _put(archive, "header.json", log)
            archive.close()
            atomic_write(output, file.getvalue())
    return len(samples)


def _text(value: Any) -> str:
    return json.dumps(clean(value))


def _put(archive: zipfile.ZipFile, name: str, value: Any) -> None:
    # A ZipInfo of its own has the same time always.
    archive.writestr(zipfile.ZipInfo(name), _text(value), zipfile.ZIP_DEFLATED)


def _header(recorded: OpenedRun, summary: dict[str, Any]) -> dict[str, Any]:
    manifest = recorded.manifest
    digest = sha256_file(recorded.path)
    seconds = read_timing(recorded.directory) or 0.0
    counts, agent = summary["counts"], manifest["agent"]
    spec = {
        "eval_id": digest[:22], "run_id": digest[22:44], "task_id": digest[:22],
        "created": _time(), "task": f"arena/{manifest['task']}", "task_version": 0,
        "task_args": manifest["environment"] | manifest["budget"],
        "solver": agent, "solver_args": manifest["agent_options"],
        "dataset": {
            "name": manifest["sha256"]["corpus"][:12], "samples": len(manifest["topics"]),
            "sample_ids": manifest["topics"], "shuffled": False,
        },
        "model": str(manifest["agent_options"].get("model", _NO_MODEL)),
        "config": {"epochs": 1},
        "packages": {"researcharena": __version__},
        "metadata": {
            key: manifest[key]
            for key in ("sha256", "definition", "retriever_options", "encoder", "seed", "undated")
            if key in manifest
        },
    }  # fmt: skip
    scored = [
        {
            "name": metric,
            "scorer": metric,
            "metrics": {"mean": {"name": "mean", "value": value}},
            "scored_samples": counts.get("scored_by", {}).get(metric, counts["scored"]),
        }
        for metric, value in summary["mean"].items()
        if value is not None
    ]
    total = len(manifest["topics"])
    return {
        "version": 2,
        "status": "success",
        "eval": spec,
        "plan": {
            "name": "plan",
            "steps": [{"solver": agent, "params": manifest["agent_options"]}],
        },
        "results": {"total_samples": total, "completed_samples": total, "scores": scored},
        "stats": {"started_at": _time(), "completed_at": _time(seconds)},
    }


def _time(seconds: float = 0.0) -> str:
    return (_EPOCH + datetime.timedelta(seconds=seconds)).isoformat()


def _sample(
    record: Mapping[str, Any],
    steps: Sequence[PlayedStep],
    summary: Mapping[str, Any],
    said: Said,
    model: str,
) -> dict[str, Any]:
    """Return an episode as a sample: a conversation, the events of its steps, its scores."""
    topic, first = record["topic_id"], steps[0].observation
    entry = dict(summary["per_topic"][topic])
    scores = {metric: entry.pop(metric, None) for metric in summary["mean"]}
    scores = {metric: value for metric, value in scores.items() if value is not None}
    begin = json.loads(first["result"])
    question = f"{first['topic']}\n\nCutoff: {first['cutoff']}\n\n{begin.pop('message')}"
    given = f"\n\n{json.dumps(begin, ensure_ascii=False)}" if begin else ""
    messages: list[dict[str, Any]] = [{"role": "user", "content": question + given}]
    metadata = {
        "topic": first["topic"], "cutoff": first["cutoff"], "seed": record["seed"],
        "budget": {name: int(left) for name, left in first["budget"].items()},
        **entry, "notes": record["notes"],
    }  # fmt: skip
    sample = {"id": topic, "epoch": 1, "input": question, "target": "", "metadata": metadata}
    init = {key: sample[key] for key in ("input", "target", "id", "metadata")}
    events: list[dict[str, Any]] = [{"event": "sample_init", "sample": init}]
    for number, step in enumerate([*steps[1:], None], 1):
        events += [_model_event(answer, model) for answer in said.get(number, ())]
        text = said_text(said, number)
        if step is None:  # the model may have written after the last step
            messages += [{"role": "assistant", "content": text}] if text else []
            break
        name, arguments = call_of(step.action)
        call: dict[str, Any] = {"id": f"call_{number}", "function": name, "arguments": arguments}
        result = tool_message(call["id"], step.observation)
        error = json.loads(step.observation["result"]).get("error")
        terms = (f"{term} {value:.4g}" for term, value in step.info["reward_terms"].items())
        failed = {"error": {"type": "unknown", "message": error}} if error else {}
        messages += [
            {"role": "assistant", "content": text, "tool_calls": [call | {"type": "function"}]},
            result | {"function": name} | failed,
        ]
        events += [
            {"event": "tool", "type": "function", "result": result["content"], **call, **failed},
            {
                "event": "score",
                "intermediate": True,
                "scorer": "reward",
                "score": {"value": step.reward, "explanation": ", ".join(terms)},
            },
        ]
    if scores:
        events.append({"event": "score", "scorer": "metrics", "score": {"value": scores}})
    common = {"timestamp": _time(), "working_start": 0.0, "pending": False}
    return sample | {
        "uuid": f"{topic}-1",
        "messages": [m | {"id": f"{topic}-{n}"} for n, m in enumerate(messages)],
        "output": {"model": model, "choices": []},
        "scores": {metric: {"value": value} for metric, value in scores.items()},
        "events": [e | common | {"uuid": f"{topic}-e{n}"} for n, e in enumerate(events)],
        "model_usage": {} if (used := tokens_of(record)) is None else {model: used},
    }


def _model_event(answer: Completion, model: str) -> dict[str, Any]:
    """Return an answer as an event; of its request only the hash is kept."""
    calls = [
        {"id": number, **dict(zip(("function", "arguments"), call_of(action), strict=True))}
        for number, action in actions_from(answer.message)
    ]
    message = {"role": "assistant", "content": answer.text, "tool_calls": calls}
    choice = {"message": message, "stop_reason": "tool_calls" if calls else "stop"}
    return {
        "event": "model", "model": model, "input": [], "tools": [], "tool_choice": "auto",
        "config": {}, "output": {"model": model, "choices": [choice]},
        "metadata": {"request_sha256": answer.key},
    }  # fmt: skip
