"""Reference lists: where they stand, how their entries are separated, what an entry names."""

from __future__ import annotations

import pytest

from arena.report import PaperFinder, PaperName, read_report, resolve
from arena_suites.reports.addresses import address_ids

ENTRIES = [
    # the entry, its title, its year
    ('A. Vaswani et al., "Attention is all you need," in NeurIPS, 2017, pp. 5998- 6008.',
     "Attention is all you need", 2017),
    ("Zi Jiang and J. P. Wu. 2021b. How can we know? On calibration. TACL, 9:1962- 1977.",
     "How can we know? On calibration", 2021),
    ("OpenAI. Gpt-4 technical report. ArXiv, abs/2303.08774, 2023.", "Gpt-4 technical report",
     2023),
    ("Teaching Matters  Investigating the Role of Supervision",
     "Teaching Matters Investigating the Role of Supervision", None),
    ("Reinforcement learning - Wikipedia https://en.wikipedia.org/wiki/RL",
     "Reinforcement learning", None),
    ("[Deep *Nets*](https://x.org/nets)", "Deep Nets", None),
]  # fmt: skip


@pytest.mark.parametrize(("entry", "title", "year"), ENTRIES)
@pytest.mark.parametrize("form", ["[1] {}", "1. {}", "[1]: {}", "**[1]** {}", "(1) {}"])
def test_the_title_and_year_of_an_entry(entry, title, year, form):
    (reference,) = read_report(f"Text [1].\n\n## References\n\n{form.format(entry)}").references
    assert (reference.key, reference.title, reference.year) == ("1", title, year)


@pytest.mark.parametrize(
    ("address", "ids"),
    [
        ("http://arxiv.org/abs/cs/9301111v1", ("arxiv:cs/9301111",)),
        ("https://export.arxiv.org/pdf/1706.03762.pdf", ("arxiv:1706.03762",)),
        ("https://huggingface.co/papers/1706.03762", ("arxiv:1706.03762",)),
        ("https://doi.org/10.48550/arXiv.1706.03762", ("arxiv:1706.03762",)),
        ("https://dl.acm.org/doi/pdf/10.1145/3626772.123", ("doi:10.1145/3626772.123",)),
        ("https://link.springer.com/article/10.1007%2Fs1-2", ("doi:10.1007/s1-2",)),
        ("https://academic.oup.com/nsr/article/doi/10.1093/nsr/nwaf169/8120226",
         ("doi:10.1093/nsr/nwaf169",)),
        ("https://www.medrxiv.org/content/10.1101/2025.02.28.25323115v1.full-text",
         ("doi:10.1101/2025.02.28.25323115",)),
        ("https://doi.org/10.1002/(SICI)1097-4571(199009)41:6<391::AID-ASI1>3.0.CO;2-9",
         ("doi:10.1002/(sici)1097-4571(199009)41:6<391::aid-asi1>3.0.co;2-9",)),
        ("https://journals.plos.org/plosone/article?id=10.1371/journal.pone.0012345",
         ("doi:10.1371/journal.pone.0012345",)),
        ("https://openreview.net/forum?noteId=c&id=md68e8iZK1", ("openreview:md68e8iZK1",)),
        ("https://openalex.org/W2741809807", ("openalex:W2741809807",)),
        ("https://aclanthology.org/2020.acl-main.173.pdf",
         ("acl:2020.acl-main.173", "doi:10.18653/v1/2020.acl-main.173")),
        ("https://www.aclweb.org/anthology/P18-1001/",
         ("acl:P18-1001", "doi:10.18653/v1/p18-1001")),
        ("https://api.semanticscholar.org/CorpusID:13756489", ("s2:CorpusID:13756489",)),
        ("HTTPS://WWW.X.org/A/?b=1&utm_source=c&a=#d", ("url:x.org/A?b=1&a=",)),
        ("http://[broken", ("url:http://[broken",)),
    ],
)  # fmt: skip
def test_the_ids_of_an_address(address, ids):
    assert address_ids(address) == ids
    if "[" not in address:
        text = f"T [1].\n\n# References\n\n[1] A title. {address}."
        assert read_report(text).references[0].ids == ids


@pytest.mark.parametrize(
    "cut",
    ["https://arxiv.org", "https://arxiv.org/abs/", "https://arxiv.org/abs/2310.", "https://doi.org/",
     "https://doi.org/10.18653/v1/2024.", "https://doi.org/10.1109/TNN.2008",
     "doi: 10.18653/v1/2024.acl-long", "https://openreview.net/forum?id=",
     "https://aclanthology.org/2021.", "arXiv:2310.", "doi:10.48550/arXiv."],
)  # fmt: skip
def test_the_beginning_of_an_identifier_is_none(cut):
    """Many works share it, so it would make them one."""
    text = f"See {cut} [1].\n\n# References\n\n[1] One. {cut}\n\n[2] Two. {cut}"
    report = read_report(text)
    assert [each.ids for each in report.references] == [(), ()]
    assert [each.key for each in report.cited] == ["1"]


