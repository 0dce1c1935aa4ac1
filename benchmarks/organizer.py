"""Fit and test the agent ``organizer`` on the sections of surveys that people wrote.

A tree is a survey's sections with the papers that it cites there, of which at least 60 % of the
citations stand in one section. Sections that any survey has (introduction, future work) do not
count. Six samples of 50 papers are drawn of a tree, about as many as a survey of TaxoBench has.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import adjusted_rand_score

from arena.agents import Known
from arena.encoders import make_encoder
from arena.mindmap import MindMap, read_mind_map
from baselines.clustering import cluster
from baselines.organizer import arrange, likeness, paper_vectors
from baselines.random import random_tree
from benchmarks.report import table
from corpus_builder.records import title_key

_SAMPLES, _PAPERS = 6, 50
_LEAST_PAPERS, _LEAST_SECTIONS, _SHARE = 38, 6, 0.6
_ANY_SURVEY = re.compile(
    "intro|conclu|abstract|limitation|future|challenge|discussion|outlook|preliminar|summary|"
    "acknowledg|reference|appendix|perspective|background|organization|related|overview|"
    "open (problem|question|issue)|contribut|trend|timeline|opportunit",
    re.IGNORECASE,
)
_AUTHORS = r"([A-Z][\w'’´\-]+)(?: et al\.?,?|,? (?:and|&) [A-Z][\w'\-]+,?|,)?[\s;,(]*"
_YEAR = r"((?:19|20)\d\d)"
_NUMBERS = r"\d{1,4}(?:\s*[-–]\s*\d{1,4})?"


class Sample(NamedTuple):
    """Some papers of a survey, and the section in which it cites each."""

    survey: str
    topic: str
    papers: list[Known]
    sections: list[str]


def samples(data: Path) -> list[Sample]:
    """Read surveys under `data`: ``bloom_eval/*/human`` and ``reports/HumanSurvey/*.md``.

    A paper without an abstract gets that of ``papers.jsonl.gz``, if there is one with its title.
    """
    drawn = []
    for name, topic, text, listed in [*_bloom_eval(data), *_reports(data)]:
        filed = _filed(text, listed)
        if len(filed) < _LEAST_PAPERS or len(set(filed.values())) < _LEAST_SECTIONS:
            continue
        for seed in range(_SAMPLES if len(filed) > _PAPERS else 1):
            chosen = random.Random(seed).sample(sorted(filed), min(_PAPERS, len(filed)))
            papers = [Known(str(n), listed[n][0], abstract=listed[n][1]) for n in chosen]
            drawn.append(Sample(name, topic, papers, [filed[n] for n in chosen]))
    return drawn


class Memory:
    """An encoder that encodes each text once."""

    def __init__(self, name: str) -> None:
        self._encoder = make_encoder(name, {})
        self._known: dict[str, NDArray[np.float32]] = {}
        self.dimension, self.config = self._encoder.dimension, self._encoder.config

    def documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of texts, shape (n, dimension)."""
        new = sorted(set(texts) - self._known.keys())
        if new:
            self._known.update(zip(new, self._encoder.documents(new), strict=True))
        return np.stack([self._known[text] for text in texts])

    queries = documents


def measure(data: Path, encoder: str) -> dict[str, Any]:
    """Return the fitted constants, and the mean adjusted Rand index of each map by survey.

    ``left out`` is `organizer` with constants that were fitted on the other surveys alone.
    ``sections given`` files each paper under the section whose other papers have the nearest mean.
    """
    drawn, model = samples(data), Memory(encoder)
    pairs = []
    scores: dict[str, dict[str, list[float]]] = {}
    for sample in drawn:
        vectors = paper_vectors(sample.papers, model)
        upper = np.triu_indices(len(sample.papers), 1)
        names = np.array(sample.sections)
        pairs.append((likeness(vectors, sample.papers)[upper], (names[:, None] == names)[upper]))
    for number, sample in enumerate(drawn):
        rest = [pair for pair, of in zip(pairs, drawn, strict=True) if of.survey != sample.survey]
        slope, bias = _fit(rest)
        maps = {
            "random": read_mind_map(
                random_tree(sample.papers, sample.topic, random.Random(number))
            )[0],
            "clustering": cluster(sample.papers, sample.topic, encoder=model),
            "organizer": arrange(sample.papers, sample.topic, encoder=model),
            "left out": arrange(sample.papers, sample.topic, encoder=model, slope=slope, bias=bias),
        }
        places: dict[str, Sequence[Any]] = {
            name: _places(tree, sample.papers) for name, tree in maps.items()
        }
        places["sections given"] = _nearest(paper_vectors(sample.papers, model), sample.sections)
        for name, place in places.items():
            score = float(adjusted_rand_score(sample.sections, place))
            scores.setdefault(name, {}).setdefault(sample.survey, []).append(score)
    slope, bias = _fit(pairs)
    means = {
        name: {survey: float(np.mean(values)) for survey, values in of.items()}
        for name, of in scores.items()
    }
    return {"encoder": encoder, "slope": slope, "bias": bias, "ari": means}


def show(results: dict[str, Any]) -> str:
    """Return a Markdown table of the means over surveys."""
    title = "{encoder}: slope {slope:.3f}, bias {bias:.3f}".format_map(results)
    rows = [(name, float(np.mean(list(of.values())))) for name, of in results["ari"].items()]
    return table(title, ("map", "ARI"), rows)


def _fit(pairs: list[tuple[NDArray[Any], NDArray[Any]]]) -> tuple[float, float]:
    alike = np.concatenate([values for values, _ in pairs])[:, None]
    weights = np.concatenate([np.full(len(same), 1e3 / len(same)) for _, same in pairs])
    model = LogisticRegression().fit(
        alike, np.concatenate([same for _, same in pairs]), sample_weight=weights
    )
    return float(model.coef_[0, 0]), float(model.intercept_[0])


def _places(tree: MindMap, papers: list[Known]) -> list[int]:
    place = {paper: number for number, node in enumerate(tree.nodes()) for paper in node.papers}
    return [place[paper.id] for paper in papers]


def _nearest(vectors: NDArray[np.float64], sections: list[str]) -> list[str]:
    centred = vectors - vectors.mean(axis=0)
    names, nearest = np.array(sections), []
    for paper, vector in enumerate(centred):
        others = np.arange(len(names)) != paper
        means = {
            name: centred[others & (names == name)].mean(axis=0) for name in set(names[others])
        }
        nearest.append(
            max(sorted(means), key=lambda n: vector @ means[n] / np.linalg.norm(means[n]))
        )
    return nearest


Listed = dict[int, tuple[str, str, str, str]]
"""Title, abstract, first author and year of the reference of each number."""


def _bloom_eval(data: Path) -> Iterator[tuple[str, str, str, Listed]]:
    for folder in sorted(data.glob("bloom_eval/*/human")):
        listed = {}
        for key, record in json.loads((folder / "reference.json").read_text()).items():
            author, *_ = record.get("authors") or [""]
            year, *_ = [*re.findall(_YEAR, str(record.get("date"))), ""]
            if record.get("title"):
                listed[int(key.split("_")[1])] = (
                    record["title"], record.get("abs") or "", author, year
                )  # fmt: skip
        text = "\n".join(json.loads((folder / "content.json").read_text()))
        topic = json.loads((folder / "expert_article.json").read_text())["title"]
        yield folder.parent.name, topic, text, listed


