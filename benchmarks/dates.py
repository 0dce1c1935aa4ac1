"""What a date filter that knows the answer buys, and what deleting later papers changes."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from arena.corpus import Corpus, layout, search_batch
from arena.errors import DataError
from arena.kit.files import atomic_write, read_json
from arena.kit.plots import COLOURS, draw
from arena.metrics import evaluate
from arena.results.comparison.comparing import bootstrap
from arena.runs.directory import OpenedRun
from arena.tasks import TaskSet
from arena.trec import read_qrels, read_run
from benchmarks.report import Results, table
from corpus_builder.build import build
from corpus_builder.files import read_rows
from corpus_builder.index import build_index
from corpus_builder.sources.jsonl import JsonLines

METRICS = ["recall@10", "recall@20", "recall@100", "f1@10", "ndcg@10"]
COLUMNS = ["other papers", "papers or scores", "a paper not in reach", "hits, mean"]
SYSTEMS = ["bm25", "dense", "hybrid(bm25,dense)", "lucene"]
SYSTEMS += [f"{name}, statistics of all papers" for name in ("bm25", "lucene")]
FILTERS: dict[str, tuple[Callable[[str, str], bool], bool]] = {
    "bm25s, weight_mask": (lambda date, day: "" < date < day, True),
    "bm25s, filtered after its top": (lambda date, day: "" < date < day, False),
    "bm25s, by month": (lambda date, day: "" < date[:7] <= day[:7], True),
    "bm25s, undated papers kept": (lambda date, day: date < day, True),
}
"""Name -> whether it keeps a date, "" if there is none; whether bm25s knows of it."""
K = 100
Hits = list[dict[str, float]]


def measure(
    *,
    pair: dict[str, str] | None = None,
    agents: tuple[str, ...] = ("title", "phrases", "scout"),
    figure: str | None = None,
    filters: str | None = None,
    tasks: str | None = None,
    day: str = "2020-06-15",
) -> Results:
    """Compare experiments as of the true day and of a leaked month; try date filters.

    Args:
        pair (NAME=TRUE,LEAKED): Questions, and the folders of two experiments with them.
        agents (NAMES): Agents of the experiments to compare.
        figure (FILE): Write the differences by recall@100 as SVG.
        filters (CORPUS): Search this corpus, and one without its later papers.
        tasks (TASKS): Search for these topics instead of those of the corpus.
        day: The first day of the later papers.
    """
    rows = [row for each in (pair or {}).items() for row in _compare(*each, agents)]
    if not rows and (figure or not filters):
        raise DataError("there is no finished run to compare. Give --pair or --filters.")
    if figure:
        atomic_write(figure, draw(lambda axes: _paint(axes, rows), 7, 3)["svg"])
    tried = list(_try_filters(Corpus.open(filters, tasks=tasks), day)) if filters else []
    return {"differences": rows, "filters": tried, "day": day}


def _compare(name: str, folders: str, agents: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield both means, their difference and its interval by each metric, for each agent's run."""
    both = [Path(folder) for folder in folders.split(",")]
    if len(both) != 2 or not all((place / "experiment.json").is_file() for place in both):
        raise DataError(f"--pair {name}={folders}: give two folders of `arena experiment`.")
    runs = read_json(both[0] / "experiment.json")["config"]["runs"]
    runs = {k: r for k, r in runs.items() if all((b / k / "metrics.json").is_file() for b in both)}
    for agent, key in ((a, key) for a in agents for key in runs if runs[key]["agent"] == a):
        (before, gold), (after, same) = (_scores(place / key) for place in both)
        if gold != same or len(gold) < 2:
            raise DataError(f"{name}, {key}: give experiments with the same two or more questions.")
        means = [scores.mean(0) for scores in (before, after, after - before)]
        figures = np.column_stack([*means, np.array(bootstrap(after - before, 0.95))]).tolist()
        row = {"questions": name, "n": len(gold), "agent": f"{agent}, {runs[key]['retriever']}"}
        yield row | dict(zip(METRICS, figures, strict=True))


def _scores(directory: Path) -> tuple[Any, dict[str, dict[str, int]]]:
    """Return the scores of a run, one row a question and one column a metric, and its labels."""
    OpenedRun(directory).refuse_changed("run.trec", "qrels.trec")
    gold, file = read_qrels(directory / "qrels.trec"), directory / "run.trec"
    run = read_run(file) if file.stat().st_size else {}
    found = [evaluate([p for p, _ in run.get(q, [])], gold[q], METRICS) for q in sorted(gold)]
    return np.array([list(scores.values()) for scores in found]), gold


