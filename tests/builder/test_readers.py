"""Files as programs export them: RIS, tables, JSON of several lines, entries without end."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from test_corpus_cli import fails, run

from corpus_builder.readers import base
from corpus_builder.readers.base import PaperFile
from corpus_builder.readers.tables import authors_of

WORK = {"id": "https://openalex.org/W7", "title": 'Dunes ]} "of" {[', "publication_year": 2005,
        "abstract_inverted_index": {"Sand": [0]}}  # fmt: skip
OTHER = {**WORK, "id": "https://openalex.org/W8", "title": "Moss", "referenced_works": ["a"]}


def read(tmp_path: Path, text: str | bytes) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    path = tmp_path / "file"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    file = PaperFile(path)
    return [record for _, record in file.records()], {
        f"{what} {reason}": entry[:2]
        for what, reasons in file.skipped.items()
        for reason, entry in reasons.items()
    }


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        ("Record #4\n\nTY  -  JOUR\nTI  - Dunes\nPY  - 2005\nER  - \n\nRecord #5\nSource: X\n\n"
         "TY  - JOUR\nTI  - Moss\nER  - \nMade by X.\n", ["Dunes", "Moss"]),
        ("TY  -JOUR\nTI  -Dunes\nPY  -2005\nER  -\n", ["Dunes"]),
        ("TY - JOUR\nTI - Dunes\nPY - 2005\nER -\n", ["Dunes"]),
        ("TY  - JOUR\nTI  - Dunes\nQQ  - x\nZ9  - y\nQQ  - z\nPY  - 2005\nER  - \n", ["Dunes"]),
        ("TY  - JOUR\nAB  - Of\nER - positive\nTI  - Dunes\nPY  - 2005\nER  - \n", ["Dunes"]),
        ("TY  - JOUR\nTI  - Dunes\nPY  - 2005\nTY  - JOUR\nT1  - Moss\n", ["Dunes", "Moss"]),
        ("TY\t-\tJOUR\nTI\t-\tDunes\nPY\t-\t2005\nER\t-\t\n", ["Dunes"]),
        ("TY  - JOUR\nPY  - 2005\nTI  - Dunes\nER\n\nTY  - JOUR\nTI  - Moss\nER\n",
         ["Dunes", "Moss"]),
        ("TY  - JOUR\r\nTI  - Dunes\r\nDA  - 2005///\r\nER  - \r\n", ["Dunes"]),
        ("TY  - JOUR\rTI  - Dunes\rPY  - 2005\rER  - \r", ["Dunes"]),
    ],
)  # fmt: skip
def test_ris_as_databases_write_it(tmp_path: Path, text: str, titles: list[str]) -> None:
    records, lost = read(tmp_path, text)
    assert [record["title"] for record in records] == titles and records[0]["date"] == "2005"
    assert not any(key.startswith("records") for key in lost)
    assert "Made by" not in str(records)


@pytest.mark.parametrize(
    ("names", "people"),
    [
        (["Fox, Rae, Jr.", "Elm, III, Ty"], ["Rae Fox Jr.", "Ty Elm III"]),
        (["Fox, R., Elm, T., Oak, V.", "et al."], ["R. Fox", "T. Elm", "V. Oak"]),
        (["Fox, Rae and Elm, Ty", "others"], ["Rae Fox", "Ty Elm"]),
        (["Institute of Moss and Sand"], ["Institute of Moss and Sand"]),
        (["狐丽；榆木、橡树"], ["狐丽", "榆木", "橡树"]),
    ],
)
def test_names_of_ris(tmp_path: Path, names: list[str], people: list[str]) -> None:
    tags = "".join(f"AU  - {name}\n" for name in names)
    ((record,), _) = read(tmp_path, f"TY  - JOUR\nTI  - Dunes\n{tags}ER  - \n")
    assert record["authors"] == people


@pytest.mark.parametrize(
    ("tags", "key", "value"),
    [
        ("N1  - doi: 10.1000/D.1\n", "doi", "10.1000/d.1"),
        ("M3  - Article\nL3  - 10.1000/D.1\n", "doi", "10.1000/d.1"),
        ("N1  - See doi: 10.1000/D.1\nDI  - 10.1000/D.2\n", "doi", "10.1000/d.2"),
        ("N1  - 9 pages\nN1  - arXiv:1901.00001 [cs]\n", "arxiv_id", "1901.00001"),
        ("JO  - CoRR\nVL  - abs/1901.00001\n", "arxiv_id", "1901.00001"),
        ("JO  - J. Moss\nJF  - Journal of Moss\n", "venue", "Journal of Moss"),
        ("C3  - Meeting on Moss\n", "venue", "Meeting on Moss"),
    ],
)
def test_tags_of_ris(tmp_path: Path, tags: str, key: str, value: Any) -> None:
    ((record,), _) = read(tmp_path, f"TY  - JOUR\nTI  - Dunes\n{tags}ER  - \n")
    assert record[key] == value


def test_whole_books_of_ris(tmp_path: Path) -> None:
    for tag in ("BT", "CT"):
        ((record,), _) = read(tmp_path, f"TY  - BOOK\n{tag}  - Dunes\nPY  - 2005\nER  - \n")
        assert record["title"] == "Dunes"


def test_a_record_that_the_parser_of_others_cannot_read_is_lost_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import rispy

    parse = rispy.RisParser.parse

    def fail(self: Any, text: str) -> Any:
        return parse(self, text) if "Moss" in text else 1 / 0

    monkeypatch.setattr(rispy.RisParser, "parse", fail)
    records, lost = read(tmp_path, "TY  - A\nTI  - X\nER  - \nTY  - A\nTI  - Moss\nER  - \n")
    assert [record["title"] for record in records] == ["Moss"]
    assert lost == {"records a broken entry": [1, 1]}


@pytest.mark.parametrize(
    ("column", "authors"),
    [
        (["Fox, R.S., Elm, T.", "Fox, R.S."], [["Fox, R.S.", "Elm, T."], ["Fox, R.S."]]),
        (["Fox, R. S., Elm, T.-U., & Oak, V.", ""], [["Fox, R. S.", "Elm, T.-U.", "Oak, V."], []]),
        (["Fox RS, Elm T.", "Oak V."], [["Fox RS", "Elm T"], ["Oak V"]]),
        (["RS Fox, T Elm, …"], [["RS Fox", "T Elm"]]),
        (["Rae Fox, Ty Elm", "Vi Oak"], [["Rae Fox", "Ty Elm"], ["Vi Oak"]]),
        (["Rae Fox, Ty Elm and Vi Oak"], [["Rae Fox", "Ty Elm", "Vi Oak"]]),
        (["Fox, Rae and Elm, Ty", "Oak, Vi"], [["Fox, Rae", "Elm, Ty"], ["Oak, Vi"]]),
        (["Fox, Rae; Elm, Ty", "Oak, Vi"], [["Fox, Rae", "Elm, Ty"], ["Oak, Vi"]]),
        (["Fox, Rae (570); Elm, Ty (571)"], [["Fox, Rae", "Elm, Ty"]]),
        (["Rae Fox|Ty Elm"], [["Rae Fox", "Ty Elm"]]),
        (["['Rae Fox', 'Ty Elm']"], [["Rae Fox", "Ty Elm"]]),
        (
            ["""[{'authorId': '5', 'name': 'Rae Fox'}, {'authorId': None, 'name': "Ty O'Elm"}]"""],
            [["Rae Fox", "Ty O'Elm"]],
        ),
        (['[{"name": "Fox, Rae", "affiliations": ["X, Y"]}]'], [["Fox, Rae"]]),
        (["Fox, Elm, Oak", "Fox, Elm"], [["Fox", "Elm", "Oak"], ["Fox", "Elm"]]),
        (["Fox, Rae", "de la Elm, Ty"], [["Fox, Rae"], ["de la Elm, Ty"]]),
        (["Fox R, Elm T, et al."], [["Fox R", "Elm T"]]),
    ],
)
def test_authors_are_told_apart_as_their_column_writes_them(
    column: list[str], authors: list[list[str]]
) -> None:
    split = authors_of(column)
    assert [[name.strip() for name in split(cell) if name.strip()] for cell in column] == authors


def test_tables_of_databases(tmp_path: Path) -> None:
    wos = (
        "PT\tAU\tTI\tPD\tPY\t\n"
        'J\tFox, R\tA "dry" dune\tSEP-OCT\t2005\t\t\n'
        'J\tElm, T\t"Moss alone\tMAR 4\t2006\t\n'
        'J\tOak, V\t"Quoted, ""whole"""\tSPR\t2007\t\n'
    )
    records, lost = read(tmp_path, wos)
    assert [(r["title"], r["date"]) for r in records] == [
        ('A "dry" dune', "2005-10"), ('"Moss alone', "2006-03-04"), ('Quoted, "whole"', "2007"),
    ]  # fmt: skip
    assert not lost
    cells = 'title\tabstract\tyear\n"Dunes"\t"Of\nsand."\t2005\nMoss\t"Green\t2006\n'
    records, lost = read(tmp_path, cells)
    assert [r["abstract"] for r in records] == ["Of\nsand.", '"Green'] and not lost
    exports = {
        '"About the data: Exported on May 03, 2021."\nRank,Title,PubYear\n1,Dunes,2005\n': "2005",
        "sep=;\nTitle;Date;Year\nDunes;1962;1987\n": "1987",
        "title,year,month,day\nDunes,2005,9,3\n": "2005-09-03",
        "title,publication_date\nDunes,43345\n": None,
        "title,year\n,\n , \nDunes,2005\n,\n": "2005",
    }
    for text, date in exports.items():
        (record,), lost = read(tmp_path, text)
        assert (record["title"], record.get("date")) == ("Dunes", date)
        assert not any(key.startswith("records") for key in lost)


