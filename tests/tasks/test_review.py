"""The task review: what is selected, the belief, cost, updates, and its baseline, by hand."""

from __future__ import annotations

import json
from types import SimpleNamespace

import gymnasium
import pytest
from helpers import Memory, call

import arena
import arena.cli
from arena.answers import ANSWERS
from arena.corpus import Corpus
from arena.errors import DataError
from arena.metrics import METRICS
from arena.tasks import TaskSet
from corpus_builder.build import build

GOLD = {"g1": "2012-03-05", "g2": "2014-06-01", "g3": "2016-07-07", "g4": "2017-01-01"}
PAPERS = [{"id": n, "title": f"Reefs of {n}", "date": day} for n, day in GOLD.items()]
PAPERS += [{"id": "x", "title": "Reefs elsewhere", "date": "2011-01-01"}]
SURVEY = {"id": "s", "title": "Reefs", "date": "2018-02-02", "references": [*GOLD]}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    directory = tmp_path_factory.mktemp("review") / "corpus"
    build(Memory(PAPERS, [SURVEY]), directory)
    return directory


def played(corpus, *calls, **settings):
    with gymnasium.make("arena/Review-v0", corpus=corpus, **settings) as env:
        first, _ = env.reset(options={"topic_id": "s"})
        return first, [env.step(each) for each in calls]


def result(step):
    return json.loads(step[0]["result"])


def test_a_review_by_hand(corpus):
    _, steps = played(
        corpus, call("search", query="reefs"), call("read", paper_id="g1"),
        call("select", paper_ids=["g1", "x"]), call("select", paper_ids=["g2", "g1"]),
        call("finish", recall=0.75),
    )  # fmt: skip
    *_, (_, reward, terminated, _, info) = steps
    assert (reward, terminated, result(steps[-1])) == (1 / 2, True, {"submitted": 3})
    answer = {"paper_ids": ["g1", "x", "g2"], "recall": 0.75, "calls": 2}
    assert info["answers"] == {"review": answer}
    assert info["metrics"] == {
        "recall": 1 / 2,
        "precision": 2 / 3,
        "calibration": 1 / 16,
        "calls": 2,
    }
    assert info["unseen"] == 0


def test_a_belief_may_be_left_out_and_is_a_share(corpus):
    select = call("select", paper_ids=["g1"])
    _, steps = played(corpus, call("search", query="reefs"), select, call("finish"))
    assert steps[-1][4]["answers"]["review"]["recall"] is None
    assert steps[-1][4]["metrics"] == {"recall": 1 / 4, "precision": 1, "calls": 1}
    for wrong in (1.5, -0.1, "most", True, float("nan")):
        _, (refused,) = played(corpus, call("finish", recall=wrong))
        assert not refused[2] and "error" in result(refused)
    _, steps = played(corpus, call("finish", recall=1))
    assert steps[-1][4]["metrics"] == {"recall": 0, "precision": 0, "calibration": 1, "calls": 0}
    _, steps = played(corpus, call("search", query="reefs"), select, max_steps=2)
    assert steps[-1][3] and steps[-1][4]["metrics"]["recall"] == 1 / 4  # the budget ended it
    _, steps = played(corpus, call("search", query="reefs"), max_steps=1)
    assert steps[-1][4]["answers"] == {}


def test_an_update_wants_what_is_new(corpus, tmp_path):
    first, steps = played(
        corpus, call("search", query="reefs"), call("select", paper_ids=["g1", "g3"]),
        call("finish", recall=0.5), since="2016-07-07",
    )  # fmt: skip
    assert "only those of 2016-07-07 or later are wanted" in first["result"]
    assert steps[-1][4]["metrics"]["recall"] == 1 / 2  # g3 of g3 and g4
    assert steps[0][4]["gain"] == 1
    opened = Corpus(corpus)
    assert TaskSet(opened, since="2017-01-01").gold("s") == ({"g4": 1}, 4, 4)
    assert TaskSet(opened, since="2017-01-01").sha256 != TaskSet(opened).sha256
    arena.run(corpus, "review", "oracle", tmp_path / "new", since=2017)
    arena.run(corpus, "review", "oracle", tmp_path / "all")
    assert arena.runs.verify(tmp_path / "new", corpus).verified
    assert (tmp_path / "new" / "qrels.trec").read_text().split() == ["s", "0", "g4", "1"]
    assert arena.compare([tmp_path / "new"], corpus=corpus).topics == ("s",)
    assert arena.cli.main(["view", str(tmp_path / "new"), "--corpus", str(corpus), "--output",
                           str(tmp_path / "page.html")]) == 0  # fmt: skip
    with pytest.raises(DataError, match="differ in task set"):
        arena.compare([tmp_path / "new", tmp_path / "all"], corpus=corpus)
    (found,) = arena.run(
        corpus, "review", "title", tmp_path / "none", since="2018", empty_gold=True
    )["per_topic"].values()
    assert (found["return"], found["recall"]) == (0, None)  # nothing is new, and it selected all
    with pytest.raises(DataError, match="takes no argument 'since'"):
        gymnasium.make("arena/Organization-v0", corpus=corpus, since="2017")
    with pytest.raises(DataError, match="not a date"):
        gymnasium.make("arena/Review-v0", corpus=corpus, since="soon")


