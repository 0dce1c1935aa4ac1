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
    ("HAARNOJA T, ZHOU A, et al. Soft actor-critic[J]. ICML, 2018, 5: 1-9.",
     "Soft actor-critic", (), 2018, "haarnoja zhou"),
    ("M. von der Beeck. A comparison of statecharts. In FTRTFT, 1994.",
     "A comparison of statecharts", (), 1994, "beeck"),
    ("K.-E. Årzén. A simple controller. In IFAC, 1999.",
     "A simple controller", (), 1999, "årzén"),
    ("Ribeiro, M. T., & Singh, S. (2016). “Why trust you?”: Explaining predictions. In KDD.",
     "“Why trust you?”: Explaining predictions", (), 2016, "ribeiro singh"),
    ("M. Allamanis and E. Barr, “On the “naturalness” of software,” in ICSE, 2012.",
     "On the “naturalness” of software", (), 2012, "allamanis barr"),
    ("Robert F. Rosin. 1969. Supervisory systems. CSUR.",
     "Supervisory systems", (), 1969, "rosin"),
    ("B. Palsson, Systems biology, 2nd ed. Cambridge university press, 2015.",
     "Systems biology", (), 2015, "palsson"),
    ("Smith, J. and Lee, K. (2017) ‘Users’ needs’, Journal of X, 5(2).",
     "Users’ needs", (), 2017, "smith lee"),
    ("Siyan Zhao and Aditya Grover. d1: Scaling reasoning, 2025. URL https://arxiv.org/abs/2504.12216.",
     "d1: Scaling reasoning", ("arxiv:2504.12216",), 2025, "zhao grover"),
]  # fmt: skip


@pytest.mark.parametrize(("entry", "title", "ids", "year", "names"), BY_HAND)
def test_an_entry_in_its_style(entry, title, ids, year, names):
    (read,) = read_report(f"Text [1].\n\n# References\n\n[1] {entry}").references
    assert (read.title.strip("“”"), read.ids, read.year) == (title.strip("“”"), ids, year)
    first = names.split()[0].title()
    (read,) = read_report(f"Text ({first}, {year}).\n\n# References\n\n{entry}").cited
    assert read.text and read.key.startswith(first.lower())


@pytest.mark.parametrize("label", ["[Fang et al., 2022]", "[FGH22]"])
def test_a_label_before_an_entry_is_its_name(label):
    listed = f"{label} Ke Fang, Bo Gu, and Cy Ho. Deep nets. In Proc., 2022.\n\n" + (
        "[Li, 2021] Li An. Flat nets. In Proc., 2021."
        if "," in label
        else "[Li21] Li An. Flat. 2021."
    )
    report = read_report(f"It works {label}.\n\n# References\n\n{listed}")
    (cited,) = report.cited
    assert cited.title == "Deep nets" and not cited.text.startswith("[")
    assert len(report.references) == 2


def test_entries_without_a_full_stop_are_not_joined():
    """A line that ends in a letter goes on only if the entry has no year so far."""
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
