"""The checks ``no_gold`` and ``no_future``: no label and no later paper reaches an agent."""

from __future__ import annotations

import copy
import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from arena._internal.files import sha256_file, sha256_json, write_json
from arena.testing.contract import Subject, Trace, replay
from arena.testing.exposure import Exposure, check_attributes
from arena.testing.reference import PlainView
from arena.testing.report import CHECKS, require
from arena.testing.walk import first_difference, parsed, plain, strings, values_of, walk

_PAPERS = 5
_FOR_THE_TRAINER = {"reward_terms", "gold", "references", "metrics"}  # in `info`


@CHECKS.register("no_future")
def no_future(subject: Subject) -> str:
    """No result shows a paper or a day from the cutoff on; `arena audit` digs deeper."""
    exposure, env, count = Exposure(subject.facts), subject.make(), 0
    for recorded in subject.traces:
        start, info = recorded.start
        view = PlainView(subject.facts, start["cutoff"], [info["survey"]])
        around = subject.calls_about(recorded.ids()[:_PAPERS])
        if "search" in subject.tools:
            around.insert(0, {"tool": "search", "arguments": {"query": start["topic"]}})
        for trace in (recorded, replay(env, recorded._replace(actions=around))):
            sent = {start["topic"]}
            for number, (observation, *_) in enumerate([trace.start, *trace.steps]):
                sent |= {text for _, text in strings(trace.actions[:number])}
                result = parsed(observation["result"])
                for _, what in exposure.find(result, view, sent):
                    where = f"seed {trace.seed}, step {number}, cutoff {view.cutoff}"
                    require(False, f"{where}: {what}")
                count += len(values_of("id", result))
    return f"{subject.counted()}, and links of {_PAPERS} papers of each; {count} ids"


@CHECKS.register("no_gold")
def no_gold(subject: Subject) -> str:
    """Public attributes lead to no label, and what an agent gets does not depend on the labels."""
    count, keep = 0, subject.gives_references
    with tempfile.TemporaryDirectory() as directory:
        copies = [Path(directory, str(number)).resolve() for number in range(2)]
        for number, path in enumerate(copies):
            relabelled(subject.corpus, path, number, keep_references=keep)
        for trace in subject.traces:
            one, other = (_seen(subject, path, trace) for path in copies)
            where = first_difference(one, other)
            require(not where, f"seed {trace.seed}, with other labels: {where}")
            count += sum(map(len, one.values()))
    env, begins_with_papers = subject.make(), keep or subject.options.get("found") is not None
    for trace in () if begins_with_papers else subject.traces:
        env.reset(seed=trace.seed, options={"survey": trace.start[1]["survey"]})
        count += check_attributes(env, subject.facts, (), lambda _, what: require(False, what))
    labels = "influential references and mind-maps" if keep else "labels"
    return f"{count} values reached; the same {subject.counted()} of a corpus with other {labels}"


def _seen(subject: Subject, corpus: Path, trace: Trace) -> dict[str, dict[str, Any]]:
    """Play the actions of `trace`; return all that an agent can reach, by time and place."""
    modes = subject.make().metadata.get("render_modes", ())
    mode = {"render_mode": "ansi"} if "ansi" in modes else {}
    env = subject.make(corpus=str(corpus), **mode)
    begin: dict[str, Any] = {"seed": trace.seed, "options": {"survey": trace.start[1]["survey"]}}
    observation, _ = env.reset(**begin)
    seen = {"at the reset": _reachable(env, observation, corpus)}
    if subject.spec.vector_entry_point is not None:
        vector = subject.make_vector(2, "vector_entry_point", corpus=str(corpus))
        vector.reset(**begin)
        seen["vector"] = _values(walk(vector, "vector env"), corpus)
    for number, action in enumerate([*trace.actions, *_closing(trace)], 1):
        observation, _, terminated, truncated, info = env.step(copy.deepcopy(action))
        info = {key: value for key, value in info.items() if key not in _FOR_THE_TRAINER}
        ends = {"terminated": terminated, "truncated": truncated}
        seen[f"step {number}"] = plain({"observation": observation, **ends, "info": info})
        seen[f"info {number}"] = _values(walk(info, "info"), corpus)
        if terminated or truncated:
            break
        if number in (1, len(trace.actions)):
            seen[f"after step {number}"] = _reachable(env, observation, corpus)
    return seen | {"at the end": _reachable(env, observation, corpus)}


