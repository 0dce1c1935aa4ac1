"""The checks ``no_gold`` and ``no_future``: no label and no later paper reaches an agent."""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from arena.testing.checks.budgets import calls_about
from arena.testing.contract import Subject
from arena.testing.episodes import Trace, first_difference, plain, replay
from arena.testing.exposure import Exposure
from arena.testing.labels import Secret, relabelled
from arena.testing.oracles import ORACLES
from arena.testing.report import CHECKS, require
from arena.testing.walk import label_type, parsed, strings, values_of, walk

_PAPERS = 5


@CHECKS.register("no_future")
def no_future(subject: Subject) -> str:
    """No result shows a paper or a day from the cutoff on; `arena audit` digs deeper."""
    exposure, env, count = Exposure(subject.facts), subject.make(), 0
    for recorded in subject.traces:
        survey = subject.facts.surveys[recorded.start[1]["survey"]]
        reach = subject.facts.reach(survey.id)
        for trace in (recorded, replay(env, _around(recorded, subject))):
            sent = {trace.start[0]["topic"]}
            for number, (observation, *_) in enumerate([trace.start, *trace.steps]):
                tool = None
                if number:
                    action = trace.actions[number - 1]
                    tool = action["tool"]
                    sent |= {text for _, text in strings(action)}
                result = parsed(observation["result"])
                known = tool is None or tool in ORACLES
                for _, what in exposure.find(result, reach, sent, texts=not known):
                    where = f"seed {trace.seed}, step {number}, cutoff {observation['cutoff']}"
                    require(False, f"{where}: {what}")
                count += len(values_of("id", result))
    return f"{subject.counted()}, and links of {_PAPERS} papers of each; {count} ids"


def _around(trace: Trace, subject: Subject) -> Trace:
    """Return actions that search the topic, and then call every tool that takes one id."""
    search = {"tool": "search", "arguments": {"query": trace.start[0]["topic"]}}
    actions = [search] if "search" in subject.tools else []
    for paper_id in _shown([trace.start, *trace.steps])[:_PAPERS]:
        actions += calls_about(paper_id, subject)
    return trace._replace(actions=actions)


def _shown(steps: list[list[Any]]) -> list[str]:
    """Return the distinct ids in the results of steps."""
    results = (parsed(observation["result"]) for observation, *_ in steps)
    return list(dict.fromkeys(paper_id for each in results for paper_id in values_of("id", each)))


@CHECKS.register("no_gold")
def no_gold(subject: Subject) -> str:
    """No label is in what an agent gets or can reach, and other labels change none of it."""
    env = _rendering(subject)
    vector = None
    if subject.spec.vector_entry_point is not None:
        vector = subject.make_vector(2, "vector_entry_point")
    count = 0
    for trace in subject.traces:
        survey = trace.start[1]["survey"]
        secret = Secret(survey, subject)
        begin = env.reset(seed=trace.seed, options={"survey": survey})
        secret.saw(begin[0])
        count += _search("at the reset", _reachable(env, begin), secret.in_value_before_search)
        if vector is not None:
            vector.reset(seed=trace.seed, options={"survey": survey})
            around = walk(vector, "vector env")
            count += _search("at the reset", around, secret.in_value_before_search)
        for number, action in enumerate(trace.actions, 1):
            step = env.step(copy.deepcopy(action))
            secret.saw(step[0])
            secret.said(action)
            count += _search("after an action", walk(step[4], "info"), secret.in_value)
            if step[2] or step[3]:
                break
            if number == 1:  # mostly a search, before links show more of the gold
                count += _search("after an action", _reachable(env, step), secret.in_value)
        count += _search("after actions", _reachable(env, step), secret.in_value)
    with tempfile.TemporaryDirectory() as directory:
        other = Path(directory) / "corpus"
        keep = subject.gives_references
        relabelled(subject.corpus, other, subject.random(), keep_references=keep)
        for trace in subject.traces:
            _check_same(subject, other, trace)
    labels = "influential references and mind-maps" if keep else "labels"
    return f"{count} objects reached; the same {subject.counted()} of a corpus with other {labels}"


def _rendering(subject: Subject, **changes: Any) -> Any:
    modes = subject.make().metadata.get("render_modes", ())
    return subject.make(**changes, **({"render_mode": "ansi"} if "ansi" in modes else {}))


def _reachable(env: Any, outcome: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
    """Walk through everything that an agent has access to."""
    from arena.agents import tool_message
    from arena.tools import tool_schemas

    observation = outcome[0]
    yield from walk(env, "env")
    yield from walk(observation, "observation")
    yield from walk(parsed(observation["result"]), "observation['result']")
    yield from walk(tool_schemas(env), "tool_schemas(env)")
    yield from walk(tool_message("call", observation), "tool_message(observation)")
    yield from walk(env.render(), "env.render()")


def _search(
    when: str,
    reached: Iterator[tuple[str, Any]],
    label_in: Callable[[str, Any], str | None],
) -> int:
    count = 0
    for path, value in reached:
        kind = label_type(value)
        require(kind is None, f"{when} {path} is a {kind}, which holds labels")
        label = label_in(path, value)
        require(not label, f"{when} {path} holds {label}")
        count += 1
    return count


def _check_same(subject: Subject, other: Path, trace: Trace) -> None:
    """Require that an agent sees the same in a corpus with other labels."""
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
        actions = [*trace.actions, *_closing(trace)]
        played = replay(env, trace._replace(options={"survey": survey}, actions=actions))
        steps = [[step[0], step[2], step[3]] for step in played.steps]
        seen.append((plain(at_reset), played.start[0], steps, plain(env.render())))
    names = ("reachable", "observation at the reset", "steps", "render()")
    where = first_difference(
        dict(zip(names, plain(seen[0]), strict=True)), dict(zip(names, plain(seen[1]), strict=True))
    )
    require(not where, f"seed {trace.seed}, with other labels: {where}")


def _closing(trace: Trace) -> list[dict[str, Any]]:
    """Return actions that submit something in every stage, for an episode that goes on."""
    submit = {"tool": "submit", "arguments": {"paper_ids": _shown(trace.steps)[:30]}}
    tree = {"label": "Map", "children": [{"label": "Methods"}, {"label": "Applications"}]}
    organize = {"tool": "organize", "arguments": {"mind_map": tree}}
    return [submit, submit, organize, {"tool": "finish", "arguments": {}}]
