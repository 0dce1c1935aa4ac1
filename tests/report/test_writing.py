"""Reports as Markdown and BibTeX."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from arena.report import (
    PaperFinder,
    PaperName,
    read_report,
    resolve,
    write_bibtex,
    write_markdown,
)

REPORT = """# On <search> & more

Opening [@b].

## Words

Both [@a; @b], `code [@c]`.
"""
FINDER = PaperFinder(
    [PaperName("a", "Deep {Nets} 50%"), PaperName("b", "<b>Flat</b> nets", ("doi:10.1/x",))]
)


def test_markdown_has_numbers():
    assert write_markdown(resolve(read_report(REPORT), FINDER)) == (
        "# On \\<search\\> \\& more\n\nOpening [1].\n\n## Words\n\nBoth [2, 1], `code [@c]`.\n\n"
        "## References\n\n[1] \\<b\\>Flat\\</b\\> nets\n\n[2] Deep \\{Nets\\} 50%\n"
    )


def test_marks_of_other_styles_stay():
    text = "# T\n\nOne [7] and (2).\n\n## References\n\n[7] A paper. https://x.org/a\n"
    assert write_markdown(read_report(text)) == text.replace("/a", "/a")
    again = write_markdown(
        read_report("It rose 1 .\n\n## References\n\n1 3 A https://x.org\n\n2 B https://y.org")
    )
    assert again.endswith("1 3 A https://x.org\n\n2 B https://y.org\n")


@given(
    st.lists(st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=3), min_size=1, max_size=6)
)
def test_the_same_papers_are_read_again(groups):
    text = " ".join(f"Said [{'; '.join(f'@{key}' for key in group)}]." for group in groups)
    report = read_report(text)
    again = read_report(write_markdown(report))
    names = {r.key: r.text for r in again.references}
    assert [[names[key] for key in s.citations] for s in again.statements] == [
        list(s.citations) for s in report.statements
    ]


@given(st.text("[]()@^{}$`1a,;.:- \n\\<>*_#|é&", max_size=60))
def test_any_report_is_written(text):
    report = read_report(f"# Contents\n\n[@b]\n\n# A\n\nKnown [@a]. {text}")
    assert write_markdown(report).startswith("## Contents\n\n[@b]\n\n## A\n\nKnown [1].")
    assert write_bibtex(report).count("@misc{") >= 1


def test_bibtex():
    text = "T [1].\n\n# References\n\n[1] A. Bee, C. Dee. A_1 {x} 50%. ACL, 2020. https://arxiv.org/abs/2001.00001"
    assert write_bibtex(read_report(text)) == (
        "@misc{1,\n  title = {A\\_1 x 50\\%},\n  year = {2020},\n  eprint = {2001.00001},\n"
        "  archiveprefix = {arXiv},\n"
        "  note = {A. Bee, C. Dee. A\\_1 x 50\\%. ACL, 2020. https://arxiv.org/abs/2001.00001},\n}\n"
    )
    keys = write_bibtex(read_report("[@a b] [@{a b}] [@ab] [@é]")).split("@misc{")[1:]
    assert [key.split(",")[0] for key in keys] == ["a", "ab", "ab-3", "4"]
