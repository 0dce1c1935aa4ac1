"""Samples of what a machine decided, for people to check without knowing its answers.

`draw` makes a sheet for raters and a key, which has the answers; `agreement` compares
them. TaxoBench, Table 5; Bloom-Eval, Table 10; ResearchArena, Table 4; ReportBench,
section 2.1.3.
"""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from arena.corpus import Corpus
from arena.errors import ArenaError, DataError, did_you_mean
from arena.kit.code import code_sha256
from arena.kit.files import (
    atomic_write,
    read_json,
    read_sealed,
    sha256_file,
    write_json,
)
from arena.mindmap.figures import data_url, folder_name
from arena.runs.trajectories import TRAJECTORIES
from arena.suites import json_lines
from arena.tasks import TaskSet, Topic
from arena.text import tokenize
from arena_suites.judging.judge import MAP, Judgements, open_finished, read_judgements

HEADER = ("item", "question", "shown", "answer")
_MATCHES = {"efid": (1, 3), "fcons": (0, 1), "otc": (0, 1), "caa": (0, 1)}


class Item(NamedTuple):
    """One decision: its source and id there, what is asked and shown, and the machine's answer.

    `picture` is what a page shows beside it, as HTML; `scale` the lowest and the highest answer.
    """

    source: str
    id: str
    dimension: str
    question: str
    shown: str
    answer: int
    picture: str = ""
    scale: tuple[int, int] = (0, 1)


class Wanted(NamedTuple):
    """All that decisions are drawn from.

    Attributes:
        sources: For ``mind-maps`` and ``statements`` the folders of judged runs; for ``matches``
            and ``themes`` what ``arena evaluate bloom-eval --json`` printed; else none.
        corpus: Corpus of the runs, or whose topics and mind-maps are checked.
        rubric: Rubric by which mind-maps were judged; needed for them.
        figures: Folder of the figures that ``extracted`` maps were read from.
        abstracts: Topic -> abstract, which no corpus has, lest an agent read it.
    """

    sources: Sequence[str]
    corpus: Corpus | None
    rubric: str | None
    figures: str | None
    abstracts: Mapping[str, str]

    def opened(self) -> Corpus:
        """Return the corpus; DataError if none is named."""
        if self.corpus is None:
            raise DataError("name the corpus with --corpus.")
        return self.corpus


Read = Callable[[Wanted], Iterator[Item]]


def draw(
    kind: str, wanted: Wanted, sheet: str, n: int, seed: int, overwrite: bool, per_run: int | None
) -> Judgements:
    """Draw decisions at random; write ``SHEET.csv`` and its key, ``SHEET.key.json``.

    Of ``extracted`` maps each is drawn with both of its questions, and ``SHEET.html`` shows it
    beside its figure.

    Args:
        kind: One of `KINDS`.
        wanted: What it draws from.
        sheet: CSV file with the columns of `HEADER`, whose last one is empty.
        n: Number of items, or of ``extracted`` maps; all if there are fewer.
        seed: Seed of the choice and of the order.
        overwrite: Whether to replace a sheet in which people have answered.
        per_run: In place of `n`, draw as many mind-maps of each run, or other things with an id,
            each with all its decisions, one after the other: TaxoBench, Table 5, draws ten.

    Returns:
        The key: item -> the machine's score by its dimension, with its source and id.

    Raises:
        DataError: The kind is unknown, or the sources contain no decision of this kind.
    """
    if kind not in KINDS:
        raise DataError(f"nothing is called {kind!r}.{did_you_mean(kind, KINDS)}")
    if (number := n if per_run is None else per_run) < 1:
        raise DataError(f"{number} to draw: give an integer >= 1.")
    if not overwrite:
        _refuse_answered(Path(sheet))
    sources, corpus = wanted.sources, wanted.corpus
    names = ", ".join(sources) or (corpus and str(corpus.directory)) or "(no source is named)"
    try:
        found = list(KINDS[kind](wanted))
    except ArenaError:
        raise
    except (LookupError, TypeError, AttributeError, ValueError):
        raise DataError(f"{names}: damaged, or not what {kind!r} are drawn from.") from None
    if not found:
        raise DataError(f"nothing of the kind {kind!r} was decided in {names}.")
    chosen = _chosen(found, n, per_run, kind == "extracted", random.Random(seed))
    rows, items = io.StringIO(newline=""), {}
    writer = csv.writer(rows, lineterminator="\n")
    writer.writerow(HEADER)
    for number, item in enumerate(chosen, 1):
        writer.writerow((number, item.question, item.shown, ""))
        items[str(number)] = {
            "scores": {item.dimension: item.answer}, "reasons": {},
            "source": item.source, "id": item.id,
        }  # fmt: skip
    dimensions = list(dict.fromkeys(item.dimension for item in chosen))
    files = {name: sha256_file(name) for name in sources if Path(name).is_file()}
    key = Judgements(
        kind, dimensions, chosen[0].scale, {},
        {"items": len(items), "decided": len(found)}, items,
        {"seed": seed, "rubric": wanted.rubric, **({"per_run": per_run} if per_run else {})},
        {**files, **({"corpus": corpus.sha256} if corpus else {}), "code": code_sha256(__name__)},
    )  # fmt: skip
    atomic_write(sheet, rows.getvalue())
    if kind == "extracted":
        atomic_write(Path(sheet).with_suffix(".html"), _page(chosen))
    write_json(Path(sheet).with_suffix(".key.json"), key.to_json())
    return key


