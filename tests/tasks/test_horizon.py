"""The same task as of three days, and topics without gold: days, rewards and scores by hand."""

from __future__ import annotations

import json

import pytest
from helpers import Memory, contents

from arena.corpus import Corpus
from arena.tasks import TaskSet
from arena.testing.stored import StoredCorpus
from corpus_builder.build import build
from corpus_builder.cli import main
from corpus_builder.paper_tasks import write_paper_tasks
from corpus_builder.question_tasks import write_question_tasks

GOLD = {"g1": "2012-03-05", "g2": "2014-06-01", "g3": "2016-07-07"}
PAPERS = [
    {"id": "old", "title": "Old Words", "date": "2010-01-01"},
    *({"id": n, "title": f"Reefs {n}", "date": day} for n, day in GOLD.items()),
    {"id": "p", "title": "Reefs of Today", "date": "2018-02-02", "references": ["none", *GOLD]},
    {"id": "q", "title": "Of one Day", "date": "2018-02-03", "references": ["g1"]},
]
DAYS = ("2012-03-04", "2014-06-02", "2018-02-02")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    directory = tmp_path_factory.mktemp("horizon") / "corpus"
    build(Memory(PAPERS, []), directory)
    return directory


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    titles = [f"Reefs {name}" for name in GOLD]
    day = {"source_meta": {"published_time": "20180202"}}
    question = {"qid": "q1", "question": "Which reefs?", "answer": titles} | day
    path = tmp_path_factory.mktemp("asked") / "questions.jsonl"
    path.write_text(json.dumps(question | {"answer_arxiv_id": ["", "", ""]}) + "\n")
    return {"autoscholarquery": str(path)}


@pytest.fixture(scope="module")
def questions(corpus, asked, tmp_path_factory):
    tasks = tmp_path_factory.mktemp("questions") / "tasks"
    write_question_tasks(corpus, tasks, asked, horizon=True)
    return tasks


def test_three_days_of_a_paper_by_hand(corpus, tmp_path):
    manifest = write_paper_tasks(corpus, tmp_path / "t", least=1, horizon=True)
    tasks = TaskSet(Corpus(corpus, tasks=tmp_path / "t"))
    assert {s.id: s.date for s in tasks.topics.values()} == {f"p@{day}": day for day in DAYS}
    assert [tasks.gold(s).gains for s in tasks.topics] == [
        {}, {"g1": 1, "g2": 1}, {"g1": 1, "g2": 1, "g3": 1},
    ]  # fmt: skip
    assert {*map(str, map(tasks.groups, tasks.topics))} == {"{'cluster': 'p'}"}
    assert (manifest["counts"]["tasks"], manifest["options"]["horizon"]) == (3, True)
    assert not list(StoredCorpus(corpus, tmp_path / "t").broken_rules())
    plain = write_paper_tasks(corpus, tmp_path / "plain", least=1)
    assert "horizon" not in plain["options"] and plain["counts"]["tasks"] == 2
    write_paper_tasks(corpus, tmp_path / "again", least=1, horizon=True)
    assert contents(tmp_path / "again") == contents(tmp_path / "t")


def test_three_days_of_a_question_by_hand(corpus, questions):
    tasks = TaskSet(Corpus(corpus, tasks=questions))
    assert {s.id: s.date for s in tasks.topics.values()} == {f"q1@{day}": day for day in DAYS}
    assert [len(tasks.gold(s).gains) for s in tasks.topics] == [0, 2, 3]
    counts = json.loads((questions / "manifest.json").read_bytes())["counts"]
    assert [counts[n] for n in ("tasks", "playable", "gold", "not_before")] == [3, 2, 5, 4]
    assert not list(StoredCorpus(corpus, questions).broken_rules())


def test_an_id_that_names_another_day_is_found(corpus, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    write_paper_tasks(corpus, tmp_path / "t", least=1, horizon=True)
    file = tmp_path / "t" / "tasks" / "topics.parquet"
    table = pq.read_table(file)
    rows = [row | {"date": table.to_pylist()[1]["date"]} for row in table.to_pylist()]
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), file)
    broken = [what for *_, what in StoredCorpus(corpus, tmp_path / "t").broken_rules()]
    assert sum("is not a paper of that title and day" in what for what in broken) == 2


def test_tasks_without_three_days_are_refused(corpus, tmp_path, capsys):
    options = ["--least", "1", "--before", "2012-03-06", "--horizon"]
    out = ["--output", str(tmp_path / "t")]
    assert main(["tasks", str(corpus), *options, *out]) == 2
    assert main(["tasks", str(corpus), "--least", "4", "--horizon", *out]) == 2
    build(Memory([PAPERS[1], PAPERS[-1]], []), tmp_path / "small")
    assert main(["tasks", str(tmp_path / "small"), "--least", "1", "--horizon", *out]) == 2
    assert "none has three days" in capsys.readouterr().err.splitlines()[-1]
