"""Surveys selected from arXiv's metadata."""

import csv
import json
import re
from pathlib import Path

import pytest
from llm_server import LLMServer

from arena.dates import format_day
from arena.errors import DataError
from arena.suites import SUITES
from arena.tasks import TaskSet
from arena_suites.reportbench import read_data
from corpus_builder.cli import main
from corpus_builder.prompt_writing import DOMAINS
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
        unpublished={"comments": "Unpublished notes"},
    )  # fmt: skip
    steps = ("in_time", "title", "published", "licence", "venue", "judged", "selected")
    # The paper reads comments alone: a journal reference counts if it is asked for.
    report = select_surveys(file, tmp_path / "out", venue="icml|nets")
    assert [report["counts"][step] for step in steps] == [9, 8, 5, 4, 3, 2, 2]
    assert sorted(selected(tmp_path / "out")) == ["2312.00000", "2312.00007"]
    report = select_surveys(file, tmp_path / "out", venue="icml|nets", journal_ref=True)
    assert [report["counts"][step] for step in steps] == [9, 8, 6, 5, 4, 3, 3]
    assert sorted(selected(tmp_path / "out")) == ["2312.00000", "2312.00001", "2312.00007"]
    assert report["domains"] == {"cs": 3}
    own = selected(tmp_path / "out")["2312.00000"]
    assert (own["date"], own["authors"], own["prompt"]) == ("2023-12-01", ["Ann Lee"], "")


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


VERSIONS = [
    {"version": "v1", "created": "Fri, 5 Mar 2021 06:31:19 GMT"},
    {"version": "v2", "created": "Mon, 18 Jul 2022 06:31:19 GMT"},
]


def test_prompt_gold_and_score_have_the_cutoff_of_the_last_version(tmp_path, capsys, monkeypatch):
    """Section 2.1.2: the cutoff is that of the most recent update; the gold has a work of 2022."""
    file = metadata(tmp_path / "m.jsonl", one={"versions": VERSIONS})
    source = tmp_path / "tex" / "2312.00000"
    source.mkdir(parents=True)
    text = r"\begin{document}Depth first search~\cite{lee} ends." + " So it goes." * 3000
    (source / "a.tex").write_text(text + r"\bibliography{a}\end{document}")
    (source / "a.bib").write_text("@misc{lee, title={Flat nets}, eprint={2203.00001}}")
    out, prompts = tmp_path / "out", tmp_path / "p.jsonl"
    words = ["select", str(file), "--sources", str(tmp_path / "tex"), "--output", str(out)]
    assert main(words) == 0

    def write(body):
        text = body["messages"][0]["content"]
        shown = text.split("<text>\n")[1].split("\n</text>")[0]
        if "You sort" in text:
            assert shown == "We survey nets."  # section 2.1.3: title and abstract
            return DOMAINS[0]
        assert shown.startswith("We survey nets.\n\n") and "Depth first search ends." in shown
        assert len(shown) == 20_000  # the full text, cut (2.1.2)
        return "Tell me of nets published before 1 July 2022."

    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    monkeypatch.chdir(tmp_path)
    with LLMServer(write) as server:
        command = ["prompts", str(out / f"{NAME}.jsonl"), "--output", str(prompts)]
        ask = ["--llm-option", "model=m", "--llm-option", f"base_url={server.url}"]
        assert main([*command, *ask]) == 0
    assert json.loads(prompts.read_text())["failed"] == {}
    assert main([*words, "--prompts", str(prompts)]) == 0
    (gold,) = read_data(str(out)).values()
    assert format_day(gold.cutoff) == "2022-07-01"
    papers = tmp_path / "papers.jsonl"
    papers.write_text('{"id": "x", "title": "Flat nets", "date": "2022-03-01"}\n')
    build = ["build", "reportbench", "--input", str(out), "--papers", str(papers)]
    assert main([*build, "--output", str(tmp_path / "corpus")]) == 0
    (survey,) = TaskSet(tmp_path / "corpus").topics.values()
    assert survey.date == "2022-07-01"
    assert TaskSet(tmp_path / "corpus").gold(survey.id).gains == {"x": 1}
    # Prompts of the first version, and a selection made when it was the last one, are refused.
    prompts.write_text(prompts.read_text().replace("1 July 2022", "5 March 2021"))
    capsys.readouterr()
    assert main([*words, "--prompts", str(prompts)]) == 2
    told = capsys.readouterr().err
    assert "a prompt names 2021-03-05 as cutoff, and its last version makes it 2022-07-01" in told
    table = out / f"{NAME}.jsonl"
    table.write_text(table.read_text().replace('"2022-07-01"', '"2021-03-05"'))
    with pytest.raises(DataError, match="names '2021-03-05' as cutoff, and its last version"):
        read_data(str(out))


