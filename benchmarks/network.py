"""Who cites whom in a corpus, as numbers alone: what worlds are fitted to."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np

from arena.text import analyze
from benchmarks.report import Results, table
from corpus_builder.files import read_rows

_LEAST = 10  # references of a paper that is a task
_PAIRS = 8000  # links whose titles are compared


def measure(*, corpora: tuple[str, ...], before: str = "9999-01-01") -> Results:
    """Measure the citations in built corpora that lead to a paper of an earlier day.

    Args:
        corpora: Built corpora.
        before: Papers from this day on are left out, as surveys and papers without a date are.
    """
    return {"corpora": {name: statistics(Path(name), before) for name in corpora}}


def statistics(corpus: Path, before: str) -> dict[str, float]:
    """Return the statistics of a corpus; ages are in years, all others but counts are shares."""
    rows = read_rows(corpus / "papers.parquet", ("title", "date", "is_survey"))
    papers = {
        number: (date, frozenset(analyze(title)))
        for number, (title, date, is_survey) in enumerate(rows)
        if date and str(date) < before and not is_survey
    }
    cites: dict[int, set[int]] = defaultdict(set)
    for one, other in read_rows(corpus / "references.parquet", ("document", "cited")):
        if one in papers and other in papers and papers[other][0] < papers[one][0]:
            cites[one].add(other)
    links = [(one, other) for one, cited in cites.items() for other in sorted(cited)]
    received = Counter(other for _, other in links)
    counts = np.sort([received[number] for number in papers])
    tasks = [cited for cited in cites.values() if len(cited) >= _LEAST]
    hubs = Counter(other for cited in tasks for other in cited)
    inner = [[{a, b} for a in cited for b in cited & cites.get(a, set())] for cited in tasks]
    ages = [(papers[one][0] - papers[other][0]).days / 365.25 for one, other in links]
    known = Counter(word for _, words in papers.values() for word in words)
    weight = {word: math.log((len(papers) + 1) / (n + 0.5)) ** 2 for word, n in known.items()}

    def cosine(one: int, other: int) -> float:
        words = papers[one][1], papers[other][1]
        lengths = [sum(weight[w] for w in sorted(of)) ** 0.5 or 1.0 for of in words]
        return sum(weight[w] for w in sorted(words[0] & words[1])) / lengths[0] / lengths[1]

    rng = np.random.default_rng(0)
    alike = [cosine(*links[at]) for at in rng.choice(len(links), min(_PAIRS, len(links)), False)]
    return {
        "papers": len(papers),
        "links a paper": len(links) / len(papers),
        "papers with 10 references": len(tasks) / len(papers),
        "uncited": float((counts == 0).mean()),
        "received, Gini": float(np.arange(1 - len(counts), len(counts), 2) @ counts)
        / len(counts)
        / len(links),
        "received by the top 1%": counts[-len(counts) // 100 :].sum() / len(links),
        "received by the top 10%": counts[-len(counts) // 10 :].sum() / len(links),
        "tasks that cite the top hub": max(hubs.values()) / len(tasks),
        **{f"age, {q}th percentile": float(np.percentile(ages, q)) for q in (10, 25, 50, 75, 90)},
        "references that cite each other": float(
            np.mean([len(set().union(*a)) / len(b) for a, b in zip(inner, tasks, strict=True)])
        ),
        "their density": float(
            np.mean([2 * len(a) / len(b) / (len(b) - 1) for a, b in zip(inner, tasks, strict=True)])
        ),
        "words along links, cosine": float(np.mean(alike)),
        "links without a shared word": float(np.mean(np.array(alike) == 0)),
    }


def show(results: Results) -> str:
    """Return the statistics as a table, a column for each corpus."""
    columns = results["corpora"]
    names = next(iter(columns.values()))
    rows = [(name, *(column[name] for column in columns.values())) for name in names]
    return table("who cites whom", ("", *columns), rows)
