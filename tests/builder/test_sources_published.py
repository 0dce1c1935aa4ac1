"""taxobench, reportbench, bloom-eval, taxoalign: from their files to a corpus, and what is told."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from test_sources_joins import write

import arena
from arena.cli import main as arena_main
from arena.errors import DataError
from arena.report import cited_ids
from arena.tasks import TaskSet
from arena.testing import audit
from arena_suites.experiments import run_experiment
from corpus_builder.cli import main
from corpus_builder.sources import SOURCES

PAPERS = [
    {"id": "arxiv:1801.00003", "title": "Deep nets", "date": "2018-01-05"},
    {"id": "t:trees", "title": "Trees", "date": "2019-03", "abstract": "On trees."},
    {"id": "t:woods", "title": "Woods", "date": None},
    {"id": "t:late", "title": "Late", "date": "2022"},
    {"id": "t:other", "title": "Other", "date": "2015"},
    {"id": "arxiv:2005.00009", "title": "A preprint of another name", "date": "2020-05-01"},
    {"id": "t:self", "title": "Plants: A Survey", "date": "2020-07-07"},
]

TREE = {
    "name": "Plants",
    "subtopics": [
        {"name": "High", "papers": ["Trees", "Missing", "Woods"]},
        {"name": "Low", "subtopics": [{"name": "Nets", "papers": ["Deep nets"]}]},
    ],
}


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    return write(tmp_path / "papers.jsonl.gz", PAPERS)


def taxobench(folder: Path, **changes: Any) -> Path:
    titles = ["Trees", "Deep nets", "Missing", "Woods"]
    record = {"id": 2, "survey": "On plants", "survey_topic": "On plants", "gt": TREE,
              "pdfs": [{"title": title, "abs": "other"} for title in titles]}  # fmt: skip
    folder.mkdir(exist_ok=True)
    write(folder / "data.jsonl", [record | changes])
    return folder


ENTRIES = [
    {"bib_id": "a", "title": "{Deep} nets", "meta_info": {"year": "2018"}},
    {
        "bib_id": "b",
        "title": "Renamed",
        "meta_info": {"journal": "arXiv preprint arXiv:1801.00003"},
    },
    {"bib_id": "c", "title": "Trees.", "meta_info": {"year": "2025", "doi": "10.1000/none"}},
    {"bib_id": "d", "title": "Late", "meta_info": {}},
    {"bib_id": "e", "title": "Nowhere", "meta_info": {"eprint": "1901.00001"}},
]


def reportbench(folder: Path, **changes: Any) -> Path:
    record = {"arxiv_id": "2005.00009", "title": "Plants reviewed", "abstract": "All.",
              "doi": None, "prompt": "Tell me of plants before June 2021.",
              "application_domain": "Botany", "update_date": "2021-06-01",
              "versions": [{"version": "v1", "created": "Fri, 1 May 2020 06:31:19 GMT"},
                           {"version": "v2", "created": "Tue, 1 Jun 2021 06:31:19 GMT"}],
              }  # fmt: skip
    (folder / "ReportBench_v1.1_GT").mkdir(parents=True, exist_ok=True)
    write(folder / "ReportBench_v1.1.jsonl", [record | changes])
    write(folder / "ReportBench_v1.1_GT" / "2005.00009.jsonl", ENTRIES)
    return folder


OUTLINE = [[0, "Plants: A Survey"], [1, "1 Trees"], [2, "1.1 Woods"], [1, "2 Nets"]]


def bloom_eval(folder: Path, **changes: Any) -> Path:
    human = folder / "gs_01" / "human"
    human.mkdir(parents=True, exist_ok=True)
    article = {
        "title": "Plants: A Survey", "date": 2021, "abstract": "Green.", "doi_id": None,
        "arxiv_id": None, "reference": ["[1] A. Trees. 2019.", "[2] B. Deep nets. 2018."],
        "context": {"1": "Trees [1], [1], nets [2].", "2": "Both [1, 2]."},
    }  # fmt: skip
    listed = {
        "reference_1": {"title": "Deep nets", "date": "1801", "abs": "Trees are tall."},
        "reference_2": {"title": "Trees", "date": "2019", "abs": "Nets are deep."},
    }
    for name, value in (("expert_article", article | changes), ("outline", OUTLINE),
                        ("reference", listed)):  # fmt: skip
        (human / f"{name}.json").write_text(json.dumps(value))
    return folder


def taxoalign(folder: Path, *more: Any) -> Path:
    tree = {"name": "X", "subtopics": [{"name": "A", "subtopics": []}]}
    records = [
        {"id": "taxoalign:csur:2010.10563", "title": "One", "arxiv_id": "2010.10563"},
        {"id": "taxoalign:csur:3397269", "title": "Two", "arxiv_id": None},
        {"id": "taxoalign:conf:2024.naacl-long.219", "title": "Three", "arxiv_id": None},
        {"id": "taxoalign:conf:0907", "title": "Plants - a survey", "arxiv_id": None},
    ]
    return write(folder / "taxonomies.jsonl", [*(r | {"tree": tree} for r in records), *more])


def surveys(name: str, *arguments: Any, **options: Any) -> list[dict[str, Any]]:
    return [place.record for place in SOURCES.get(name)(*arguments, **options).surveys()]


def test_taxobench_has_a_map_of_ids(tmp_path, papers):
    (survey,) = surveys("taxobench", taxobench(tmp_path / "t"), papers, guess_dates=True)
    assert survey["id"] == "taxobench:2"
    assert survey["references"] == ["t:trees", "arxiv:1801.00003", "t:woods"]
    assert survey["n_references_total"] == 4
    assert survey["mind_map"] == {
        "label": "Plants", "papers": [],
        "children": [
            {"label": "High", "children": [], "papers": ["t:trees", "t:woods"]},
            {"label": "Low", "papers": [],
             "children": [{"label": "Nets", "children": [], "papers": ["arxiv:1801.00003"]}]},
        ],
    }  # fmt: skip


def test_a_date_is_taken_where_there_is_one(tmp_path, papers):
    """Of a file, the collection, or the latest reference: March 2019 ends on the 31st."""
    folder = taxobench(tmp_path / "t")
    dates = write(tmp_path / "dates.jsonl", [{"id": "2", "title": "x", "date": "2021-02"}])
    for title, options, date, whence in (
        ("On plants", {"dates": dates}, "2021-02", "dates file"),
        ("Plants, a survey", {"dates": dates}, "2021-02", "dates file"),
        ("Plants, a survey", {}, "2020-07-07", "collection"),
        ("Plants, a survey", {"guess_dates": True}, "2020-07-07", "collection"),
        ("On plants", {"guess_dates": True}, "2019-04-01", "a guess by the latest reference"),
    ):
        source = SOURCES.get("taxobench")(taxobench(folder, survey=title), papers, **options)
        (place,) = source.surveys()
        found = source.describe()["yield"]
        assert place.record["date"] == date
        assert place.record.get("date_guessed", False) == whence.startswith("a guess")
        assert found["dates_from"] == {whence: 1}
        assert found["per_survey"]["taxobench:2"]["date_from"] == whence


def test_a_survey_without_any_date_is_refused(tmp_path, papers):
    with pytest.raises(DataError, match=r"has a date\. .*--guess-dates"):
        surveys("taxobench", taxobench(tmp_path / "t"), papers)
    folder = taxobench(tmp_path / "t", pdfs=[{"title": "Woods"}])
    with pytest.raises(DataError, match="none of the 1 surveys has a date"):
        surveys("taxobench", folder, papers, guess_dates=True)


def test_listed_papers_are_dated_by_the_first_survey_that_lists_them(tmp_path, papers):
    """A survey of February 2021, which ends on the 28th, lists Woods before one of 2022 does."""
    folder = taxobench(tmp_path / "t")
    first = json.loads((folder / "data.jsonl").read_text())
    later = first | {"id": 3, "survey": "More", "pdfs": [{"title": "Woods"}, {"title": "New"}]}
    write(folder / "data.jsonl", [later, first])
    dates = write(tmp_path / "d.jsonl", [{"id": "2", "date": "2021-02"}, {"id": "3", "date": 2022}])
    source = SOURCES.get("taxobench")(folder, papers, dates=dates, listed_papers=True)
    for _ in range(2):  # a build may read a source twice
        found = {p.record["title"]: p.record for p in source.papers()}
        assert found.keys() == {paper["title"] for paper in PAPERS} | {"Missing", "New"}
        assert (found["Woods"]["date"], found["Woods"]["date_guessed"]) == ("2021-02-27", True)
        assert (found["Missing"]["date"], found["Missing"]["abstract"]) == ("2021-02-27", "other")
        assert (found["New"]["date"], found["New"]["abstract"]) == ("2022-12-30", None)
        assert "date_guessed" not in found["Trees"]
        references = {p.record["id"]: p.record["references"] for p in source.surveys()}
        assert references["taxobench:3"] == ["t:woods", found["New"]["id"]]
        assert references["taxobench:2"][2:] == [found["Missing"]["id"], "t:woods"]
    assert source.describe()["listed_papers"] == {"dated": 1, "added": 2}


def test_a_guessed_date_is_marked_wherever_a_survey_is_scored(tmp_path, papers, capsys):
    options = ["--input", str(taxobench(tmp_path / "t")), "--papers", str(papers)]
    corpus, run = str(tmp_path / "corpus"), str(tmp_path / "run")
    options += ["--guess-dates", "--listed-papers", "--output", corpus]
    assert main(["build", "taxobench", *options]) == 0
    printed = capsys.readouterr().out
    assert "1 from a guess by the latest reference" in printed
    assert "1 dated by the surveys that list them, 1 added" in printed
    survey = TaskSet(corpus).topic("taxobench:2")
    assert survey.date_guessed and survey.date == "2019-04-01"
    paper = arena.Corpus.open(corpus).at("2019-04-01").paper("t:woods")
    assert (paper.date, paper.date_precision) == ("2019-03-31", "guessed")

    note = "† The date of 1 topic is guessed: taxobench:2."
    play = ["--corpus", corpus, "--task", "organization", "--agent", "clustering"]
    assert arena_main(["run", *play, "--output", run]) == 0
    printed = capsys.readouterr().out
    assert "Mean over 1 of 1 topic† (" in printed and note in printed
    assert arena_main(["list", "topics", "--corpus", corpus]) == 0
    assert "2019-04-01†" in capsys.readouterr().out
    page = tmp_path / "page.html"
    assert arena_main(["compare", run, "--corpus", corpus, "--html", str(page)]) == 0
    printed = capsys.readouterr().out
    assert "Mean scores of the task organization †" in printed and note in printed
    html = page.read_text()
    assert "<td>2019-04-01†</td>" in html and note in html
    output = tmp_path / "experiment"
    config = {
        "name": "e", "retrievers": {"BM25": "bm25"},
        "tables": {"T": {"task": "organization", "metrics": ["ari"], "title": "Maps",
                         "rows": {"Random": "random"}}},
    }  # fmt: skip
    found = run_experiment(config, corpus, output)
    notes = found["tables"]["T"]["notes"]
    assert any(sentence.startswith(note) for sentence in notes)
    assert notes[-1] == "2 papers have a guessed date, which tells what surveys list."
    assert "## Table T†. Maps." in (output / "tables.md").read_text()
    assert r"\caption{Maps†.}" in (output / "tables.tex").read_text()
    assert not audit(corpus, actions=100, environments=["arena/Organization-v0"]).findings


def test_reportbench_gives_prompts_and_first_versions(tmp_path, papers):
    (survey,) = surveys("reportbench", reportbench(tmp_path / "r"), papers)
    assert survey["date"] == "2020-05-01"
    assert survey["prompt"] == "Tell me of plants before June 2021."
    assert survey["domain"] == "Botany" and survey["abstract"] == "All."
    assert survey["references"] == ["arxiv:1801.00003", "t:trees", "t:late"]
    assert survey["n_references_total"] == 4


def test_reportbench_end_to_end(tmp_path, papers, capsys):
    """Counts by hand; the preprint of the survey cannot be found, the prompt is in the corpus."""
    folder, output = reportbench(tmp_path / "r"), tmp_path / "corpus"
    options = ["--input", str(folder), "--papers", str(papers), "--output", str(output)]
    assert main(["build", "reportbench", *options]) == 0
    capsys.readouterr()
    assert main(["info", str(output)]) == 0
    told = capsys.readouterr().out
    joined = (
        "5 listed by 1 survey: 0 found by id, 3 by title, 1 not found, 1 repeat; "
        "1 3 or more years from their listed year"
    )
    assert joined in told and "1 from reportbench; 1 of their own papers in the coll" in told
    tasks = TaskSet(output)
    assert tasks.gold("reportbench:2005.00009").gains == {"arxiv:1801.00003": 1, "t:trees": 1}
    found = arena.Corpus.open(output).at("2024").search("preprint name late trees", 10)
    assert {hit.id for hit in found} == {"t:trees", "t:late"}
    survey = tasks.topic("reportbench:2005.00009")
    assert dict(survey.prompts) == {"sentence": "Tell me of plants before June 2021."}
    manifest = json.loads((output / "manifest.json").read_text())
    assert manifest["source"]["yield"]["per_survey"]["reportbench:2005.00009"] == {
        "listed": 5, "by_id": 0, "by_title": 3, "not_found": 1, "repeated": 1, "ambiguous": 0,
        "years_apart": 1, "in_collection": 1, "date_from": "reportbench",
    }  # fmt: skip
    again = tmp_path / "elsewhere"
    shutil.copytree(folder, again / "r")
    options[1], options[5] = str(again / "r"), str(again / "corpus")
    assert main(["build", "reportbench", *options]) == 0
    for path in output.rglob("*"):
        twin = again / "corpus" / path.relative_to(output)
        assert path.is_dir() or path.read_bytes() == twin.read_bytes(), path


def test_bloom_eval_trusts_titles_alone(tmp_path, papers):
    (survey,) = surveys("bloom-eval", bloom_eval(tmp_path / "b"), papers)
    assert survey["id"] == "bloom-eval:gs_01"
    assert survey["references"] == ["arxiv:1801.00003", "t:trees"]  # although abstracts say else
    assert survey["influential"] == ["t:trees"]  # [1] three times, although it is listed second
    assert survey["outline"] == OUTLINE and survey["abstract"] == "Green."
    assert survey["date"] == 2021 and "mind_map" not in survey


def test_an_article_cites_by_id_what_its_own_list_explains(tmp_path, papers):
    """By hand: [1] is t:trees, [2] the nets; 9 is not in the list, [0, 1] an interval."""
    text = "See [1]-[2], [2; 9], over [0, 1], [2,1], (1)."
    folder = bloom_eval(tmp_path / "b", context={"1 Past": text, "1.1 Old": ""})
    (survey,) = surveys("bloom-eval", folder, papers)
    nets = "@arxiv:1801.00003"
    assert survey["article"] == (
        "# Plants: A Survey\n\n## 1 Past\n\n"
        f"See [@t:trees][{nets}], [2; 9] [{nets}], over [0, 1], [{nets}; @t:trees], (1).\n\n"
        "### 1.1 Old\n"
    )
    assert cited_ids(survey["article"]) == ["t:trees", nets[1:]]


def test_an_outline_is_a_mind_map_if_asked_for(tmp_path, papers):
    (survey,) = surveys("bloom-eval", bloom_eval(tmp_path / "b"), papers, outline_maps=True)
    assert arena.mindmap.read_mind_map(survey["mind_map"])[0].labels() == ["Trees", "Woods", "Nets"]


def test_the_citations_of_a_survey(tmp_path, papers):
    """Of the data set, or of the survey's own paper in the collection."""
    folder = bloom_eval(tmp_path / "b", citation_count=340)
    assert surveys("bloom-eval", folder, papers)[0]["survey_citations"] == 340
    assert surveys("bloom-eval", bloom_eval(tmp_path / "b"), papers)[0]["survey_citations"] is None
    own = write(tmp_path / "own.jsonl.gz", [*PAPERS[:-1], PAPERS[-1] | {"citation_count": 12}])
    assert surveys("bloom-eval", bloom_eval(tmp_path / "b"), own)[0]["survey_citations"] == 12


