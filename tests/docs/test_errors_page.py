"""The messages that docs/errors.md explains are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_heading_is_a_message_of_the_code():
    files = [file for top in ("arena", "corpus_builder") for file in (ROOT / top).rglob("*.py")]
    source = "\n".join(file.read_text(encoding="utf-8") for file in files)
    source = re.sub(r'"\s*f?"', "", source)  # strings over several lines
    headings = re.findall(r"^### (.*)$", (ROOT / "docs/errors.md").read_text("utf-8"), re.M)
    parts = [part.strip() for heading in headings for part in heading.split("...")]
    assert len(headings) >= 20
    assert [part for part in parts if part not in source] == []