# Table 4 of Bloom-Eval: title, venue, year and citations, as arXiv would have them.
TOPICS = [
    ("A Survey on Vision Transformer", "TPAMI", 2023, 3915),
    ("A Survey on In-context Learning", "EMNLP", 2023, 2379),
    ("Diffusion Models in Vision: A Survey", "TPAMI", 2023, 2037),
    ("Domain Generalization: A Survey", "TPAMI", 2023, 1720),
    ("Transformers in Time Series: A Survey", "IJCAI", 2023, 1458),
    ("Generalized Out-of-Distribution Detection: A Survey", "IJCV", 2024, 1377),
    ("A Comprehensive Survey of Continual Learning: Theory, Method and Application",
     "TPAMI", 2024, 1313),
    ("Class-Incremental Learning: Survey and Performance Evaluation on Image Classification",
     "TPAMI", 2023, 1038),
    ("Transfer Learning in Deep Reinforcement Learning: A Survey", "TPAMI", 2023, 1031),
    ("Multimodal Learning With Transformers: A Survey", "TPAMI", 2023, 990),
    ("Structural Mechanisms of NLRP3 Inflammasome Assembly and Activation",
     "Annual Review of Immunology", 2023, 781),
    ("The New Economics of Industrial Policy", "Annual Review of Economics", 2023, 567),
    ("Random Quantum Circuits", "Annual Review of Condensed Matter Physics", 2023, 494),
    ("Biological Impacts of Marine Heatwaves", "Annual Review of Marine Science", 2023, 468),
    ("How to Run Surveys: A Guide to Creating Your Own, Identifying Variation and Revealing the "
     "Invisible", "Annual Review of Economics", 2023, 443),
    ("A Review of Generalizability and Transportability",
     "Annual Review of Statistics and Its Application", 2023, 387),
    ("Non-Hermitian Topological Phenomena: A Review",
     "Annual Review of Condensed Matter Physics", 2023, 358),
    ("Hepcidin and Iron in Health and Disease", "Annual Review of Medicine", 2023, 340),
    ("Generalized Symmetries in Condensed Matter",
     "Annual Review of Condensed Matter Physics", 2023, 335),
    ("Everything You Wanted to Know about Deep Eutectic Solvents but Were Afraid to Be Told",
     "Annual Review of Chemical and Biomolecular Engineering", 2023, 258),
]  # fmt: skip


def test_the_recipe_of_the_page_keeps_the_papers_own_topics(tmp_path, monkeypatch, capsys):
    """All 20, though some less cited ones are there; the text of one is scored as the experts'."""
    monkeypatch.chdir(tmp_path)
    others = [("Less cited", "TPAMI", 2023, 9), ("Older", "EMNLP", 2019, 9000)]
    records = {
        str(n): {
            "title": title, "comments": None, "journal-ref": f"{venue}, {year}", "license": None,
            "abstract": "Nothing of a kind.", "categories": "cs.CV" if n < 10 or n > 19 else "econ",
        }
        for n, (title, venue, year, _) in enumerate([*TOPICS, *others])
    }  # fmt: skip
    metadata(tmp_path / "arxiv.jsonl.gz", **records)
    rows = enumerate(times for *_, times in [*TOPICS, *others])
    Path("citations.jsonl").write_text(
        "".join(
            json.dumps({"arxiv_id": f"2312.0{n:04}", "citation_count": t}) + "\n" for n, t in rows
        )
    )
    for n in range(20):
        source = tmp_path / "tex" / f"2312.0{n:04}"
        source.mkdir(parents=True)
        (source / "a.tex").write_text(
            "\\begin{document}\n\\section{Introduction}\nNets~\\cite{lee, nobody} grow.\n\n"
            "\\section{Conclusion}\nSo.\\bibliography{a}\n\\end{document}"
        )
        (source / "a.bib").write_text("@misc{lee, title={Flat nets}, eprint={2001.00001}}")
    page = (Path(__file__).parents[2] / "docs" / "bloom-eval.md").read_text()
    (command,) = re.findall("^arena-corpus (select .*)$", page, re.MULTILINE)
    assert main([*command.split(), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["counts"]["selected"] == 20
    assert report["domains"] == {"cs": 10, "econ": 10}
    assert report["venues"]["TPAMI, 2023"] == 6 and sum(report["venues"].values()) == 20
    text = Path("topics/experimental_topics.csv").read_text()
    table = list(csv.DictReader(text.splitlines()))
    assert [(row["title"], int(row["citations"])) for row in table] == [
        (title, times) for title, _, _, times in TOPICS
    ]
    assert [row["topic_id"] for row in table[9:11]] == ["cs_10", "gs_01"]
    result = SUITES.get("bloom-eval")(
        human="topics", generated="topics", metrics=("fmi", "otc", "dsi")
    )
    assert len(result.topics) == 20 and not result.missing
    assert result.mean["fmi"] == result.mean["otc_f1"] == result.mean["dsi"] == 1.0


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