def test_taxoalign_dates_by_identifiers(tmp_path, papers):
    source = SOURCES.get("taxoalign")(taxoalign(tmp_path), papers)
    dates = {place.record["id"]: place.record["date"] for place in source.surveys()}
    assert dates == {
        "taxoalign:csur:2010.10563": "2020-10",
        "taxoalign:conf:2024.naacl-long.219": "2024",
        "taxoalign:conf:0907": "2020-07-07",
    }
    found = source.describe()["yield"]
    assert found["left_out_undated"] == ["taxoalign:csur:3397269"]
    assert found["surveys"] == 3 and sum(found["dates_from"].values()) == 3


def test_a_map_that_cannot_be_read_is_counted(tmp_path, papers, capsys):
    bad = {"id": "taxoalign:csur:2010.10564", "title": "Bad", "arxiv_id": "2010.10564",
           "tree": {"name": "x" * 501, "subtopics": []}}  # fmt: skip
    options = ["--input", str(taxoalign(tmp_path, bad)), "--papers", str(papers)]
    assert main(["build", "taxoalign", *options, "--output", str(tmp_path / "out")]) == 0
    told = capsys.readouterr().out
    assert "1 left out: no date is known; 1 mind-maps cannot be read" in told
    assert "4 (0 can be scored, 3 with a mind-map)" in told
    assert "their labels are their mind-maps alone" in told


