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
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import adjusted_rand_score

from arena.agents import KnownPaper
from arena.encoders import make_encoder
from arena.mindmap import MindMap, read_mind_map
from arena.report import Report, ReportSection, read_report
from arena.report.recognised import find_citations
from arena.text.identifiers import title_key
from baselines.clustering import cluster
from baselines.organizer import arrange, likeness, paper_vectors
from baselines.random import random_tree
from benchmarks.report import Results, table
from corpus_builder.sources.bloom_eval import write_article

_SAMPLES, _PAPERS = 6, 50
_LEAST_PAPERS, _LEAST_SECTIONS, _SHARE = 38, 6, 0.6
_ANY_SURVEY = re.compile(
    "intro|conclu|abstract|limitation|future|challenge|discussion|outlook|preliminar|summary|"
    "acknowledg|reference|appendix|perspective|background|organization|related|overview|"
    "open (problem|question|issue)|contribut|trend|timeline|opportunit",
    re.IGNORECASE,
)


class Sample(NamedTuple):
    """Some papers of a survey, and the section in which it cites each."""

    survey: str
    topic: str
    papers: list[KnownPaper]
    sections: list[str]


Survey = tuple[str, Report, dict[str, tuple[str, str]]]
"""Name, sections, and title and abstract of each reference by key."""


class CachedEncoder:
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


def measure(*, data: str, encoder: str = "minilm") -> Results:
    """Fit and test the agent organizer on real surveys.

    A paper without an abstract gets that of ``papers.jsonl.gz``, if there is one with its title.

    Args:
        data (DIR): Surveys: bloom_eval/*/human, reports/HumanSurvey/*.md and papers.jsonl.gz.
        encoder (NAME): Encoder of titles and abstracts.

    Returns:
        ``slope`` and ``bias``, the fitted constants, and ``ari``: of each map the mean adjusted
        Rand index by survey. ``left out`` is `organizer` with constants that were fitted on the
        other surveys alone. ``sections given`` files each paper under the section whose other
        papers have the nearest mean.
    """
    place, model = Path(data), CachedEncoder(encoder)
    samples = [each for survey in chain(_bloom_eval(place), _reports(place))
               for each in _samples(*survey)]  # fmt: skip
    pairs = [_pairs(sample, model) for sample in samples]
    scores: dict[str, dict[str, list[float]]] = {}
    for number, sample in enumerate(samples):
        papers, topic = sample.papers, sample.topic
        rest = [of for of, other in zip(pairs, samples, strict=True)
                if other.survey != sample.survey]  # fmt: skip
        slope, bias = _fit(rest)
        maps = {
            "random": read_mind_map(random_tree(papers, topic, random.Random(number)))[0],
            "clustering": cluster(papers, topic, encoder=model),
            "organizer": arrange(papers, topic, encoder=model),
            "left out": arrange(papers, topic, encoder=model, slope=slope, bias=bias),
        }
        filed: dict[str, list[Any]] = {name: _places(tree, papers) for name, tree in maps.items()}
        filed["sections given"] = _nearest(paper_vectors(papers, model), sample.sections)
        for name, found in filed.items():
            score = float(adjusted_rand_score(sample.sections, found))
            scores.setdefault(name, {}).setdefault(sample.survey, []).append(score)
    slope, bias = _fit(pairs)
    means = {
        name: {survey: float(np.mean(values)) for survey, values in of.items()}
        for name, of in scores.items()
    }
    return {"slope": slope, "bias": bias, "ari": means}


def show(results: Results) -> str:
    """Return a Markdown table of the means over surveys."""
    fitted = f"slope {results['slope']:.3f}, bias {results['bias']:.3f}"
    rows = [(name, float(np.mean(list(of.values())))) for name, of in results["ari"].items()]
    return table(f"{results['settings']['encoder']}: {fitted}", ("map", "ARI"), rows)


def _samples(name: str, report: Report, papers: dict[str, tuple[str, str]]) -> Iterator[Sample]:
    """Draw samples of a survey; none if it cites too few papers or has too few sections."""
    filed = {key: section for key, section in _filed(report).items() if key in papers}
    if len(filed) < _LEAST_PAPERS or len(set(filed.values())) < _LEAST_SECTIONS:
        return
    for seed in range(_SAMPLES if len(filed) > _PAPERS else 1):
        chosen = random.Random(seed).sample(sorted(filed), min(_PAPERS, len(filed)))
        known = [KnownPaper(key, papers[key][0], abstract=papers[key][1]) for key in chosen]
        yield Sample(name, report.title, known, [filed[key] for key in chosen])


def _pairs(sample: Sample, model: CachedEncoder) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return of each pair of papers the likeness, and whether they are in one section."""
    upper, names = np.triu_indices(len(sample.papers), 1), np.array(sample.sections)
    alike = likeness(paper_vectors(sample.papers, model), sample.papers)
    return alike[upper], (names[:, None] == names)[upper]


def _fit(pairs: list[tuple[NDArray[Any], NDArray[Any]]]) -> tuple[float, float]:
    alike = np.concatenate([values for values, _ in pairs])[:, None]
    weights = np.concatenate([np.full(len(same), 1e3 / len(same)) for _, same in pairs])
    model = LogisticRegression().fit(
        alike, np.concatenate([same for _, same in pairs]), sample_weight=weights
    )
    return float(model.coef_[0, 0]), float(model.intercept_[0])


def _places(tree: MindMap, papers: list[KnownPaper]) -> list[int]:
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


def _bloom_eval(data: Path) -> Iterator[Survey]:
    for folder in sorted(data.glob("bloom_eval/*/human")):
        records = list(json.loads((folder / "reference.json").read_text()).values())
        article = json.loads((folder / "expert_article.json").read_text())
        citations = find_citations(records, article["reference"], article["context"])
        text = write_article(article["title"], citations, [str(n) for n in range(len(records))])
        papers = {str(n): (of["title"], of.get("abs") or "") for n, of in enumerate(records)}
        yield folder.parent.name, read_report(text, ["pandoc"]), papers


def _reports(data: Path) -> Iterator[Survey]:
    abstracts = {}
    with gzip.open(data / "papers.jsonl.gz", "rt", encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            if record.get("abstract"):
                abstracts[title_key(record["title"])] = record["abstract"]
    for path in sorted(data.glob("reports/HumanSurvey/*.md")):
        report = read_report(path)
        listed = [entry for entry in report.references if entry.text and entry.title]
        papers = {of.key: (of.title, abstracts.get(title_key(of.title), "")) for of in listed}
        yield path.stem, report, papers


def _filed(report: Report) -> dict[str, str]:
    """Return the section of each reference that has one, by key."""
    counts: dict[str, Counter[str]] = {}
    path: list[ReportSection] = []
    names = []
    for section in report.sections:
        numbered = section.heading[:1].isdigit()  # "1 Introduction" is not below "Abstract"
        path = [
            above
            for above in path
            if above.level < section.level and numbered <= above.heading[:1].isdigit()
        ]
        path.append(section)
        names.append([above.heading for above in path])
    for statement in report.statements:
        of = names[statement.section]
        if not any(map(_ANY_SURVEY.search, of)):
            for key in statement.citations:
                counts.setdefault(key, Counter())[" / ".join(of)] += 1
    common = {key: count.most_common(1)[0] for key, count in counts.items()}
    return {k: s for k, (s, times) in common.items() if times >= _SHARE * counts[k].total()}
