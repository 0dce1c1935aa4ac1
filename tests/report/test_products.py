"""Reports as products export them: each citation leads to its work, with its title."""

from __future__ import annotations

import pytest

from arena.report import read_report

TITLES = [
    "Retrieval-Augmented Generation for Knowledge-Intensive NLP Tasks",
    "Dense Passage Retrieval for Open-Domain Question Answering",
    "iTransformer: Inverted Transformers Are Effective",
]
GEMINI = "{0}. {1} \\- Journal, accessed on May {0}, 2025, [https://j.org/{0}](https://j.org/{0})"
NOT_USED = "\n\n#### **Sources read but not used in the report**\n\n1. Other https://j.org/9\n"
# What stands behind a sentence, a line of the list with its heading, and what follows.
EXPORTS = {
    "titles of links": (' ([j.org](https://j.org/{0} "{1}")).', "", "", ""),
    "labels": (" ([j.org][{0}]).", "", '[{0}]: https://j.org/{0}?utm_source=x "{1}"', ""),
    "key citations": (" ([{1}](https://j.org/{0})).", "## Key Citations\n\n",
                      "- [{1}](https://j.org/{0}): it says so", ""),
    "numbers of links": ("[{0}](https://j.org/{0}).", "## Sources\n\n",
                         "* {1}. https://j.org/{0}", ""),
    "one paragraph": (" [{0}].", "Citations:\n", "[{0}] {1}: https://j.org/{0}", ""),
    "works cited": (".<sup>{0}</sup>", "#### **Works cited**\n\n", GEMINI, ""),
    "used": (" {0} .", "#### **Sources used in the report**\n\n", GEMINI, NOT_USED),
    "superscripts": (".<sup>{0}</sup>", "## References\n\n",
                     "<sup>{0}</sup> {1}. https://j.org/{0}", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", EXPORTS)
def test_an_export(name):
    mark, heading, entry, end = EXPORTS[name]
    text = " ".join(f"It works{mark.format(n, title)}" for n, title in enumerate(TITLES, 1))
    lines = "\n".join(entry.format(n, title) for n, title in enumerate(TITLES, 1))
    report = read_report(f"# Survey\n\n{text}\n\n{heading}{lines}{end}")
    assert [each.title for each in report.cited] == TITLES
    assert [each.ids for each in report.cited] == [(f"url:j.org/{n}",) for n in (1, 2, 3)]
    assert [len(each.citations) for each in report.statements] == [1, 1, 1]
    assert len(report.references) == 3


def test_a_mark_in_a_link_leaves_no_brackets_and_is_no_title():
    report = read_report("It works【[3†L1-L9](https://j.org/1)】.")
    assert (report.statements[0].text, report.cited[0].title) == ("It works.", "")


def test_each_bullet_is_an_entry():
    listed = "- Lee, A. (2020). Deep nets\n- Wu, B. (2021). flat nets\n- Attention"
    report = read_report(f"It works (Wu, 2021).\n\n## References\n\n{listed}")
    assert [each.title for each in report.references] == ["Deep nets", "flat nets", "Attention"]


def test_entries_of_an_export_in_one_paragraph():
    listed = (
        "1 4 Page one https://a.org/1\n\n2 Page two https://a.org/2 3 Page three https://a.org/3"
    )
    report = read_report(f"It rose 1 . It fell 2 . Then 3 4 .\n\n# References\n\n{listed}")
    assert [each.title for each in report.references] == ["Page one", "Page two", "Page three"]
