"""Labels in the results of tools without an oracle: headings, and references set apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from arena.testing.exposure import Exposure, is_part, words_of
from arena.testing.files import Reach, Survey
from arena.testing.report import Report
from arena.testing.walk import strings

_SHORTEST_HEADING = 13  # characters of a heading that cannot stand in a text by chance
_FEW = 3  # headings that one result may have in common with the mind-map by chance
_CALLS = 10  # answered calls from which on references alone are no chance
_PURE = 0.9  # share of these calls


class Headings:
    """Finds headings of the survey's own mind-map in results.

    Args:
        survey: Survey of the episode.
        reach: The papers that exist in it.
        exposure: Knows the texts of the papers.
    """

    def __init__(self, survey: Survey, reach: Reach, exposure: Exposure) -> None:
        self._reach, self._exposure = reach, exposure
        self._headings = {
            " ".join(words_of(heading)): heading for heading in survey.headings if len(heading) > 3
        }
        self._headings.pop("", None)

    def find(self, result: Any, sent: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Yield (name of a leak, what is wrong) for headings that the agent has not sent.

        One heading is a label if no text of a paper in reach has its words. Of others, which
        papers may be about, a result may have a few by chance.
        """
        sent, several = frozenset(sent), set()
        for key, text in strings(result):
            words = words_of(text)
            line = f" {' '.join(words)} "
            inside = [heading for heading in self._headings if f" {heading} " in line]
            if not inside or text in sent or self._exposure.is_name(text, self._reach):
                continue
            inside = [heading for heading in inside if not is_part(heading, sent)]
            for heading in inside:
                original = self._headings[heading]
                long = len(original) >= _SHORTEST_HEADING and " " in heading
                if long and not self._exposure.is_in_reach(heading, self._reach):
                    yield "label", f"{original!r} in {key!r} is a heading of the mind-map"
                    return
            if 2 * sum(len(heading.split()) for heading in inside) >= len(words):
                several.update(inside)
        if len(several) >= _FEW:
            shown = sorted(self._headings[heading] for heading in several)
            yield "label", f"{len(several)} headings of the mind-map, such as {shown[:3]}"


class References:
    """Counts how often a tool shows papers of which all are references of the survey.

    A result that holds only references proves nothing, because a good search finds them, too. Calls
    with random arguments that show nothing else do.
    """

    def __init__(self) -> None:
        self._calls: dict[tuple[str, str], list[bool]] = defaultdict(list)

    def add(self, tool: str, ids: Mapping[str, set[str]], survey: Survey, reach: Reach) -> None:
        """Count the ids of papers in reach that one result shows.

        Args:
            tool: Name of the tool.
            ids: Key of the result -> ids of papers in reach below it.
            survey: Survey of the episode. Nothing is counted if half of all papers are its
                references.
            reach: The papers that exist in the episode.
        """
        if 2 * len(survey.gains) < len(reach.numbers):
            for key, below in ids.items():
                self._calls[tool, key].append(below <= survey.gains.keys())

    def report(self, log: Report) -> None:
        """Report the keys below which a tool has shown references and almost nothing else."""
        for (tool, key), calls in self._calls.items():
            if len(calls) >= _CALLS and sum(calls) >= _PURE * len(calls):
                what = f"{sum(calls)} of {len(calls)} results show references alone in {key!r}"
                log.add("label", "all episodes", tool, what)
