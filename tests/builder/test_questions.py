"""Formats of questions, and tasks of questions: the join, days, faults and hiding, by hand."""

from __future__ import annotations

import csv
import json

import gymnasium
import pytest
from helpers import Memory, contents

import arena
from arena.corpus import Corpus
from arena.tasks import TaskSet
from arena.testing import audit as audit_leaks
from arena.testing.stored import StoredCorpus
from corpus_builder.build import build
from corpus_builder.cli import main
from corpus_builder.question_tasks import write_question_tasks
from corpus_builder.questions import Question, read_questions
from corpus_builder.sources.matching import PaperQuery

PAPERS = [
    {"id": "arxiv:1901.00001", "title": "U-Net: Convolutional Networks", "date": "2019-01-04"},
    {"id": "b", "title": "Boosting of Weak Learners", "date": "2019-03-10"},
    {"id": "late", "title": "Later Work on Nets", "date": "2021-05-01"},
    {"id": "s", "title": "A Survey of Nets", "date": "2018", "is_survey": True},
    {"id": "asker", "title": "The Paper That Asks", "date": "2020-02-02"},
    {"id": "twin", "title": "The paper that asks.", "date": "2020-01-15"},
]
FIRST = {
    "qid": "q1",
    "question": "Which work follows U-Net?",
    "answer": ["U-Net: Convolutional\n  Networks", "Boosting of weak learners", "Not Here at All"],
    "answer_arxiv_id": ["1901.00001v2", "", "1801.00009"],
    "source_meta": {"published_time": "20200301"},
}
SECOND = FIRST | {
    "qid": "q2",
    "question": "What came after boosting of weak learners?",
    "answer": ["Later Work on Nets", "A Survey of Nets"],
    "answer_arxiv_id": ["", ""],
}
THIRD = FIRST | {"qid": "q3", "source_meta": {"published_time": "20200401"}, "question": "Nets?"}


def lines(path, *records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def table(path, row):
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, row)
        writer.writeheader()
        writer.writerow(row)


@pytest.fixture
def deepscholar(tmp_path):
    folder = tmp_path / "deepscholar"
    folder.mkdir()
    paper = {"arxiv_id": "2003.00007v1", "title": "The Paper That Asks", "abstract": "We ask."}
    section = r"\subsection{Trees}" "\n" r"Weak ones~\cite{none, boost} were \emph{joined}. % why?"
    paper |= {"published_date": "2020-03-05T01:00Z", "clean_latex_related_works": section}
    table(folder / "papers_with_related_works.csv", paper)
    cited = {
        "parent_paper_arxiv_id": "2003.00007v1",
        "cited_paper_title": "Boosting of Weak Learners",
        "citation_shorthand": "boost",
    }
    links = {
        "cited_paper_arxiv_link": "http://arxiv.org/abs/1903.00002v1",
        "bib_paper_doi": "10.1145/B",
    }
    table(folder / "citations.csv", cited | links)
    return folder


@pytest.fixture
def corpus(tmp_path):
    build(Memory(PAPERS, []), tmp_path / "corpus")
    return tmp_path / "corpus"


@pytest.fixture
def asked(tmp_path):
    return lines(tmp_path / "auto.jsonl", FIRST, SECOND, THIRD)


def test_autoscholarquery(asked):
    first = read_questions("autoscholarquery", asked)[0]
    assert first[:3] == ("q1", "Which work follows U-Net?", "2020-03-01")
    assert [paper.keys for paper in first.gold] == [
        ("arxiv:1901.00001",),
        (),
        ("arxiv:1801.00009",),
    ]
    assert first.source == "2020-03-01"


def test_scholargym(tmp_path):
    papers = [{"arxiv_id": "1901.00001", "title": "U-Net", "year": 2019}, {"title": "No Gold"}]
    record = {"query": "Which?", "cited_paper": papers, "gt_label": [1, 0], "date": "2019-01"}
    path = lines(tmp_path / "gym.jsonl", record | {"qid": "q1"})
    gold = (PaperQuery("U-Net", ("arxiv:1901.00001",)),)
    assert read_questions("scholargym", path) == [Question("q1", "Which?", "", gold)]


