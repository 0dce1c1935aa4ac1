"""Any metric as a reward: values by hand, sums, stages, names."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import arena_topics, call, make_env, playing

from arena.errors import DataError, UnknownNameError
from arena.metrics import METRICS
from arena.mindmap import MindMap, evaluate
from arena.tasks import TaskSet

DISCOVERY, ORGANIZATION, SURVEY = (
    f"arena/{name}-v0" for name in ("Discovery", "Organization", "Pipeline")
)
RHENIUM = {"label": "Dense", "children": [{"label": "Rhenium", "papers": ["p:day"]}]}


def test_a_ranking_metric_is_paid_at_the_end(mini):
    # Gold of sv:1: p:leap, p:day, 12345 and p:last.
    env = playing(mini, "sv:1", DISCOVERY, reward="gain+recall@2")
    step = env.step(call("search", query="encoders"))
    assert step[4]["reward_terms"] == {"gain": 2 / 4, "recall@2": 0.0}
    step = env.step(call("submit", paper_ids=["p:old", "p:day", "p:leap"]))
    assert step[4]["reward_terms"] == {"gain": 0.0, "recall@2": 1 / 4}
    assert step[1] == 1 / 4
    assert "recall@2" not in step[4]["metrics"]  # the report is the task's


@pytest.mark.parametrize(
    ("children", "paid"),
    [
        (["Rhenium"], 0.0),
        (["Rhenium", "Poultry"], -1.0),  # one heading to delete
        ([], -1.0),
        (None, -1.0),  # nothing is submitted
    ],
)
def test_a_distance_is_paid_as_its_negative(mini, children, paid):
    env = playing(mini, "sv:1", ORGANIZATION, reward="tree_edit_distance")
    finish = call("finish")
    mind_map = {"label": "Dense", "children": children}
    *_, info = env.step(finish if children is None else call("organize", mind_map=mind_map))
    (value,) = info["reward_terms"].values()
    assert value == pytest.approx(paid)
    assert not np.signbit(value) or value < 0  # no -0.0


def test_every_mind_map_metric_pays_what_it_scores(synthetic):
    """Of a flat map with half of the papers, compared with `evaluate`."""
    tasks = TaskSet(synthetic)
    topic = sorted(arena_topics(synthetic))[0]
    papers = list(tasks.gold(topic).gains)
    half = papers[: len(papers) // 2]
    children = [{"label": "one", "papers": half[::2]}, {"label": "two", "papers": half[1::2]}]
    mine = MindMap("x", tuple(MindMap(c["label"], papers=tuple(c["papers"])) for c in children))
    maps = [each for name in METRICS.names() if (each := METRICS.get(name)).kind == "map"]
    names = [each.name for each in maps if "extractor" not in each.needs]
    expected = evaluate(mine, tasks.mind_map(topic), names)
    env = playing(synthetic, topic, ORGANIZATION, reward="+".join(names))
    *_, info = env.step(call("organize", mind_map={"label": "x", "children": children}))
    distances = {"tree_edit_distance", "tree_semantic_distance", "normalised_ted"}
    assert info["reward_terms"] == pytest.approx(
        {name: -value if name in distances else value for name, value in expected.items()}
    )


def test_of_several_stages_that_counts_which_reports_the_metric(mini):
    env = playing(mini, "sv:1", SURVEY, reward="ndcg@10+precision@1+heading_soft_recall")
    env.step(call("submit", paper_ids=["p:old", "p:day"]))
    env.step(call("submit", paper_ids=["p:leap", "p:day", "12345", "p:last"]))
    *_, info = env.step(call("organize", mind_map=RHENIUM))
    assert info["reward_terms"] == pytest.approx(
        {"ndcg@10": 1.0, "precision@1": 0.0, "heading_soft_recall": 1.0}
    )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ndgc@10", "no reward named 'ndgc@10'. Did you mean 'ndcg'"),
        ("gain+airy", "no reward named 'airy'. Did you mean 'ari'"),
        ("recall@0", "cutoff after '@' must be an integer"),
        ("ari", "ari scores a map, and the task 'discovery' has none"),
        ("reference_count", "a count without a best direction"),
    ],
)
def test_wrong_names(mini, name, message):
    with pytest.raises((DataError, UnknownNameError)) as error:
        make_env(mini, DISCOVERY, reward=name)
    assert message in str(error.value).replace("'ari' scores", "ari scores")