def _chosen(
    found: list[Item], n: int, per_run: int | None, whole: bool, chance: random.Random
) -> list[Item]:
    """Return decisions drawn at random, all on one thing one after the other if `whole`."""
    runs: dict[str, dict[Any, list[Item]]] = {}
    for number, each in enumerate(found):
        thing = each.id if whole or per_run else number
        runs.setdefault(each.source, {}).setdefault(thing, []).append(each)
    if per_run is None:
        things = [items for run in runs.values() for items in run.values()]
        drawn = chance.sample(things, min(n, len(things)))
    else:
        of_runs = (chance.sample([*r.values()], min(per_run, len(r))) for r in runs.values())
        drawn = [items for of_run in of_runs for items in of_run]
        chance.shuffle(drawn)
    return [each for items in drawn for each in items]


def _refuse_answered(sheet: Path) -> None:
    """Raise DataError if people have filled in a sheet, which would be lost."""
    if sheet.is_file():
        csv.field_size_limit(1 << 30)
        text = sheet.read_text(encoding="utf-8-sig", errors="replace")
        if any((row.get("answer") or "").strip() for row in csv.DictReader(text.splitlines(True))):
            raise DataError(
                f"{str(sheet)!r} contains people's answers. Name another file, or pass --overwrite."
            )


def _page(items: Sequence[Item]) -> str:
    """Return a page that shows each map beside its figure, with the numbers of its questions."""
    parts = [_HEAD]
    for at in range(0, len(items), len(_OF_A_MAP)):
        asked = items[at : at + len(_OF_A_MAP)]
        questions = "".join(
            f"<li>item {at + place}: {escape(each.question)}</li>"
            for place, each in enumerate(asked, 1)
        )
        parts.append(
            f"<section><div>{asked[0].picture}</div><div><pre>{escape(asked[0].shown)}</pre>"
            f"<ul>{questions}</ul></div></section>\n"
        )
    return "".join(parts)


_HEAD = """<!doctype html>
<meta charset="utf-8">
<title>Mind-maps and their figures</title>
<style>
body { font: 15px sans-serif; margin: 2em }
section { display: grid; grid-template-columns: 1fr 1fr; gap: 2em; border-top: 1px solid }
img { max-width: 100% }
pre { white-space: pre-wrap }
</style>
"""


def _mind_maps(wanted: Wanted) -> Iterator[Item]:
    from arena_suites.maps.formats import render

    if (rubric := wanted.rubric) is None:
        raise DataError("name the rubric by which the mind-maps were judged with --rubric.")
    for run in wanted.sources:
        judged = read_judgements(Path(run, "judgements", f"{rubric}.json"))
        played = open_finished(run, wanted.opened(), MAP)
        if judged.sha256.get(TRAJECTORIES) not in (None, played.sha256[TRAJECTORIES]):
            raise DataError(f"{run!r} was played again since it was judged. Judge it again.")
        low, high = judged.scale
        for topic, row in judged.items.items():
            made, gold = played.maps(topic)
            if "reasons" not in row or gold is None:
                continue
            shown = f"EXPERTS' MAP\n{render(gold, 'text')}\nGENERATED MAP\n{render(made, 'text')}"
            for name, score in row["scores"].items():
                question = f"{name} of the generated map, {low} (worst) to {high}"
                yield Item(run, topic, name, question, shown, score, scale=judged.scale)


def _statements(wanted: Wanted) -> Iterator[Item]:
    question = "Does the passage support the statement? 1 yes, 0 no"
    for run in wanted.sources:
        for report in read_sealed(Path(run, "judgements", "statements.json"))["reports"].values():
            for row in report["cited"]:
                if row["outcome"] in ("match", "mismatch", "not_found"):
                    title, heading, text = row["passage"].values()
                    passage = f"PASSAGE\n{title}, {heading}\n{text}"
                    shown = f"STATEMENT\n{row['statement']}\n{passage}"
                    answer = int(row["outcome"] == "match")
                    yield Item(run, row["id"], "match", question, shown, answer)


