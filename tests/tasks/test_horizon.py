"""The same task as of three days, and topics without gold: days, rewards and scores by hand."""

from __future__ import annotations

import json

import gymnasium
import pytest
from helpers import Memory, call, contents
from llm_server import LLMServer

import arena
import arena.cli
from arena.corpus import Corpus
from arena.envs import EnvConfig
from arena.errors import DataError
from arena.tasks import TaskSet
from arena.testing import audit
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
    question = {"qid": "q1", "question": "Which old reefs?", "answer": titles} | day
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


FIRST, HALF, OWN = (f"q1@{day}" for day in DAYS)


def test_an_answer_without_papers_is_paid_where_no_gold_is_in_reach(corpus, questions):
    def paid(topic, *calls, **settings):
        made = {"corpus": corpus, "tasks": questions, "reward": "gain+final", **settings}
        with gymnasium.make("arena/Question-v0", empty_gold=True, **made) as env:
            env.reset(options={"topic_id": topic})
            steps = [env.step(each) for each in calls]
        return [step[1] for step in steps], steps[-1][4]["metrics"]

    search, nothing = call("search", query="old"), call("submit", paper_ids=[])
    assert paid(FIRST, search, nothing) == ([0, 1], {})
    assert paid(FIRST, call("finish")) == ([1], {})
    assert paid(FIRST, search, call("submit", paper_ids=["old"])) == ([0, 0], {})
    assert paid(FIRST, call("select", paper_ids=["old"]), call("finish")) == ([0, 0], {})
    assert paid(FIRST, search, max_steps=1) == ([0], {})  # nothing was submitted
    rewards, metrics = paid(HALF, nothing)
    assert (rewards, metrics["recall"]) == ([0], 0)
    assert paid(OWN, call("submit", paper_ids=["g1", "g2", "g3"]))[0] == [1]  # final alone


def test_topics_without_gold_are_drawn_when_asked_for(corpus, questions):
    for settings, drawn in (({}, [HALF, OWN]), ({"empty_gold": True}, [FIRST, HALF, OWN])):
        made = {"corpus": corpus, "tasks": questions, **settings}
        with gymnasium.make("arena/Question-v0", **made) as env:
            assert sorted(env.unwrapped.topics) == drawn
    assert "empty_gold" not in EnvConfig(task="question").environment
    with pytest.raises(DataError, match="takes no argument 'empty_gold'"):
        EnvConfig(task="pipeline", empty_gold=True)


def test_runs_count_topics_without_gold_and_leave_them_out(
    corpus, questions, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    given = ["--corpus", str(corpus), "--tasks", str(questions)]
    play = ["run", *given, "--task", "question", "--env-option", "empty_gold=true"]
    for agent in ("title", "oracle"):
        assert arena.cli.main([*play, "--agent", agent, "--output", agent]) == 0
    said = capsys.readouterr().out
    assert "submitted nothing" not in said  # which is right there
    # `old` alone has a word of the question before the first gold paper.
    assert "0.0% of them; on average 1.00 papers submitted, 1.00 searches spent." in said
    assert "Left out: 1 question without gold. An answer without papers: 100.0% of them" in said
    found = json.loads((tmp_path / "title" / "metrics.json").read_bytes())
    assert found["empty_gold"] == {"topics": 1, "abstained": 0, "papers": 1, "searches": 1}
    assert (found["counts"]["scored"], found["counts"]["not_scored"]) == (2, 1)
    assert found["per_topic"][FIRST]["recall"] is None
    assert found["mean"]["recall"] == 1  # all gold in reach has the word, on both other days
    returns = {topic: row["return"] for topic, row in found["per_topic"].items()}
    assert returns[FIRST] == 0
    again = arena.rescore("title", corpus, tasks=questions)["empty_gold"]
    assert again == found["empty_gold"] | {"searches": None}
    for command in (
        ["compare", "title", "oracle", *given],
        ["view", "title", "oracle", *given, "--output", "page.html"],
        ["verify", "title", *given],
        ["show", "title", *given],
    ):
        assert arena.cli.main(command) == 0
    assert "What was submitted for 1 question without gold" in capsys.readouterr().out
    plain = arena.run(corpus, "question", "title", "plain", tasks=questions)
    assert "empty_gold" not in plain


def test_repeats_are_counted_each(corpus, questions, tmp_path):
    found = arena.run(
        corpus, "question", "random", tmp_path / "r", tasks=questions, repeats=4, empty_gold=True
    )
    each = [sum(n.values()) for n in found["per_topic"][FIRST]["submitted_each"]]
    assert found["empty_gold"]["abstained"] == each.count(0) / 4
    assert found["empty_gold"]["papers"] == sum(each) / 4


def test_the_recall_of_memory_alone(corpus, questions, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    with LLMServer(["<Titles>\n- Reefs g1\n- Reefs g9\n</Titles>"] * 3) as server:
        model = {"model": "scripted", "base_url": server.url, "store": str(tmp_path / "answers.db")}
        found = arena.run(
            corpus, "question", "closed-book", tmp_path / "run", tasks=questions,
            agent_options=model, parallel=1, empty_gold=True,
        )  # fmt: skip
    recalls = {topic: row["recall"] for topic, row in found["per_topic"].items()}
    assert recalls == {FIRST: None, HALF: 1 / 2, OWN: 1 / 3}
    assert found["empty_gold"]["abstained"] == 1  # what is not there yet is not found


def test_an_audit_of_topics_without_gold_is_clean(corpus, questions, monkeypatch):
    monkeypatch.setattr("arena.testing.auditor.check_contract", lambda *_: None)
    found = audit(
        corpus, 150, environments=["arena/Question-v0"], tasks=questions,
        options={"empty_gold": True},
    )  # fmt: skip
    assert found.findings == []