def _paint(axes: Any, rows: Sequence[dict[str, Any]]) -> None:
    """Draw the differences by recall@100, with their intervals, as bars."""
    sets, agents = (list(dict.fromkeys(row[key] for row in rows)) for key in ("questions", "agent"))
    for place, agent in enumerate(agents):
        drawn = [row for row in rows if row["agent"] == agent]
        offset = (place - (len(agents) - 1) / 2) * 0.8 / len(agents)
        _, _, y, low, high = np.transpose([row["recall@100"] for row in drawn])
        x = [sets.index(row["questions"]) + offset for row in drawn]
        look = {"color": COLOURS[place % len(COLOURS)], "label": agent, "capsize": 3}
        axes.bar(x, y, 0.76 / len(agents), yerr=[y - low, high - y], **look)
    axes.set(ylabel="gain of recall@100", xticks=range(len(sets)), xticklabels=sets)
    axes.legend()


def _try_filters(corpus: Corpus, day: str) -> Iterator[dict[str, Any]]:
    """Yield for each filter which shares of the queries change when later papers are deleted."""
    view, queries = corpus.at(day), sorted({s.title for s in TaskSet(corpus).surveys.values()})
    columns = ("id", "title", "abstract", "date", "is_survey")
    rows = read_rows(corpus.directory / layout.PAPERS, columns)
    papers = [(i, f"{t} {a}", str(date or "")) for i, t, a, date, survey in rows if not survey]
    usable = {"bm25", "dense", *["lucene"] * bool(find_spec("jnius"))}
    engines = usable & corpus.manifest["indexes"].keys()
    names = [name for name in SYSTEMS if set(re.findall("bm25|dense|lucene", name)) <= engines]
    with tempfile.TemporaryDirectory(prefix="arena-dates-") as place:
        with Path(place, "papers").open("w") as file:
            for paper in (view.paper(name) for name, *_ in papers if name in view):
                record = {key: getattr(paper, key) for key in ("id", "title", "abstract", "date")}
                record["sections"] = [section._asdict() for section in view.sections(paper.id)]
                print(json.dumps(record), file=file)
        build(JsonLines(Path(place, "papers")), Path(place, "cut"), engines=())
        for name in sorted(engines):
            index = read_json(layout.index_directory(corpus.directory, name) / layout.MANIFEST)
            build_index(Path(place, "cut"), name, fields=index["fields"], options=index["options"])
        cut = Corpus.open(Path(place, "cut"))
        found = [[_ours(each, day, name, queries) for name in names] for each in (corpus, cut)]
    if find_spec("bm25s"):
        names += FILTERS
        found[0] += _bm25s(papers, view.cutoff, queries)
        found[1] += _bm25s([each for each in papers if each[2] < view.cutoff], view.cutoff, queries)
    for name, *both in zip(names, *found, strict=True):
        hits = zip(*both, strict=True)
        changes = [({*a} != {*b}, a != b, any(p not in view for p in a), len(a)) for a, b in hits]
        means = np.mean(changes, axis=0).tolist()
        yield {"engine and filter": name} | dict(zip(COLUMNS, means, strict=True))


def _ours(corpus: Corpus, day: str, name: str, queries: list[str]) -> Hits:
    name, _, whole = name.partition(", ")
    retriever = corpus.retriever(name, **{"statistics": "corpus"} if whole else {})
    found = search_batch([(corpus.at(day, (), retriever), query, K) for query in queries])
    return [{hit.id: hit.score for hit in hits} for hits in found]


def _bm25s(papers: list[tuple[str, str, str]], day: str, queries: list[str]) -> Iterator[Hits]:
    """Yield what bm25s, as people use it, finds with each of `FILTERS`."""
    import bm25s
    import Stemmer

    how: Any = {"stopwords": "en", "stemmer": Stemmer.Stemmer("english"), "show_progress": False}
    engine: Any = bm25s.BM25()
    engine.index(bm25s.tokenize([text for _, text, _ in papers], **how), show_progress=False)
    asked: Any = bm25s.tokenize(queries, return_ids=False, **how)
    for keeps, inside in FILTERS.values():
        kept = np.array([keeps(date, day) for *_, date in papers])
        mask = kept.astype(np.float32) if inside else None
        found = engine.retrieve(asked, k=min(K, len(papers)), weight_mask=mask, show_progress=False)
        hits = (zip(*of, strict=True) for of in zip(*found, strict=True))
        yield [{papers[i][0]: score for i, score in of if score > 0 and kept[i]} for of in hits]


def show(results: Results) -> str:
    """Return the tables in Markdown."""
    cell, compared = "{:.3f} → {:.3f}: {:+.3f} ({:+.3f} to {:+.3f})", results["differences"]
    days = [r | {m: cell.format(*r[m]).replace("0.", ".") for m in METRICS} for r in compared]
    day = results["day"]
    tables = {
        "True day → leaked month: difference (paired 95 % interval)": days,
        f"Share of queries whose top {K} changes without papers from {day} on": results["filters"],
    }
    texts = (table(t, [*of[0]], [[*row.values()] for row in of]) for t, of in tables.items() if of)
    return "\n\n".join(texts)
