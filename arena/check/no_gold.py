"""The check ``no_gold``."""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from arena.check._episodes import Trace, first_difference, ids_in, parsed, plain, replay
from arena.check._labels import relabelled
from arena.check._leaks import Secret
from arena.check._subject import Subject
from arena.check._walk import walk
from arena.check.base import CHECKS, require
from arena.tasks import TaskSet


@CHECKS.register("no_gold")
def check(subject: Subject) -> str:
    """No label is in what an agent gets or can reach, and other labels change none of it."""
    env = _rendering(subject)
    vector = None
    if subject.spec.vector_entry_point is not None:
        vector = subject.make_vector(2, "vector_entry_point")
    looked = 0
    for trace in subject.traces:
        survey = trace.start[1]["survey"]
        secret = Secret(survey, subject)
        begin = env.reset(seed=trace.seed, options={"survey": survey})
        secret.saw(begin[0])
        looked += _search("at the reset", _reachable(env, begin), secret.told_before_any_action)
        if vector is not None:
            vector.reset(seed=trace.seed, options={"survey": survey})
            around = walk(vector, "vector env")
            looked += _search("at the reset", around, secret.told_before_any_action)
        for action in trace.actions:
            step = env.step(copy.deepcopy(action))
            secret.saw(step[0])
            secret.said(action)
            infos = walk(step[4], "info")
            looked += _search("after an action", infos, secret.told)
            if step[2] or step[3]:
                break
        looked += _search("after actions", _reachable(env, step), secret.told)
    with tempfile.TemporaryDirectory() as directory:
        other = Path(directory) / "corpus"
        keep = subject.gives_references
        relabelled(subject.corpus, other, subject.random(), keep_references=keep)
        for trace in subject.traces:
            _same(subject, other, trace)
    labels = "influential references and mind-maps" if keep else "labels"
    return f"{looked} objects reached; the same {subject.counted()} of a corpus with other {labels}"


def _rendering(subject: Subject, **changes: Any) -> Any:
    modes = subject.make().metadata.get("render_modes", ())
    return subject.make(**changes, **({"render_mode": "ansi"} if "ansi" in modes else {}))


def _reachable(env: Any, outcome: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
    """Walk through all that an agent has in its hands."""
    from arena.agents import tool_message
    from arena.tools import tool_schemas

    observation = outcome[0]
    yield from walk(env, "env")
    yield from walk(observation, "observation")
    yield from walk(parsed(observation["result"]), "observation['result']")
    yield from walk(tool_schemas(env), "tool_schemas(env)")
    yield from walk(tool_message("call", observation), "tool_message(observation)")
    yield from walk(env.render(), "env.render()")


def _search(when: str, reached: Iterator[tuple[str, Any]], tells: Any) -> int:
    count = 0
    for path, value in reached:
        require(not isinstance(value, TaskSet), f"{when} {path} is a TaskSet, which hands out gold")
        found = tells(path, value)
        require(not found, f"{when} {path} holds {found}")
        count += 1
    return count


def _same(subject: Subject, other: Path, trace: Trace) -> None:
    """Require that an agent sees the same of a corpus with other labels."""
    survey = trace.start[1]["survey"]
    seen = []
    for corpus in (subject.corpus, other):
        directory = str(Path(corpus).resolve())  # whole, so that no other text holds it
        env = _rendering(subject, corpus=directory)
        begin = env.reset(seed=trace.seed, options={"survey": survey})
        at_reset = {
            path: value if not isinstance(value, str) else value.replace(directory, "CORPUS")
            for path, value in _reachable(env, begin)
            if isinstance(value, bool | int | float | str | None)
        }
        again = trace._replace(
            options={"survey": survey}, actions=[*trace.actions, *_closing(trace)]
        )
        played = replay(env, again)
        steps = [[step[0], step[2], step[3]] for step in played.steps]
        seen.append((plain(at_reset), played.start[0], steps, plain(env.render())))
    names = ("reachable", "observation at the reset", "steps", "render()")
    found = first_difference(
        dict(zip(names, plain(seen[0]), strict=True)), dict(zip(names, plain(seen[1]), strict=True))
    )
    require(not found, f"seed {trace.seed}, with other labels: {found}")


def _closing(trace: Trace) -> list[dict[str, Any]]:
    """Return actions that hand in something in every stage, for an episode that goes on."""
    ids = [i for o, *_ in trace.steps for i in ids_in(parsed(o["result"]))]
    some = list(dict.fromkeys(ids))[:30]
    submit = {"tool": "submit", "arguments": {"paper_ids": some}}
    tree = {"label": "Map", "children": [{"label": "Methods"}, {"label": "Applications"}]}
    organize = {"tool": "organize", "arguments": {"mind_map": tree}}
    return [submit, submit, organize, {"tool": "finish", "arguments": {}}]
