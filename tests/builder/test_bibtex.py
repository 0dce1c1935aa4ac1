"""BibTeX as tools export it: inheritance, joins, LaTeX, names, identifiers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from corpus_builder.readers.base import PaperFile, plain


def read(folder: Path, text: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the records of a file, and what was lost: reason -> number."""
    (folder / "a.bib").write_text(text, encoding="utf-8")
    file = PaperFile(folder / "a.bib")
    records = [record for _, record in file.records()]
    return records, {why: entry[0] for why, entry in
                     {**file.skipped["records"], **file.skipped["parts"]}.items()}  # fmt: skip


INHERITED = r"""
@inproceedings{a, title={Reefs at night}, author={Low, Ada}, crossref={Meet}, xdata={fun, no}}
@incollection{b, title={Reefs by day}, crossref={book}, year={1997}}
@inproceedings{c, title={Reefs at dawn}, crossref={gone}, year=1990}
@inbook{d, title={Reefs at dusk}, crossref={meet}, date={1988-02}}
@book{e, crossref={whole}, volume={2}, year={1996}}
@xdata{fun, keywords={reefs, nights}, crossref={meet}}
@proceedings{meet, title={Proc. of Reefs}, booktitle={Reef Days}, year=1987, month=feb}
@collection{book, title={On Reefs}, subtitle={All of It}, year=1996, month=mar, crossref={whole}}
@mvbook{whole, title={Seas}, year=1995}
@control{x, title={No work}}
"""


def test_entries_inherit(tmp_path: Path) -> None:
    records, lost = read(tmp_path, INHERITED)
    by = {record["title"]: (record.get("date"), record.get("venue")) for record in records}
    assert by == {
        "Reefs at night": ("1987-02", "Reef Days"), "Reefs by day": ("1997", "On Reefs: All of It"),
        "Reefs at dawn": ("1990", None), "Reefs at dusk": ("1988-02", "Reef Days"),
        "Seas: Volume 2": ("1996", "Seas"), "Proc. of Reefs": ("1987-02", "Reef Days"),
        "On Reefs: All of It": ("1996-03", "Seas"), "Seas": ("1995", None),
    }  # fmt: skip
    assert {record["title"]: record.get("fields") for record in records}["Reefs at night"] == [
        "reefs", "nights"
    ]  # fmt: skip
    assert lost == {"xdata to an entry that is not in the file": 1,
                    "crossref to an entry that is not in the file": 1}  # fmt: skip


