"""Profiles of topics: numbers by hand, comparisons, and who never sees them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import gymnasium
import pyarrow.parquet as pq
import pytest

import arena
from arena.cli import main
from arena.corpus import Corpus
from arena.errors import DataError
from arena.tasks import TaskSet, choose_topics
from arena.tasks.profiles import Profile, read_comparisons, where
from arena_analysis import profiling

ROWS = {
    "a": {"title": 0.1, "links": 0.9}, "b": {"title": 0.2, "links": None},
    "c": {"title": 0.6, "links": 0.4},
}  # fmt: skip


@pytest.fixture(scope="module")
def corpus(tiny, tmp_path_factory):
    return shutil.copytree(tiny, tmp_path_factory.mktemp("profiled") / "tiny")


@pytest.fixture(scope="module")
def measured(corpus):
    return profiling.profile(Corpus.open(corpus))


def test_numbers_by_hand(measured, corpus):
    """Of p2, p3 and p4 the agent title finds the first two; p4 cites p3 and shares no word."""
    row = measured.rows["s1"]
    assert [*measured.rows] == ["s1"]  # s2 has no gold
    assert {name: round(value, 4) for name, value in row.items()} == {
        "title": 0.6667, "scout": 1.0, "ranker": 1.0, "wordless": 0.3333, "links": 0.3333,
        "ceiling": 1.0, "size": 3.0,
    }  # fmt: skip
    about = pq.read_schema(measured.file).metadata
    assert about[b"corpus"].decode() == Corpus.open(corpus).sha256
    assert measured.file == corpus.with_name("tiny.profile.parquet")


def test_it_is_measured_once_and_an_interrupted_one_continues(measured, corpus, monkeypatch):
    content, of_gold = measured.file.read_bytes(), profiling._of_gold
    monkeypatch.setattr(profiling, "_of_gold", lambda *_: 1 / 0)
    profiling.profile(Corpus.open(corpus))  # nothing is measured again
    measured.file.unlink()
    with pytest.raises(ZeroDivisionError):
        profiling.profile(Corpus.open(corpus))
    assert not measured.file.exists()
    (kept,) = corpus.parent.glob(
        ".tiny.profile.parquet.building/*/scout/machine.json"
    )  # if it plays
    marked = kept.stat().st_mtime_ns

    def continued(*given):
        assert kept.stat().st_mtime_ns == marked  # no episode is played again
        return of_gold(*given)

    monkeypatch.setattr(profiling, "_of_gold", continued)
    profiling.profile(Corpus.open(corpus))
    assert measured.file.read_bytes() == content
    assert {path.name for path in corpus.parent.iterdir()} == {"tiny", "tiny.profile.parquet"}


def test_all_comparisons_must_hold():
    profile = Profile(ROWS, ["title", "links"], "", Path())
    assert where(read_comparisons("title>=.2"), profile, "abc") == ["b", "c"]
    assert where(read_comparisons("title>.2"), profile, "abcd") == ["c"]  # d was not measured
    assert where(read_comparisons(" title <= 0.6 , links>0.3"), profile, "cba") == ["c", "a"]
    for text, message in (
        ("titel>.2", r"no column 'titel'\. Did you mean 'title'\?"),
        ("title>.2, links", "'links' is no comparison: write title>=.2"),
        ("title>=.2, links>.5", r"no topic has links>.5 of the 2 .*from 0.4 to 0.9"),
    ):
        with pytest.raises(DataError, match=message):
            where(read_comparisons(text), profile, "abc")


def test_they_choose_topics_everywhere(measured, corpus, tmp_path, capsys):
    env = gymnasium.make("arena/Discovery-v0", corpus=corpus, topics="title>=.2, links>.3")
    assert [*env.unwrapped.topics] == ["s1"]
    output = str(tmp_path / "run")
    run = ["run", "--corpus", str(corpus), "--task", "discovery", "--agent", "title"]
    assert main([*run, "--output", output, "--where", "size<4"]) == 0
    assert json.loads((tmp_path / "run" / "manifest.json").read_text())["topics"] == ["s1"]
    capsys.readouterr()
    assert main([*run, "--output", output, "--where", "size<4", "--topics", "1"]) == 2
    assert "give one of them" in capsys.readouterr().err
    assert main([*run, "--output", output, "--where", "sise<4"]) == 2
    assert "Did you mean 'size'" in capsys.readouterr().err
    assert main(["profile", str(corpus), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["topics"] == measured.rows


def test_a_profile_of_something_else_is_refused(measured, corpus, tiny):
    with pytest.raises(DataError, match=r"there is no profile .*`arena profile CORPUS`"):
        choose_topics(TaskSet(tiny), "title>.1")
    with pytest.raises(DataError, match="'title>high' is no comparison"):
        choose_topics(TaskSet(tiny), "title>high")  # which is wrong with any profile
    other = corpus.with_name("tiny")
    tasks = TaskSet(other)
    tasks.identity["tasks"] = "another"
    with pytest.raises(DataError, match="is of another corpus or of other tasks"):
        tasks.profile()


def test_agents_never_see_it(measured, corpus):
    """Episodes, and all that agents are given, are as without the file."""
    texts = []
    for directory in (corpus, corpus.parent / "plain"):
        if not directory.exists():
            shutil.copytree(corpus, directory)
        env = gymnasium.make("arena/Discovery-v0", corpus=directory)
        (rollout,) = arena.rollouts("scout", env, seed=0)
        texts.append([(step.action, step.observation) for step in rollout.steps])
    assert texts[0] == texts[1]
    assert "wordless" not in str(texts)
