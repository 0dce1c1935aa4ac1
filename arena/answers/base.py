"""Kinds of answers: their base class, and all of them by name."""

from __future__ import annotations

import hashlib
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Union

from arena.errors import DataError, clip
from arena.kit.files import atomic_write, json_value
from arena.metrics import RANKING
from arena.papers import MAX_SUBMITTED
from arena.plugins import Registry

if TYPE_CHECKING:
    from arena.metrics import Metric, ScoreContext
    from arena.mindmap import MindMap

Answer = Union[list[str], "MindMap", str]
"""A ranking (distinct ids, best first), a mind-map, or the Markdown of a report."""

_LONGEST = 120
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_DIGITS = 16
_HASHED = re.compile(rf"(?:.*-)?[0-9a-f]{{{_DIGITS}}}")  # what a name with a hash looks like


class AnswerKind(ABC):
    """One kind of answer, such as a ranking.

    An `episode` is an `arena.tools.Episode`, without labels; `tasks` is an `arena.tasks.TaskSet`,
    with them, and for scoring alone.
    """

    name: ClassVar[str] = ""
    """Its name, see ``@answer("name")``."""
    tool: ClassVar[str]
    """Name of the tool that submits it; the stage ends with that."""
    argument: ClassVar[str]
    """Name of the tool's argument that has the answer."""
    tools: ClassVar[tuple[str, ...]] = ()
    """Names of further tools that a stage with such an answer offers."""
    scored: ClassVar[tuple[str, ...]] = ()
    """Kinds of the metrics that score it, see `arena.metrics.Metric`; metrics of rankings score a
    kind with `papers`, too."""
    depth: ClassVar[int | None] = MAX_SUBMITTED
    """Most papers of a ranking in a file that are scored; None for all."""
    labels: ClassVar[str] = "a reference in reach"
    """The labels that a topic needs to be scored."""
    draws_labelled: ClassVar[bool] = False
    """Whether a run plays by default the topics alone that have labels."""
    writes: ClassVar[bool] = False
    """Whether it is a text, which has a budget of characters and may have a prompt."""
    noun: ClassVar[str] = ""
    """The word of pages for such an answer; by default its name."""
    surpassable: ClassVar[bool] = False
    """Whether an answer can score above `ideal`: more headings can match more of the topic's."""
    files: ClassVar[tuple[str, ...]]
    """Patterns of all files that `write` may write; ``arena run --overwrite`` removes them."""

    def fits(self, value: Any) -> bool:
        """Return whether a JSON value may be an answer of this kind; by default any may."""
        return True

    def read(self, value: Any) -> Any:
        """Return the answer that a JSON value stands for, or raise DataError."""
        return value

    def readers(self) -> list[type]:
        """Return the plug-in classes that such an answer is read with, for the hashes of code."""
        return []

    def to_json(self, answer: Any) -> Any:
        """Return an answer as a JSON value."""
        return answer

    def submission(self, answer: Any) -> list[tuple[str, dict[str, Any]]]:
        """Return the calls that submit an answer, tool and arguments; by default that of `tool`."""
        return [(self.tool, {self.argument: self.to_json(answer)})]

    def implicit_answer(self, episode: Any, finished: bool) -> tuple[Any, int] | None:
        """Return what an episode submits that ends in a stage without a call of `tool`.

        That is an answer and the number of its parts; None submits nothing. `finished` is False
        where the budget ended the episode.
        """
        return None

    def papers(self, answer: Any) -> list[str]:
        """Return the distinct papers of an answer, best first; none of None.

        A kind without an order of papers does not define this.
        """
        return []

    def has_labels(self, tasks: Any, topic_id: str) -> bool:
        """Return whether a topic has what such an answer is scored against."""
        return bool(tasks.gold(topic_id).gains)

    def allows(self, metric: Metric, tasks: Any, topic_id: str) -> bool:
        """Return whether the labels of a topic have what a metric counts, as far as is known."""
        return self.has_labels(tasks, topic_id)

    @property
    def has_order(self) -> bool:
        """Whether an answer of this kind puts papers in an order."""
        return type(self).papers is not AnswerKind.papers

    def places(self, answer: Any) -> dict[str, int]:
        """Return paper -> its rank in an answer, from 1, or 0 where it has none; None is empty."""
        papers = self.papers(answer)
        return dict(zip(papers, range(1, len(papers) + 1), strict=True))

    def remark(self, answer: Any, tasks: Any, topic_id: str) -> str:
        """Return what the scores of an answer hide, such as that it files no paper; or ""."""
        return ""

    def panel(self, answer: Any, tasks: Any, topic_id: str) -> dict[str, Any]:
        """Return how the page of runs draws an answer: ``{"form": FORM, "value": VALUE}``.

        `tasks` is None on a page without labels. Forms are ``ranking`` (ids of papers), ``text``
        (with ``cited``: id -> a sign and words), ``trees`` (see `arena.answers.map`), and ``json``
        (any value).
        """
        return {"form": "json", "value": self.to_json(answer)}

    def tally(self, answer: Any, tasks: Any, topic_id: str) -> list[tuple[str, int, int]]:
        """Return what a page adds up over topics: words, how many, and of how many.

        Such as headings that match, of all headings of the survey. None is an empty answer. By
        default nothing.
        """
        return []

    def takes(self, metric: Metric) -> bool:
        """Return whether a metric scores answers of this kind."""
        return metric.kind in self.scored or (metric.kind == RANKING and self.has_order)

    def pair(self, answer: Any, kind: str, context: ScoreContext) -> tuple[Any, Any]:
        """Return the answer and the gold for metrics of a kind; None is an empty answer."""
        if kind == RANKING:
            gains = MappingProxyType(
                context.tasks.gold(context.topic_id).gains
            )  # not to be changed
            return [*self.papers(answer)], gains
        return self.compare(answer, kind, context)

    def compare(self, answer: Any, kind: str, context: ScoreContext) -> tuple[Any, Any]:
        """Return the answer and the gold for metrics of a kind of `scored` but rankings."""
        raise NotImplementedError(f"{type(self).__name__} does not define compare()")

    @abstractmethod
    def ideal(self, tasks: Any, topic_id: str) -> Any:
        """Return the best possible answer of an agent; None if there are no labels for one."""

    def floors(
        self, answers: Mapping[str, Any], tasks: Any, metrics: Sequence[str], encoder: Any
    ) -> dict[str, Any]:
        """Return what metrics give for answers that have nothing to do with the topic.

        `answers` are those of topics, by id; None is an empty one. Empty for a kind without
        floors.
        """
        return {}

    def read_file(self, path: Path, number: Callable[[str], int | None]) -> dict[str, Any]:
        """Return topic or its `file_name` -> answer, of another system's file or folder.

        A folder has ``TOPIC.md``, a file a JSON object ``{"topic_id": id, KEY: answer}`` a line, in
        which KEY is `argument` or the name of the kind. `number` is that of a paper's document.
        What cannot be read is None.
        """

        def read(value: Any) -> Any:
            with suppress(DataError):
                answer = self.read(value)
                return answer if self.fits(self.to_json(answer)) else None
            return None

        if path.is_dir():
            files = sorted(path.glob("*.md"))
            return {each.stem: read(each.read_text("utf-8", "replace")) for each in files}
        answers = {}
        for place, line in enumerate(path.read_text("utf-8", "replace").split("\n"), 1):
            if not line.strip():
                continue
            record = json_value(line)
            record = record if isinstance(record, dict) else {}
            named = record.get("topic_id")
            keys = [key for key in (self.argument, self.name) if named and key in record]
            if not keys:
                raise DataError(
                    f"{str(path)!r} line {place}: {clip(line, 60)} is not a JSON object with "
                    f"topic_id and {self.argument}."
                )
            if str(named) in answers:
                raise DataError(f"{str(path)!r} line {place}: a second answer of {clip(named)}.")
            answers[str(named)] = read(record[keys[0]])
        return answers

    @abstractmethod
    def size(self, answer: Any) -> int:
        """Return the number that a run reports as submitted, such as that of papers."""

    @abstractmethod
    def write(
        self, output: Path, stage: str, answers: Mapping[str, Any], tag: str, tasks: Any
    ) -> list[str]:
        """Write the answers, by topic id, to one stage of a run; return the names of the files.

        `stage` is empty, or ``.STAGE`` in a run of several stages, for names of files; `tag` is the
        name of the agent.
        """


