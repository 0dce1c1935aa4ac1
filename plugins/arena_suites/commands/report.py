"""``arena report``: what a report cites."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.cli.app import print_json, print_table
from arena.cli.commands import command
from arena.errors import DataError

if TYPE_CHECKING:
    from arena.report import Report


@command("report")
def report(
    files: list[str],
    *,
    corpus: str | None = None,
    json: bool = False,
) -> None:
    """Count what reports cite.

    Args:
        files (FILE): Reports in Markdown or HTML, or folders of them (.md, .html, .txt).
        corpus (DIR): Corpus in which the cited papers are found.

    Example:
        arena report survey.md --corpus demo/synthetic
    """
    from arena.report import PaperFinder, read_report, resolve
    from arena.tasks import TaskSet

    paths = _paths(files)
    finder = PaperFinder(TaskSet(corpus).paper_names()) if corpus else None
    rows: list[dict[str, Any]] = []
    for path in paths:
        one = read_report(path)
        one = resolve(one, finder) if finder else one
        counts = count(one) if finder else count(one) | {"resolved": None}
        rows.append({"report": str(path), **counts, "styles": list(one.styles)})
        if one.unread and not json:
            print(f"{path}: not read: {one.unread}.", file=sys.stderr)
        if json:
            rows[-1] |= {
                "title": one.title,
                "unread": one.unread,
                "references": [r._asdict() for r in one.references],
            }
    if json:
        print_json(rows)
        return
    headers = [name.replace("_", " ") for name in rows[0]]
    for row in rows:
        row |= {
            "report": "/".join(Path(row["report"]).parts[-2:]),
            "styles": ", ".join(row["styles"]),
        }
    print_table([list(row.values()) for row in rows], headers)


def count(report: Report) -> dict[str, int]:
    """Return the counts of a report.

    ``cited_statements`` have a citation; ``citations`` counts them all; ``entries`` are those of
    the reference list; ``cited`` are distinct references that statements cite, ``resolved`` those
    of them that are papers of the corpus, ``without_entry`` those that the list does not explain;
    ``not_cited`` are entries that no statement cites.
    """
    cited = report.cited
    entries = sum(bool(each.text) for each in report.references)
    listed = sum(bool(each.text) for each in cited)
    return {
        "sections": len(report.sections),
        "statements": len(report.statements),
        "cited_statements": sum(bool(each.citations) for each in report.statements),
        "citations": sum(len(each.citations) for each in report.statements),
        "entries": entries,
        "cited": len(cited),
        "resolved": sum(each.paper is not None for each in cited),
        "without_entry": len(cited) - listed,
        "not_cited": entries - listed,
    }


def _paths(files: list[str]) -> list[Path]:
    paths: list[Path] = []
    for path in map(Path, files):
        found = [path]
        if path.is_dir():
            found = sorted(p for p in path.rglob("*") if p.suffix in (".md", ".html", ".txt"))
        if not found:
            raise DataError(
                f"{str(path)!r} contains no report: a file named *.md, *.html or *.txt."
            )
        paths += found
    return paths