def test_sparbench(tmp_path):
    answers = [{"paperID": "https://arxiv.org/pdf/1703.07015", "title": "Nets"}, {"title": "More"}]
    record = {
        "question": "Which?",
        "source_meta": {"published_time": "20250320", "answers": answers},
    }
    gold = (PaperQuery("Nets", ("arxiv:1703.07015",)), PaperQuery("More"))
    path = lines(tmp_path / "spar.jsonl", record)
    assert read_questions("sparbench", path) == [
        Question("SPARBench_1", "Which?", "2025-03-20", gold)
    ]


def test_deepscholar(deepscholar):
    (question,) = read_questions("deepscholar", deepscholar)
    assert question[:3] == ("DeepScholar_2003.00007", "We ask.", "2020-03-05")
    assert question.asker == (PaperQuery("The Paper That Asks", ("arxiv:2003.00007",)),)
    cited = PaperQuery("Boosting of Weak Learners", ("arxiv:1903.00002", "doi:10.1145/b"))
    assert question.gold == (cited,)
    assert question.answer == "### Trees\n\nWeak ones [@0] were joined."


def test_tasks_by_hand(corpus, asked, tmp_path):
    manifest = write_question_tasks(corpus, tmp_path / "t", {"autoscholarquery": str(asked)})
    tasks = TaskSet(Corpus(corpus, tasks=tmp_path / "t"))
    assert {s.id: (s.text, s.date) for s in tasks.topics.values()} == {
        "q1": ("Which work follows U-Net?", "2020-03-01"),
        "q2": ("What came after boosting of weak learners?", "2020-03-01"),
        "q3": ("Nets?", "2020-04-01"),
    }
    assert tasks.unit == "question"
    days = {"q1": "2020-03-01", "q2": "2020-03-01", "q3": "2020-04-01"}  # of one day: of one paper?
    assert {name: tasks.groups(name) for name in days} == {
        name: {"cluster": day} for name, day in days.items()
    }
    assert tasks.gold("q1") == ({"arxiv:1901.00001": 1, "b": 1}, 3, 3)
    assert tasks.gold("q2") == ({}, 2, 2)
    assert manifest["counts"] == {
        "without_day": 0, "redated": 0, "tasks": 3, "playable": 2, "complete": 0,
        "ceiling": 0.6667, "gold": 4, "unknown": 2, "undated": 0, "survey": 1, "not_before": 1,
        "one_paper": 2, "gold_in_other": 2, "names_answer": 1, "groups": 1,
    }  # fmt: skip
    found = json.loads((tmp_path / "t" / "tasks" / "questions.json").read_bytes())
    assert found["q1"] == {
        "group": "q1",
        "one_paper": ["q2"],
        "gold_in_other": ["q2"],
        "names_answer": ["U-Net: Convolutional Networks"],
        "asker": [],
    }
    assert not list(StoredCorpus(corpus, tmp_path / "t").broken_rules())
    write_question_tasks(corpus, tmp_path / "again", {"autoscholarquery": str(asked)})
    assert contents(tmp_path / "again") == contents(tmp_path / "t")


def test_the_paper_that_asks_is_hidden(corpus, deepscholar, tmp_path):
    """Also where the corpus has it, and another version, at earlier days than the file says."""
    manifest = write_question_tasks(corpus, tmp_path / "t", {"deepscholar": str(deepscholar)})
    assert manifest["counts"]["redated"] == 1
    with gymnasium.make("arena/Question-v0", corpus=corpus, tasks=tmp_path / "t") as env:
        observation, _ = env.reset(seed=1)
        assert (observation["topic"], observation["cutoff"]) == ("We ask.", "2020-01-15")
        search = {"tool": "search", "arguments": {"query": "the paper that asks of boosting nets"}}
        hits = json.loads(env.step(search)[0]["result"])["hits"]
        assert {hit["id"] for hit in hits} == {"b", "arxiv:1901.00001"}
    tasks = TaskSet(Corpus(corpus, tasks=tmp_path / "t"))
    assert tasks.groups("DeepScholar_2003.00007") == {"cluster": "arxiv:2003.00007"}
    section = tasks.article("DeepScholar_2003.00007")
    assert section == "### Trees\n\nWeak ones [@b] were joined."
    assert not list(StoredCorpus(corpus, tmp_path / "t").broken_rules())
    listed = tmp_path / "t" / "tasks" / "questions.json"
    listed.write_text(listed.read_text().replace('"twin"', '"b"'))
    (broken,) = StoredCorpus(corpus, tmp_path / "t").broken_rules()
    assert "is asked by 'b', which is in reach" in broken[2]