def remove(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink()


REFUSED = [
    ("taxobench", lambda d: d / "absent", "absent' does not exist. Name TaxoBench, which has"),
    ("taxobench", lambda d: reportbench(d / "r") / "ReportBench_v1.1.jsonl",
     "line 1: 'survey' is missing: this is not TaxoBench's data.jsonl."),
    ("reportbench", lambda d: remove(reportbench(d / "r") / "ReportBench_v1.1_GT") or d / "r",
     "has a file of references for every survey in it. Put it next to"),
    ("reportbench", lambda d: remove(reportbench(d / "r") / "ReportBench_v1.1_GT/2005.00009.jsonl")
     or d / "r", "2005.00009.jsonl' does not exist"),
    ("bloom-eval", lambda d: remove(bloom_eval(d / "b") / "gs_01/human/outline.json") or d / "b",
     "outline.json' cannot be read: No such file"),
    ("taxoalign", lambda d: (d / "x").write_text('{"id"') and d / "x", "x line 1 is not JSON"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "make", "message"), REFUSED)
def test_what_is_refused_in_one_line(tmp_path, papers, capsys, name, make, message):
    options = ["--input", str(make(tmp_path)), "--papers", str(papers)]
    assert main(["build", name, *options, "--output", str(tmp_path / "out")]) == 2
    told = capsys.readouterr().err
    assert message in told and told.count("\n") == 1
    assert not (tmp_path / "out").exists()
