"""``arena list``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from arena.cli.app import print_json, print_table
from arena.dates import GUESS_MARK, undated_mark
from arena.errors import ArenaError, UnknownNameError, clip, did_you_mean
from arena.kit.options import read_docstring
from arena.plugins import Registry, kinds, loaded, origin_of
from arena.text.display import printable

_ENVIRONMENTS = "environments"


def list_names(
    kind: str | None = None,
    *,
    corpus: str | None = None,
    tasks: str | None = None,
    json: bool = False,
) -> None:
    """List what is registered, or the topics or indexes of a corpus.

    Args:
        kind (KIND): Kind of plug-ins, such as agents, metrics or tools (`arena plugins` has all);
            or environments, or topics.
        tasks (TASKS): Directory of `arena-corpus tasks`, to list its papers as topics.

    Example:
        arena list topics --corpus demo/synthetic
    """
    if kind == "topics" or (kind is None and corpus != os.environ.get("ARENA_CORPUS")):
        _list_topics(corpus, tasks, json)
        return
    kind = _plural(kind) if kind in kinds() else kind
    names = _registered(kind)
    if kind == "retrievers" and corpus:
        from arena.corpus import indexes, layout
        from arena.corpus.schemes import resolve_directory

        place = resolve_directory(corpus)
        layout.read_manifest(place, check_files=False)
        names["indexes"] = indexes.describe_indexes(place, indexes.index_names(place))
    if json:
        print_json(names[kind] if kind is not None and len(names) == 1 else names)
        return
    rows = [
        (group, name, text) for group, entries in names.items() for name, text in entries.items()
    ]
    print_table(rows, ("kind", "name", "description"))


def plugins(*, json: bool = False) -> None:
    """List what plug-ins register: kind, name, origin and version, and what does not import.

    Example:
        arena plugins --plugin mine.py
    """
    rows = [
        {"kind": kind, "name": name, "origin": str(found), "version": found.version, "error": ""}
        for kind, registry in kinds().items()
        for name in registry.names()
        if (found := origin_of(registry.get(name))) is not None
    ]
    rows += [
        {"kind": "", "name": "", "origin": str(each), "version": each.version, "error": each.error}
        for each in loaded()
        if each.error
    ]
    if json:
        print_json({"kinds": [*kinds()], "plugins": rows})
    elif rows:
        print_table(
            [[*row.values()] for row in rows], ("kind", "name", "origin", "version", "error")
        )
    else:
        print(f"No plug-in is loaded. Kinds: {', '.join(kinds())}. See docs/extending.md.")


def _registered(kind: str | None) -> dict[str, dict[str, str]]:
    """Return each kind, in the plural -> name -> description; one kind alone if it is named."""
    registries = {_plural(name): registry for name, registry in kinds().items()}
    if kind is not None and kind not in (*registries, _ENVIRONMENTS):
        known = [*registries, _ENVIRONMENTS, "topics"]
        raise UnknownNameError(
            f"nothing to list is called {clip(kind)}.{did_you_mean(kind, known)}"
        )
    wanted = [*registries, _ENVIRONMENTS] if kind is None else [kind]
    found = {name: _described(name, registries) for name in sorted(wanted)}
    return found if kind is not None else {name: each for name, each in found.items() if each}


def _described(kind: str, registries: Mapping[str, Registry[Any]]) -> dict[str, str]:
    from arena.runs.players import ORACLE, Oracle
    from arena.tasks import TASKS, open_task

    if kind == _ENVIRONMENTS:
        texts = TASKS.describe()
        return {open_task(name).environment_id: texts[name] for name in texts}
    registry, texts = registries[kind], registries[kind].describe()
    if kind == "agents":
        what = (Oracle.__doc__ or "").splitlines()[0]
        texts |= {ORACLE: f"{what} It knows the labels: the ceiling."}
    elif kind == "metrics":
        texts = {name: f"{registry.get(name).kind}: {text}" for name, text in texts.items()}
    elif kind == "suites":
        for name in texts:
            texts[name] += f" Example: {read_docstring(registry.get(name)).example}"
    elif kind == "tasks":
        texts = {name: ", ".join(registry.get(name).metrics) for name in texts}
    elif kind == "tools":
        texts = {name: registry.get(name).description for name in texts}
    return texts


def _plural(kind: str) -> str:
    return f"{kind.replace(' ', '-')}s"


def _list_topics(corpus: str | None, tasks: str | None, as_json: bool) -> None:
    from arena.corpus import Corpus
    from arena.tasks import TaskSet

    if not corpus:
        raise ArenaError("`arena list topics` needs --corpus DIR.")
    opened = corpus if tasks is None else Corpus.open(corpus, tasks=tasks)
    tasks_of = TaskSet(opened)
    topics, undated = tasks_of.topics.values(), undated_mark(tasks_of.unit)
    if as_json:
        print_json([topic._asdict() for topic in topics])
    else:
        rows = [
            (s.id, s.date + GUESS_MARK * s.date_guessed + undated, printable(s.text, 90),
             printable(s.domain, 50), ", ".join(s.prompts))
            for s in topics
        ]  # fmt: skip
        shown = 3 + 2 * any(row[4] for row in rows)
        headers = ("id", "date", "title", "domain", "prompts")
        print_table([row[:shown] for row in rows], headers[:shown])
