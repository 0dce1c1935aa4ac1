"""How hard the topics of a corpus are: the file that ``arena profile`` writes, and choices by it.

It depends on labels: no episode, agent or exported task reads it.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from arena.errors import DataError, clip, did_you_mean

_SIGNS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}
_COMPARISON = re.compile(r"\s*([^<>=\s]+)\s*([<>]=?)\s*([0-9]*\.?[0-9]+)\s*")


class Profile(NamedTuple):
    """The difficulty of the topics of one corpus or task set.

    Attributes:
        rows: Topic id -> column -> number, or None where it is not defined.
        columns: Names of the columns.
        code: Hash of the code that measured them.
        file: Where it is.
    """

    rows: dict[str, dict[str, float | None]]
    columns: list[str]
    code: str
    file: Path

    def column(self, name: str) -> dict[str, float | None]:
        """Return topic id -> value of one column; DataError if there is no such column."""
        if name not in self.columns:
            raise DataError(
                f"the profile has no column {clip(name)}.{did_you_mean(name, self.columns)}"
            )
        return {topic_id: row[name] for topic_id, row in self.rows.items()}


def profile_file(labels: Path) -> Path:
    """Return the file of the profile of a corpus or a task set: beside its directory."""
    return labels.with_name(f"{labels.name}.profile.parquet")


def read_profile(labels: Path, identity: Mapping[str, str]) -> Profile:
    """Return the profile of a corpus or a task set.

    Args:
        labels: The directory of the corpus or of the task set.
        identity: The hashes ``corpus`` and ``tasks`` that it must be of.

    Raises:
        DataError: There is none, or it is of another corpus or of other tasks.
    """
    import pyarrow.parquet as pq

    file = profile_file(labels)
    again = "`arena profile CORPUS`, with --tasks for a task set, measures it."
    if not file.is_file():
        raise DataError(f"there is no profile {str(file)!r}: {again}")
    try:
        table = pq.read_table(file, use_threads=False)
        about = {key.decode(): value.decode() for key, value in table.schema.metadata.items()}
        code, of = about["code"], {key: about[key] for key in identity}
    except (OSError, ValueError, LookupError, AttributeError) as error:
        raise DataError(f"{str(file)!r} is no profile ({clip(str(error))}): {again}") from None
    if of != identity:
        raise DataError(f"{str(file)!r} is of another corpus or of other tasks: {again}")
    rows = {row.pop("topic_id"): row for row in table.to_pylist()}
    return Profile(rows, [n for n in table.column_names if n != "topic_id"], code, file)


def is_comparison(topics: str) -> bool:
    """Return whether a choice of topics is by comparisons, as `read_comparisons` takes them."""
    return bool(re.search("[<>]", topics))


class Comparison(NamedTuple):
    """A bound of a number that has a name, such as ``title>=.2``."""

    text: str
    name: str
    sign: str
    bound: float

    def holds(self, value: float) -> bool:
        """Return whether a number keeps to it."""
        return bool(_SIGNS[self.sign](value, self.bound))


def read_comparisons(text: str) -> list[Comparison]:
    """Return comparisons: ``NAME>=NUMBER``, also with ``<=``, ``>`` or ``<``, with commas between.

    >>> read_comparisons("title>=.2, links<1")[1]
    Comparison(text='links<1', name='links', sign='<', bound=1.0)
    """
    comparisons = []
    for part in map(str.strip, text.split(",")):
        if (match := _COMPARISON.fullmatch(part)) is None:
            raise DataError(f"{clip(part)} is no comparison: write title>=.2, for example.")
        comparisons.append(Comparison(part, match[1], match[2], float(match[3])))
    return comparisons


def where(
    comparisons: Iterable[Comparison], profile: Profile, candidates: Iterable[str]
) -> list[str]:
    """Return those topics for which all comparisons hold, in order.

    One of a value that is not defined does not hold.

    >>> rows = {"a": {"title": 0.1}, "b": {"title": 0.4}, "c": {"title": None}}
    >>> where(read_comparisons("title>=.2"), Profile(rows, ["title"], "", Path()), rows)
    ['b']
    """
    left = list(candidates)
    for comparison in comparisons:
        values, before = profile.column(comparison.name), len(left)
        left = [
            topic_id
            for topic_id in left
            if (value := values.get(topic_id)) is not None and comparison.holds(value)
        ]
        if not left:
            known = [value for value in values.values() if value is not None]
            range_ = f" It is from {min(known):.3g} to {max(known):.3g}." if known else ""
            raise DataError(
                f"no topic has {comparison.text} of the {before} that are left before it.{range_}"
            )
    return left
