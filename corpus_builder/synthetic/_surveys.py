"""The surveys of a synthetic corpus: their subjects, dates, references and gold mind-maps."""

from __future__ import annotations

import calendar
import datetime as dt
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.errors import DataError
from corpus_builder.synthetic import language as say
from corpus_builder.synthetic._config import SyntheticConfig
from corpus_builder.synthetic._timeline import Timeline
from corpus_builder.synthetic.language import IntArray, SubjectTree

_ELIGIBLE = 62  # papers of the subject that a survey waits for before it is written
_SHARE = (0.62, 0.88)  # of the subject's papers before the cutoff are cited
_MOST = 90  # references
_LEAST = 5  # references, where there are as many papers
_PERIOD = ((0.55, 1.0), (0.4, 0.55))  # when surveys appear, as part of the period
_EARLY = 0.1  # share of the surveys that appear in the second of these
_LEAST_TYPICAL = 0.2  # weight of the least typical papers; that of the most typical is 1
_OFF_TOPIC_WEIGHT = 0.3  # off-topic references are seldom influential
_NEIGHBOUR_SHARE = 0.6  # of the off-topic references; the others come from anywhere
_ANYWHERE = 400  # papers drawn to choose those others from
_PURPOSE = 5
_PARTS = 4  # of a subject, in prompts
_CITED_TOGETHER = 3  # papers, in articles


@dataclass(frozen=True)
class PlannedSurvey:
    """A planned survey paper; `references` maps indices of papers to whether they are influential.

    `off_topic` is the part of the references that lies outside the subject, and `total` the number
    of references including those that the corpus lacks.
    """

    index: int
    subject: int
    title: str
    total: int
    references: dict[int, bool]
    off_topic: frozenset[int]