@pytest.mark.parametrize("shape", ["indented", "list", "lines", "first", "after", "values"])
def test_json_of_several_lines_is_read_whole(tmp_path: Path, shape: str) -> None:
    one, two = json.dumps(WORK), json.dumps(OTHER)
    page = {"meta": {"count": 2, "x": [{"y": 1}]}, "results": [WORK, OTHER], "group_by": []}
    text = {
        "indented": json.dumps(page, indent=2),
        "list": json.dumps([WORK, OTHER], indent="\t").replace("\n", "\r\n"),
        "lines": f'{{"meta": {{"count": 2}}, "results": [\n{one},\n{two}\n]}}\n',
        "first": f"[{one},\n{two}]",
        "after": f'{{"results": [\n{one},\n{two}\n],\n"meta": {{\n"count": 2}}\n}}\n',
        "values": json.dumps(WORK, indent=1) + "\n" + json.dumps(OTHER, indent=4),
    }[shape]
    records, lost = read(tmp_path, text)
    assert [record["id"] for record in records] == ["W7", "W8"]
    assert [key for key in lost if key.startswith("records")] == []


def test_a_broken_line_of_json_costs_that_line(tmp_path: Path) -> None:
    text = f'{{"id": "x", "sections": [\n{json.dumps(WORK)}\n{json.dumps(OTHER)}\n'
    records, lost = read(tmp_path, text)
    assert [r["id"] for r in records] == ["W7", "W8"] and lost["records not JSON"] == [1, 1]
    dated = [{"id": f"p{n}", "title": "A", "date": date} for n, date in enumerate(
        ["20180902", 20180902, "2018-09-02T01:02:03Z", "soon", [2018, 9]])]  # fmt: skip
    records, lost = read(tmp_path, "\n".join(map(json.dumps, dated)))
    dates = ["20180902", 20180902, "2018-09-02", None, "2018"]
    assert [record.get("date") for record in records] == dates
    assert lost == {"parts date unreadable": [1, 4]}


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_lines_that_end_as_on_old_macs(tmp_path: Path, pack: Any) -> None:
    records, lost = read(tmp_path, pack(b"title,authors,date\rDunes,Rae Fox,2005\rMoss,,2006\r"))
    assert [record["title"] for record in records] == ["Dunes", "Moss"] and not lost
    records, lost = read(tmp_path, b'{"title": "Dunes"}\r\n{"title": "Moss\r"}\r\n')
    assert [record["title"] for record in records] == ["Dunes"]
    assert [key for key in lost if "JSON" in key]


