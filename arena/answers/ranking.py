"""A ranking of papers, submitted with ``submit``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from arena.answers.base import AnswerKind, answer
from arena.dates import UNDATED
from arena.errors import DataError
from arena.papers import MAX_SUBMITTED


@answer("ranking")
class Ranking(AnswerKind):
    """Distinct ids of papers, best first."""

    tool, argument, noun = "submit", "paper_ids", "ranking"
    files: ClassVar[tuple[str, ...]] = ("run.trec", "run.*.trec")

    def fits(self, value: Any) -> bool:
        """Return whether a value is a list of distinct texts."""
        return (
            isinstance(value, list)
            and all(isinstance(paper, str) for paper in value)
            and len(set(value)) == len(value)
        )

    def implicit_answer(self, episode: Any, finished: bool) -> tuple[list[str], int] | None:
        """Return the papers that were selected, if the agent ended the episode."""
        return (list(episode.selected), len(episode.selected)) if finished else None

    def papers(self, answer: list[str] | None) -> list[str]:
        """Return the ranking; none for None."""
        return answer or []

    def panel(self, answer: Any, tasks: Any, topic_id: str) -> dict[str, Any]:
        """Return its papers, best first."""
        return {"form": "ranking", "value": self.papers(answer)}

    def tally(self, answer: Any, tasks: Any, topic_id: str) -> list[tuple[str, int, int]]:
        """Return how many influential references in reach are how early, and of the others.

        Influential ones have a gain above 1.
        """
        gains, ranks = tasks.gold(topic_id).gains, self.places(answer)
        influential = [paper for paper in gains if gains[paper] > 1]
        others = [paper for paper in gains if gains[paper] <= 1]
        rows = [
            ("influential references in reach: among the first 10", influential, 10),
            ("influential references in reach: among the first 100", influential, 100),
            ("influential references in reach: anywhere", influential, len(ranks)),
            ("other references in reach: anywhere", others, len(ranks)),
        ]
        return [
            (words, sum(ranks.get(paper, depth + 1) <= depth for paper in papers), len(papers))
            for words, papers, depth in rows
            if papers
        ]

    def ideal(self, tasks: Any, topic_id: str) -> Any:
        """Return the references in reach by gain, then in document order."""
        return ideal_ranking(tasks.gold(topic_id).gains)

    def read_file(self, path: Path, number: Callable[[str], int | None]) -> dict[str, Any]:
        """Return the rankings of a TREC run, or of JSON lines, cut at `depth`.

        A line of a file ``*.jsonl`` has a topic under ``query``, and ids under ``retrieved``.
        """
        from arena import trec

        if path.suffix == ".jsonl":
            return {query: found[: self.depth] for query, found in _retrieved(path)}
        return {s: trec.order(r, number)[: self.depth] for s, r in trec.read_run(path).items()}

    def size(self, answer: Any) -> int:
        """Return the number of papers."""
        return len(self.papers(answer))

    def write(
        self, output: Path, stage: str, answers: Mapping[str, Any], tag: str, tasks: Any
    ) -> list[str]:
        """Write a run of TREC; the tag says whether it is undated."""
        from arena import trec  # not with `import arena`, which it would slow down

        name, tag = f"run{stage}.trec", f"{tag}-{UNDATED}" if tasks.undated else tag
        trec.write_run(
            output / name, {s: self.papers(answer) for s, answer in answers.items()}, tag
        )
        return [name]


def _retrieved(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield topic, as task sets have its text, and ranking of each line."""
    from arena.suites import json_lines
    from arena.text.cleaning import clean_title  # not with `import arena`, which it would slow down

    for number, _, row in json_lines(path):
        query, found = (row or {}).get("query"), (row or {}).get("retrieved")
        if not isinstance(query, str) or not isinstance(found, list):
            raise DataError(f"{path.name} line {number}: give JSON with `query` and `retrieved`.")
        yield clean_title(query), [*dict.fromkeys(map(str, found))]


def ideal_ranking(gains: Mapping[str, int]) -> list[str]:
    """Return the best possible ranking: by gain, then in document order."""
    return sorted(gains, key=lambda paper_id: -gains[paper_id])[:MAX_SUBMITTED]