class SurveyPlanner:
    """Chooses what each survey treats and cites; sets its day in the timeline."""

    def __init__(
        self, config: SyntheticConfig, tree: SubjectTree, timeline: Timeline, citations: IntArray
    ) -> None:
        self._config, self._tree, self._timeline = config, tree, timeline
        self._weight = (1.0 + citations) * (_LEAST_TYPICAL + timeline.typical)
        self._by_level: dict[int, tuple[IntArray, IntArray]] = {}
        self._repeats: dict[int, int] = {}

    def plan(self, count: int, others: int) -> list[PlannedSurvey]:
        """Plan `count` surveys at the survey level and `others` one level below it if possible."""
        tree = self._tree
        rng = self._config.rng(_PURPOSE)
        lower = min(tree.survey_level + 1, tree.depth)
        tasks = self._subjects(rng, tree.survey_level, count)
        tasks += [
            subject
            if len(self._papers_of(subject)) >= _LEAST
            else tree.above(subject, tree.survey_level)
            for subject in self._subjects(rng, lower, others)
        ]
        pairs = zip(self._timeline.surveys.tolist(), tasks, strict=True)
        return [
            self._survey(self._config.rng(_PURPOSE, k), index, subject)
            for k, (index, subject) in enumerate(pairs, 1)
        ]

    def _subjects(self, rng: np.random.Generator, level: int, count: int) -> list[int]:
        order = rng.permutation(self._tree.size[level]) + self._tree.first[level]
        return [int(subject) for subject in np.resize(order, count)]

    def _papers_of(self, subject: int) -> IntArray:
        """Return the citable papers below a subject."""
        level = self._tree.level_of(subject)
        if level not in self._by_level:
            who = np.flatnonzero(self._timeline.citable)
            group = self._tree.ancestors(self._timeline.leaf[who], level)
            order = np.argsort(group, kind="stable")
            self._by_level[level] = who[order], group[order]
        who, group = self._by_level[level]
        return who[np.searchsorted(group, subject) : np.searchsorted(group, subject, side="right")]

    def _title(self, subject: int) -> str:
        """Return a title that no other survey has: another pattern for each survey of a subject."""
        again = self._repeats.get(subject, 0)
        self._repeats[subject] = again + 1
        pattern = say.SURVEY_TITLES[(again + subject) % len(say.SURVEY_TITLES)]
        title = pattern.format(self._tree.name(subject))
        volume = again // len(say.SURVEY_TITLES)
        return f"{title}, Volume {volume + 1}" if volume else title

    def _survey(self, rng: np.random.Generator, index: int, subject: int) -> PlannedSurvey:
        timeline = self._timeline
        inside = self._papers_of(subject)
        early, place, share, noise, extra = rng.random(5)
        day = self._day(inside, _PERIOD[int(early < _EARLY)], place)
        timeline.day[index] = timeline.resolved[index] = day

        inside = inside[timeline.resolved[inside] < day]
        outside = self._off_topic(rng, subject, day)
        wanted = int((_SHARE[0] + share * (_SHARE[1] - _SHARE[0])) * len(inside))
        wanted = min(max(wanted, min(_LEAST, len(inside))), _MOST)
        off = min(int(wanted * self._config.reference_noise + noise), wanted, len(outside))
        chosen = self._choose(rng, inside, wanted - off)
        astray = outside[:off]
        references = np.sort(np.concatenate([chosen, astray]))
        if not len(references):
            raise DataError(
                f"No dated paper stands before the survey of {str(np.datetime64(day, 'D'))!r} with "
                f"papers={self._config.papers}, years={self._config.years}, "
                f"year_only={self._config.year_only} and undated={self._config.undated}: raise "
                "papers or years, or lower year_only or undated."
            )
        wanted = round(len(references) * self._config.influential)
        typical = timeline.typical[references]
        factor = np.where(np.isin(references, astray), _OFF_TOPIC_WEIGHT, typical)
        marked = set(self._choose(rng, references, wanted, factor).tolist())
        return PlannedSurvey(
            index=index,
            subject=subject,
            title=self._title(subject),
            total=len(references) + int(extra * (1 + len(references) // 8)),
            references={i: i in marked for i in references.tolist()},
            off_topic=frozenset(astray.tolist()),
        )

    def _day(self, inside: IntArray, period: tuple[float, float], place: float) -> int:
        """Return when a survey appears: in the period, or later if there is too little to cite."""
        start, end = self._timeline.span
        low, high = period
        day = start + int((low + place * (high - low)) * (end - start))
        days = np.sort(self._timeline.resolved[inside])
        if len(days):
            enough = int(days[min(_ELIGIBLE, len(days)) - 1]) + 1
            if day < enough:  # wait, but not to the same day for each survey of the subject
                day = enough + int(place * (end - enough) / 2)
        return min(day, end - 1)

    def _choose(
        self,
        rng: np.random.Generator,
        who: IntArray,
        count: int,
        factor: NDArray[np.float64] | float = 1.0,
    ) -> IntArray:
        """Choose without replacement, the typical and the much-cited sooner."""
        keys: NDArray[np.float64] = rng.exponential(size=len(who)) / (self._weight[who] * factor)
        return who[np.argsort(keys, kind="stable")[:count]]

    def _off_topic(self, rng: np.random.Generator, subject: int, day: int) -> IntArray:
        """Return off-topic papers in the order in which a survey cites them."""
        tree, timeline = self._tree, self._timeline
        home = tree.above(subject, tree.survey_level)
        near = np.concatenate([self._papers_of(other) for other in tree.neighbours(home)])
        far = rng.integers(0, self._config.papers, _ANYWHERE)
        far = far[timeline.citable[far] & (timeline.survey_subject[far] != home)]
        near, far = (
            self._choose(rng, who[timeline.resolved[who] < day], _MOST)
            for who in (near, np.setdiff1d(far, near))
        )
        # Interleave the two kinds, so that any first part of the list contains both in proportion.
        place = np.concatenate(
            [np.arange(len(near)) / _NEIGHBOUR_SHARE, np.arange(len(far)) / (1 - _NEIGHBOUR_SHARE)]
        )
        return np.concatenate([near, far])[np.argsort(place, kind="stable")]


RELATED = "Related Areas"
"""The branch under which a survey's off-topic references are filed, by their subject."""


Subject = dict[str, Any]
"""``name``, ``subtopics`` below it, and ``papers``: ids of the references filed under it itself."""


def mind_map(survey: PlannedSurvey, tree: SubjectTree, timeline: Timeline) -> Subject:
    """Return the mind-map whose root is the survey's subject; every reference is filed once."""
    level = tree.level_of(survey.subject)
    paths: dict[int, list[int]] = {}
    # In the order of the hierarchy, so that a parent comes to be before what lies below it.
    for index in sorted(survey.references, key=lambda i: (timeline.leaf[i], i)):
        if index not in survey.off_topic:
            levels = range(level + 1, tree.depth + 1)
            paths[index] = [int(tree.ancestors(timeline.leaf[index], lower)) for lower in levels]
    root = _node(tree.name(survey.subject))
    _file(root, paths, tree, timeline)
    if survey.off_topic:
        related = _node(RELATED)
        root["subtopics"].append(related)
        astray = sorted(survey.off_topic, key=lambda i: (timeline.leaf[i], i))
        subjects = {index: [int(timeline.survey_subject[index])] for index in astray}
        _file(related, subjects, tree, timeline)
    return root


def _node(name: str) -> Subject:
    return {"name": name, "subtopics": [], "papers": []}


def _file(
    root: Subject, paths: dict[int, list[int]], tree: SubjectTree, timeline: Timeline
) -> None:
    """File each paper under the last subject of its path, making the nodes on the way."""
    nodes: dict[int, Subject] = {}
    for index, path in paths.items():
        at = root
        for subject in path:
            if subject not in nodes:
                nodes[subject] = _node(tree.name(subject))
                at["subtopics"].append(nodes[subject])
            at = nodes[subject]
        at["papers"].append(timeline.paper_id(index))


def prompts(survey: PlannedSurvey, tree: SubjectTree, timeline: Timeline) -> dict[str, str]:
    """Return the request for a report at each level: subject, its parts, cutoff in words."""
    date = dt.date.fromisoformat(str(timeline.date(survey.index)))
    parts = [tree.phrase(part) for part in tree.parts(survey.subject)[:_PARTS]]
    said = {
        "topic": tree.phrase(survey.subject),
        "parts": ", ".join(parts) or say.PARTS_OF_A_LEAF,
        "cutoff": f"{date.day} {calendar.month_name[date.month]} {date.year}",
    }
    return {level: pattern.format(**said) for level, pattern in say.PROMPTS.items()}


def outline(subject: Subject) -> Subject:
    """Return a mind-map without its papers."""
    return {"name": subject["name"], "subtopics": [outline(part) for part in subject["subtopics"]]}


def article(title: str, root: Subject) -> str:
    """Return a text that cites each paper of a mind-map once, with a section for each node."""
    lines = [f"# {title}"]

    def write(subject: Subject, level: int) -> None:
        lines.append(f"{'#' * min(level, 6)} {subject['name']}")
        sentences = []
        for start in range(0, len(subject["papers"]), _CITED_TOGETHER):
            cited = "; ".join(f"@{paper}" for paper in subject["papers"][start:][:_CITED_TOGETHER])
            pattern = say.STATEMENTS[start // _CITED_TOGETHER % len(say.STATEMENTS)]
            sentences.append(pattern.format(subject["name"].lower(), f"[{cited}]"))
        if sentences:
            lines.append(" ".join(sentences))
        for part in subject["subtopics"]:
            write(part, level + 1)

    write(root, 2)
    return "\n\n".join(lines) + "\n"