def _pairs(metrics: Mapping[str, tuple[int, int]], question: str) -> Read:
    """Return what reads the pairs that metrics made; they map to the columns of both sides.

    Beside each pair stands one that was rejected: the same of the experts', and of what it is not
    paired with the one that shares most words with it.
    """

    def read(wanted: Wanted) -> Iterator[Item]:
        for path in wanted.sources:
            for topic, details in read_json(Path(path))["details"].items():
                for metric, (ours, theirs) in metrics.items():
                    rows = details.get(metric, {}).get("rows", ())
                    pairs = [(row[ours], row[theirs]) for row in rows]
                    decided = [(*pair, 1) for pair in pairs if all(pair)]
                    decided += [(*pair, 0) for pair in _rejected(pairs)]
                    for number, (a, b, answer) in enumerate(decided, 1):
                        shown = f"EXPERTS\n{a}\nGENERATED\n{b}"
                        name = f"{topic}/{metric}/{number}"
                        yield Item(path, name, metric, question, shown, answer)

    return read


def _rejected(pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield for each text of the experts the one most alike of the generated ones not paired."""
    for text in dict.fromkeys(a for a, _ in pairs if a):
        words = {*tokenize(text)}
        others = [b for _, b in pairs if b and (text, b) not in pairs]
        if others:
            shared = [
                len(words & {*tokenize(b)}) / len(words | {*tokenize(b)} or " ") for b in others
            ]
            yield text, others[shared.index(max(shared))]


_OF_A_MAP = {
    "accurate": "Does the tree represent the hierarchy of the figure? 1 yes, 0 no",
    "relevant": "Is the figure a knowledge mind-map of the survey's topic? 1 yes, 0 no",
}
"""The two judgements of ResearchArena, section 3.3 and Table 4."""


def _extracted(wanted: Wanted) -> Iterator[Item]:
    from arena_suites.maps.formats import render

    tasks = TaskSet(wanted.opened())
    for topic in tasks.topics.values():
        if (gold := tasks.mind_map(topic.id)) is not None:
            figure, caption = tasks.figure(topic.id)
            shown = (
                f"TOPIC\n{_about(topic, wanted)}\nFIGURE\n{figure or '(none)'}\n"
                f"{caption or '(no caption)'}\nMAP\n{render(gold, 'text')}"
            )
            picture = _picture(wanted.figures, topic.id, figure)
            for name, question in _OF_A_MAP.items():
                yield Item("corpus", topic.id, name, question, shown, 1, picture)


def read_abstracts(path: str) -> dict[str, str]:
    """Return id -> abstract of JSON lines of ``id``, or ``corpusid``, and ``abstract``."""
    rows = (row for _, _, row in json_lines(path) if row)
    return {str(row.get("id", row.get("corpusid"))): str(row.get("abstract") or "") for row in rows}


def _about(topic: Topic, wanted: Wanted) -> str:
    """Return title, id and, if it is known, abstract of a topic."""
    known = (topic.text, topic.id, wanted.abstracts.get(topic.id))
    return "\n".join(filter(None, known))


def _picture(figures: str | None, topic: str, figure: str | None) -> str:
    """Return a figure as HTML, or why it cannot be shown."""
    folder = folder_name(topic)
    if figure is None or folder is None:
        return "The map was not read from a figure."
    if figures is None:
        return "Name the folder of figures with --figures to see it here."
    try:
        return f'<img alt="{escape(figure)}" src="{data_url(Path(figures, folder, figure))}">'
    except DataError as error:
        return escape(f"{figure} {error}.")


def _selected(wanted: Wanted) -> Iterator[Item]:
    question = "Is this paper a survey of a field? 1 yes, 0 no"
    for topic in TaskSet(wanted.opened()).topics.values():
        shown = f"PAPER\n{_about(topic, wanted)}"
        yield Item("corpus", topic.id, "selected", question, shown, 1)


def _domains(wanted: Wanted) -> Iterator[Item]:
    question = "Is this the domain in which the subject of the topic is applied? 1 yes, 0 no"
    for topic in TaskSet(wanted.opened()).topics.values():
        if topic.domain:
            shown = f"TOPIC\n{_about(topic, wanted)}\nDOMAIN\n{topic.domain}"
            yield Item("corpus", topic.id, "domain", question, shown, 1)


KINDS: dict[str, Read] = {
    "mind-maps": _mind_maps,
    "statements": _statements,
    "matches": _pairs(_MATCHES, "Do both mean the same? 1 yes, 0 no"),
    "themes": _pairs({"tfsim": (0, 2)}, "Are both themes the same? 1 yes, 0 no"),
    "extracted": _extracted,
    "selected": _selected,
    "domains": _domains,
}
