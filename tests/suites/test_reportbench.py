"""Reports of other systems scored by ReportBench's protocol, against counts by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from helpers import Memory
from llm_server import LLMServer

from arena import cli
from arena.errors import DataError
from arena.report import read_report
from arena.suites import SUITES
from arena_suites.reportbench import distinct_works, read_data
from corpus_builder.build import build

# Four works: the third entry is the first again, by its arXiv id. Seven titles, five distinct.
ENTRIES = [
    {"bib_id": "a", "title": "Attention is all you need",
     "meta_info": {"journal": "arXiv preprint arXiv:1706.03762", "year": "2017"}},
    {"bib_id": "b", "title": "Deep {R}esidual Learning", "meta_info": {"doi": "10.1109/X"}},
    {"bib_id": "c", "title": "Attention", "meta_info": {"eprint": "1706.03762v5"}},
    {"bib_id": "d", "title": "End-to-End Objects", "meta_info": {}},
    {"bib_id": "e", "title": "Graph Nets", "meta_info": None},
]  # fmt: skip
OTHER = [{"bib_id": "z", "title": "Old Physics", "meta_info": {"eprint": "hep-th/9711200"}}]
REPORT = """# Vision

Attention helps [1], as does depth [2, 3]. So do objects [4]. A survey says so, too [5].

Nobody cites this. Later work disagrees [6].

## References

[1] Attention Is All You Need. https://arxiv.org/abs/1706.03762v7
[2] Deep residual learning.
[3] Attention. https://arxiv.org/pdf/1706.03762
[4] Something nobody wrote.
[5] A Survey of Vision. https://arxiv.org/abs/2004.05937
[6] Later Nets. https://arxiv.org/abs/2106.00001
"""


def record(name: str, title: str, last: str = "Thu, 17 Jun 2021 10:00:00 GMT") -> dict:
    return {
        "arxiv_id": name, "title": title, "doi": None, "application_domain": "AI",
        "prompt": "Write about it.",
        "versions": [{"version": "v1", "created": "Mon, 13 Apr 2020 10:00:00 GMT"},
                     {"version": "v2", "created": last}],
    }  # fmt: skip


def lines(path: Path, rows: list) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data"
    truth = folder / "ReportBench_v1.1_GT"
    truth.mkdir(parents=True)
    surveys = [record("2004.05937", "A Survey of Vision"), record("hep-th/0101001", "Old Survey")]
    lines(folder / "ReportBench_v1.1.jsonl", surveys)
    lines(truth / "2004.05937.jsonl", ENTRIES)
    lines(truth / "hep-th_0101001.jsonl", OTHER)
    return folder


@pytest.fixture
def score(tmp_path, data):
    def run(files: dict[str, str | bytes], **options):
        folder = tmp_path / "reports"
        folder.mkdir(exist_ok=True)
        for name, text in files.items():
            (folder / name).write_bytes(text.encode() if isinstance(text, str) else text)
        evaluate = SUITES.get("reportbench")
        result = evaluate(data=str(data), reports=str(folder), **options).to_json()
        assert json.loads(json.dumps(result)) == result
        return result

    return run


def test_works_are_distinct():
    works = distinct_works(ENTRIES)
    assert [work.title for work in works] == [
        "Attention is all you need", "Deep {R}esidual Learning", "End-to-End Objects", "Graph Nets"
    ]  # fmt: skip
    assert set(works[0].ids) == {"arxiv:1706.03762"}
    assert distinct_works([{"bib_id": "x"}]) == []


def test_a_report_that_fails_is_left_out_and_the_others_count(score, monkeypatch):
    def failing(text):
        if b"bad" in text:
            raise IndexError("no such place")
        return read_report(text)

    monkeypatch.setattr("arena_suites.reportbench.read_report", failing)
    result = score({"2004.05937.md": REPORT, "hep-th_0101001.md": "bad"})
    row = result["topics"]["hep-th/0101001"]
    assert row["failed"].startswith("IndexError: 'no such place' (test_reportbench.py line ")
    assert (row["reference_precision"], row["gold"]) == (None, 0)
    assert result["mean"]["reference_precision"] == 2 / 5
    assert result["problems"] == ["1 of 2 surveys failed and are left out: see `failed`."]


WEB = """# Vision

