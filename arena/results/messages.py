"""The messages of an agent and its model in a run, step by step."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from arena.agents import actions_from
from arena.errors import DataError, clip
from arena.kit.files import read_json
from arena.llm.answers import Completion, from_record
from arena.llm.store import Store
from arena.results.comparison import usage_of
from arena.tools.base import usual_call

MALFORMED = "malformed"


def open_answers(answers: str | Path | None) -> Store | None:
    """Open the file of a model's answers; None stays None. Raise DataError if it is missing."""
    if answers is not None and not Path(answers).is_file():
        raise DataError(f"{str(answers)!r} is not a file. Name the `store` of the run's answers.")
    return None if answers is None else Store(answers, read_only=True)


def answers_by_step(record: Mapping[str, Any], store: Store | None) -> dict[int, list[Completion]]:
    """Return number of a step, from 1 -> the model's answers that come before it.

    A run records the order of the answers and that of the steps. An answer that calls tools stands
    before the step that carries out its first call, any other one after the step before it.
    """
    said: dict[int, list[Completion]] = {}
    tools = [call_of(step["action"])[0] for step in record["steps"]]
    number = 1
    if store is None or usage_of(record["notes"]) is None:
        return said
    for call in record["notes"]["llm"].get("calls", ()):
        kept = store.get(call["request"])
        if kept is None:
            raise DataError(
                f"{str(store.path)!r} has no answer to the request {clip(call['request'][:12])} of "
                f"topic {record['topic_id']!r}. Name the `store` with which the run was made."
            )
        answer = from_record(kept)
        said.setdefault(number, []).append(answer)
        for _, action in actions_from(answer.message):
            if number <= len(tools) and tools[number - 1] == call_of(action)[0]:
                number += 1  # else the agent itself refused the call
    return said


def call_of(action: Any) -> tuple[str, dict[str, Any]]:
    """Return tool and arguments; an action that is malformed stands whole among the arguments."""
    with suppress(ValueError):
        action = read_json(action) if isinstance(action, str) else action
    call = usual_call(action) if isinstance(action, dict) else {}
    if isinstance(call.get("arguments"), dict):
        return str(call.get("tool")), call["arguments"]
    return MALFORMED, {"action": action}