@pytest.mark.parametrize(
    ("start", "end"),
    [("@misc{a, title={", "}}\n@misc{b, title={Moss}, year=2001}\n"),
     ("TY  - A\nTI  - ", "ER  - \nTY  - A\nTI  - Moss\nER  - \n")],
)  # fmt: skip
def test_entries_are_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: str, end: str
) -> None:
    monkeypatch.setattr(base, "MAX_ENTRY", 1 << 20)
    records, lost = read(tmp_path, gzip.compress((start + "x y\n" * 300_000 + end).encode()))
    assert [record["title"] for record in records] == ["Moss"]
    assert lost == {"records an entry of 1 MiB or more": [1, 1]}


def test_several_files_of_json_lines(tmp_path: Path, capsys: Any) -> None:
    files = [tmp_path / f"{name}.jsonl" for name in "abc"]
    for file in files:
        file.write_text(f'{{"id": "{file.stem}", "title": "T {file.stem}", "date": 20050302}}\n')
    options = ("build", "jsonl", "--output", tmp_path / "c", "--papers")
    assert "papers     3 (3" in run(capsys, *options, *files[:2], "--papers", files[2])[1]
    twice = fails(capsys, *options, files[0], files[0], "--overwrite")
    assert "both have id 'a'" in twice


@pytest.mark.parametrize("task", ["[1]", "null", '{"references": 5}', '{"references": [{}]}'])
def test_a_damaged_library_is_not_extended(tmp_path: Path, capsys: Any, task: str) -> None:
    bib = tmp_path / "a.bib"
    bib.write_text("@misc{a, title={Dunes}, year=2001}\n")
    words = ("build", "library", "--papers", bib)
    run(capsys, *words, "--gold", f"{bib}=A Survey@2010", "--output", tmp_path / "lib")
    survey = {"id": "s", "title": "S", "date": "2020"}
    value = json.loads(task)
    text = json.dumps(survey | value if isinstance(value, dict) else value)
    (tmp_path / "lib/library/surveys.jsonl").write_text(text + "\n")
    error = fails(capsys, *words, "--add", tmp_path / "lib", "--output", tmp_path / "new")
    assert "is damaged, library/surveys.jsonl line 1: " in error and "Build it again." in error