A blog says so [1]. Depth helps [2]. A link is dead [3]. Attention helps [4].

## References

[1] https://blog.org/post
[2] https://www.journal.org/x/?utm_source=chat
[3] https://gone.org/1
[4] https://arxiv.org/abs/1706.03762
"""
PAGES = [
    {"url": "https://blog.org/post", "title": "Post", "text": "A blog.", "is_paper": False},
    {"url": "http://journal.org/x", "title": "Deep Residual Learning", "text": "Depth helps."},
]


def test_pages_stand_for_the_web(score, tmp_path):
    row = score({"2004.05937.md": WEB})["topics"]["2004.05937"]
    assert (row["hits"], row["cited"]) == (1, 4)
    lines(tmp_path / "pages.jsonl", PAGES)
    row = score({"2004.05937.md": WEB}, pages=str(tmp_path / "pages.jsonl"))["topics"]["2004.05937"]
    # The blog is no work, the journal's title is known
    assert (row["hits"], row["cited"]) == (2, 3)
    assert (row["not_papers"], row["dead_links"], row["cited_statements"]) == (1, 1, 4)


def test_dead_links_and_other_pages_are_no_references_of_the_released_code(score, tmp_path):
    """It knows a reference by the title that a model reads in its page: 1 of 3 is left."""
    text = WEB.replace(" Attention helps [4].", "").replace(
        "[4] https://arxiv.org/abs/1706.03762\n", ""
    ).replace("https://gone.org/1", "Gone. https://gone.org/1").replace(
        "https://blog.org/post", "Post. https://blog.org/post"
    )  # fmt: skip
    options = {"official": True, "only": ("2004.05937",)}
    row = score({"2004.05937.md": text}, **options)["mean"]
    assert (row["references"], row["precision"]) == (2, 0)  # nothing names the journal's page
    lines(tmp_path / "pages.jsonl", PAGES)
    options |= {"pages": str(tmp_path / "pages.jsonl")}
    row = score({"2004.05937.md": text}, **options)["mean"]
    assert (row["references"], row["precision"], row["dead_links"]) == (1, 1, 1)
    # By default a dead link is a cited work, and counted apart.
    mean = score({"2004.05937.md": text}, **options | {"official": False})["mean"]
    assert (mean["reference_precision"], mean["dead_links"], mean["not_papers"]) == (1 / 2, 1, 1)


def test_two_papers_of_openreview_are_one_in_the_released_code(score):
    text = """Objects help [1], as do graphs [2].

## References

