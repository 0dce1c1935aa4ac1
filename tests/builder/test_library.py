"""The source ``library``: formats, what is joined, what is lost, tasks of one's own, extending."""

from __future__ import annotations

import gzip
import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from test_corpus_cli import fails, run

from arena.corpus import Corpus
from corpus_builder.build import build
from corpus_builder.files import read_rows
from corpus_builder.library.source import Library
from corpus_builder.prompt_writing import PromptedSource
from corpus_builder.readers.base import PaperFile
from corpus_builder.readers.dates import read_date

BIB = r"""% exported
@string{jir = "Journal of Reefs"}
@article{a, title={{Reefs} of {\v{C}}ech \& O'Neil}, year=2001, doi={10.1000/REEF}, journal=jir,
  author={Low, Ada and {van der} Berg, Bo}, abstract={About 5\% of reefs.}, keywords={reefs; tides}}
@misc{b, title={Deep Nets}, eprint={1706.03762}, archiveprefix={arXiv}, year=2018}
@misc{c, title={Kelp}, doi={10.1000/a--b\_c}, year=2003, month={5}, day=4}
"""
RIS = """TY  - JOUR
TI  - Reefs of Čech & O'Neil
AU  - Low, Ada
DA  - 2001/02/03/
DO  - https://doi.org/10.1000/reef
ER  -
TY  - CHAP
TI  - Tides
PY  - 1999
"""
CSV = """"Key","Title","Author","Publication Year","Date","Abstract Note","DOI"
"1","Deep Nets","Low, Ada; Berg, Bo","2018","2018-05-01","Nets
are deep.",""
"2","=HYPERLINK(""https://x"";""Linked"")","Low, Ada","2019","","",""
"3","=1+1","","2019","","",""
"""
WORK = {
    "id": "https://openalex.org/W1", "title": "Tides", "publication_year": 1999,
    "publication_date": "1999-03-04", "type": "article", "doi": "https://doi.org/10.1000/tide",
    "referenced_works": ["https://openalex.org/W2"],
    "abstract_inverted_index": {"turn": [1], "Tides": [0]},
}  # fmt: skip
CITED = {**WORK, "id": "https://openalex.org/W2", "title": "Moons", "doi": "10.1000/moon",
         "publication_date": "1980-02-03", "publication_year": 1980,
         "referenced_works": []}  # fmt: skip
PAGE = json.dumps({"meta": {"count": 2}, "results": [WORK, CITED]}) + "\n"
ARXIV = json.dumps({
    "id": "1706.03762", "title": "Deep  Nets", "abstract": "We go deep.", "categories": "cs.LG",
    "authors_parsed": [["Low", "Ada", ""]],
    "versions": [{"version": "v1", "created": "Mon, 12 Jun 2017 17:57:34 GMT"}],
}) + "\n"  # fmt: skip


def write(folder: Path, name: str, text: str | bytes) -> str:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def papers_of(*paths: str) -> list[dict[str, Any]]:
    return [place.record for place in Library([*map(Path, paths)]).papers()]


def test_bibtex(tmp_path: Path) -> None:
    reefs, nets, kelp = papers_of(write(tmp_path, "x.txt", BIB))
    assert reefs == {
        "id": "doi:10.1000/reef", "doi": "10.1000/reef", "title": "Reefs of Čech & O'Neil",
        "date": "2001", "authors": ["Ada Low", "Bo van der Berg"], "venue": "Journal of Reefs",
        "abstract": "About 5% of reefs.", "fields": ["reefs", "tides"],
    }  # fmt: skip
    # The month of version 1 is earlier than the year of the proceedings.
    assert (nets["id"], nets["date"]) == ("arxiv:1706.03762", "2017-06")
    assert (kelp["id"], kelp["date"]) == ("doi:10.1000/a--b_c", "2003-05-04")


def test_ris_csv_and_json(tmp_path: Path) -> None:
    reefs, tides = papers_of(write(tmp_path, "a", RIS))
    assert (reefs["id"], reefs["date"], tides["date"]) == ("doi:10.1000/reef", "2001-02-03", "1999")
    nets, linked = papers_of(write(tmp_path, "b", CSV))
    assert nets["abstract"] == "Nets\nare deep." and nets["date"] == "2018-05-01"
    assert nets["authors"] == ["Ada Low", "Bo Berg"] and linked["title"] == "Linked"
    tides, _ = papers_of(write(tmp_path, "c", gzip.compress(PAGE.encode())))
    assert (tides["id"], tides["references"], tides["abstract"]) == ("W1", ["W2"], "Tides turn")
    (nets,) = papers_of(write(tmp_path, "d", ARXIV))
    assert (nets["date"], nets["fields"]) == ("2017-06-12", ["cs.LG"])