def test_agents_play_it_and_their_runs_are_read(corpus, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for agent, recall in (("oracle", 1), ("title", 1), ("scout", 1)):
        found = arena.run(corpus, "review", agent, agent)
        assert found["mean"]["recall"] == recall
        assert found["ceiling"] == {"recall": 1, "precision": 1, "calibration": 0, "calls": 0}
        assert arena.runs.verify(agent, corpus).verified
    assert found["mean"]["calibration"] is None  # scout says no belief
    again = arena.rescore("oracle", corpus)
    assert again["mean"] == {"recall": 1, "precision": 1, "calibration": 0, "calls": 0}
    assert json.loads((tmp_path / "oracle" / "reviews.jsonl").read_text())["review"]["recall"] == 1
    assert (
        arena.cli.main(["compare", "title", "mine=oracle/reviews.jsonl", "--corpus", str(corpus)])
        == 0
    )
    assert "mine has a better mean" not in capsys.readouterr().out  # both have all


def test_the_baseline_stops_by_the_rate_of_new_wanted_papers(corpus, tmp_path):
    """All five titles have the word: a second search gives each its second vote, then none."""
    options = {"page": 5, "rate": 0.1}
    found = arena.run(corpus, "review", "reviewer", tmp_path / "run", agent_options=options)
    (line,) = (tmp_path / "run" / "trajectories.jsonl").read_text().splitlines()
    actions = [step["action"] for step in json.loads(line)["steps"]]
    assert [a["tool"] for a in actions] == [
        "search", "search", "select", "search", "select", "finish",
    ]  # fmt: skip
    assert actions[-1]["arguments"] == {"recall": 1}  # no paper has one vote alone
    assert found["mean"] == {"recall": 1, "precision": 4 / 5, "calibration": 0, "calls": 3}
    discovered = arena.run(corpus, "discovery", "reviewer", tmp_path / "d", agent_options=options)
    assert discovered["mean"]["recall@100"] == 1


def test_the_metrics_and_the_form_of_an_answer():
    calibration, gold = METRICS.get("calibration"), {"a": 1, "b": 2}
    answer = {"paper_ids": ["a"], "recall": 0.8, "calls": 3}
    assert calibration(answer, gold) == pytest.approx(0.09)
    assert calibration(answer | {"recall": None}, gold) is None
    assert (METRICS.get("calls")(answer, gold), METRICS.get("calls")(None, gold)) == (3, None)
    kind = ANSWERS.get("review")
    assert kind.fits(answer)
    for wrong in ({"recall": 2}, {"calls": -1}, {"calls": True}, {"paper_ids": ["a", "a"]}):
        assert not kind.fits(answer | wrong)
    assert not kind.fits(["a"])
    tasks = SimpleNamespace(gold=lambda topic: SimpleNamespace(gains={}))
    assert kind.ideal(tasks, "s") == {"paper_ids": [], "recall": None, "calls": 0}


def test_a_saved_review_goes_on(corpus):
    env = gymnasium.make("arena/Review-v0", corpus=corpus).unwrapped
    env.reset(options={"topic_id": "s"})
    env.step(call("search", query="reefs"))
    env.restore(env.save())
    env.step(call("read", paper_id="g1"))
    env.step(call("select", paper_ids=["g1"]))
    assert env.step(call("finish"))[4]["answers"]["review"]["calls"] == 2
