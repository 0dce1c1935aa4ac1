"""Metrics of surveys score the reports of episodes: values, rewards, runs, and what is refused."""

from __future__ import annotations

import pytest
from gymnasium.utils.env_checker import check_env
from helpers import Memory, call, make_env

import arena
from arena.errors import DataError
from arena.metrics import METRICS, ScoreContext
from arena.tasks import TaskSet, open_task
from arena.testing import audit
from arena_suites.bloom_eval import Finding, Heading, Work, survey_metric
from arena_suites.bloom_eval.article import own_article
from arena_suites.bloom_eval.base import _SURVEY_METRICS
from corpus_builder.build import build

REPORT = "arena/Report-v0"
PAPERS = [
    {"id": "a", "title": "Fish swim", "date": "2018", "abstract": "How fish swim."},
    {"id": "b", "title": "Corals stay", "date": "2018"},
    {"id": "c", "title": "Eels swim", "date": "2019", "references": ["a"]},
    {"id": "late", "title": "Fish fly", "date": "2022", "references": ["a", "b"]},
]
SURVEY = {
    "id": "s", "title": "Reefs", "date": "2020-06-01", "references": ["a", "b", "late"],
    "article": "# Reefs\n\n## Fishes\n\nThey swim [@a; @late].\n\n## Corals\n\nThey stay.\n",
    "outline": [[0, "Reefs"], [1, "Fish"], [2, "Eels"], [1, "Corals"]],
}  # fmt: skip
# Two levels and two headings beside three and three: sqrt(2/3 * 2/3).
WRITTEN = "## Fish\n\nThey swim [@a].\n\n## Corals\n\nThey fly [@late; @made-up].\n"
SCONS = pytest.approx(2 / 3)


@pytest.fixture(scope="module")
def reefs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reefs") / "corpus"
    build(Memory(PAPERS, [SURVEY]), folder)
    return folder


def metric(monkeypatch, name, find, needs=()):
    METRICS.names()  # all are found
    monkeypatch.setattr(_SURVEY_METRICS, "_items", dict(_SURVEY_METRICS._items))
    survey_metric(name, tier="memory", needs=needs)(find)


def scores_of(names, tasks):
    (stage,) = open_task("report").stages
    metrics = [METRICS.get(name) for name in names]
    return stage.score(WRITTEN, metrics, ScoreContext(tasks=tasks, topic_id="s"))


def test_the_survey_itself_with_its_references_in_reach(reefs):
    article = own_article(TaskSet(reefs), "s")
    assert article.outline == tuple(Heading(*each) for each in SURVEY["outline"])
    # `a` is cited by `c`; `late` cites both after the survey
    assert article.works == (
        Work("Fish swim", "How fish swim.", 1, "a", "a"), Work("Corals stay", "", 0, "b", "b"),
    )  # fmt: skip
    assert "late" not in article.text


def test_a_report_has_the_bibliography_that_its_citations_stand_for(reefs, monkeypatch):
    seen = []
    metric(monkeypatch, "looks", lambda pair: seen.append(pair) or Finding({"": 0.5}))
    scores = scores_of(["looks", "scons"], TaskSet(reefs))
    assert scores == {"looks": 0.5, "scons": SCONS}
    (pair,) = seen
    assert [work.title for work in pair.generated.works] == ["Fish swim", "Fish fly", ""]
    assert pair.human == own_article(TaskSet(reefs), "s")


def test_a_corpus_without_texts_has_what_it_has(reefs, tmp_path):
    bare = {key: SURVEY[key] for key in ("id", "title", "date", "references")}
    uncited = [{k: v for k, v in paper.items() if k != "references"} for paper in PAPERS]
    build(Memory(uncited, [bare]), tmp_path / "bare")
    tasks = TaskSet(tmp_path / "bare")
    assert scores_of(["scons"], tasks) == {"scons": None}  # no outline
    article = own_article(tasks, "s")
    assert (article.title, article.text, article.outline) == ("Reefs", "", (Heading(0, "Reefs"),))
    assert [work.citations for work in article.works] == [None, None]  # no paper cites another


def test_a_reward(reefs):
    env = make_env(reefs, REPORT, reward="scons")
    check_env(env.unwrapped)
    env.reset(seed=1)
    *_, reward, _, _, info = env.step(call("submit_report", text=WRITTEN))
    assert (reward, info["reward_terms"]) == (SCONS, {"scons": SCONS})


def test_the_environment_passes_its_checks(synthetic):
    assert audit(synthetic, 0, environments=[REPORT], options={"reward": "scons"}).findings == []


def test_runs_report_it(reefs, tmp_path):
    summary = arena.run(reefs, "report", "oracle", tmp_path / "run", metrics=["scons"])
    # The text has two levels and two headings.
    assert summary["mean"]["scons"] == summary["ceiling"]["scons"] == SCONS
    assert arena.rescore(tmp_path / "run", reefs, ["scons"])["mean"] == {"scons": SCONS}


def test_a_run_names_the_encoder_of_headings(reefs, tmp_path, monkeypatch):
    metric(monkeypatch, "compares", lambda pair: Finding({"": 1.0}), ("matcher",))
    arena.run(reefs, "report", "title", tmp_path / "run", metrics=["compares"])
    found = arena.rescore(tmp_path / "run", reefs, ["compares"])
    assert found["encoder"]["encoder"] == "static"
    assert arena.rescore(tmp_path / "run", reefs, ["scons"])["encoder"] is None


def test_a_judge_is_refused_before_anything_is_played(reefs, tmp_path, monkeypatch):
    metric(monkeypatch, "judged", lambda pair: Finding({"": 1.0}), ("judge",))
    with pytest.raises(DataError, match="'judged' needs a language model: score the written"):
        make_env(reefs, REPORT, reward="judged")
    with pytest.raises(DataError, match="'judged' needs a language model"):
        arena.run(reefs, "report", "title", tmp_path / "run", metrics=["judged"])
    assert not (tmp_path / "run").exists()
