"""Credit of the calls of an episode: by hand, and against other ways to compute it."""

from __future__ import annotations

import json
from itertools import count, permutations
from math import factorial, fsum

import gymnasium
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from llm_server import LLMServer

import arena
from arena.agents import AGENTS, Agent
from arena.cli import main
from arena.corpus import Corpus
from arena.results.viewing.episodes import Episodes
from arena.runs.credit import read_credit, write_credit
from arena.runs.directory import OpenedRun
from arena.runs.episodes import play
from arena.runs.replaying import replay_episodes
from arena.session import Sessions
from arena.tasks import TaskSet
from arena.tools import tool_schemas
from arena_analysis.credit import (
    _emptied,
    credit_of_episode,
    credit_of_run,
    marginal_values,
    script,
    shapley,
    shapley_values,
)
from arena_integrations import verl
from baselines.scout import _regressed

PAPERS = st.sets(st.sampled_from("abcdef"))


@given(st.lists(PAPERS, max_size=5), PAPERS)
def test_shapley_is_the_mean_over_all_orders(shown, gold):
    def worth(calls):
        return len(set().union(*(shown[call] for call in calls)) & gold) / max(1, len(gold))

    n = len(shown)
    expected = [0.0] * n
    for order in permutations(range(n)):
        for place, call in enumerate(order):
            added = worth(order[: place + 1]) - worth(order[:place])
            expected[call] += added / factorial(n)
    assert shapley_values(shown, gold) == pytest.approx(expected)
    assert fsum(shapley_values(shown, gold)) == pytest.approx(worth(range(n)))
    everyone = worth(range(n))
    missing = [everyone - worth([c for c in range(n) if c != call]) for call in range(n)]
    assert marginal_values(shown, gold) == pytest.approx(missing)


SEARCH = {"tool": "search", "arguments": {"query": "neural ranking: a survey", "k": 100}}  # p3, p2
READ = {"tool": "read", "arguments": {"paper_id": "p2"}}
LINKS = {"tool": "references", "arguments": {"paper_id": "p3"}}
BAD = {"tool": "search", "arguments": {}}


def episode(tiny, actions, task="discovery", **settings):
    """Play actions on the topic s1, of which p2, p3 and p4 are wanted."""
    env = gymnasium.make(f"arena/{task.title()}-v0", corpus=tiny, **settings).unwrapped
    left = iter(actions)
    steps = [*play(env, lambda _: next(left), "s1")]
    return env, TaskSet(tiny), "s1", steps


def columns(tiny, actions, task="discovery", **settings):
    rows = credit_of_episode(*episode(tiny, actions, task, **settings))
    return [tuple(round(x, 4) for x in row[2:6]) for row in rows]


def submit(*papers):
    return {"tool": "submit", "arguments": {"paper_ids": [*papers]}}


def test_an_episode_by_hand(tiny):
    shown = episode(tiny, [SEARCH, LINKS, submit()])[3]
    assert [hit["id"] for hit in json.loads(shown[1].observation["result"])["hits"]] == ["p3", "p2"]
    # p2 is shown by search and read; without the search the read stays, as nothing had shown p2
    # before it but the search: so it is left out, and the submission has nothing.
    assert columns(tiny, [SEARCH, BAD, READ, submit("p3", "p2", "p4")]) == [
        (0.6667, 0.3333, 0.5, 0.6667),
        (0.0, 0.0, 0.0, 0.0),
        (0.0, 0.0, 0.1667, 0.0),
        (0.0, 0.0, 0.0, 1.0),  # p4 was named from memory: no call loses it
    ]


def test_papers_that_another_call_shows_stay(tiny):
    again = {"tool": "search", "arguments": {"query": "neural ranking: a survey"}}
    rows = columns(tiny, [SEARCH, again, submit("p3", "p2")])
    assert rows == [(0.6667, 0.0, 0.3333, 0.0), (0.0, 0.0, 0.3333, 0.0), (0.0, 0.0, 0.0, 0.6667)]


def test_selected_papers_count_at_the_end(tiny):
    keep = {"tool": "select", "arguments": {"paper_ids": ["p3"]}}
    finish = {"tool": "finish", "arguments": {}}
    rows = columns(tiny, [SEARCH, keep, finish])
    assert [row[3] for row in rows] == [0.3333, 0.3333, 0.0]  # without `finish` it ends as well
    rows = columns(tiny, [SEARCH, keep, READ], max_steps=3)  # cut off: nothing is submitted
    assert [row[3] for row in rows] == [0.0, 0.0, 0.0]