def _reports(data: Path) -> Iterator[tuple[str, str, str, Listed]]:
    abstracts = {}
    with gzip.open(data / "papers.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            if record.get("abstract"):
                abstracts[title_key(record["title"])] = record["abstract"]
    for path in sorted(data.glob("reports/HumanSurvey/*.md")):
        text, _, references = path.read_text(encoding="utf-8").rpartition("## R")
        entries = dict(enumerate(_entries(references)))
        if "[1]" in references[:20]:
            parts = re.split(r"\[(\d+)\]\s", references)
            entries = {int(n): e for n, e in zip(parts[1::2], parts[2::2], strict=True)}
        listed: Listed = {}
        for number, entry in entries.items():
            entry = re.sub(r"(\w)- (\w)", r"\1-\2", " ".join(entry.split()))
            title = (
                re.search(r'[“"](.+?)[,.?]?[”"]', entry)
                or re.search(rf"\b{_YEAR[1:-1]}[a-z]?\. (.+?[.?!])\s", f"{entry} ")
                or re.search(r"[a-z)\]]\. ([A-Z].{12,}?)[.?] ", entry)
            )
            if title and 12 <= len(title[1]) <= 250:
                years, author = (
                    re.findall(_YEAR, entry),
                    re.match(r"[^,.]*?([\w'’-]+)(?:,| and |\.)", entry),
                )
                listed[number] = (
                    title[1].rstrip("."), abstracts.get(title_key(title[1]), ""),
                    author[1] if author else "", years[-1] if years else "",
                )  # fmt: skip
        yield path.stem, text.lstrip("# ").partition("\n")[0], text, listed


def _entries(references: str) -> Iterator[str]:
    for paragraph in re.split(r"\n\s*\n", references):
        many = len(paragraph) > 400
        yield from re.split(r"(?<=\d{4}\.)\s(?=[A-Z])", paragraph) if many else [paragraph]


def _filed(text: str, listed: Listed) -> dict[int, str]:
    """Return the section of each paper; of three styles of citation the most frequent counts."""
    counts: dict[int, Counter[str]] = {}
    pieces = re.split(r"(?m)^(#+) +(.*)$", text)
    path: list[tuple[int, str]] = []
    styles = [list(style(text, listed)) for style in _STYLES]
    cited = _STYLES[max(range(3), key=lambda n: len(styles[n]))]
    for marks, heading, body in zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True):
        path = [*(above for above in path if above[0] < len(marks)), (len(marks), heading.strip())]
        names = [name for _, name in path]
        if any(map(_ANY_SURVEY.search, names[1:] or names)):
            continue
        for number in cited(body, listed):
            counts.setdefault(number, Counter())[" / ".join(names[1:] or names)] += 1
    common = {number: count.most_common(1)[0] for number, count in counts.items()}
    return {n: s for n, (s, times) in common.items() if times >= _SHARE * counts[n].total()}


def _numbers(text: str, listed: Listed, left: str = r"\[", right: str = r"\]") -> Iterator[int]:
    for group in re.findall(rf"{left}({_NUMBERS}(?:\s*[,;]\s*{_NUMBERS})*){right}", text):
        for part in re.split(r"[,;]", group):
            first, *last = map(int, re.split("[-–]", part))
            yield from (n for n in range(first, (last or [first])[0] + 1) if n in listed)


def _in_parentheses(text: str, listed: Listed) -> Iterator[int]:
    return _numbers(text, listed, r"\(", r"\)")


def _names(text: str, listed: Listed) -> Iterator[int]:
    known = {
        (title_key(name), year): number
        for number, (_, _, author, year) in reversed(listed.items())
        for name in author.split()
    }
    for match in re.finditer(rf"{_AUTHORS}({_YEAR}[a-z]?(?:, ?{_YEAR}[a-z]?|, ?[a-z]\b)*)", text):
        for year in re.findall(_YEAR, match[2]):
            if (title_key(match[1]), year) in known:
                yield known[title_key(match[1]), year]


_STYLES = (_numbers, _in_parentheses, _names)