@pytest.mark.parametrize(
    ("entry", "title", "date", "lost"),
    [
        ('@misc{a, title = "On " # reefs # { of } # "A", year=1998}', "On REEFS of A", "1998", []),
        ('@misc{a, title = REEFS, month = 5 # "~" # may, year = 1998}', "REEFS", "1998-05-05", []),
        ("@misc{a, title = {A} # gone, year = 1998}", "Agone", "1998",
         ["a name that no @string defines"]),
        ("@misc{a,\n title = {A}\n year = 1998\n month = {may}\n}", "A", "1998-05", []),
        ('@misc{a, title = "A" year = {1998}}', "A", "1998", []),
        ("@misc(a, title = {A (b)}, year = 1998)", "A (b)", "1998", []),
        ("@misc{title = {A}, year = 1998}", "A", "1998", []),
        ("@misc{a b, title = {A}, title = {B}, year = 1998,,}", "A", "1998", []),
        ("@misc{a, title = {A}}, year = 1998}", "A", "1998", []),
        ("@misc{a,\n % a note = {x}\n title = {A}, year = 1998}", "A", "1998", []),
        (r'@misc{a, title = "A {\"O} {"}c{"}", year = 1998}', 'A Ö "c"', "1998", []),
        ("@misc{a, title={A}, year=1998} @misc{b, year=1998}", "A", "1998", ["no title"]),
        ("@misc{a, title={A}, year=1998}\n@misc{b, title {B}}", "A", "1998", ["a broken entry"]),
        ("@misc{a, title={A}, year=1998, month={ſep}}", "A", "1998-09", []),
        ("@misc{a, title={A}, subtitle={B of A}, year=1998}", "A: B of A", "1998", []),
        ("@misc{a, title={A?}, subtitle={B}, year=1998}", "A? B", "1998", []),
        ("@misc{a, title={A: b}, subtitle={{B}}, year=1998}", "A: b", "1998", []),
        ("@proceedings{a, booktitle={A}, year=1998}", "A", "1998", []),
    ],
)  # fmt: skip
def test_entries_as_they_are_written(
    tmp_path: Path, entry: str, title: str, date: str, lost: list[str]
) -> None:
    records, reasons = read(tmp_path, f'@string{{reefs = "REE" # "FS"}}\n{entry}\n')
    assert [(record["title"], record.get("date")) for record in records] == [(title, date)]
    assert [*reasons] == lost


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (r"NO\textsubscript{2}, 10\textsuperscript{6}, {\textsuperscript{3}H}", "NO2, 10^6, 3H"),
        (r"\textbf{Reefs \textsc{in \emph{situ}}}, {\itshape now}", "Reefs in situ, now"),
        (r"6\textdegree{} \textendash\ it{\textquotesingle}s {\ldots}", "6° – it's …"),
        (r"\textless 5, \textgreater{} 6, \pounds 7, \texteuro8", "<5, > 6, £7, €8"),
        (r"Reefs\footnote{by X} \cite{a}\href{http://a/b_c}{of} \LaTeX\ \url{x}", "Reefs of LaTeX"),
        (r"$\alpha_{1}$, \ensuremath{\beta} or \textalpha, {\gamma}", r"$\alpha_{1}$, β or α, γ"),
        (r"\c c, \v Cech, \'{\i}, \'\i, {\"O}, \.I, \H{o}, \o re, \ss",
         "ç, Čech, í, í, Ö, İ, ő, øre, ß"),
        (r"a~b--c---d, 5\% \& \{x\} 1\,000", "a b–c—d, 5% & {x} 1 000"),
        (r"it\'s Reefs:\newline Now\quad then", "it's Reefs: Now then"),
        (r"``Reefs'' and \"Kelp\", \~{}5\degreeCelsius", '“Reefs” and "Kelp", ~5°C'),
        ("``Kelp'' in reefs", "“Kelp” in reefs"),
        (r"\glqq Kelp\grqq{} in \LaTeXe{}\ddag", "„Kelp“ in LaTeX2e‡"),
        (r"\mnras", "mnras"),
        (r"{\noopsort{b}}Reefs", "Reefs"),
        ("Reefs &amp; <i>kelp</i> &#8211; <T> & <", "Reefs & kelp – <T> & <"),
        (r"\texorpdfstring{$H_2$}{H2} \mbox{now} {\fontsize{9}{9}\selectfont then}", "H2 now then"),
    ],
)  # fmt: skip
def test_latex_as_it_reads(written: str, text: str) -> None:
    assert plain(written) == text


@pytest.mark.parametrize(
    ("written", "people"),
    [
        ("{{Reef and Sea, Inc.}} and Low, Ada", ["Reef and Sea, Inc.", "Ada Low"]),
        ("Low, Ada\n  And\tRay, Bo and OTHERS", ["Ada Low", "Bo Ray"]),
        ("van der Berg, III, Bo and Ada de la Low", ["Bo van der Berg III", "Ada de la Low"]),
        (r"{\v{C}}ech, {\'E}va and M{\"u}ller, K.", ["Éva Čech", "K. Müller"]),
        ("{Low}, A. and {Sand} Ray, B.", ["A. Low", "B. Sand Ray"]),
        ("family=Berg, given=Bo, given-i={B}, prefix=van der, useprefix=true and Low, Ada",
         ["Bo van der Berg", "Ada Low"]),
        ("Wei Low 0002 and Ada Ray", ["Wei Low", "Ada Ray"]),
        ("Low, Ada; Ray, Bo & Doe, Cy", ["Ada Low", "Bo Ray", "Cy Doe"]),
        ("Ada Low, Bo Ray, Cy Doe", ["Ada Low", "Bo Ray", "Cy Doe"]),
        ("Alexandra Band and Andy Grand", ["Alexandra Band", "Andy Grand"]),
        ("others", None),
        ("Oak, Vi and others,", ["Vi Oak"]),
        ("Rae Fox, Jr. and Elm, Inc.", ["Rae Fox Jr.", "Elm Inc."]),
        (r"Elm, Ty and and \O{}ge \O re and \L{}ea Oak and", ["Ty Elm", "Øge Øre", "Łea Oak"]),
        ("Elm, Ty; Fox, Rae and Oak, Vi;", ["Ty Elm", "Rae Fox", "Vi Oak"]),
        ("R. Fox, T. Elm and V. Oak", ["R. Fox", "T. Elm", "V. Oak"]),
        ("Rae Fox, Ty Elm, and Vi Oak", ["Rae Fox", "Ty Elm", "Vi Oak"]),
        (r"Fox, R., Elm, T., and {\"O}ge, V.", ["R. Fox", "T. Elm", "V. Öge"]),
        ("Fox Elm, Rae Vi and Oak Low, Ty Bo", ["Rae Vi Fox Elm", "Ty Bo Oak Low"]),
        ("given=Rae, family=Fox", ["Rae Fox"]),
    ],
)  # fmt: skip
def test_names_by_the_rules_of_bibtex(tmp_path: Path, written: str, people: list[str]) -> None:
    ((record,), _) = read(tmp_path, f"@misc{{a, title={{A}}, author={{{written}}}}}")
    assert record.get("authors") == people


