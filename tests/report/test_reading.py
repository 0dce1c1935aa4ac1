"""Titles, sections, statements."""

from __future__ import annotations

import pytest

from arena.errors import DataError
from arena.report import (
    PaperFinder,
    PaperName,
    Reference,
    ReportSection,
    Statement,
    read_report,
    resolve,
)

REPORT = """# Retrieval

Opening words [@a].

## Sparse

Words count [@a; @b]. *Terms* are weighted, e.g. by `idf` [@c].

- An item, see Fig. 2 [@b].
- Another.

### BM25

It works.[@b] It fails. [@a] Others disagree [@unknown]
"""


def test_a_report_in_pandoc_form():
    report = read_report(REPORT)
    assert report.title == "Retrieval" and report.styles == ("pandoc",)
    assert [(each.heading, each.level) for each in report.sections] == [
        ("", 1), ("Sparse", 1), ("BM25", 2)
    ]  # fmt: skip
    assert report.sections[0] == ReportSection("", 1, "Opening words [@a].")
    assert report.sections[1].text.startswith("Words count [@a; @b].")
    assert report.statements == (
        Statement("Opening words.", 0, ("a",)),
        Statement("Words count.", 1, ("a", "b")),
        Statement("Terms are weighted, e.g. by idf.", 1, ("c",)),
        Statement("An item, see Fig. 2.", 1, ("b",)),
        Statement("Another.", 1),
        Statement("It works.", 2, ("b",)),
        Statement("It fails.", 2, ("a",)),
        Statement("Others disagree", 2, ("unknown",)),
    )
    assert [reference.key for reference in report.cited] == ["a", "b", "c", "unknown"]


def test_papers_are_found_by_id_then_by_title():
    finder = PaperFinder(
        [
            PaperName("a", "Deep Nets"),
            PaperName("arxiv:1706.03762", "Attention Is All You Need", ("doi:10.1/x",)),
            PaperName("b", "Deep nets."),
        ]
    )
    find = finder.find
    assert find(Reference("a", ids=("corpus:a",))) == "a"
    assert find(Reference("a")) is None  # a mark without an entry, which happens to be an id
    assert find(Reference("1", ids=("arxiv:1706.03762",))) == "arxiv:1706.03762"
    assert find(Reference("1", ids=("doi:10.1/x",))) == "arxiv:1706.03762"
    assert find(Reference("1", title="DEEP nets")) == "a"
    assert find(Reference("1", title="...")) is find(Reference("1", ids=("doi:10.1/y",))) is None
    report = resolve(read_report("Known [@b; @z]."), finder)
    assert [reference.paper for reference in report.references] == ["b", None]


def test_text_of_any_kind_is_read(tmp_path):
    assert read_report("").statements == ()
    path = tmp_path / "report.md"
    text = "# Études\n\nÀ la fin [@a]."
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "latin-1"):
        path.write_bytes(text.encode(encoding))
        assert read_report(path) == read_report(text)
    assert read_report("À la fin, où".encode() + b"\xc3").statements[0].text == "À la fin, où\ufffd"
    with pytest.raises(DataError, match="is not text"):
        read_report(b"\x89PNG\x00\x00")
