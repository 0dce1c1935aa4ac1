"""Web pages in a file, which stand for the web offline."""

from __future__ import annotations

from pathlib import Path

from arena.errors import DataError, clip
from arena.suites import json_lines
from arena_suites.reports.addresses import address_ids
from arena_suites.verification.evidence import Page


def read_pages(path: str | Path) -> dict[str, Page]:
    """Read pages as JSON lines of ``url``, ``title``, ``text`` and ``is_paper`` (default: true).

    Returns:
        Identifier of an address, as a `Reference` has it -> page.

    Raises:
        DataError: If a line is not such an object.
    """
    pages: dict[str, Page] = {}
    for number, text, record in json_lines(path):
        url, title, content = ((record or {}).get(key, "") for key in ("url", "title", "text"))
        is_paper = (record or {}).get("is_paper", True)
        texts = isinstance(url, str) and isinstance(title, str) and isinstance(content, str)
        if not (texts and url) or type(is_paper) is not bool:
            raise DataError(
                f"{Path(path).name} line {number}: {clip(text)} is not a page. Write an object "
                "with url, title, text and is_paper."
            )
        pages |= dict.fromkeys(address_ids(url), Page(title, content, is_paper))
    return pages