def test_records_of_one_paper_are_joined_in_any_order(tmp_path: Path) -> None:
    paths = [
        write(tmp_path, name, text)
        for name, text in (("a", BIB), ("b", RIS), ("c", CSV), ("d", PAGE), ("e", ARXIV))
    ]
    papers = {paper["id"]: paper for paper in papers_of(*paths)}
    # RIS and OpenAlex have tides of 1999, and the earlier day counts; Zotero's nets of 2018 are
    # arXiv's of 2017, by Low as well.
    assert papers["doi:10.1000/reef"]["date"] == "2001-02-03"
    assert papers["doi:10.1000/reef"]["abstract"] == "About 5% of reefs."
    assert papers["W1"]["date"] == "1999-03-04" and papers["W1"]["references"] == ["W2"]
    assert papers["arxiv:1706.03762"]["date"] == "2017-06-12"
    assert len(papers) == 6
    again = {paper["id"]: paper for paper in papers_of(*reversed(paths))}
    assert again == papers


def test_papers_of_one_title_with_different_identifiers_stay_apart(tmp_path: Path) -> None:
    text = "".join(f"@misc{{k{n}, title={{Preface}}, year=2001{doi}}}\n" for n, doi in enumerate(
        (", doi={10.1000/a}", ", doi={10.1000/b}", "")))  # fmt: skip
    assert [paper["id"] for paper in papers_of(write(tmp_path, "a.bib", text))] == [
        "doi:10.1000/a", "doi:10.1000/b",
    ]  # fmt: skip


def entry(
    year: str | None = "2019", author: str | None = "Low, Ada", more: str = "", title: str = "Nets"
) -> str:
    fields = {"title": title, "year": year, "author": author}
    return f"@misc{{k, {more}{', '.join(f'{k}={{{v}}}' for k, v in fields.items() if v)}}}\n"


PREPRINT = entry("2019", "A. Low and others", "eprint={1810.04805}, ")
ACL, TACL, CORR = "booktitle={Proc. of ACL}, ", "journal={TACL}, ", "journal={CoRR}, "


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([entry("2018"), PREPRINT], 1),
        ([entry("2020"), PREPRINT], 1),
        ([entry("2017"), PREPRINT], 2),
        ([entry("2021"), PREPRINT], 2),
        ([entry("2020", "Ray, Bo"), PREPRINT], 2),
        ([entry("2020", None), PREPRINT], 1),
        ([entry("2018", "Löw, Ada"), entry("2019", "LOW, A."), entry("2020", "Low AB")], 1),
        ([entry(None), entry("2019")], 2),
        ([entry(None, more="eprint={1810.04805}, "), entry("2019")], 1),
        ([entry(author="Low, Ada and Ray, Bo"), entry(author="B. Ray and C. Doe")], 1),
        ([entry("2020", more=ACL), PREPRINT], 1),
        ([entry("2018", more=ACL), entry("2018", more=TACL)], 1),
        # Neither is a preprint: reports of every year have one title and the same authors, too.
        ([entry("2018", more=ACL), entry("2019", more=TACL)], 2),
        ([entry("2018", more=ACL), entry("2019", more=ACL), entry("2020", more=ACL)], 3),
        ([entry("2018", more=ACL), entry("2019", more=CORR), entry("2020", more=TACL)], 1),
        ([entry("2018", more=CORR), entry("2019", more=ACL), entry("2020", more=TACL)], 2),
        # A work without authors goes to one of those of two people, not to both.
        ([entry("2018"), entry("2019", None), entry("2020", "Ray, Bo")], 2),
        ([entry(more="doi={10.1000/a}, "), entry("2020", more="doi={10.1000/b}, "), PREPRINT], 2),
        (
            [
                entry(more="doi={10.1101/2019.03.04.412001}, "),
                entry("2020", more="doi={10.1000/b}, "),
            ],
            1,
        ),
        ([entry(more=f"doi={{10.21203/rs.3.rs-77/v{n}}}, ") for n in "12"], 1),
        ([entry(author="Fox Elm and Oak Sand"), entry(author="Elm, Fox and Oak, Vi")], 1),
        ([entry(author="Fox Elm"), entry(author="Fox Sand"), entry(author="Elm Sand")], 2),
        ([entry(author="Förster, V."), entry(author="V. Foerster")], 1),
        ([entry(author="Anonymous"), entry()], 1),
        ([entry(author="[No authors listed]"), entry()], 1),
        ([entry(author="Ada Low, PhD"), entry(author="A. Low")], 1),
        ([entry(author="Låg, Ada"), entry(author="A. Laag")], 1),
        ([entry(author="Fox Elm Oak"), entry(author="Oak, Fox-Elm")], 1),
        ([entry(author="Low AVX."), entry()], 1),
    ],
)
def test_conference_and_preprint_are_one_work(
    tmp_path: Path, entries: list[str], expected: int
) -> None:
    found = []
    for at, order in enumerate(itertools.permutations(entries)):
        together = papers_of(write(tmp_path, f"{at}.bib", "".join(order)))
        apart = papers_of(*(write(tmp_path, f"{at}-{n}", each) for n, each in enumerate(order)))
        found += [sorted(papers, key=lambda each: each["id"]) for papers in (together, apart)]
    assert len(found[0]) == len({paper["id"] for paper in found[0]}) == expected
    assert all(papers == found[0] for papers in found)


