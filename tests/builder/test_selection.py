"""Surveys selected from arXiv's metadata."""

import json

import pytest
from arena_suites.reportbench import read_data

from arena.errors import DataError
from corpus_builder.cli import main
from corpus_builder.selection import NAME, draw_in_turn, select_surveys

BASE = {
    "title": "A survey of nets", "abstract": "We survey nets.", "comments": "Accepted at ICML",
    "categories": "cs.CV cs.AI", "authors_parsed": [["Lee", "Ann", ""]], "journal-ref": None,
    "license": "http://creativecommons.org/licenses/by/4.0/",
    "versions": [{"version": "v1", "created": "Fri, 8 Dec 2023 06:31:19 GMT"}],
}  # fmt: skip


def metadata(path, **changed):
    """Write a record a keyword: what differs from `BASE`."""
    lines = [{"id": f"2312.0{n:04}", **BASE, **change} for n, change in enumerate(changed.values())]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def selected(folder):
    lines = (folder / f"{NAME}.jsonl").read_text().splitlines()
    return {record["arxiv_id"]: record for record in map(json.loads, lines)}


def test_each_step_leaves_out_what_it_should(tmp_path):
    old = [{"version": "v1", "created": "Tue, 31 Dec 2019 23:59:00 GMT"}]
    file = metadata(
        tmp_path / "m.jsonl",
        good={}, journal={"comments": None, "journal-ref": "J. Nets 3"}, old={"versions": old},
        other={"title": "Deep nets"}, draft={"comments": "12 pages"}, closed={"license": "x/nc/"},
        workshop={"comments": "Published at a workshop"}, month={"versions": None},
        judged={"abstract": "Patients fill in a questionnaire."},
    )  # fmt: skip
    report = select_surveys(file, tmp_path / "out", venue="icml|nets")
    steps = ("in_time", "title", "published", "licence", "venue", "judged", "selected")
    assert [report["counts"][step] for step in steps] == [8, 7, 6, 5, 4, 3, 3]
    assert sorted(selected(tmp_path / "out")) == ["2312.00000", "2312.00001", "2312.00007"]
    assert report["domains"] == {"cs": 3}
    own = selected(tmp_path / "out")["2312.00000"]
    assert (own["date"], own["authors"], own["prompt"]) == ("2023-12-08", ["Ann Lee"], "")


def test_the_most_cited_of_both_fields_are_kept(tmp_path):
    fields = {"a": "cs.AI", "b": "cs.CL", "c": "math.CO", "d": "physics.optics", "e": "cs.LG"}
    records = {name: {"categories": field} for name, field in fields.items()}
    file = metadata(tmp_path / "m.jsonl", **records)
    counts = zip(range(5), (5, 9, 1, 2, 9), strict=True)
    rows = [{"arxiv_id": f"2312.0{n:04}", "citation_count": count} for n, count in counts]
    cited = tmp_path / "c.jsonl"
    cited.write_text("".join(json.dumps(row) + "\n" for row in rows))
    select_surveys(file, tmp_path / "out", citations=cited, top=1)
    assert sorted(selected(tmp_path / "out")) == ["2312.00001", "2312.00003"]


def test_the_draw_takes_domains_in_turn_and_gives_the_same_again():
    domains = {f"a{n}": "one" for n in range(8)} | {"b0": "two", "b1": "two", "c0": "three"}
    drawn = draw_in_turn(domains, 5, seed=7)
    assert sorted(domains[each] for each in drawn) == ["one", "one", "three", "two", "two"]
    assert drawn == draw_in_turn(dict(reversed(domains.items())), 5, seed=7)
    assert len({tuple(draw_in_turn(domains, 5, seed)) for seed in range(9)}) > 1


def test_references_and_prompts_make_data_that_builds_and_scores(tmp_path, capsys):
    file = metadata(tmp_path / "m.jsonl", one={}, two={}, three={})
    for name, cited in (("2312.00000", "lee"), ("2312.00001", "nobody")):
        source = tmp_path / "tex" / name
        source.mkdir(parents=True)
        (source / "a.tex").write_text(
            rf"\begin{{document}}A~\cite{{{cited}}}\bibliography{{a}}\end{{document}}"
        )
        (source / "a.bib").write_text("@misc{lee, title={Flat nets}, eprint={2001.00001}}")
    prompts = tmp_path / "p.jsonl"
    rows = [{"id": "2312.00000", "prompts": {"sentence": "S", "detailed": "D"}, "domain": "Art"}]
    prompts.write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = tmp_path / "out"
    words = ["select", str(file), "--output", str(out), "--sources", str(tmp_path / "tex")]
    assert main([*words, "--prompts", str(prompts), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [report["counts"][step] for step in ("with_references", "with_prompts")] == [1, 1]
    assert report["domains"] == {"Art": 1}
    assert selected(out)["2312.00000"]["prompt"] in ("S", "D")
    (gold,) = read_data(str(out)).values()
    assert gold.domain == "Art"
    assert [(work.title, work.ids) for work in gold.works] == [("Flat nets", ("arxiv:2001.00001",))]
    papers = tmp_path / "papers.jsonl"
    papers.write_text('{"id": "x", "title": "Flat nets", "date": "2020-01-05"}\n')
    build = ["build", "reportbench", "--input", str(out), "--papers", str(papers)]
    assert main([*build, "--output", str(tmp_path / "corpus")]) == 0
    assert main([*words, "--prompts", str(prompts)]) == 0  # once more, over the same directory


def test_mistakes_are_named(tmp_path):
    file = metadata(tmp_path / "m.jsonl", one={})
    with pytest.raises(DataError, match="title='\\('"):
        select_surveys(file, tmp_path / "out", title="(")
    with pytest.raises(DataError, match="top and citations need each other"):
        select_surveys(file, tmp_path / "out", top=1)
    file.write_text('{"id": "p1", "title": "No arXiv id"}\n')
    with pytest.raises(DataError, match=r"line 1.*not a record of arXiv's metadata"):
        select_surveys(file, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_selection_of_nothing_prints_what_each_step_left(tmp_path, capsys):
    file = metadata(tmp_path / "m.jsonl", one={})
    assert main(["select", str(file), "--since", "2025", "--output", str(tmp_path / "out")]) == 0
    told = "papers 1 in time 0 judged 0 selected 0"
    assert " ".join(capsys.readouterr().out.split()) == told


def test_the_released_records_pass_the_filters(real_data, tmp_path):
    file = real_data.directory / "reportbench" / "ReportBench_v1.1.jsonl"
    counts = select_surveys(file, tmp_path / "out", judge="all")["counts"]
    assert set(counts.values()) == {54}
