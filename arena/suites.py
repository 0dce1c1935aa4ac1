"""Published benchmarks that score what other systems made, one module or package each.

A suite may bring metrics of written surveys (``metrics/``, see `arena.metrics`) and a rubric
(``rubrics.py``) of its own; nothing outside its package knows it. The signature of its
function is its command line, see docs/extending.md. The option of type `OutputPath` is the path of
what one system made: the command takes it, or several ``--system NAME=PATH`` in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypeVar

from arena.errors import DataError, UnknownNameError, clip, did_you_mean
from arena.kit.files import json_value, sha256_file, sha256_json
from arena.metrics import mean
from arena.plugins import Registry, mirror

OutputPath = Annotated[str, "made"]
"""The path of what the scored system made."""
T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Evaluation:
    """The scores of what another system made, topic by topic.

    Attributes:
        mean: Mean of each metric over the topics that count; None without any.
        topics: The scores of each topic, by its id in the order of the data. A topic without a
            readable prediction has the worst score of every metric, and a ``reason``; one whose
            scoring an exception ended has none, and ``failed``; one with a report whose citations
            are not recognised has none, and ``unread``. ``remark`` says what numbers hide.
        missing: Ids of the topics without a prediction.
        problems: One sentence for each line that cannot be used, and why.
        settings: What made the numbers: encoder, hashes of the files, versions.
        micro: Ratios of sums over the same topics, for the metrics that are such ratios.
        lower_is_better: Direction of each metric of which less is better (True) or that has none
            (None).
        left_out: Topics whose scores do not count in the means.
        groups: Topic -> name of its group, such as a domain, whose means are shown, too.
        needs: Metric that nothing computed -> what it needs, such as "a judge".
        published: Tables of numbers that a paper prints, which pages show apart: ``benchmark``,
            ``source``, ``columns``, ``rows`` (system -> numbers), ``comparability``, and ``note``
            where that is not enough.
        details: Topic -> metric -> what made its scores: ``headers`` and ``rows`` of a table,
            ``reason``, ``seconds``, ``calls`` and ``failed`` answers of a judge.
    """

    mean: Mapping[str, float | None]
    topics: Mapping[str, Mapping[str, Any]]
    missing: Sequence[str]
    problems: Sequence[str] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    micro: Mapping[str, float] = field(default_factory=dict)
    lower_is_better: Mapping[str, bool | None] = field(default_factory=dict)
    left_out: Collection[str] = ()
    groups: Mapping[str, str] = field(default_factory=dict)
    needs: Mapping[str, str] = field(default_factory=dict)
    published: Sequence[Mapping[str, Any]] = ()
    details: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)

    def parts(self) -> dict[str, tuple[float | None, str]]:
        """Return the mean of each part of the benchmark, such as a tier, and what it is without."""
        return {}

    def counting(self, topic: str) -> dict[str, float | None]:
        """Return the scores of a topic that count in the means; all are None if it has none."""
        row = {} if topic in self.left_out else self.topics.get(topic, {})
        return {name: row.get(name) for name in self.mean}

    def group_means(self) -> dict[str, dict[str, Any]]:
        """Return the number of counting ``topics`` and the ``mean`` of each group, by its name."""
        found = {}
        for group in sorted({*self.groups.values()}):
            members = [self.counting(s) for s in self.topics if self.groups.get(s) == group]
            rows = [row for row in members if any(value is not None for value in row.values())]
            means = {name: mean(row[name] for row in rows) for name in self.mean}
            found[group] = {"topics": len(rows), "mean": means}
        return found

    def to_json(self) -> dict[str, Any]:
        """Return plain dicts and lists under the names of the attributes."""
        return {
            "mean": dict(self.mean),
            **({"groups": self.group_means()} if self.groups else {}),
            **({"micro": dict(self.micro)} if self.micro else {}),
            "topics": {name: dict(row) for name, row in self.topics.items()},
            "missing": list(self.missing),
            "problems": list(self.problems),
            "settings": dict(self.settings),
            **({"published": [*self.published]} if self.published else {}),
        }

    def table(self) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Return the headers and the rows of a table for the terminal."""
        rows_of = self.topics.values()  # a metric that nothing has needs no column
        names = [name for name in self.mean if any(row[name] is not None for row in rows_of)]
        said = ("reason", "failed", "unread", "remark")
        rows: list[tuple[Any, ...]] = [
            (topic, *map(row.get, names), next((row[k] for k in said if k in row), ""))
            for topic, row in self.topics.items()
        ]
        for group, found in self.group_means().items():
            number = f"over {found['topics']}"
            rows.append((f"mean, {group}", *(found["mean"][name] for name in names), number))
        rows.append(("mean", *(self.mean[name] for name in names), ""))
        if self.micro:
            rows.append(("micro", *(self.micro.get(name) for name in names), ""))
        for table in self.published:
            if not {*names} & {*table["columns"]}:
                continue
            for system, scores in table["rows"].items():
                row = dict(zip(table["columns"], scores, strict=True))
                rows.append((f"{system}, published", *map(row.get, names), comparability(table)))
        return ["topic", *names, ""], rows