def test_conference_and_preprint_are_one_reference_of_a_task(tmp_path: Path, capsys: Any) -> None:
    gold = write(tmp_path, "gold.bib", entry("2019") + PREPRINT + entry(title="Kelp"))
    papers = write(tmp_path, "mine.bib", entry(title="Tides"))
    lib = tmp_path / "lib"
    run(capsys, "build", "library", "--papers", papers, "--output", lib, "--gold",
        f"{gold}=A Survey@2021-05-02")  # fmt: skip
    names = ("reference", "status")
    assert len(list(read_rows(lib / "tasks/gold.parquet", names))) == 2
    assert Corpus.open(lib).manifest["counts"]["papers"] == 3
    # What the preprint's entry says of its year counts for papers that are added later, too.
    late = write(tmp_path, "late.bib", entry("2020"))
    run(capsys, "build", "library", "--papers", late, "--add", lib, "--output", lib, "--overwrite")
    assert Corpus.open(lib).manifest["counts"]["papers"] == 3
    assert len(list(read_rows(lib / "tasks/gold.parquet", names))) == 2


@pytest.mark.parametrize(
    ("text", "reason", "line", "left"),
    [
        ("@misc{a, title={A}}\n@misc{b, title={B\n@misc{c, title={C}}", "a broken entry", 2, 2),
        ("@misc{a, title={One}}\n@misc{b, year=2001}\n", "no title", 2, 1),
        ("Title,Year\nOne,2001\nTwo\n", "more or fewer cells than columns", 3, 1),
        (json.dumps(WORK) + '\n{"id": "https://open', "not JSON", 2, 1),
        ('{"id": "p 1", "title": "A"}\n{"id": "p2", "title": "B"}', "not a usable record", 1, 1),
    ],
)  # fmt: skip
def test_what_is_lost_is_counted(
    tmp_path: Path, text: str, reason: str, line: int, left: int
) -> None:
    source = Library([Path(write(tmp_path, "a", text))])
    assert len(list(source.papers())) == left
    (file,) = source.describe()["files"]
    assert {why: entry[:2] for why, entry in file["lost"]["records"].items()} == {reason: [1, line]}


def test_other_encodings_are_read_line_by_line(tmp_path: Path) -> None:
    text = "@misc{a, title={Größe}}\n".encode() + "@misc{b, title={Schöne}}\n".encode("cp1252")
    source = Library([Path(write(tmp_path, "a.bib", text))])
    assert [place.record["title"] for place in source.papers()] == ["Größe", "Schöne"]
    assert "not UTF-8, read as Windows-1252" in source.describe()["files"][0]["lost"]["parts"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"%PDF-1.7", "is a PDF. No PDF is read"),
        (b"<!DOCTYPE html><html>", "is HTML or XML"),
        (b"PK\x03\x04rest", "Unpack it, or save the sheet as CSV"),
        ("Title,Year\nA,2001\n".encode("utf-16"), "looks like UTF-16"),
        (b"", "the file is empty"),
        (b"name,year\nA,2001\n", "no column of titles. Its columns are 'name,year'"),
        (gzip.compress(PAGE.encode() * 99, mtime=0)[:99], "has no text: Compressed file ended"),
        (
            b'title,year\nA,2001\n"B,2001\n' + b"C,2002\n" * 300,
            "a cell of line 3 does not end. Is a quot",
        ),
    ],
)
def test_other_files_are_refused_in_one_line(
    tmp_path: Path, capsys: Any, data: bytes, message: str
) -> None:
    path = write(tmp_path, "file", data)
    output = tmp_path / "lib"
    assert message in fails(capsys, "build", "library", "--papers", path, "--output", output)
    assert not output.exists()


