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

from arena.agents import Known
from arena.encoders import make_encoder
from arena.mindmap import MindMap, read_mind_map
from arena.report import Report, ReportSection, read_report
from arena.report.recognised import find_citations
from arena.text.identifiers import title_key
from baselines.clustering import cluster
from baselines.organizer import arrange, likeness, paper_vectors
from baselines.random import random_tree
from benchmarks.report import table
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
    papers: list[Known]
    sections: list[str]


def samples(data: Path) -> list[Sample]:
    """Read surveys under `data`: ``bloom_eval/*/human`` and ``reports/HumanSurvey/*.md``.

    A paper without an abstract gets that of ``papers.jsonl.gz``, if there is one with its title.
    """
    drawn = []
    for name, report, listed in chain(_bloom_eval(data), _reports(data)):
        filed = {key: section for key, section in _filed(report).items() if key in listed}
        if len(filed) < _LEAST_PAPERS or len(set(filed.values())) < _LEAST_SECTIONS:
            continue
        for seed in range(_SAMPLES if len(filed) > _PAPERS else 1):
            chosen = random.Random(seed).sample(sorted(filed), min(_PAPERS, len(filed)))
            papers = [Known(key, listed[key][0], abstract=listed[key][1]) for key in chosen]
            drawn.append(Sample(name, report.title, papers, [filed[key] for key in chosen]))
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


def _bloom_eval(data: Path) -> Iterator[tuple[str, Report, dict[str, tuple[str, str]]]]:
    for folder in sorted(data.glob("bloom_eval/*/human")):
        records = list(json.loads((folder / "reference.json").read_text()).values())
        article = json.loads((folder / "expert_article.json").read_text())
        citations = find_citations(records, article["reference"], article["context"])
        text = write_article(article["title"], citations, [str(n) for n in range(len(records))])
        papers = {str(n): (of["title"], of.get("abs") or "") for n, of in enumerate(records)}
        yield folder.parent.name, read_report(text, ["pandoc"]), papers


def _reports(data: Path) -> Iterator[tuple[str, Report, dict[str, tuple[str, str]]]]:
    abstracts = {}
    with gzip.open(data / "papers.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            if record.get("abstract"):
                abstracts[title_key(record["title"])] = record["abstract"]
    for path in sorted(data.glob("reports/HumanSurvey/*.md")):
        report = read_report(path)
        yield (
            path.stem,
            report,
            {
                entry.key: (entry.title, abstracts.get(title_key(entry.title), ""))
                for entry in report.references
                if entry.text and entry.title
            },
        )


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