def test_the_month_of_the_newest_gold_is_no_cutoff(corpus, asked, tmp_path):
    gym = {"qid": "q1", "query": "Which?", "gt_label": [1], "date": "2019-01"}
    gym["cited_paper"] = [{"arxiv_id": "1901.00001", "title": "U-Net"}]
    path = lines(tmp_path / "gym.jsonl", gym, gym | {"qid": "q7"})
    found = write_question_tasks(corpus, tmp_path / "t", {"scholargym": str(path)}, days=asked)
    tasks = TaskSet(Corpus(corpus, tasks=tmp_path / "t")).topics.values()
    assert {task.id: task.date for task in tasks} == {"q1": "2020-03-01"}
    assert found["counts"]["without_day"] == 1
    for file in (tmp_path / "t").rglob("*"):
        assert file.is_dir() or b"2019-01" not in file.read_bytes()
    given = {"scholargym": str(path)}
    found = write_question_tasks(corpus, tmp_path / "b", given, days=asked, before="2020-02")
    tasks = TaskSet(Corpus(corpus, tasks=tmp_path / "b")).topics.values()
    assert {task.id: task.date for task in tasks} == {"q1": "2020-03-01", "q7": "2020-02-01"}
    assert found["options"]["before"] == "2020-02-01" and found["counts"]["without_day"] == 0


def test_agents_play_them_and_the_audit_is_clean(corpus, asked, tmp_path):
    write_question_tasks(corpus, tmp_path / "t", {"autoscholarquery": str(asked)})
    run = arena.run(corpus, "question", "title", tmp_path / "run", tasks=tmp_path / "t")
    # q1 and q3 have two gold papers each, and find U-Net alone
    assert run["ceiling"]["f1"] == 1
    assert (run["mean"]["precision"], run["mean"]["recall"]) == (1, 1 / 2)
    assert run["mean"]["f1"] == pytest.approx(2 / 3)
    assert run["counts"]["gold"] == 4 and run["counts"]["references"] == 8
    assert arena.runs.verify(tmp_path / "run", corpus, tasks=tmp_path / "t").difference is None
    report = audit_leaks(
        corpus, actions=200, tasks=tmp_path / "t", environments=["arena/Question-v0"]
    )
    assert report.findings == []


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("sage-short=FILE", "is a file. Name the folder"),
        ("autoscholarqery=FILE", "Did you mean 'autoscholarquery'"),
        ("deepscholar=FILE", "is not the folder of DeepScholar-Bench"),
        ("scholargym=FILE", "'query' is missing"),
        ("sparbench=FILE", "'answers' is missing"),
        ("autoscholarquery=FILE --part 3/2", "write K/N"),
    ],
)
def test_the_command_refuses_in_one_line(corpus, asked, tmp_path, capsys, given, message):
    given = given.replace("FILE", str(asked)).split()
    assert main(["tasks", str(corpus), "--output", str(tmp_path / "t"), "--questions", *given]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1
    assert not (tmp_path / "t").exists()


def test_real_questions(real_corpus, real_data, tmp_path):
    path = real_data.directory / "questions" / "autoscholarquery_test.jsonl"
    if not path.is_file():
        pytest.skip(f"the real questions are not here: {str(path)!r} is missing")
    counts = write_question_tasks(real_corpus, tmp_path / "t", {"autoscholarquery": str(path)})[
        "counts"
    ]
    assert (counts["tasks"], counts["gold"] + counts["unknown"]) == (508, 1196)
    assert 200 < counts["playable"] < 240
