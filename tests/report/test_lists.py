"""Lists of references in many styles: by hand, and 238 real records in each style."""

from __future__ import annotations

import pytest
import rendered

from arena.report import read_report

# An entry, and its title, identifiers and year; with the names of the first two authors.
BY_HAND = [
    ("Ren, X., Wei, W.: Title of it. CoRR abs/2310.15950 (2023)",
     "Title of it", ("arxiv:2310.15950",), 2023, "ren wei"),
    ("Haarnoja T, Zhou A. Soft actor-critic. In: Proc ICML; 2018. p. 1-9.",
     "Soft actor-critic", (), 2018, "haarnoja zhou"),
    ("Ribeiro, M. T., & Singh, S. (2016). “Why trust you?”: Explaining predictions. In KDD.",
     "“Why trust you?”: Explaining predictions", (), 2016, "ribeiro singh"),
    ("M. Allamanis and E. Barr, “On the “naturalness” of software,” in ICSE, 2012.",
     "On the “naturalness” of software", (), 2012, "allamanis barr"),
    ("B. Palsson, Systems biology, 2nd ed. Cambridge university press, 2015.",
     "Systems biology", (), 2015, "palsson"),
    ("Siyan Zhao and Aditya Grover. d1: Scaling reasoning, 2025. URL https://arxiv.org/abs/2504.12216.",
     "d1: Scaling reasoning", ("arxiv:2504.12216",), 2025, "zhao grover"),
    ("Van den Oord A, Li Y. Representation learning. arXiv preprint arXiv:1807.03748, 2018.",
     "Representation learning", ("arxiv:1807.03748",), 2018, "oord li"),
    ("Kimi Team. Kimi k1. 5: Scaling. arXiv preprint arXiv:2501.12599, January 2025.",
     "Kimi k1. 5: Scaling", ("arxiv:2501.12599",), 2025, "team"),
    ("Lee et al. (2020) - Deep nets work", "Deep nets work", (), 2020, "lee"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("entry", "title"),
    [
        ("**Deep nets work** - A. Lee et al., Proc. X, 2020.", "Deep nets work"),
        ("Deep nets work. A. Lee, B. Wu. 2020.", "Deep nets work"),
        ("Deep nets, RLHF and more", "Deep nets, RLHF and more"),
        (". A. Lee. Deep nets work. 2020.", "Deep nets work"),  # [1].
        ("Deep nets. 2020.", "Deep nets"),
        ("Nets and trees. 2020.", "Nets and trees"),
        ("Lee, A. (n.d.). Deep nets work. Net Press.", "Deep nets work"),
        ("Lee, A., & Wu, B. (in press). Deep nets work. Nets.", "Deep nets work"),
        ("TNNLS | Deep nets work https://x.org", "Deep nets work"),
    ],
)
def test_an_entry_that_begins_with_its_title(entry, title):
    (read,) = read_report(f"Text [1].\n\n# References\n\n[1] {entry}").references
    assert read.title == title


@pytest.mark.parametrize(("entry", "title", "ids", "year", "names"), BY_HAND)
def test_an_entry_in_its_style(entry, title, ids, year, names):
    (read,) = read_report(f"Text [1].\n\n# References\n\n[1] {entry}").references
    assert (read.title.strip("“”"), read.ids, read.year) == (title.strip("“”"), ids, year)
    first = names.split()[0].title()
    (read,) = read_report(f"Text ({first}, {year}).\n\n# References\n\n{entry}").cited
    assert read.text and read.key.startswith(first.lower())


def test_entries_without_a_full_stop_are_not_joined():
    """A line that ends in a letter continues only where the entry has no year so far."""
    listed = [
        f"Smith, {a}. (20{n}). Title {n}. Journal of Things" for n, a in enumerate("ABCDEFG", 10)
    ]
    for between in ("\n", "\n\n"):
        report = read_report(f"So (Smith, 2012).\n\n# References\n\n{between.join(listed)}")
        assert [each.text for each in report.references] == listed
        assert [each.title for each in report.cited] == ["Title 12"]


@pytest.fixture(scope="module")
def works(real_data):
    return rendered.records(real_data.directory / "bibtex")


@pytest.mark.parametrize("style", rendered.STYLES)
def test_real_records_in_each_style(works, style):
    """The table in docs/metrics.md, two decimals of which count."""
    assert len(works) == 238
    assert min(rendered.measure(read_report, rendered.STYLES[style], works)) >= 0.985


ENTRIES = [f"Ann Lee{n}. Title {n}. Proc. X, 2020." for n in range(1, 13)]
NUMBERED = "\n\n# References\n\n" + "\n\n".join(f"[{n}] {e}" for n, e in enumerate(ENTRIES, 1))


def titles(text):
    report = read_report(text)
    found = {each.key: each.title for each in report.references}
    return [[found[key] for key in statement.citations] for statement in report.statements]


@pytest.mark.parametrize(
    ("mark", "places"),
    [
        ("[cite: {}, 12]", (12,)), ("[Source {}]", ()), ("[see {}]", ()), ("[{}، 12]", (12,)),
        ("[{}](#ref-1)", ()), ("[[{}]](#ref-1)", ()), ("[Refs. {}, 12]", (12,)), ("[{}, p. 3]", ()),
    ],
)  # fmt: skip
def test_forms_of_a_number(mark, places):
    text = f"One {mark.format(1)}. Two {mark.format(2)}."
    expected = [[f"Title {n}", *(f"Title {each}" for each in places)] for n in (1, 2)]
    assert titles(text + NUMBERED) == expected


def test_superscripts_of_unicode():
    text = "One works¹. Two does.²,³ All¹² do, over 5 km² or 10³ of n²."
    assert titles(text + NUMBERED) == [["Title 1"], ["Title 2", "Title 3"], ["Title 12"]]
    assert titles("An area of 12 km², m³ and n¹." + NUMBERED) == [[]]


@pytest.mark.parametrize("mark", ["({})", "({}, p. 11060)", "[{}]"])
@pytest.mark.parametrize("entry", ["{}\n\n", "- {}\n", '<span id="r">{}</span>\n\n'])
def test_a_list_without_numbers_is_cited_by_place(mark, entry):
    text = " ".join(f"It works {mark.format(n)}." for n in range(1, 13))
    listed = "".join(map(entry.format, ENTRIES))
    assert titles(f"{text}\n\n# References\n\n{listed}") == [[f"Title {n}"] for n in range(1, 13)]


def test_an_enumeration_cites_nothing():
    text = "It (1) begins, (2) works and (3) ends, and so on (see (4) and (5) below)."
    assert titles(text + NUMBERED) == [[]]


@pytest.mark.parametrize(
    "entry", ['<span id="ref-{0}">{0}. {1}</span>\n\n', '<a id="ref-{0}"></a>{0}. {1}\n']
)
def test_entries_in_anchors(entry):
    listed = "".join(entry.format(n, each) for n, each in enumerate(ENTRIES, 1))
    assert titles(f"It works [12].\n\n# References\n\n{listed}") == [["Title 12"]]


def test_each_chapter_has_its_own_numbers():
    text = "# T\n\n" + "\n\n".join(
        f"## {c}\n\nIt works [1, 2].\n\n### References\n\n[1] One of {c}\n\n[2] Two of {c}"
        for c in ("Apes", "Bees", "Cats")
    )
    expected = [[f"One of {c}", f"Two of {c}"] for c in ("Apes", "Bees", "Cats")]
    assert titles(text) == expected
    assert len(read_report(text).references) == 6


LATEX = r"""\section{One}
It works \cite{a,b:1}. So do~\citep[see][p. 3]{a} and \citet{b:1}.

\begin{thebibliography}{99}
\bibitem{a} A.~Lee and B.~Wu. \newblock Deep {N}ets. \newblock \emph{Proc. X}, 2020.
\bibitem[Wu(2021)]{b:1} B. Schr\"odinger. \newblock Flat nets. \newblock {\em Proc. Y}, 2021.
\end{thebibliography}
"""
BIBTEX = r"""## One

It works \cite{a, b:1}. So do~\parencite{a} and \textcite{b:1}.

```bibtex
@article{a,
  title={Deep {N}ets},
  author={Lee, Ann and Wu, Bo},
  journal={arXiv preprint arXiv:2001.00001},
  year={2020}
}

@inproceedings{b:1, title = "Flat nets", author = "Bo Wu", year = 2021,
  doi = {10.1000/xyz.1}
}
```
"""


@pytest.mark.parametrize(
    "text",
    [LATEX, BIBTEX, BIBTEX.replace("```bibtex\n", "# References\n\n").replace("```\n", "")],
)
def test_citations_of_latex(text):
    assert titles(text) == [["Deep Nets", "Flat nets"]] * 2
    report = read_report(text)
    assert [each.heading for each in report.sections] == ["One"]
    assert report.statements[0].text == "It works."
    assert len(report.references) == 2
    if text is not LATEX:
        assert [e.ids for e in report.references] == [("arxiv:2001.00001",), ("doi:10.1000/xyz.1",)]


def test_a_report_whose_citations_are_not_recognised_says_so():
    report = read_report(f"It works {{1}}.{NUMBERED}")
    assert report.unread == "no citation in its text is recognised; entries of its list: 12"
    assert read_report(f"It works [1].{NUMBERED}").unread == read_report("It works.").unread == ""


def test_a_name_without_its_accents_is_the_same():
    entries = (
        "A. Kopf and B. Li. Open talk. 2023.\n\nC. Müller. On sets. 2020.\n\nD. Muller. Maps. 2020."
    )
    text = "As some say (Köpf et al., 2023), and Müller (2020) and Muller (2020).\n\n"
    report = read_report(f"# T\n\n{text}## References\n\n{entries}")
    assert [each.title for each in report.cited] == ["Open talk", "On sets", "Maps"]


HEADINGS = [
    "Quellenverzeichnis", "Literatur", "Bibliografía", "Références bibliographiques", "Referências",
    "Riferimenti bibliografici", "Literatuurlijst", "Список литературы", "Kaynakça", "引用文獻",
    "참고 문헌", "References & further reading",
    "5. Was wir gelesen haben", "Papers behind this text",
]  # fmt: skip


@pytest.mark.parametrize("heading", HEADINGS)
def test_a_list_has_a_heading_in_another_language_or_of_any_words(heading):
    report = read_report(
        f"# Bees\n\n## Summary\n\nBees dance [2]. They sleep [1, 2].\n\n## {heading}\n\n"
        "1. Frey, A. (2011). How bees sleep at night. Apidology.\n"
        "2. Frisk, B. (2012). A dance of bees in the dark. Apidology.\n"
    )
    assert [each.citations for each in report.statements] == [("2",), ("1", "2")]
    titles = [each.title for each in report.references]
    assert titles == ["How bees sleep at night", "A dance of bees in the dark"]
    assert [each.heading for each in report.sections] == ["Summary"]


@pytest.mark.parametrize("rule", ["", "---\n\n"])
def test_a_numbered_list_needs_no_heading(rule):
    report = read_report(
        f"# Bees\n\n## Summary\n\nBees dance [2]. They sleep [1].\n\n{rule}"
        "1. Frey, A. (2011). How bees sleep at night. Apidology.\n"
        "2. Frisk, B. (2012). A dance of bees in the dark. Apidology.\n"
    )
    assert [each.citations for each in report.statements] == [("2",), ("1",)]
    assert [each.year for each in report.references] == [2011, 2012]


@pytest.mark.parametrize("number", ["{}. ", "[{}] "])
def test_a_year_in_brackets_is_no_number_of_an_entry(number):
    entries = ["(2011) How bees sleep at night — Frey et al.", "(2012) A dance of bees — Frisk"]
    lines = (f"{number.format(n)}{entry}\n" for n, entry in enumerate(entries, 1))
    report = read_report("Bees dance [2].\n\n## References\n\n" + "".join(lines))
    assert [each.text for each in report.references] == entries
    assert [each.text for each in report.cited] == entries[1:]


def test_a_footnote_mark_is_the_number_of_a_list():
    report = read_report(
        "Bees dance.[^2] They sleep.[^1] They hum.[^3]\n\n## References\n\n"
        "1. Frey, A. (2011). How bees sleep at night. Apidology.\n"
        "2. Frisk, B. (2012). A dance of bees in the dark. Apidology.\n"
    )
    assert [each.citations for each in report.statements] == [("2",), ("1",), ("^3",)]


@pytest.mark.parametrize(
    "ending",
    [
        "1. Bees sleep.\n2. Bees dance.\n",  # no years: a section of text
        "1. In 2011 bees slept.\n",  # the text cites 2, too
        "1. In 2011 bees slept.\n2. In 2012 they danced.\n\nThat is all.\n",
    ],
)
def test_numbered_items_at_the_end_of_a_text_are_no_list(ending):
    report = read_report(f"# Bees\n\n## Summary\n\nBees dance [1, 2].\n\n## Outlook\n\n{ending}")
    assert [each.heading for each in report.sections] == ["Summary", "Outlook"]
    assert not any(each.text for each in report.references)


@pytest.mark.parametrize("end", ["\\n", "\\r\\n"])
def test_line_breaks_that_a_model_escaped_twice_are_read(end):
    text = (
        r"# Bees||## Summary||Bees dance as $\nu \neq 1$ [1].||## References||1. Frey, A. (2011). "
    )
    text = text.replace("||", end + end) + "How bees sleep at night. Apidology."
    (statement,) = read_report(text).statements
    assert statement.text == r"Bees dance as $\nu \neq 1$."
    assert [each.title for each in read_report(text).references] == ["How bees sleep at night"]
    both = text + "\n\nMore."
    assert len(read_report(both).statements) == 1 and not read_report(both).references