@pytest.mark.parametrize(
    ("fields", "date"),
    [
        ("date={1998-22}", "1998"), ("date={1998-21/1999-24}", "1999"), ("date={1998/}", None),
        ("year={1998/99}", "1999"), ("year={2003/04}", "2004"), ("year={2003-09}", "2003-09"),
        ("year=1998, month={7--8}", "1998-08"), ("year=2003, month={14}", "2003"),
    ],
)  # fmt: skip
def test_dates_by_the_rules_of_the_format(tmp_path: Path, fields: str, date: str | None) -> None:
    ((record,), _) = read(tmp_path, f"@misc{{a, title={{A}}, {fields}}}")
    assert record.get("date") == date


@pytest.mark.parametrize(
    "written",
    [
        r"10.1002/1099(2009)7:2{\textless}8::AID-R3{\textgreater}3.0.CO;2\_X",
        r"10.1002/1099(2009)7:2\textless8::AID-R3\textgreater{}3.0.CO;2\textunderscore X",
        r"10.1002/1099(2009)7:2$<$8::AID-R3$>$3.0.CO;2$\_$X",
        r"\href{https://doi.org/10.1002/9}{10.1002/1099(2009)7:2<8::AID-R3>3.0.CO;2{\_}X}",
    ],
)
def test_signs_in_a_doi(tmp_path: Path, written: str) -> None:
    ((record,), _) = read(tmp_path, f"@misc{{a, title={{A}}, doi={{{written}}}}}")
    assert record["doi"] == "10.1002/1099(2009)7:2<8::aid-r3>3.0.co;2_x"


OWN, MONTH = ("2104.01234", "2021-04"), (None, "2022")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("note={arXiv:2104.01234 [cs, stat]}", OWN),
        ("note={Preprint at arXiv:2104.01234v3, April 2021}", OWN),
        (r"howpublished={\url{https://arxiv.org/abs/2104.01234}}", OWN),
        ("url={http://export.arxiv.org/pdf/2104.01234v2.pdf}", OWN),
        ("url={https://arxiv.org/abs/2104.01234?context=cs.LG}", OWN),
        ("url={https://arxiv.org/abs/2104.01234#S2}", OWN),
        (r"note={\_eprint: 2104.01234}", OWN), ("note={eprint: jstor/2104.01234}", MONTH),
        ("journal={ArXiv e-prints, 2104.01234}", OWN), ("journal={arXiv (2104.01234)}", OWN),
        ("arxivId={2104.01234}", OWN),
        ("number={arXiv:2104.01234}", OWN),
        ("eid={arXiv:2104.01234}, eprinttype={hal}, eprint={hal-01}", OWN),
        ("journal={CoRR}, volume={abs/2104.01234}", OWN),
        ("journal={CoRR}, volume={math.AG/0104012}", ("math/0104012", "2001-04")),
        ("note={arXiv e-print 2104.01234}", OWN), ("journal={arXiv}, number={2104.01234}", OWN),
        ("arxiv={2104.01234}", OWN), ("doi={arXiv:2104.01234v1}", OWN),
        ("journaltitle={arXiv e-prints, arXiv:2104.01234}", OWN),
        ("eprint={0104012}, archivePrefix={arXiv}, primaryClass={math.AG}",
         ("math/0104012", "2001-04")),
        ("eprint={cond-mat.str-el/0104012v1}", ("cond-mat/0104012", "2001-04")),
        ("note={Reply to arXiv:2104.01234}", MONTH),
        ("note={See arXiv:2104.01234}", MONTH),
        ("note={arXiv:2104.01234, arXiv:2104.05678}", MONTH),
        ("note={Erratum of the preprint arXiv:2104.01234}", MONTH),
        ("howpublished={Slides on arxiv.org/abs/2104.01234}", MONTH),
        ("url={https://papers.example/?of=arxiv.org/abs/2104.01234}", MONTH),
        ("journal={Comments on arXiv:2104.01234}", MONTH),
        ("eprint={2104.01234}, eprinttype={jstor}", MONTH),
    ],
)  # fmt: skip
def test_an_identifier_is_the_papers_own(
    tmp_path: Path, fields: str, expected: tuple[str | None, str]
) -> None:
    ((record,), _) = read(tmp_path, f"@misc{{a, title={{A}}, year=2022, {fields}}}")
    assert (record.get("arxiv_id"), record["date"]) == expected