[1] End-to-End Objects. https://openreview.net/forum?id=abcd1234
[2] Graph Nets. https://openreview.net/forum?id=efgh5678
"""
    mean = score({"2004.05937.md": text}, official=True, only=("2004.05937",))["mean"]
    assert (mean["references"], mean["precision"]) == (1, 1)
    mean = score({"2004.05937.md": text}, only=("2004.05937",))["mean"]
    assert mean["reference_count"] == 2


def test_a_judge_reads_pages_without_a_corpus(score, tmp_path):
    def answer(body):
        text = body["messages"][0]["content"]
        if "Does the quotation" in text:
            return json.dumps({"reason": "So.", "match": "Depth" in text})
        return text[text.index("A blog.") :][:7] if "A blog." in text else "Depth helps."

    lines(tmp_path / "pages.jsonl", PAGES)
    with LLMServer(answer) as server:
        option = {"model": "m", "base_url": server.url, "store": str(tmp_path / "judge.db")}
        result = score(
            {"2004.05937.md": WEB}, pages=str(tmp_path / "pages.jsonl"), llm_option=option
        )
    judged = result["topics"]["2004.05937"]["judgements"]
    assert [row["outcome"] for row in judged["cited"]] == [
        "mismatch", "match", "unreachable", "unreachable"
    ]  # fmt: skip
    assert judged["counts"]["unreachable_unknown"] == 2
    assert judged["counts"]["claims"] == 0


@pytest.mark.parametrize("page", [[], {"title": "x"}, {"url": "a.org", "is_paper": "no"}])
def test_what_is_no_page_is_refused(score, tmp_path, page):
    lines(tmp_path / "pages.jsonl", [page])
    with pytest.raises(DataError, match=r"pages.jsonl line 1.*is not a page"):
        score({"2004.05937.md": WEB}, pages=str(tmp_path / "pages.jsonl"))


def test_a_report_whose_citations_are_not_recognised_is_left_out_and_counted(score):
    unread = "It works {1}.\n\n# References\n\n[1] A. Lee. Depth. 2020."
    result = score({"2004.05937.md": REPORT, "hep-th_0101001.md": unread})
    row = result["topics"]["hep-th/0101001"]
    assert row["unread"].endswith("entries of its list: 1") and "reason" not in row
    assert row["reference_precision"] is None
    assert result["mean"]["reference_precision"] == 2 / 5
    assert result["problems"] == [
        "1 of 2 surveys have a report that cannot be read and are left out: see `unread`."
    ]


def test_every_number_by_hand(score):
    result = score({"2004.05937.md": REPORT})
    row = result["topics"]["2004.05937"]
    # Five works: attention, depth, something, the survey and later nets. Two are in the data.
    wanted = {
        "reference_precision": 2 / 5, "reference_recall": 2 / 4, "reference_f1": 4 / 9,
        "reference_count": 5, "cited_statements": 4, "uncited_statements": 1,
        "late_rate": 1 / 5,  # June 2021 is the month of the last version
        "self_rate": 1 / 5, "unresolved_count": 1,
        "survey_rate": None, "unseen_rate": None, "fabricated_rate": None,
        "hits": 2, "cited": 5, "gold": 4, "cutoff": "2021-06-01", "domain": "AI",
    }  # fmt: skip
    assert {key: row[key] for key in wanted} == wanted
    assert result["topics"]["hep-th/0101001"]["reason"] == "no report"
    assert result["missing"] == ["hep-th/0101001"]
    assert result["mean"]["reference_precision"] == 1 / 5  # the other one counts as 0
    assert result["mean"]["late_rate"] == 1 / 5  # of those that cite something
    assert result["micro"] == {
        "reference_precision": 2 / 5, "reference_recall": 2 / 5, "reference_f1": 4 / 10
    }  # fmt: skip
    assert result["problems"] == ["1 of 2 surveys count as 0."]


def test_the_released_code(score):
    result = score({"2004.05937.md": REPORT}, official=True)
    row = result["topics"]["2004.05937"]
    # An address gives the title of its page, which the data has for the first and third entry.
    # Titles: attention is all you need, deep residual learning, something nobody wrote, a survey
    # of vision, later nets; of five in the data.
    assert (row["hits"], row["cited"], row["gold"]) == (2, 5, 5)
    assert row["precision"] == result["mean"]["precision"] == 2 / 5
    assert result["mean"]["recall"] == 2 / 5 and result["mean"]["references"] == 5
    assert result["problems"] == ["1 of 2 surveys are left out, as in the released code."]


def test_official_titles_are_exact_without_punctuation(score):
    text = "Objects [1] and nets [2].\n\n## References\n\n[1] End-to-end objects\n[2] Graph-Nets\n"
    ours, theirs = score({"2004.05937.md": text}), score({"2004.05937.md": text}, official=True)
    assert ours["topics"]["2004.05937"]["hits"] == 2
    assert theirs["topics"]["2004.05937"]["hits"] == 1  # "graphnets" is not "graph nets"


WITHOUT_AUTHORS = """# Vision