def test_citations_of_lost_papers_are_dropped(tiny):
    text = "Known [@p3; @p2]. And [see @p4]."
    write = {"tool": "write", "arguments": {"heading": "All", "text": text}}
    end = {"tool": "submit_report", "arguments": {}}
    env, tasks, topic, steps = episode(tiny, [SEARCH, write, end], "report")
    rows = credit_of_episode(env, tasks, topic, steps)
    without = {"tool": "write", "arguments": {"heading": "All", "text": "Known . And [@p4]."}}
    other = episode(tiny, [without, end], "report")[3]
    task = env.config.resolved_task.on(tasks)
    headline = task.worth(steps[-1].info["metrics"])
    assert headline > 0
    assert rows[0].headline_script == headline - task.worth(other[-1].info["metrics"])


def test_a_pool_lists_papers_again_and_credits_them_once(tiny):
    rows = columns(tiny, [SEARCH, BAD, submit("p3")], observation="pool")
    assert [row[:3] for row in rows] == [(0.6667, 0.6667, 0.6667), (0.0,) * 3, (0.0,) * 3]


def test_an_episode_that_just_ended(tiny):
    actions = [SEARCH, READ, submit("p3", "p2")]
    env, tasks, topic, steps = episode(tiny, actions)
    rows = credit_of_episode(env, tasks, topic, steps)
    assert shapley(env, tasks, topic, actions) == [row.shapley for row in rows]
    assert script(env, tasks, topic, actions) == [row.headline_script for row in rows]
    assert shapley(env, tasks, topic, actions[:1]) == [pytest.approx(2 / 3)]  # it stopped there


