"""The tool ``write``."""

from __future__ import annotations

from typing import Any

from arena.errors import clip, did_you_mean
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
        hint = did_you_mean(heading, draft.headings())
        raise ToolError(f"the draft has no section {clip(heading)} to remove.{hint}")
    if "end" not in cited_ids(f"{text}\n\n```\n```\n\n[@end]"):
        raise ToolError("the text leaves a block of code open, which would swallow what follows.")
    episode.spend_written(len(heading) + len(text))
    draft.write(heading, replace_surrogates(text))
    counts = {"sections": len(draft), "characters": len(draft.markdown())}
    return counts | episode.cite(draft.cited())
