"""The check ``contract.no-gold``: what an agent can see or reach does not depend on the labels."""

from __future__ import annotations

import copy
import inspect
import json
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from arena._internal.files import json_value, sha256_file, sha256_json, write_json
from arena.testing.checked import CheckedEnv, Trace
from arena.testing.report import CheckError, require
from arena.testing.values import first_difference, plain

_FOR_THE_TRAINER = {"reward_terms", "gain", "gold", "references", "references_total", "metrics"}
_KNOWN = {
    "action_space", "autoreset_mode", "config", "dtype", "env", "env_fns", "envs", "np_random",
    "observation_space", "single_action_space", "single_observation_space", "spaces", "spec",
    "tools", "unwrapped",
}  # fmt: skip
"""Public attributes that Gymnasium's and this project's classes have, and that are not JSON."""


def no_gold(checked: CheckedEnv) -> None:
    """Play the same in two copies of the corpus that have no label in common, and compare."""
    from arena.tasks import EXPERT, TASKS

    source = "tasks" if checked.arguments.get("tasks") else "corpus"
    default = TASKS.get(checked.task).references
    keep = checked.arguments.get("references", default) in ("oracle", EXPERT)
    with tempfile.TemporaryDirectory() as directory:
        copies = [Path(directory, str(number)).resolve() for number in range(2)]
        for number, path in enumerate(copies):
            relabelled(Path(checked.arguments[source]), path, number, keep_references=keep)
        for trace in checked.traces:
            one, other = (_seen(checked, {source: str(path)}, trace) for path in copies)
            where = first_difference(one, other, f"seed {trace.seed}, with other labels")
            require(not where, str(where))


def _seen(checked: CheckedEnv, changes: dict[str, str], trace: Trace) -> dict[str, Any]:
    """Play the actions of `trace`; return all that an agent can see or reach, by time."""
    env = checked.make(**changes, render_mode="ansi")
    survey = trace.steps[0]["info"]["survey"]
    begin: dict[str, Any] = {"seed": trace.seed, "options": {"survey": survey}}
    observation, info = env.reset(**begin)
    seen = {"at the reset": _reachable(env, observation, info)}
    if checked.spec.vector_entry_point is not None:
        vector = checked.make_vector(2, "vector_entry_point", **changes)
        _, infos = vector.reset(**begin)
        seen["vector"] = {"env": public(vector, "vector"), "info": plain(infos)}
    for number, action in enumerate(trace.actions, 1):
        observation, _, terminated, truncated, info = env.step(copy.deepcopy(action))
        info = {key: value for key, value in info.items() if key not in _FOR_THE_TRAINER}
        after = _reachable(env, observation, info)
        seen[f"step {number}"] = after | {"over": [bool(terminated), bool(truncated)]}
    (place,) = changes.values()
    return json_value(json.dumps(seen).replace(place, "COPY"))  # type: ignore[no-any-return]


def _reachable(env: Any, observation: dict[str, Any], info: dict[str, Any]) -> dict[str, Any]:
    """Return the values that an agent has access to."""
    from arena.agents import tool_message
    from arena.tools import tool_schemas

    spaces = {"action_space": env.action_space, "observation_space": env.observation_space}
    spaces |= getattr(env.observation_space, "spaces", {})
    return {
        "observation": plain(observation),
        "info": plain(info),
        "env": public(env, "env") | public(env.unwrapped, "env"),
        **{name: public(space, name) for name, space in spaces.items()},
        "tool_schemas(env)": tool_schemas(env),
        "tool_message(observation)": tool_message("call", observation),
        "env.render()": env.render(),
    }


def public(value: Any, name: str) -> dict[str, Any]:
    """Return the public attributes of an object; raise CheckError if one is not a value of JSON."""
    found = {}
    for attribute in dir(value):
        if attribute.startswith("_") or attribute in _KNOWN:
            continue
        try:
            item = getattr(value, attribute)
        except Exception:  # an attribute that cannot be read shows nothing
            continue
        if not inspect.isroutine(item) and not isinstance(item, type):
            found[attribute] = plain(item)
            if isinstance(found[attribute], str) and not isinstance(item, str):
                raise CheckError(
                    f"{name}.{attribute} is a {type(item).__name__}, which may lead to labels: "
                    "begin its name with an underscore, or keep values of JSON in it"
                )
    return found


# Exchange the labels in copies of a corpus: what an agent sees must not depend on them.

_MANIFEST, _GOLD, _MIND_MAPS = "manifest.json", "tasks/gold.parquet", "tasks/mind_maps.parquet"
_ARTICLES, _TOTAL = "tasks/articles.parquet", "n_references_total"
_MAPS = (["Quite another heading", "And a third one"], ["Unheard of", "Elsewhere", "Beyond"])


def relabelled(corpus: Path, target: Path, number: int, *, keep_references: bool) -> None:
    """Make one of two copies of a corpus that have no label in common, and all else.

    Each reference of a survey is a reference in one of the copies alone, unless the survey has no
    other, and there are twice as many in the second one; to keep them all exchanges only which are
    influential, and files the same papers otherwise. Mind-maps, outlines, articles and numbers of
    references are others, too. All other files are links.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    from arena.mindmap import read_mind_map

    (target / "tasks").mkdir(parents=True)
    source = corpus.resolve()
    for path in (*source.iterdir(), *(source / "tasks").iterdir()):
        name = path.relative_to(source).as_posix()
        if name not in ("tasks", _MANIFEST, _GOLD, _MIND_MAPS, _ARTICLES):
            (target / name).symlink_to(path)
    places: Counter[str] = Counter()

    def tree(old: str = "") -> str:
        papers = read_mind_map(old)[0].all_papers() if old and keep_references else []
        filed = sorted(papers, reverse=bool(number))
        tree = {"label": f"Map {number}", "children": _MAPS[number], "papers": filed}
        return json.dumps(tree)

    def gold(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        kept = []
        total = Counter(row["survey"] for row in rows if row["status"] == "gold")
        for row in rows:
            is_own = (places[row["survey"]] % 3 == 0) == (number == 0)
            places[row["survey"]] += row["status"] == "gold"
            if keep_references and row["status"] == "gold":
                kept.append(row | {"influential": is_own})
            elif row["status"] != "gold" or is_own or total[row["survey"]] == 1:
                kept.append(row)
        return kept

    changes: dict[str, Callable[[list[dict[str, Any]]], list[dict[str, Any]]]] = {
        _GOLD: gold,
        _MIND_MAPS: lambda rows: [
            row | {"mind_map": (m := row["mind_map"]) and tree(m), _TOTAL: row[_TOTAL] + number}
            for row in rows
        ],
        _ARTICLES: lambda rows: [
            row | {"outline": tree(), "article": f"{number}."} for row in rows
        ],
    }
    manifest = json.loads((source / _MANIFEST).read_bytes())
    for name in changes.keys() & manifest["files"].keys():
        table = pq.read_table(source / name)
        changed = changes[name](table.to_pylist())
        pq.write_table(pa.Table.from_pylist(changed, schema=table.schema), target / name)
        size, digest = (target / name).stat().st_size, sha256_file(target / name)
        manifest["files"][name] = {"bytes": size, "sha256": digest}
    manifest.pop("manifest_sha256")
    write_json(target / _MANIFEST, manifest | {"manifest_sha256": sha256_json(manifest)})