def comparability(published: Mapping[str, Any]) -> str:
    """Return in words how far published numbers compare with those of here."""
    kind = published["comparability"]
    said = kind if kind == "same corpus" else f"not comparable: {kind}"
    return str(published.get("note", said))


@dataclass(frozen=True)
class Suite:
    """A function that scores, and the BibTeX entry that the authors of the benchmark ask for."""

    evaluate: Callable[..., Evaluation]
    bibtex: str = ""

    def __post_init__(self) -> None:
        mirror(self, self.evaluate)

    def __call__(self, *arguments: Any, **options: Any) -> Evaluation:
        """Score what a system made."""
        return self.evaluate(*arguments, **options)


SUITES: Registry[Suite] = Registry(
    "suite", base=Suite, make=lambda _, item: item if isinstance(item, Suite) else Suite(item)
)


def suite(name: str, bibtex: str = "") -> Callable[[F], F]:
    """Return a decorator that registers a function as the suite `name`, see `Suite`."""

    def register(function: F) -> F:
        SUITES.register(name)(Suite(function, bibtex))
        return function

    return register


def chosen(topics: dict[str, T], only: Iterable[str] | None) -> dict[str, T]:
    """Return those of the topics, by id, that `only` names; all if it is None.

    Raises:
        UnknownNameError: It names none, or one that is not there.
        DataError: There are no topics.
    """
    if not topics:
        raise DataError("the file has no topic to score: it is empty.")
    names = list(topics) if only is None else list(dict.fromkeys(only))
    for name in names or [""]:
        if name not in topics:
            raise UnknownNameError(
                f"--only: no topic has the id {clip(name)}.{did_you_mean(name, topics)}"
            )
    return {name: topics[name] for name in names}


def folder_sha256(folder: str | Path) -> str:
    """Return the hash of the names and the contents of all files in a folder."""
    root = Path(folder)
    files = sorted(path for path in root.rglob("*") if path.is_file())
    return sha256_json({path.relative_to(root).as_posix(): sha256_file(path) for path in files})


def json_lines(path: str | Path) -> Iterator[tuple[int, str, dict[str, Any] | None]]:
    """Yield number, text and object of each line that is not blank; None if it is not an object."""
    try:
        # Not splitlines(): a text in JSON may contain U+2028.
        lines = Path(path).read_text(encoding="utf-8-sig").split("\n")
    except UnicodeDecodeError:
        raise DataError(f"{str(path)!r} is not UTF-8: save it as UTF-8.") from None
    for number, line in enumerate(lines, 1):
        if line.strip():
            record = json_value(line)
            yield number, line, record if isinstance(record, dict) else None
