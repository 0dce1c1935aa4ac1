"""The pool's numbers by hand, the trees against LightGBM, and a ranker that is trained."""

import json
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import arena
import arena.tasks
from arena.agents import Hit
from arena.errors import DataError
from arena.ranker import FEATURES, Pool, Ranker, open_ranker
from arena.ranker.trees import FORMAT
from arena_integrations._train_ranker import table_of, train_ranker
from corpus_builder.paper_tasks import write_paper_tasks


def hits(**scores):
    return [Hit(name, f"Title {name}", "2010-06-30", score) for name, score in scores.items()]


def column(pool, name):
    return dict(zip(pool.ids, pool.features()[:, FEATURES.index(name)].tolist(), strict=True))


def test_numbers_of_a_pool_by_hand():
    pool = Pool("title of graphs", "2012-06-30")
    pool.hits(hits(a=6.0, b=4.0, c=2.0))
    assert column(pool, "score") == column(pool, "vote") == {"a": 1.0, "b": 0.5, "c": 0.0}
    assert column(pool, "rank") == {"a": 0, "b": 1, "c": 2}
    assert not pool.linked
    # a cites b and d, of 12 references; e cites a, the first of 8 citations.
    pool.links("a", hits(b=0.0, d=0.0), hits(e=0.0), 12, 8)
    assert pool.linked
    assert pool.ids == ["a", "b", "c", "d", "e"]
    # b has .5 from the search and .4 of a's weight of 1; a has only the search's 1.
    assert column(pool, "vote") == pytest.approx({"a": 1, "b": 0.9, "c": 0, "d": 0.4, "e": 0.4})
    assert column(pool, "citing") == {"a": 0, "b": 1, "c": 0, "d": 1, "e": 0}
    assert column(pool, "cited") == {"a": 0, "b": 0, "c": 0, "d": 0, "e": 1}
    assert column(pool, "citing_votes")["d"] == column(pool, "cited_votes")["e"] == 1.0
    assert column(pool, "references") == {"a": 12, "b": -1, "c": -1, "d": -1, "e": -1}
    assert column(pool, "received")["a"] == pytest.approx(8 / 2, rel=0.01)  # in two years
    assert column(pool, "reference_votes")["a"] == pytest.approx(0.9 + 0.4)
    assert column(pool, "citation_votes")["a"] == pytest.approx(0.4)
    assert column(pool, "age")["c"] == pytest.approx(2, rel=0.01)
    assert column(pool, "rank")["d"] == 1000
    assert pool.ranking() == ["a", "b", "d", "e", "c"]


def test_a_long_list_counts_as_ten_papers():
    pool = Pool("x", "2012-06-30")
    pool.hits(hits(a=2.0, z=1.0))
    pool.links("a", hits(**{f"p{n}": 0.0 for n in range(40)}), [], 40, 0)
    assert column(pool, "citing_shares")["p7"] == pytest.approx(0.25)
    assert column(pool, "vote")["p7"] == pytest.approx(0.4 * 0.25)


def test_words_are_cosines_of_rare_words():
    pool = Pool("graph networks", "2012-06-30")
    pool.hits(
        [Hit("a", "Graph networks", "2010-06-30", 2.0), Hit("b", "Graph trees", "2010-06-30", 1.0)]
    )
    words = column(pool, "words")
    graph, other = np.log(3 / 2.5), np.log(3 / 1.5)  # of two titles one word is in both
    assert words["a"] == pytest.approx(1.0)
    assert words["b"] == pytest.approx(graph**2 / (graph**2 + other**2))
    assert column(pool, "best_words")["b"] == pytest.approx(words["b"])  # a, whose vote is 1


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.floats(-1e6, 1e6)), max_size=9), st.data())
def test_any_pool_has_finite_numbers(found, data):
    pool = Pool("q" * 100_000 if data.draw(st.booleans()) else "words here", "2012-06-30")
    best = sorted(dict(found).items(), key=lambda pair: -pair[1])
    pool.hits([Hit(name, "", "2012-06-29", score) for name, score in best])
    for name in data.draw(st.lists(st.sampled_from(pool.ids), unique=True)) if pool.ids else ():
        pool.links(name, hits(g=0.0), hits(a=0.0, h=0.0), 1, 2)
    numbers = pool.features()
    assert numbers.shape == (len(pool.ids), len(FEATURES))
    assert np.isfinite(numbers).all()
    assert sorted(pool.ranking()) == sorted(pool.ids)


