"""The check ``contract.no-gold``: nothing that an agent is handed depends on the labels."""

from __future__ import annotations

import copy
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from arena.kit.files import json_value, sha256_file, sha256_json, write_json
from arena.testing.checked import CheckedEnv, Trace
from arena.testing.report import require
from arena.testing.values import first_difference, plain

_FOR_THE_TRAINER = {"reward_terms", "gain", "gold", "references", "references_total", "metrics"}
_NO_DATA = {
    "action_space", "autoreset_mode", "config", "dtype", "env_fns", "envs", "np_random",
    "observation_space", "single_action_space", "single_observation_space", "spaces", "spec",
    "tools", "unwrapped",
}  # fmt: skip
"""Public attributes of Gymnasium's and this project's classes whose values are not of JSON."""
_MANIFEST = "manifest.json"
_MAPS = (["Quite another heading", "And a third one"], ["Unheard of", "Elsewhere", "Beyond"])
_Rows = list[dict[str, Any]]


def no_gold(checked: CheckedEnv) -> None:
    """Play the same in two copies of the corpus whose labels differ, and compare."""
    from arena.tasks import EXPERT, TASKS

    source = "tasks" if checked.arguments.get("tasks") else "corpus"
    default = TASKS.get(checked.task).references
    keep = checked.arguments.get("references", default) in ("oracle", EXPERT)
    with tempfile.TemporaryDirectory() as directory:
        copies = [Path(directory, str(number)).resolve() for number in range(2)]
        for number, path in enumerate(copies):
            relabelled(Path(checked.arguments[source]), path, number, keep_references=keep)
        for trace in checked.traces:
            one, other = (_handed(checked, {source: str(path)}, trace) for path in copies)
            where = first_difference(one, other, f"seed {trace.seed}, with other labels")
            require(not where, str(where))


def _handed(checked: CheckedEnv, changes: dict[str, str], trace: Trace) -> dict[str, Any]:
    """Play the actions of `trace`; return all that an agent is handed, by time."""
    from arena.tools import tool_schemas

    env = checked.make(**changes, render_mode="ansi")
    begin: dict[str, Any] = {"options": {"topic_id": trace.steps[0]["info"]["topic_id"]}}
    handed, outcome = {}, env.reset(seed=trace.seed, **begin)
    for number, action in enumerate([*trace.actions, None]):
        handed[f"step {number}" if number else "at the reset"] = {
            "observation": plain(outcome[0]),
            "info": {k: plain(v) for k, v in outcome[-1].items() if k not in _FOR_THE_TRAINER},
            "ends": plain(outcome[2:-1]),
            "tool_schemas(env)": tool_schemas(env),
            "env.render()": env.render(),
            "env": attributes(env.unwrapped, "env"),
            "action_space": attributes(env.action_space, "action_space"),
            "observation_space": attributes(env.observation_space, "observation_space"),
        }
        if action is not None:
            outcome = env.step(copy.deepcopy(action))  # type: ignore[assignment]
    if checked.spec.vector_entry_point is not None:
        vector = checked.make_vector(2, "vector_entry_point", **changes)
        _, infos = vector.reset(seed=trace.seed, **begin)
        handed["vector"] = {"env": attributes(vector, "vector"), "info": plain(infos)}
    (place,) = changes.values()
    return json_value(json.dumps(handed).replace(place, "COPY"))  # type: ignore[no-any-return]


def attributes(owner: Any, name: str) -> dict[str, Any]:
    """Return the public attributes of an environment or a space, whose values must be of JSON."""
    found = {}
    for each in sorted(set(dir(owner)) - _NO_DATA):
        if not each.startswith("_") and not callable(value := getattr(owner, each)):
            found[each] = plain(value)
            what = f"{name}.{each} is a {type(value).__name__}, which may lead to labels: "
            what += "begin its name with an underscore, or keep values of JSON in it"
            require(isinstance(value, str) or not isinstance(found[each], str), what)
    return found


def relabelled(corpus: Path, target: Path, number: int, *, keep_references: bool) -> None:
    """Make one of two copies of a corpus whose labels differ, and nothing else.

    Each reference of a topic is a reference in one of the copies alone, unless the topic has no
    other, and there are twice as many in the second one; to keep them all exchanges only which are
    influential, and files the same papers otherwise. Mind-maps, outlines, articles and numbers of
    references are others, too. All other files are links.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    from arena.mindmap import read_mind_map

    def gold(rows: _Rows) -> Iterator[dict[str, Any]]:
        total = Counter(row["topic_id"] for row in rows if row["status"] == "gold")
        places: Counter[str] = Counter()
        for row in rows:
            is_own = (places[row["topic_id"]] % 3 == 0) == (number == 0)
            places[row["topic_id"]] += row["status"] == "gold"
            if row["status"] == "gold" and keep_references:
                yield row | {"influential": is_own}
            elif row["status"] != "gold" or is_own or total[row["topic_id"]] == 1:
                yield row

    def tree(old: str = "") -> str:
        papers = read_mind_map(old)[0].all_papers() if old and keep_references else []
        filed = sorted(papers, reverse=bool(number))
        return json.dumps({"label": f"Map {number}", "children": _MAPS[number], "papers": filed})

    def maps(rows: _Rows) -> Iterator[dict[str, Any]]:
        for row in rows:
            total = row["n_references_total"] + number
            own = row["mind_map"] and tree(row["mind_map"])
            yield row | {"mind_map": own, "n_references_total": total}

    def articles(rows: _Rows) -> Iterator[dict[str, Any]]:
        for row in rows:
            yield row | {"outline": tree(), "article": f"{number}."}

    changes: dict[str, Callable[[_Rows], Iterator[dict[str, Any]]]] = {
        "tasks/gold.parquet": gold,
        "tasks/mind_maps.parquet": maps,
        "tasks/articles.parquet": articles,
    }
    source = corpus.resolve()
    (target / "tasks").mkdir(parents=True)
    for path in (*source.iterdir(), *(source / "tasks").iterdir()):
        name = path.relative_to(source).as_posix()
        if name not in {_MANIFEST, "tasks", *changes}:
            (target / name).symlink_to(path)
    manifest = json.loads((source / _MANIFEST).read_bytes())
    for name in changes.keys() & manifest["files"].keys():
        table = pq.read_table(source / name)
        changed = list(changes[name](table.to_pylist()))
        pq.write_table(pa.Table.from_pylist(changed, schema=table.schema), target / name)
        size, sha256 = (target / name).stat().st_size, sha256_file(target / name)
        manifest["files"][name] = {"bytes": size, "sha256": sha256}
    manifest.pop("manifest_sha256")
    write_json(target / _MANIFEST, manifest | {"manifest_sha256": sha256_json(manifest)})