def _reachable(env: Any, observation: dict[str, Any], corpus: Path) -> dict[str, Any]:
    """Return path -> value for everything that an agent has access to."""
    from arena.agents import tool_message
    from arena.tools import tool_schemas

    roots = {
        "env": env,
        "observation": observation,
        "tool_schemas(env)": tool_schemas(env),
        "tool_message(observation)": tool_message("call", observation),
        "env.render()": env.render(),
    }
    return _values(chain.from_iterable(walk(root, name) for name, root in roots.items()), corpus)


def _values(reached: Iterator[tuple[str, Any]], corpus: Path) -> dict[str, Any]:
    """Return the plain values among those reached, and the name of the corpus replaced."""
    return {
        path: value.replace(str(corpus), "CORPUS") if isinstance(value, str) else plain(value)
        for path, value in reached
        if isinstance(value, bool | int | float | str | None)
    }


def _closing(trace: Trace) -> list[dict[str, Any]]:
    """Return actions that submit something in every stage, for an episode that goes on."""
    submit = {"tool": "submit", "arguments": {"paper_ids": trace.ids()[:30]}}
    tree = {"label": "Map", "children": [{"label": "Methods"}, {"label": "Applications"}]}
    organize = {"tool": "organize", "arguments": {"mind_map": tree}}
    text = " ".join(f"[@{paper_id}]" for paper_id in trace.ids())
    report = {"tool": "submit_report", "arguments": {"text": text}}
    return [submit, submit, organize, report, {"tool": "finish", "arguments": {}}]


# Exchange the labels in copies of a corpus: what an agent sees must not depend on them.

_MANIFEST, _GOLD, _MIND_MAPS = "manifest.json", "tasks/gold.parquet", "tasks/mind_maps.parquet"
_ARTICLES = "tasks/articles.parquet"
_MAPS = (["Quite another heading", "And a third one"], ["Unheard of", "Elsewhere", "Beyond"])


def relabelled(corpus: Path, target: Path, number: int, *, keep_references: bool) -> None:
    """Make one of two copies of a corpus that have no label in common, and all else.

    Each reference of a survey is a reference in one of the copies alone, unless the survey has no
    other, and there are twice as many in the second one; to keep them all exchanges only which are
    influential. Mind-maps, outlines and articles are others, too. All other files are links.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    (target / "tasks").mkdir(parents=True)
    source = corpus.resolve()
    for path in (*source.iterdir(), *(source / "tasks").iterdir()):
        name = path.relative_to(source).as_posix()
        if name not in ("tasks", _MANIFEST, _GOLD, _MIND_MAPS, _ARTICLES):
            (target / name).symlink_to(path)
    gold, maps, articles = (pq.read_table(source / n) for n in (_GOLD, _MIND_MAPS, _ARTICLES))
    rows: list[dict[str, Any]] = []
    places: Counter[str] = Counter()
    total = Counter(row["survey"] for row in gold.to_pylist() if row["status"] == "gold")
    for row in gold.to_pylist():
        is_own = (places[row["survey"]] % 3 == 0) == (number == 0)
        places[row["survey"]] += row["status"] == "gold"
        if keep_references and row["status"] == "gold":
            rows.append(row | {"influential": is_own})
        elif row["status"] != "gold" or is_own or total[row["survey"]] == 1:
            rows.append(row)
    tree = json.dumps({"label": f"Map {number}", "children": _MAPS[number]})
    trees = [row | {"mind_map": row["mind_map"] and tree} for row in maps.to_pylist()]
    texts = [row | {"outline": tree, "article": f"{number}."} for row in articles.to_pylist()]
    manifest = json.loads((source / _MANIFEST).read_bytes())
    tables = (_GOLD, gold, rows), (_MIND_MAPS, maps, trees), (_ARTICLES, articles, texts)
    for name, table, changed in tables:
        pq.write_table(pa.Table.from_pylist(changed, schema=table.schema), target / name)
        size, digest = (target / name).stat().st_size, sha256_file(target / name)
        manifest["files"][name] = {"bytes": size, "sha256": digest}
    manifest.pop("manifest_sha256")
    write_json(target / _MANIFEST, manifest | {"manifest_sha256": sha256_json(manifest)})