@pytest.mark.parametrize(
    ("broken", "key"),
    [("10.18653/v1/2024. acl-long.5", "doi:10.18653/v1/2024.acl-long.5"),
     ("10.1109/TNN.2008. 2005605", "doi:10.1109/tnn.2008.2005605"),
     ("10.1145/3292500.3330701. 2019", "doi:10.1145/3292500.3330701"),
     ("(doi: 10.1016/0004-3702(95)00017-2)", "doi:10.1016/0004-3702(95)00017-2")],
)  # fmt: skip
def test_a_blank_within_a_doi_and_brackets_around_it(broken, key):
    assert read_report(f"T [1].\n\n# References\n\n[1] A title. {broken}.").references[0].ids == (
        key,
    )


def test_a_link_to_an_id_of_the_corpus_is_its_paper():
    finder = PaperFinder(
        [PaperName("W12", "One"), PaperName("345", "Two"), PaperName("6", "Three")]
    )
    text = (
        "See https://openalex.org/W12, https://api.semanticscholar.org/CorpusID:345 and CorpusID:6."
    )
    assert [each.paper for each in resolve(read_report(text), finder).cited] == ["W12", "345", "6"]


@pytest.mark.parametrize(
    "heading",
    ["## References", "# REFERENCES", "## 7. Bibliography", "**References**", "### Works Cited:",
     "## Sources", "References\n==========", "## 参考文献", "## VIII. References and notes"],
)  # fmt: skip
def test_headings_of_a_list(heading):
    report = read_report(
        f"# T\n\n## A\n\nText [1].\n\n{heading}\n\n[1] One\n\n[2] Two\n\n## B\n\nMore [2]."
    )
    assert [r.text for r in report.references] == ["One", "Two"]
    assert [s.heading for s in report.sections] == ["A", "B"] and report.sections[
        0
    ].text == "Text [1]."
    assert [s.citations for s in report.statements] == [("1",), ("2",)]


@pytest.mark.parametrize(
    "heading", ["## Related sources of data", "## References to pain", "Sources", "## Sources"]
)
def test_headings_of_none(heading):
    report = read_report(f"# T\n\n{heading}\n\nText [1].")
    assert report.cited and len(report.sections) == 1


@pytest.mark.parametrize(
    "listed",
    ["[1] One\n\n[2] Two", "[1] One\n[2] Two", "[1]: https://a.org\n[2]: https://b.org",
     "1. One https://a.org\n2. Two https://b.org", "1 One https://a.org\n\n2 Two https://b.org"],
)  # fmt: skip
def test_a_list_without_a_heading_ends_the_report(listed):
    report = read_report(f"# T\n\nText [1].\n\n1. An item\n2. Another\n\nText [2].\n\n{listed}")
    assert [r.key for r in report.references] == ["1", "2"] and report.references[0].text
    assert [s.text for s in report.statements] == ["Text.", "An item", "Another", "Text."]
    assert "One" not in report.sections[0].text and "org" not in report.sections[0].text


def test_entries_that_share_a_line():
    text = "[1] A. One, [Online]. [2] B. Two in [4] parts,\n\nin 2020. [3] C. [4] D."
    report = read_report(f"T [3].\n\n# References\n\n{text}")
    assert [(r.key, r.text) for r in report.references] == [
        ("1", "A. One, [Online]."), ("2", "B. Two in [4] parts, in 2020."), ("3", "C."), ("4", "D.")
    ]  # fmt: skip


def test_entries_of_authors_that_share_a_line():
    one = "An Lee and J. P. Wu. 2020. Deep things. In ACL."
    two = "Bo Sun, Cy Roe, et al. 2021. Flat things? arXiv preprint arXiv:2101.00001."
    for between in (" ", "", "\n\n"):
        report = read_report(f"T (Lee and Wu, 2020).\n\n# References\n\n{one}{between}{two}")
        assert [r.text for r in report.references] == [one, two]
        assert [r.key for r in report.references] == ["lee 2020", "sun 2021"]
    three, four = "An Lee. Deep things. ACL, 2020. URL https://x.org.", "Bo Sun. Flat. ICML, 2021b."
    report = read_report(f"T (Lee, 2020).\n\n# References\n\n{three} {four}")
    assert [r.text for r in report.references] == [three, four]


def test_entries_with_one_name_stay_apart():
    listed = "An Li. 2020. One. ACL.\n\nAn Li. 2020. Two. ACL."
    references = read_report(f"T (Li, 2020).\n\n# References\n\n{listed}").references
    assert [r.key for r in references] == ["li 2020", "li 2020 (2)"]
    twice = read_report(
        "T [1].\n\n# References\n\n[1] One\n\n# Notes\n\nN.\n\n# Sources\n\n[1] Two"
    ).references
    assert [r.text for r in twice][:1] == ["One"]
