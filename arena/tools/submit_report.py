"""The tool ``submit_report``."""

from __future__ import annotations

from typing import Any

from arena.errors import UnreadableError
from arena.text.display import replace_surrogates
from arena.tools.base import ToolError, tool
from arena.tools.episode import Episode


@tool("submit_report")
def submit_report(episode: Episode, text: str | None = None) -> dict[str, Any]:
    """Submit the report: the sections that were written, or a whole text. This ends the stage.

    Args:
        text: the whole report in Markdown that cites papers by id, as in [@id] or [@id; @other];
            left out, the draft is submitted.
    """
    from arena.report import cited_ids
    from arena.report.reading import read_report

    episode.expect("report")
    if text is None and not episode.draft:
        raise ToolError("there is no draft. Use write(heading, text), or give a text.")
    written = len(text or "")
    episode.spend_written(written)
    report = episode.draft.markdown() if text is None else replace_surrogates(text)
    try:
        read_report(report, ["pandoc"])
    except UnreadableError:
        episode.spend_written(-written)
        raise
    counts = {"characters": len(report)} | episode.cite(cited_ids(report))
    return counts | episode.submit("report", report)