def test_trees_score_as_lightgbm_does():
    lightgbm = pytest.importorskip("lightgbm", reason="lightgbm is not installed: make test")
    draw = np.random.default_rng(3)
    features = np.round(draw.normal(size=(600, len(FEATURES))), 1)
    wanted = (features[:, 0] + features[:, 3] * features[:, 5] > 0.5).astype(int)
    options = {"objective": "lambdarank", "num_leaves": 7, "verbose": -1, "num_threads": 1}
    model = lightgbm.train(options, lightgbm.Dataset(features, wanted, group=[100] * 6), 30)
    ours = Ranker(table_of(model)).scores(features)
    assert ours == pytest.approx(model.predict(features, num_threads=1), abs=1e-9)


@pytest.fixture(scope="module")
def papers_with_links(synthetic, tmp_path_factory):
    """The synthetic corpus with tasks of its papers."""
    tasks = tmp_path_factory.mktemp("ranker") / "tasks"
    last = max(arena.tasks.TaskSet(synthetic).topics.values(), key=lambda topic: topic.date)
    write_paper_tasks(synthetic, tasks, test=[last.id], max_tasks=80)
    return arena.Corpus.open(synthetic, tasks=tasks)


def test_a_trained_ranker_beats_votes_and_is_the_same_again(papers_with_links, tmp_path):
    pytest.importorskip("lightgbm", reason="lightgbm is not installed: make test")
    with pytest.raises(DataError, match="create it first"):  # before it learns
        train_ranker(papers_with_links, tmp_path / "nothing" / "a.json")
    made = train_ranker(papers_with_links, tmp_path / "a.json", trees=40)
    again = train_ranker(papers_with_links, tmp_path / "b.json", trees=40)
    assert made == again
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    found = made["measured"]["choose"]
    assert found["ranker"]["recall@100"] > found["votes"]["recall@100"]
    options = {"ranker": str(tmp_path / "a.json")}
    summary = arena.run(
        papers_with_links, "discovery", "scout", tmp_path / "run", topics=3, agent_options=options
    )
    assert all(each["searches"] == 1 for each in summary["per_topic"].values())
    notes = json.loads((tmp_path / "run" / "trajectories.jsonl").read_text().splitlines()[0])
    assert open_ranker(options["ranker"]).sha256 in json.dumps(notes["notes"])
    train_ranker(papers_with_links, tmp_path / "c.json", trees=2, without=("vote", "age"))
    asked = json.loads((tmp_path / "c.json").read_text())["trees"]["feature"]
    assert not {FEATURES.index("vote"), FEATURES.index("age")} & set(asked)
    with pytest.raises(DataError, match="Did you mean 'vote'"):
        train_ranker(papers_with_links, tmp_path / "d.json", without=("votes",))


def test_what_is_not_installed_is_asked_for_first(papers_with_links, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    monkeypatch.setattr("arena_integrations._train_ranker._play", None)  # nothing is played
    with pytest.raises(DataError, match=r"needs the package 'lightgbm'.*researcharena\[train\]"):
        train_ranker(papers_with_links, tmp_path / "ranker.json")


@pytest.mark.parametrize("agent", ["title", "scout"])
def test_agents_take_the_ranker_of_the_package(synthetic, tmp_path, agent):
    options = {"ranker": "learned"}
    summary = arena.run(
        synthetic, "discovery", agent, tmp_path / "run", topics=3, agent_options=options
    )
    assert summary["mean"]["recall@100"] > 0


def test_without_links_scout_keeps_its_rules(tiny, tmp_path):
    options = {"ranker": "learned"}
    summary = arena.run(tiny, "discovery", "scout", tmp_path / "run", agent_options=options)
    assert summary["mean"]["recall@100"] > 0


LEAF = {"roots": [0], "feature": [-1], "threshold": [0], "left": [0], "right": [0], "value": [1]}
LOOP = {"roots": [0], "feature": [0], "threshold": [0], "left": [0], "right": [0], "value": [1]}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "damaged"),
        ("[]", "damaged"),
        *(
            ({"format": FORMAT, "features": list(FEATURES), "made": {}, "trees": trees}, "damaged")
            for trees in (
                LOOP,
                LEAF | {"value": [1, 2]},
                LEAF | {"value": 1},
                LEAF | {"roots": 0},
                LEAF | {"left": [10**25]},
                LEAF | {"threshold": [1e999]},
                [],
            )
        ),
        ({"format": FORMAT, "features": ["age"], "made": {}, "trees": LEAF}, "another version"),
    ],
)
def test_a_file_that_is_no_ranker_is_refused_in_one_line(tmp_path, content, problem):
    file = tmp_path / "r.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(DataError, match=problem):
        open_ranker(str(file))
    with pytest.raises(DataError, match="no ranker"):
        open_ranker(str(tmp_path / "absent.json"))
