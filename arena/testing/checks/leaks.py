"""The checks ``no_gold`` and ``no_future``: no label and no later paper reaches an agent."""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from arena.testing.audited import check_attributes
from arena.testing.checks.budgets import calls_about
from arena.testing.contract import Subject
from arena.testing.episodes import Trace, first_difference, plain, replay
from arena.testing.exposure import Exposure
from arena.testing.labels import relabelled
from arena.testing.report import CHECKS, require
from arena.testing.walk import parsed, strings, values_of, walk

_PAPERS = 5
_FOR_THE_TRAINER = {"reward_terms", "gold", "references", "metrics"}  # in `info`


@CHECKS.register("no_future")
def no_future(subject: Subject) -> str:
    """No result shows a paper or a day from the cutoff on; `arena audit` digs deeper."""
    exposure, env, count = Exposure(subject.facts), subject.make(), 0
    for recorded in subject.traces:
        reach = subject.facts.reach(recorded.start[1]["survey"])
        for trace in (recorded, replay(env, _around(recorded, subject))):
            sent = {trace.start[0]["topic"]}
            for number, (observation, *_) in enumerate([trace.start, *trace.steps]):
                sent |= {text for _, text in strings(trace.actions[:number])}
                result = parsed(observation["result"])
                for _, what in exposure.find(result, reach, sent):
                    where = f"seed {trace.seed}, step {number}, cutoff {observation['cutoff']}"
                    require(False, f"{where}: {what}")
                count += len(values_of("id", result))
    return f"{subject.counted()}, and links of {_PAPERS} papers of each; {count} ids"


def _around(trace: Trace, subject: Subject) -> Trace:
    """Return actions that search the topic, and then call every tool that takes one id."""
    search = {"tool": "search", "arguments": {"query": trace.start[0]["topic"]}}
    actions = [search] if "search" in subject.tools else []
    for paper_id in _shown(trace)[:_PAPERS]:
        actions += calls_about(paper_id, subject)
    return trace._replace(actions=actions)


def _shown(trace: Trace) -> list[str]:
    """Return the distinct ids in the results of an episode."""
    results = (parsed(observation["result"]) for observation, *_ in (trace.start, *trace.steps))
    return list(dict.fromkeys(chain.from_iterable(values_of("id", each) for each in results)))


@CHECKS.register("no_gold")
def no_gold(subject: Subject) -> str:
    """Public attributes lead to no label, and what an agent gets does not depend on the labels."""
    count = 0
    begins_with_papers = subject.gives_references or subject.options.get("found") is not None
    with tempfile.TemporaryDirectory() as directory:
        copies = [Path(directory, str(number)).resolve() for number in range(2)]
        for number, path in enumerate(copies):
            keep = subject.gives_references
            relabelled(subject.corpus, path, number, keep_references=keep)
        for trace in subject.traces:
            one, other = (_seen(subject, path, trace) for path in copies)
            where = first_difference(one, other)
            require(not where, f"seed {trace.seed}, with other labels: {where}")
            count += sum(map(len, one.values()))
    env = subject.make()
    for trace in () if begins_with_papers else subject.traces:
        env.reset(seed=trace.seed, options={"survey": trace.start[1]["survey"]})
        attributes = check_attributes(
            env, subject.facts, frozenset(), lambda _, what: require(False, what)
        )
        count += attributes
    labels = "influential references and mind-maps" if keep else "labels"
    return f"{count} values reached; the same {subject.counted()} of a corpus with other {labels}"


def _seen(subject: Subject, corpus: Path, trace: Trace) -> dict[str, dict[str, Any]]:
    """Play the actions of `trace`; return all that an agent can reach, by time and place."""
    modes = subject.make().metadata.get("render_modes", ())
    mode = {"render_mode": "ansi"} if "ansi" in modes else {}
    env = subject.make(corpus=str(corpus), **mode)
    begin: dict[str, Any] = {"seed": trace.seed, "options": {"survey": trace.start[1]["survey"]}}
    outcome: tuple[Any, ...] = env.reset(**begin)
    seen = {"at the reset": _reachable(env, outcome[0], corpus)}
    if subject.spec.vector_entry_point is not None:
        vector = subject.make_vector(2, "vector_entry_point", corpus=str(corpus))
        vector.reset(**begin)
        seen["vector"] = _values(walk(vector, "vector env"), corpus)
    for number, action in enumerate([*trace.actions, *_closing(trace)], 1):
        outcome = env.step(copy.deepcopy(action))
        info = {key: v for key, v in outcome[4].items() if key not in _FOR_THE_TRAINER}
        names = ("observation", "terminated", "truncated", "info")
        step = (outcome[0], *outcome[2:4], info)
        seen[f"step {number}"] = dict(zip(names, plain(step), strict=True))
        seen[f"info {number}"] = _values(walk(info, "info"), corpus)
        if outcome[2] or outcome[3]:
            break
        if number in (1, len(trace.actions)):
            seen[f"after step {number}"] = _reachable(env, outcome[0], corpus)
    return seen | {"at the end": _reachable(env, outcome[0], corpus)}


def _reachable(env: Any, observation: dict[str, Any], corpus: Path) -> dict[str, Any]:
    """Return path -> value for everything that an agent has access to."""
    from arena.agents import tool_message
    from arena.tools import tool_schemas

    return _values(
        chain(
            walk(env, "env"),
            walk(observation, "observation"),
            walk(tool_schemas(env), "tool_schemas(env)"),
            walk(tool_message("call", observation), "tool_message(observation)"),
            walk(env.render(), "env.render()"),
        ),
        corpus,
    )


def _values(reached: Iterator[tuple[str, Any]], corpus: Path) -> dict[str, Any]:
    """Return the plain values among those reached, and the name of the corpus replaced."""
    return {
        path: value.replace(str(corpus), "CORPUS") if isinstance(value, str) else plain(value)
        for path, value in reached
        if isinstance(value, bool | int | float | str | None)
    }


def _closing(trace: Trace) -> list[dict[str, Any]]:
    """Return actions that submit something in every stage, for an episode that goes on."""
    submit = {"tool": "submit", "arguments": {"paper_ids": _shown(trace)[:30]}}
    tree = {"label": "Map", "children": [{"label": "Methods"}, {"label": "Applications"}]}
    organize = {"tool": "organize", "arguments": {"mind_map": tree}}
    return [submit, submit, organize, {"tool": "finish", "arguments": {}}]
