"""The tools ``write`` and ``submit_report``."""

from __future__ import annotations

from typing import Any

from arena.errors import UnreadableError, clip, did_you_mean
from arena.papers import MAX_TITLE
from arena.text.display import replace_surrogates
from arena.tools.base import ToolError, tool
from arena.tools.episode import Episode


@tool("write")
def write(episode: Episode, heading: str, text: str) -> dict[str, Any]:
    """Write a section of the report, or replace the section of that heading.

    The result counts the characters of the draft, the papers that it cites, and the unknown ids
    among its citations.

    Args:
        heading: heading of the section, on one line.
        text: Markdown that cites papers by id, as in [@id] or [@id; @other]; headings inside it
            begin with ###. Empty text removes the section.
    """
    from arena.report import cited_ids

    draft, heading = episode.draft, " ".join(replace_surrogates(heading).split())
    if not 0 < len(heading) <= MAX_TITLE:
        raise ToolError(f"heading={clip(heading)}: give 1 to {MAX_TITLE} characters.")
    if not text.strip() and heading not in draft:
        hint = did_you_mean(heading, draft)
        raise ToolError(f"the draft has no section {clip(heading)} to remove.{hint}")
    if "end" not in cited_ids(f"{text}\n\n```\n```\n\n[@end]"):
        raise ToolError("the text leaves a block of code open, which would swallow what follows.")
    episode.spend_written(len(heading) + len(text))
    draft.write(heading, replace_surrogates(text))
    counts = {"sections": len(draft), "characters": len(draft.markdown())}
    return counts | episode.cite(draft.cited())


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