def test_the_summary_has_at_most_ten_lines_beside_warnings(tmp_path: Path, capsys: Any) -> None:
    paper = {"id": "a", "title": "<i>A</i> survey", "date": "2001", "abstract": "&lt;"}
    keys = {f"extra{n}": 1 for n in range(30)}
    (tmp_path / "p").write_text(json.dumps({**paper, **keys, "abstrct": ""}) + "\n")
    words = ("build", "jsonl", "--papers", tmp_path / "p", "--output")
    shown = run(capsys, *words, tmp_path / "few")[1]
    assert (
        "the keys 'extra0' of 1 paper, 'extra1' of 1 paper, " in shown and ", ... are not" in shown
    )
    survey = {"id": "s", "title": "S", "date": "2010", "references": ["a"], "outline": [], "x": 1}
    (tmp_path / "s").write_text(json.dumps(survey) + "\n")
    lines = run(capsys, *words, tmp_path / "c", "--surveys", tmp_path / "s")[1].splitlines()
    rows = [line for line in lines if not line.startswith("warning")]
    assert len(rows) == 10 and len(lines) == 11
    assert f"3 more rows; `arena-corpus info {tmp_path / 'c'}` has all" in rows[8]


def test_the_date_of_json_may_have_another_name(tmp_path: Path) -> None:
    rows = [
        {"paperId": "a", "title": "Dunes", "year": 2005, "publicationDate": "2005-09-03"},
        {"title": "Moss", "year": 2006, "publicationDate": None},
        {"title": "Sand", "year": 2007, "date": "2004"},
    ]
    records, lost = read(tmp_path, "\n".join(map(json.dumps, rows)))
    assert [each["date"] for each in records] == ["2005-09-03", 2006, "2004"] and not lost


def test_items_of_csl_are_lost_and_named(tmp_path: Path) -> None:
    item = {"title": "Kelp", "issued": {"date-parts": [[2018]]}, "author": [{"family": "Ray"}]}
    records, lost = read(tmp_path, json.dumps([item, {"title": "Moss"}]))
    assert records == [{"title": "Moss"}]
    assert lost == {"records an item of CSL-JSON, export BibTeX or RIS": [1, 1]}
