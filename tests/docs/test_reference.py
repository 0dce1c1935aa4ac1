"""docs/reference.md is what docs/reference.py prints."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_is_up_to_date():
    """If not: python docs/reference.py > docs/reference.md."""
    command = [sys.executable, str(DOCS / "reference.py")]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert printed == (DOCS / "reference.md").read_text(encoding="utf-8")