def test_a_run_in_the_terminal(tiny, tmp_path, capsys):
    run = tmp_path / "run"
    arena.run(tiny, "discovery", "title", run)
    more = ["--corpus", str(tiny)]
    parquet = str(tmp_path / "sft.parquet")
    assert main(["export", "messages", str(run), *more, "--credit", "--output", parquet]) == 2
    assert "Run `arena credit` on it first" in capsys.readouterr().err
    assert main(["credit", str(run), *more, "--played", "--repeats", "2", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["headline"] == "recall@100"
    search, end = (row for row in printed["calls"] if row["topic_id"] == "s1")
    share = pytest.approx(2 / 3)
    assert search == {
        "topic_id": "s1", "call": 1, "tool": "search", "gain": share, "marginal": share,
        "shapley": share, "headline_script": share, "headline_played": share,
    }  # fmt: skip
    assert (end["tool"], end["gain"], end["headline_script"]) == ("submit", 0.0, share)
    assert read_credit(OpenedRun(run))["s1", 0] == [search, end]
    assert main(["export", "messages", str(run), *more, "--credit", "--output", parquet]) == 0
    row = pyarrow.parquet.read_table(parquet).to_pylist()[1]
    assert [{"topic_id": "s1", **call} for call in row["credit"]] == [search, end]
    capsys.readouterr()
    assert main(["show", str(run), *more, "--topic", "s1", "--steps", "2"]) == 0
    expected = "gain 0.0000, marginal 0.0000, shapley 0.0000, headline_script 0.6667"
    assert f"   credit: {expected}" in capsys.readouterr().out
    assert main(["credit", str(run), *more]) == 0
    table = capsys.readouterr().out
    assert "headline_script" in table and "headline_played" not in table


def test_the_file_beside_the_run(tiny, tmp_path):
    run, shares = tmp_path / "run", []
    arena.run(tiny, "discovery", "title", run)
    found = credit_of_run(run, tiny)
    write_credit(OpenedRun(run), found)
    for labels in (True, False):
        episodes = Episodes(Corpus.open(tiny), labels, None)
        episodes.add("title", OpenedRun(run), {"s1"})
        shares.append(episodes.packed["s1"][0].get("credit"))
    share = pytest.approx(2 / 3)
    assert shares == [[[share, share, None], [0.0, share, None]], None]
    (run / "credit.json").write_text('{"trajectories": "", "calls": [3]}')
    with pytest.raises(arena.errors.DataError, match="is damaged: it=3"):
        read_credit(OpenedRun(run))
    write_credit(OpenedRun(run), found)
    lines = (run / "trajectories.jsonl").read_text()
    (run / "trajectories.jsonl").write_text(lines.partition("\n")[0] + "\n")
    assert read_credit(OpenedRun(run)) == {}  # of other episodes
    arena.run(tiny, "discovery", "title", run, topics=["s2"], overwrite=True)
    assert not (run / "credit.json").exists()


class Stubborn(Agent):
    """Search twice for the same, then submit what was shown; it remembers nothing else."""

    def act(self, observation):
        self.done = getattr(self, "done", 0) + 1
        hits = json.loads(observation["result"]).get("hits", [])
        self.shown = [*getattr(self, "shown", []), *(hit["id"] for hit in hits)]
        return SEARCH if self.done < 3 else submit(*self.shown)


class Moody(Stubborn):
    """Does not do the same again."""

    calls = 0

    def act(self, observation):
        Moody.calls += 1
        return BAD if Moody.calls > 6 else super().act(observation)


def test_an_agent_plays_on_without_a_call(tiny, tmp_path):
    arena.run(tiny, "discovery", Stubborn, tmp_path / "run", topics=["s1"])
    rows = credit_of_run(tmp_path / "run", tiny, played=True, agent=Stubborn)
    # The other search finds the same papers; a refused submission is sent again.
    assert [row["headline_played"] for row in rows] == [0.0, 0.0, 0.0]


def played_plainly(corpus, steps, record, call):
    """Return recall without a call: every call before it is played, and every search is made."""
    env = gymnasium.make("arena/Discovery-v0", corpus=corpus, max_steps=8).unwrapped
    agent, numbers = AGENTS.get("scout")(seed=record["seed"]), count(1)
    agent.tools = tool_schemas(env)

    def act(observation):
        if (number := next(numbers)) == call + 1:
            result = _emptied(json.loads(steps[call].observation["result"]))
            observation["result"] = json.dumps(result)
        action = agent.act(observation)
        return "left out" if number == call else action

    *_, last = play(env, act, record["topic_id"])
    return last.info["metrics"]["recall@100"]


def test_playing_on_is_a_plain_episode_without_the_call(mini, tmp_path):
    run = tmp_path / "run"
    topics = TaskSet(mini).scorable[:2]
    arena.run(mini, "discovery", "scout", run, max_steps=8, topics=topics)
    rows, expected = credit_of_run(run, mini, played=True), []
    recorded, corpus = OpenedRun(run), Corpus.open(mini)
    for record, steps in replay_episodes(recorded, corpus):
        _regressed.cache_clear()
        score = record["metrics"]["recall@100"]
        calls = range(1, len(steps))
        expected += [score - played_plainly(corpus, steps, record, call) for call in calls]
    assert [row["headline_played"] for row in rows] == expected
    assert any(expected)


def test_who_cannot_play_on(tiny, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where the answers of the model are kept
    arena.run(tiny, "discovery", Moody, tmp_path / "moody", topics=["s1"])
    with pytest.raises(arena.errors.DataError, match="acts differently now on the topic 's1'"):
        credit_of_run(tmp_path / "moody", tiny, played=True, agent=Moody)
    words = ["credit", str(tmp_path / "moody"), "--corpus", str(tiny), "--played"]
    assert main(words) == 2
    assert "--agent FILE.py:CLASS" in capsys.readouterr().err
    with LLMServer(lambda body: "Done.") as server:
        options = {"model": "m", "base_url": server.url, "reminders": 0}
        run = tmp_path / "react"
        arena.run(tiny, "discovery", "react", run, topics=["s1"], agent_options=options)
    words = ["credit", str(run), "--corpus", str(tiny)]
    assert main([*words, "--played"]) == 2
    assert "asks a language model" in capsys.readouterr().err
    assert main(words) == 0


def test_trainers_get_the_credit_of_an_episode_that_is_over(tiny):
    sessions = Sessions.make(tiny, credit="shapley")
    session = sessions.open(topic_id="s1")
    share = pytest.approx(2 / 3)
    session.step(SEARCH)
    assert session.totals().credit == []  # it is not over
    head = session.played[0][1]
    session.step(BAD)
    saved = session.save()
    assert session.finish().credit == [share, 0.0]
    again = sessions.open()
    again.restore(saved)
    again.step(submit("p3"))
    assert again.totals().credit == [share, 0.0, 0.0]
    assert again.finish(kept="") == again.finish(kept="")._replace(credit=[0.0, 0.0])
    assert again.finish(kept=head).credit == [share, 0.0, 0.0]
    assert Sessions.make(tiny).open(topic_id="s1").finish().credit == []
    with pytest.raises(arena.errors.UnknownNameError, match="Did you mean 'shapley'"):
        Sessions.make(tiny, credit="shapely")


def test_verl_gets_the_credit_as_text(tiny):
    sessions = Sessions.make(tiny, credit="script")
    session = sessions.open(topic_id="s1")
    session.step(SEARCH)
    session.step(submit("p3"))
    info = {"arena": session.totals()._asdict()}
    paid = verl.compute_score("", "", "", info, credit=True)
    assert json.loads(paid["credit"]) == [pytest.approx(1 / 3)] * 2
    assert verl.compute_score("", "", "", {}, credit=True)["credit"] == "[]"
    config = json.dumps({"type": "native", "corpus": str(tiny), "credit": "script"})
    keep = {"tool": "select", "arguments": {"paper_ids": ["p3"]}}
    stopped = {"config": config, "played": [[SEARCH, ""], [keep, ""]]}
    info = {"arena": {"over": False, "topic_id": "s1", "again": stopped}}
    paid = verl.compute_score("", "", "", info, credit=True)
    assert json.loads(paid["credit"]) == [pytest.approx(1 / 3)] * 2