All of it helps [1]. So do more [2][3][4][5].

## References

[1] Attention is all you need, NeurIPS 2017
[2] Pigs fly, 2011
[3] Cows fly, 2012
[4] Cats fly, 2013
[5] Dogs fly, 2014
"""


def test_entries_without_authors_are_found_and_those_that_are_not_are_counted(
    score, data, tmp_path, capsys
):
    result = score({"2004.05937.md": WITHOUT_AUTHORS}, only=("2004.05937",))
    row = result["topics"]["2004.05937"]
    assert (row["hits"], row["cited"], row["gold"]) == (1, 5, 4)
    assert row["remark"] == "1 of 5 listed entries were found"
    said = (
        "Warning: 1 of 5 listed entries were found (the first such remark; 1 of 1 answer has one)."
    )
    assert said in result["problems"]
    reports = tmp_path / "reports"
    command = ["evaluate", "reportbench", "--data", str(data), "--only", "2004.05937"]
    page = tmp_path / "page.html"
    systems = ["--system", f"a={reports}", "--system", f"b={reports}", "--page", str(page)]
    assert cli.main([*command, *systems]) == 0
    assert f"a: {said}" in capsys.readouterr().out
    assert f"a: {said}" in page.read_text(encoding="utf-8")
    assert cli.main([*command, *systems, "--json"]) == 0
    assert f"b: {said}" in json.loads(capsys.readouterr().out)["notes"]
    official = score({}, only=("2004.05937",), official=True)["topics"]["2004.05937"]
    assert (official["hits"], "remark" in official) == (0, False)


def test_files_by_their_names(score):
    result = score(
        {
            "parsed_2004.05937v2.json": json.dumps({"response": REPORT}),
            "hep-th_0101001.txt": "Old [@hep-th/9711200].",
            "2004.05937.md": REPORT,
            "9999.00001.md": REPORT,
            "12004.05937.md": REPORT,
            "notes.csv": "",
        }
    )
    assert not result["missing"]
    assert result["topics"]["hep-th/0101001"]["reference_recall"] == 1
    assert result["problems"] == [
        "12004.05937.md: no survey of the data has the id in this name.",
        "9999.00001.md: no survey of the data has the id in this name.",
        "parsed_2004.05937v2.json: a second report on 2004.05937; 2004.05937.md counts.",
    ]


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("2004.05937.md", "", "no citations"),
        ("2004.05937.md", "Nothing [cited] here.", "no citations"),
        ("2004.05937.json", "{", "2004.05937.json is not JSON."),
        ("2004.05937.json", '{"response": null}', "has no text under 'response'"),
        ("2004.05937.md", b"\x00\x01\x02\xff" * 9, "is not text"),
    ],
)
@pytest.mark.parametrize("official", [False, True])
def test_an_unreadable_report_is_a_row_with_its_reason(score, name, text, reason, official):
    result = score({name: text}, official=official)
    row = result["topics"]["2004.05937"]
    assert reason in row["reason"]
    assert row["precision" if official else "reference_precision"] == 0
    assert next(iter(result["mean"].values())) == (None if official else 0)


def test_the_command(score, data, tmp_path, capsys):
    score({"2004.05937.md": REPORT})
    command = ["evaluate", "reportbench", "--data", str(data), "--reports"]
    assert cli.main([*command, str(tmp_path / "reports")]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in printed[2:7]] == [
        "2004.05937", "hep-th/0101001", "mean,", "mean", "micro"
    ]  # fmt: skip


PAPERS = [
    {"id": "arxiv:1706.03762", "title": "Attention is all you need", "date": "2017-06-12",
     "abstract": "Attention replaces recurrence."},
    {"id": "p2", "title": "Deep Residual Learning", "date": "2021-06-01", "doi": "10.1109/X"},
    {"id": "p3", "title": "Graph Nets", "date": "2019", "arxiv_id": "1901.00001"},
    {"id": "p4", "title": "A Survey of Attention", "date": "2018", "is_survey": True},
    {"id": "p5", "title": "Unrelated", "date": "2018"},
]  # fmt: skip
WITH_CORPUS = """Attention [@arxiv:1706.03762]. Depth [@p2]. Attention is reviewed [@p4].
Graphs are [nets](https://arxiv.org/abs/1901.00001). See [@p5] and [@nothing]. Pigs fly.
"""


@pytest.fixture
def corpus(tmp_path):
    gold = {"id": "reportbench:2004.05937", "title": "A Survey of Vision", "date": "2020-04-13",
            "references": ["arxiv:1706.03762"]}  # fmt: skip
    build(Memory(PAPERS, [gold]), tmp_path / "corpus")
    return str(tmp_path / "corpus")


def test_a_corpus_tells_titles_dates_and_surveys(score, corpus):
    row = score({"2004.05937.md": WITH_CORPUS}, corpus=corpus)["topics"]["2004.05937"]
    wanted = {
        "hits": 3, "cited": 6, "late_rate": 1 / 6, "survey_rate": 1 / 6, "self_rate": 0,
        "unresolved_count": 1, "unseen_rate": None, "fabricated_rate": None,
    }  # fmt: skip
    assert {key: row[key] for key in wanted} == wanted
    without = score({"2004.05937.md": WITH_CORPUS})["topics"]["2004.05937"]
    assert (without["hits"], without["unresolved_count"]) == (1, 4)


def test_a_corpus_of_other_surveys_is_refused(score, synthetic):
    with pytest.raises(DataError, match="none of these surveys"):
        score({"2004.05937.md": WITH_CORPUS}, corpus=str(synthetic))


def test_a_model_judges_statements_by_the_corpus(score, corpus, tmp_path):
    def answer(body):
        text = body["messages"][0]["content"]
        if "Check whether" in text:
            return '{"reason": "No.", "decision": false}'
        if "ought to be checked" in text:
            return '[{"statement": "Pigs fly."}]'
        if "Does the quotation" in text:
            return '{"reason": "Yes.", "match": true}'
        return "Attention replaces recurrence." if "recurrence" in text else "NOT_FOUND"

    with LLMServer(answer) as server:
        option = {"model": "m", "base_url": server.url, "store": str(tmp_path / "judge.db")}
        result = score({"2004.05937.md": WITH_CORPUS}, corpus=corpus, llm_option=option)
        assert not any("Deep Residual" in json.dumps(body) for body in server.requests)
    row = result["topics"]["2004.05937"]
    assert (row["match_rate"], row["factual_accuracy"], row["claims"]) == (1, 0, 1)
    assert row["match_rate_all"] == 1 / 6
    assert row["judgements"]["cited"][0]["reason"] == "Yes."
    assert result["mean"]["match_rate"] == 1 and result["settings"]["judge"]["votes"] == 3
    with pytest.raises(DataError, match="name a corpus"):
        score({"2004.05937.md": WITH_CORPUS}, llm_option=option)


@pytest.mark.slow
def test_the_real_bibliographies_score_one(real_data, tmp_path):
    """Each survey's own bibliography as a report; and its repeated entries are found out."""
    gold = read_data(str(real_data.directory / "reportbench"))
    assert len(gold) == 54 and sum(len(survey.titles) for survey in gold.values()) == 8310
    for name, survey in gold.items():
        entries = [f"[{n}] {title}" for n, title in enumerate(survey.titles, 1)]
        cited = "\n\n".join(f"A sentence [{n}]." for n in range(1, len(entries) + 1))
        (tmp_path / f"{name}.md").write_text(f"{cited}\n\n## References\n\n" + "\n\n".join(entries))
    evaluate = SUITES.get("reportbench")
    assert evaluate is not None
    result = evaluate(data=str(real_data.directory / "reportbench"), reports=str(tmp_path))
    assert result.micro["reference_recall"] > 0.99
    assert result.micro["reference_precision"] > 0.99
