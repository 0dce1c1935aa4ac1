"""A made-up field of science: subjects, papers, references, surveys and their gold mind-maps.

>>> synthetic = SyntheticCorpus(SyntheticConfig(papers=60, surveys=2))
>>> len(list(synthetic.papers())), len(list(synthetic.surveys()))
(60, 2)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_builder.synthetic._config import PAPERS_PER_SURVEY, SyntheticConfig
from corpus_builder.synthetic._network import cite_measured
from corpus_builder.synthetic._surveys import SurveyPlanner, article, mind_map, outline, prompts
from corpus_builder.synthetic._timeline import MAX_REFERENCES, Timeline, cite
from corpus_builder.synthetic.language import DRAWS, SubjectTree, Text, Writer, authors

__all__ = ["PAPERS_PER_SURVEY", "SyntheticConfig", "SyntheticCorpus"]

Record = dict[str, Any]

_BLOCK = 512  # papers whose random numbers are drawn at once; part of what a seed means
_OTHER_SURVEYS = 400  # one more survey paper, without gold, for this many papers
_PURPOSE = 6


class SyntheticCorpus:
    """A made-up field of science: the same configuration always gives the same records.

    Building one decides who cites whom and what each survey covers, and keeps about 200 bytes of
    every paper; texts are written while iterating, in an order independent of subject and date.
    """

    def __init__(self, config: SyntheticConfig) -> None:
        others = 1 + config.papers // _OTHER_SURVEYS
        self.config = config
        self._tree = SubjectTree(config)
        self._timeline = Timeline(config, self._tree, config.surveys + others)
        self._cited = (cite if config.citations == "even" else cite_measured)(
            config, self._tree, self._timeline
        )
        citations = np.bincount(self._cited[self._cited >= 0], minlength=config.papers)
        planner = SurveyPlanner(config, self._tree, self._timeline, citations)
        self._surveys = planner.plan(config.surveys, others)

    def papers(self) -> Iterator[Record]:
        """Yield ``config.papers`` paper records, survey papers included, from the start each time.

        A record has the keys id, title, abstract, date (``YYYY-MM-DD``, ``YYYY-MM``, ``YYYY`` or
        None), sections (heading and text), references (id and whether influential; cited papers are
        dated before the citing one), is_survey, fields, venue and authors.
        """
        config, tree = self.config, self._tree
        writer = Writer(config, tree)
        planned = {survey.index: survey for survey in self._surveys}
        for start in range(0, config.papers, _BLOCK):
            draws, shares, marks = (drawn.tolist() for drawn in self._draw(start // _BLOCK))
            who = range(start, min(start + _BLOCK, config.papers))
            leaves = self._timeline.leaf[start : start + _BLOCK]
            chains = np.stack([tree.ancestors(leaves, k) for k in range(tree.depth + 1)], axis=1)
            typical = self._timeline.typical[start : start + _BLOCK].tolist()
            cited = self._cited[start : start + _BLOCK].tolist()
            for row, (index, chain) in enumerate(zip(who, chains.tolist(), strict=True)):
                survey = planned.get(index)
                if survey is None:
                    text = writer.paper(chain, typical[row], draws[row], shares[row])
                    references = dict(zip(cited[row], marks[row], strict=True))
                    references.pop(-1, None)
                else:
                    text = writer.survey(survey.title, survey.subject, draws[row])
                    references = survey.references
                yield self._record(index, text, references, survey is not None, draws[row][-1])

    def surveys(self) -> Iterator[Record]:
        """Yield ``config.surveys`` survey records, from the start each time.

        A record has the keys id, title, date (``YYYY-MM-DD``), references (all dated before the
        survey), n_references_total (at least as many: real reference lists too name papers that a
        corpus lacks) and mind_map: nested nodes of name, subtopics and papers, the root named by
        the survey's subject. Each reference is filed under exactly one node; those from outside the
        subject under "Related Areas".
        Further keys are prompts, outline (the mind-map without papers), article (Markdown that
        cites every reference once, in the order of the mind-map) and cluster (the subject, which
        several surveys of one synthetic corpus treat).
        """
        for survey in self._surveys[: self.config.surveys]:
            tree = mind_map(survey, self._tree, self._timeline)
            yield {
                "id": self._timeline.paper_id(survey.index),
                "title": survey.title,
                "date": self._timeline.date(survey.index),
                "references": self._references(survey.references),
                "n_references_total": survey.total,
                "mind_map": tree,
                "prompts": prompts(survey, self._tree, self._timeline),
                "outline": outline(tree),
                "article": article(survey.title, tree),
                "cluster": tree["name"],
            }

    def _draw(
        self, block: int
    ) -> tuple[NDArray[np.uint32], NDArray[np.float64], NDArray[np.bool_]]:
        """Return the random numbers of a block: for texts, for their kinds, influential marks."""
        config = self.config
        rng = config.rng(_PURPOSE, block)
        draws = rng.integers(0, 1 << 32, (_BLOCK, DRAWS), dtype=np.uint32)
        shares = rng.random((_BLOCK, self._tree.depth + 5))
        marks: NDArray[np.bool_] = rng.random((_BLOCK, MAX_REFERENCES)) < config.influential
        return draws, shares, marks

    def _record(
        self, index: int, text: Text, references: dict[int, bool], is_survey: bool, draw: int
    ) -> Record:
        field = self._tree.field
        return {
            "id": self._timeline.paper_id(index),
            **text,
            "date": self._timeline.date(index),
            "references": self._references(references),
            "is_survey": is_survey,
            "fields": [field],
            "venue": f"Journal of Made-Up {field}",
            "authors": authors(draw),
        }

    def _references(self, references: dict[int, bool]) -> list[Record]:
        """Return references in the order of their ids, which are random."""
        named = sorted((self._timeline.paper_id(i), mark) for i, mark in references.items())
        return [{"id": name, "influential": mark} for name, mark in named]