def _made(name: str, kind: type[AnswerKind]) -> AnswerKind:
    kind.name, kind.noun = name, kind.noun or name
    return kind()


ANSWERS: Registry[AnswerKind] = Registry(
    "answer", packages=["arena.answers"], base=AnswerKind, make=_made
)
answer = ANSWERS.register
"""Decorator of a subclass of `AnswerKind`: ``@answer("name")``."""


def remarked(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return a sentence with the first ``remark`` of answers and the number of those that have one.

    >>> remarked([{}, {"remark": "2 of 40 listed entries were found"}])
    ['Warning: 2 of 40 listed entries were found (the first such remark; 1 of 2 answers has one).']
    """
    from arena.text.display import count

    rows = list(rows)
    said = [row["remark"] for row in rows if row.get("remark")]
    have = f"{len(said)} of {count(len(rows), 'answer')} {'has' if len(said) == 1 else 'have'} one"
    return [f"Warning: {said[0]} (the first such remark; {have})."] if said else []


def write_rows(path: Path, key: str, values: Mapping[str, Any]) -> None:
    """Write ``{"topic_id": id, key: value}`` of each topic as a line of JSON."""
    rows = [json.dumps({"topic_id": topic, key: value}) for topic, value in values.items()]
    atomic_write(path, "".join(f"{row}\n" for row in rows))


def file_name(topic_id: str) -> str:
    """Return a name that every file system takes, a different one for every topic.

    >>> file_name("2101.01507")
    '2101.01507'
    >>> file_name("../doi:10.1/x")
    'doi-10.1-x-482f66e24c040c43'
    """
    name = _UNSAFE.sub("-", topic_id).strip(".-")[:_LONGEST]
    # A name with capitals gets a hash, since some file systems take A.svg and a.svg for one file;
    # so does an id that looks like a name with a hash.
    if name == topic_id and name == name.lower() and not _HASHED.fullmatch(name):
        return name
    digest = hashlib.sha256(topic_id.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
    return f"{name}-{digest}" if name else digest
