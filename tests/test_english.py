"""Documentation, docstrings and messages are plain English: phrases that readers stumble over."""

from __future__ import annotations

import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
FOLDERS = ("arena", "baselines", "corpus_builder", "examples")
MODULES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
MODULES.append(ROOT / "researcharena.py")
PROMPTS = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("prompts/**/*.txt"))

# Each has a plain word: "reports" or "receives", "submits", "except", "resumes", "missing",
# "from scratch", "fix", "continues", "contains no", "is not a".
REFUSED = re.compile(
    r"\b(is|are|was|were|be|been|being) told\b"
    r"|\bhand(s|ed|ing)? in\b|\bwhat (came|comes|became|becomes) of\b|\bbut for\b"
    r"|\bof no consequence\b|\bso does Ctrl-C\b|\bdeaf to\b|\bwants? for\b"
    r"|\bsurvey that it left out\b|\bunlike what\b"
    r"|\banew\b|\bmend(s|ed|ing)?\b|\b(go|goes|going) on\b|\bholds? no\b"
    r"|(?<!here )\b(is|are) no (JSON|YAML|file|directory|string|number|integer|boolean)\b"
    r"|(?<!here )\b(is|are) no (date|day|object|list|text|paper)\b",
    re.IGNORECASE,
)


def lines_of(path: Path) -> list[tuple[int, str]]:
    """Return the lines of a page or a prompt, or the strings and comments of a module."""
    if path.suffix in (".md", ".txt"):
        return list(enumerate(path.read_text(encoding="utf-8").splitlines(), 1))
    with path.open("rb") as file:
        return [
            (token.start[0], token.string)
            for token in tokenize.tokenize(file.readline)
            if token.type in (tokenize.STRING, tokenize.COMMENT)
        ]


@pytest.mark.parametrize(
    "path", [*PAGES, *MODULES, *PROMPTS], ids=lambda p: str(p.relative_to(ROOT))
)
def test_no_phrase_that_readers_stumble_over(path: Path) -> None:
    faults = [
        f"line {number}: {match[0]!r}"
        for number, text in lines_of(path)
        for match in REFUSED.finditer(" ".join(text.split()))
    ]
    assert not faults, f"{path.relative_to(ROOT)}: {'; '.join(faults)}. Use plain words."