def test_a_bibliography_becomes_a_task_and_a_library_grows(tmp_path: Path, capsys: Any) -> None:
    one, gold = write(tmp_path, "one.ris", RIS), write(tmp_path, "related.bib", BIB)
    lib = tmp_path / "lib"
    task = f"{gold}=Reefs, a Survey@2019-05-02"
    words = ("build", "library", "--output", lib, "--papers")
    assert "write FILE=TITLE@DAY" in fails(capsys, *words, one, "--gold", gold)
    _, shown, _ = run(capsys, *words, one, "--gold", task)
    assert "3 in reach" in shown
    early = task.replace("2019", "1919")
    _, shown, _ = run(
        capsys, *words[:2], "--output", tmp_path / "old", "--papers", one, "--gold", early
    )
    assert "from before its date (key `references`); is its day right?" in shown
    assert "1 record to papers that other records have: 1 by doi" in shown
    more = write(tmp_path, "more.json", PAGE)
    _, shown, _ = run(capsys, *words, more, "--add", lib, "--overwrite")
    assert "2 of 5 searchable papers cite another or are cited" in shown
    corpus = Corpus.open(lib)
    assert [hit.id for hit in corpus.at("1999-03-05").search("tides")] == ["W1", "W2"]
    assert corpus.at("1999-03-05").references("W1") == ["W2"]
    rows = list(read_rows(lib / "tasks/gold.parquet", ("reference", "status")))
    assert sorted(rows) == [
        ("arxiv:1706.03762", "gold"), ("doi:10.1000/a--b_c", "gold"), ("doi:10.1000/reef", "gold"),
    ]  # fmt: skip
    assert run(capsys, "verify", lib)[0] == 0


@pytest.mark.parametrize(
    ("text", "date"),
    [("2010-00-00 2010", "2010"), ("c2010", "2010"), ("2010-02-30", "2010-02"),
     ("Spring 2010", "2010"), ("3 May 2010", "2010-05-03"), ("20101", None),
     ("1 jan 2003", "2003-01-01")],
)  # fmt: skip
def test_dates_say_what_the_text_says(text: str, date: str | None) -> None:
    assert read_date(text) == date


def test_real_exports(real_data: Any, tmp_path: Path) -> None:
    file = PaperFile(real_data.directory / "bibtex" / "csur.bib.gz")
    papers = [paper for _, paper in file.records()]
    assert len(papers) == 2047 and not file.skipped["records"]
    assert sum(len(paper.get("date", "")) == 7 for paper in papers) == 2046  # one has no date
    manifest = build(Library([real_data.directory / "bibtex" / "uist-2007.bib"]), tmp_path / "o")
    assert manifest["counts"]["papers"] == manifest["source"]["library"]["dates"]["year"] == 48


def test_a_library_with_prompts_can_be_extended(tmp_path: Path) -> None:
    gold = write(tmp_path, "gold.bib", entry("2019"))
    library = Library([write(tmp_path, "mine.bib", BIB)], {str(gold): "A Survey@2021-05-02"})
    build(library, tmp_path / "plain")
    ((survey, _),) = read_rows(tmp_path / "plain/tasks/topics.parquet", ("id", "title"))
    line = json.dumps({"id": survey, "prompts": {"sentence": "Survey reefs."}})
    prompts = write(tmp_path, "prompts.jsonl", line + "\n")
    build(PromptedSource(library, prompts), tmp_path / "prompted")
    kept = [tmp_path / name / "library/papers.jsonl.gz" for name in ("plain", "prompted")]
    assert kept[0].read_bytes() == kept[1].read_bytes()
