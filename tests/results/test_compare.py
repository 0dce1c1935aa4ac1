"""Comparing runs: what is computed, over which topics, and what is refused."""

from __future__ import annotations

import json
import shutil

import pytest
from compare_helpers import TwoSearches, forge, topics_of
from helpers import gold_of

import arena
from arena.agents import Researcher
from arena.errors import CorpusError, DataError, UnknownNameError
from arena.results.comparison import as_json, as_text, verdict
from arena.results.viewing import as_page

ONE = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
STEPS = [0.1, 0.1, 0.1, 0.1, 0.2, -0.1, 0, 0.1]
OTHER = [0.2, 0.2, 0.5, 0.3, 0.9, 0.6, 0.8, 0.9]


@pytest.fixture(scope="module")
def topics(title_run):
    return topics_of(title_run)


@pytest.fixture
def forged(title_run, topics, tmp_path):
    """Make a run called `name` with these values, one a topic, by one metric or several."""

    def make(name, values, change=lambda manifest: None, **options):
        of = values if isinstance(values, dict) else {"recall@10": values}
        scores = {m: dict(zip(topics, v, strict=True)) for m, v in of.items()}
        return forge(title_run, tmp_path / name, scores, change, **options)

    return make


def test_by_hand(forged):
    """Tenths: 1, 0, 2, -1, 4, 0, 1, 1, in all 8 of at most 10.

    At least 8 either way is left if the sign of nothing, or of one of the four ones, is against
    the others: 2 * 5 of the 2 ** 6 assignments of the six that are not 0.
    """
    found = arena.compare([forged("a", ONE), forged("b", OTHER)])
    assert found.names == ("a", "b") and found.baseline == "a" and found.headline == "recall@10"
    (metric,) = found.metrics
    assert metric.means["a"].mean == pytest.approx(0.45, abs=1e-15)
    assert metric.means["b"].mean == pytest.approx(0.55, abs=1e-15)
    assert metric.ceiling == 1.0
    (difference,) = metric.differences
    assert (difference.run, difference.against) == ("b", "a")
    assert difference.difference == pytest.approx(0.1, abs=1e-15)
    assert (difference.wins, difference.ties, difference.losses) == (5, 2, 1)
    assert difference.p == 10 / 64
    assert difference.corrected == difference.p and not difference.significant
    assert difference.low < 0.1 < difference.high


def test_of_distances_less_is_better(forged):
    runs = [forged("a", {"tree_edit_distance": ONE}), forged("b", {"tree_edit_distance": OTHER})]
    (difference,) = arena.compare(runs).metrics[0].differences
    assert (difference.wins, difference.ties, difference.losses) == (1, 2, 5)
    assert difference.difference == pytest.approx(0.1)


@pytest.mark.parametrize("test", ["fisher", "student"])
def test_identical_runs_and_one_topic_have_no_spread(forged, title_run, tmp_path, synthetic, test):
    (difference,) = (
        arena.compare([forged("a", ONE), forged("b", ONE)], test=test).metrics[0].differences
    )
    assert (difference.p, difference.corrected, difference.ties) == (1.0, 1.0, 8)
    assert (difference.low, difference.high) == (0.0, 0.0)
    arena.run(synthetic, "discovery", "title", tmp_path / "one", topics=1)
    arena.run(synthetic, "discovery", "random", tmp_path / "two", topics=1)
    single = arena.compare([tmp_path / "one", tmp_path / "two"], test=test)
    text = as_text(single) + json.dumps(as_json(single), allow_nan=False)
    assert "nan" not in text.lower()
    for metric in single.metrics:
        assert metric.means["title, bm25"].low is metric.differences[0].low is None
        assert metric.differences[0].p is None  # of one cluster nothing is tested


def test_pairs_are_those_that_every_run_has(forged):
    left = {"recall@10": ONE, "mrr": [None, *ONE[1:]]}
    right = {"recall@10": OTHER, "mrr": [*OTHER[:-1], None]}
    runs = [forged("a", left), forged("b", right), forged("c", left)]
    found = arena.compare(runs)
    recall, mrr = found.metrics
    assert len(recall.topics) == 8 and len(mrr.topics) == 6
    assert mrr.means["a"].mean == pytest.approx(sum(ONE[1:-1]) / 6)
    assert mrr.means["b"].mean == pytest.approx(sum(OTHER[1:-1]) / 6)
    assert len(mrr.values["c"]) == 6
    assert any("mrr is taken over 6 of 8" in note for note in found.notes)
    nobody = {"recall@10": ONE, "mrr": [None] * 8}
    found = arena.compare([forged("d", nobody), forged("e", nobody)])
    assert not found.metrics[1].means and not found.metrics[1].differences
    assert "mrr over 0 topics" in as_text(found)


def test_correction_is_over_the_comparisons_of_one_metric(forged):
    up = [value + step for value, step in zip(ONE, STEPS, strict=True)]
    runs = [forged("a", ONE), forged("b", OTHER), forged("c", up), forged("d", ONE)]
    found = arena.compare(runs).metrics[0].differences
    smallest, middle, largest = sorted(difference.p for difference in found)
    assert sorted(difference.corrected for difference in found) == [
        3 * smallest,
        max(3 * smallest, 2 * middle),
        max(3 * smallest, 2 * middle, largest),
    ]


def test_recall_against_searches(synthetic, tmp_path):
    """Another reading: the hits of the same searches, the references, and the labels."""
    arena.run(synthetic, "discovery", TwoSearches, tmp_path / "run")
    found = arena.compare([tmp_path / "run"])
    corpus = arena.Corpus.open(synthetic)
    shares = []
    for topic, episode in found.runs[0].episodes.items():
        record = next(
            r for line in (tmp_path / "run" / "trajectories.jsonl").read_text().splitlines()
            if (r := json.loads(line))["topic_id"] == topic
        )  # fmt: skip
        first, refs, second = (step["action"]["arguments"] for step in record["steps"][:3])
        date = arena.tasks.TaskSet(synthetic).topic(topic).date
        view = corpus.at(date, exclude=[topic])
        gold = gold_of(synthetic, topic)
        hits = {hit.id for hit in view.search(first["query"], 5)}
        after_one = hits | set(view.references(refs["paper_id"]))
        after_two = after_one | {hit.id for hit in view.search(second["query"], 22)[2:]}
        shares.append([0.0, len(after_one & gold) / len(gold), len(after_two & gold) / len(gold)])
        assert episode.curve == pytest.approx(shares[-1])
        assert episode.effort.errors == 2
    means = [sum(column) / len(shares) for column in zip(*shares, strict=True)]
    assert found.curves["TwoSearches, bm25"] == pytest.approx(means)
    assert found.efforts["TwoSearches, bm25"].searches == 16


def test_the_curve_does_not_depend_on_the_reward(synthetic, title_run, tmp_path):
    arena.run(synthetic, "discovery", "title", tmp_path / "gain", reward="gain")
    arena.run(synthetic, "discovery", "oracle", tmp_path / "oracle")
    found = arena.compare([title_run, tmp_path / "gain", tmp_path / "oracle"])
    assert verdict(found).startswith("title and gain have the same mean recall@100")  # no oracle
    assert found.curves["gain"] == found.curves["title"]  # named after its directory
    assert found.without_curve == {"oracle": "it searches nothing"}
    assert any("reward" in note for note in found.notes)


def test_the_topics_that_all_runs_played(synthetic, title_run, topics, tmp_path):
    arena.run(synthetic, "discovery", "random", tmp_path / "some", topics=topics[2:5])
    with pytest.raises(DataError, match=r"differ in topics .* --common compares the topics"):
        arena.compare([title_run, tmp_path / "some"])
    found = arena.compare([title_run, tmp_path / "some"], common=True)
    arena.run(synthetic, "discovery", "title", tmp_path / "title", topics=topics[2:5])
    alone = arena.compare([tmp_path / "title", tmp_path / "some"])
    assert [m.differences[0].difference for m in found.metrics] == [
        m.differences[0].difference for m in alone.metrics
    ]
    assert found.topics == alone.topics and found.gold == alone.gold
    assert "Over 3 topics" in as_text(found)
    assert as_page(found, synthetic).html
    with_corpus = arena.compare([title_run, tmp_path / "some"], common=True, corpus=synthetic)
    assert [m.ceiling for m in with_corpus.metrics] == [m.ceiling for m in alone.metrics]
    assert found.metrics[0].ceiling is None is not with_corpus.metrics[0].ceiling
    arena.run(synthetic, "discovery", "random", tmp_path / "other", topics=topics[:2])
    with pytest.raises(DataError, match="the runs share no topic"):
        arena.compare([tmp_path / "some", tmp_path / "other"], common=True)


def test_what_models_cost(synthetic, title_run, tmp_path):
    def played(name, **remarks):
        notes = {"llm": {"model": "m", "total": remarks, "failed": [{"reason": "x"}]}}
        arena.run(
            synthetic, "discovery", TwoSearches, tmp_path / name, agent_options={"notes": notes},
            topics=2,
        )  # fmt: skip
        return tmp_path / name

    full = {"calls": 3, "prompt_tokens": 100, "completion_tokens": 7}
    priced = played("priced", **full, dollars=0.25)
    unpriced = played("unpriced", **full, dollars=None)
    arena.run(synthetic, "discovery", "title", tmp_path / "title", topics=2)
    odd = forge(priced, tmp_path / "odd", rewrite=lambda r: r.update(notes={"llm": "nothing"}))
    found = arena.compare([priced, unpriced, tmp_path / "title", odd])
    effort = found.efforts["priced"]
    assert (effort.calls, effort.prompt_tokens, effort.completion_tokens) == (6, 200, 14)
    assert effort.dollars == 0.5 and effort.failed == 2 and effort.models == ("m",)
    assert found.efforts["unpriced"].dollars is None
    assert found.efforts["unpriced"].calls == 6
    assert found.efforts["title"].calls is found.efforts["odd"].calls is None
    rows = {line.split("  ")[0]: line.split() for line in as_text(found).splitlines()}
    assert rows["unpriced"][-2] == "-" and rows["priced"][-2] == "0.5000"
    assert rows["run"][-2:] == ["failed", "answers"] and rows["title"][-5:] == ["-"] * 5
    without = as_text(arena.compare([tmp_path / "title", odd]))
    assert "failed answers" not in without and "dollars" not in without and "truncated" in without


def test_names(forged, synthetic, tmp_path, title_run):
    a, b = forged("a", ONE), forged("b", OTHER)
    assert arena.compare([f"ours={a}", b]).names == ("ours", "title, bm25")
    assert arena.compare([a, b]).names == ("a", "b")
    assert arena.compare([a, b], baseline=str(b)).baseline == "b"
    assert arena.compare([a, b], baseline="b").metrics[0].differences[0].run == "a"
    other, third = (shutil.copytree(a, tmp_path / name / "x" / "a") for name in "kl")
    assert arena.compare([a, other]).names == (f"{a.parent.name}, a", "x, a")
    with pytest.raises(DataError, match=r"several runs are called 'x, a'\. Name them: NAME=DIR"):
        arena.compare([other, third])
    assert arena.compare([a, f"other={other}"]).names == ("title, bm25", "other")
    odd = shutil.copytree(a, tmp_path / "k=1")
    assert arena.compare([str(odd), b]).names == ("k=1", "b")


def hashes(name, value="0" * 64):
    return lambda manifest: manifest["sha256"].update({name: value})


@pytest.mark.parametrize(
    ("change", "remarks"),
    [
        (hashes("corpus"), r"corpus \('[0-9a-f]{64}' and '0{64}'\)"),
        (hashes("tasks"), r"task set \("),
        (lambda m: m.update(encoder={"encoder": "minilm"}), r"encoder \(None and .*minilm"),
    ],
)
def test_runs_that_did_not_play_the_same_are_refused(forged, change, remarks):
    with pytest.raises(DataError, match=f"'b' cannot be compared with 'a': .* {remarks}"):
        arena.compare([forged("a", ONE), forged("c", ONE), forged("b", ONE, change)])


def test_other_topics_metrics_or_tasks_are_refused(forged, synthetic, tmp_path, title_run, topics):
    arena.run(synthetic, "discovery", "title", tmp_path / "few", topics=topics[:6])
    with pytest.raises(DataError, match=r"topics \(8 and 6\)"):
        arena.compare([title_run, tmp_path / "few"])
    with pytest.raises(DataError, match=r"metrics \(4 and 1\)"):
        arena.compare([title_run, forged("a", ONE)])
    arena.run(synthetic, "selection", "title", tmp_path / "selection")
    with pytest.raises(DataError, match=r"task \('discovery' and 'selection'\)"):
        arena.compare([title_run, tmp_path / "selection"])


def test_what_may_differ_is_told(forged):
    def other(manifest):
        manifest["sha256"]["environment"] = "f" * 64
        manifest["arena"] = "9.9"
        manifest["seed"] = 5
        manifest["budget"]["max_reads"] = 3

    found = arena.compare([forged("a", ONE), forged("b", ONE, other), forged("c", ONE)])
    remarks = "\n".join(found.notes)
    assert "ffffffffffff (b)" in remarks and "(a; c)" in remarks
    assert f"release: {arena.__version__} (a; c), 9.9 (b)" in remarks
    assert "seed: 0 (a; c), 5 (b)" in remarks
    (line,) = (note for note in found.notes if "budget" in note)
    assert line.startswith("The runs differ in budget, max_reads: ") and line.endswith(", 3 (b).")
    notes = arena.compare([forged("d", ONE), forged("e", OTHER)]).notes
    assert notes == ("labels not checked: give --corpus.",)


def test_a_run_must_be_finished_and_as_it_was_left(forged, tmp_path, title_run):
    unfinished = forged("unfinished", ONE, lambda manifest: manifest.pop("files"))
    lines = (unfinished / "trajectories.jsonl").read_text().splitlines(keepends=True)
    (unfinished / "trajectories.jsonl").write_text("".join(lines[:3]) + lines[3][:50])
    with pytest.raises(CorpusError, match="is not finished: 3 of 8 episodes are played"):
        arena.compare([unfinished, title_run])
    changed = shutil.copytree(title_run, tmp_path / "changed")
    with (changed / "qrels.trec").open("a") as file:
        file.write(" \n")
    with pytest.raises(CorpusError, match=r"qrels\.trec' is not as the run left it"):
        arena.compare([changed])
    with pytest.raises(CorpusError, match="contains no run"):
        arena.compare([tmp_path])


def test_options_are_checked(forged):
    a, b = forged("a", ONE), forged("b", OTHER)
    refused = [
        ({"runs": []}, DataError, "give a list of directories"),
        ({"runs": [a, a]}, DataError, "is given twice"),
        ({"baseline": "c"}, UnknownNameError, "no run named 'c' is compared. Known: a, b"),
        ({"metrics": ["recal@10"]}, UnknownNameError, "Did you mean 'recall@10'"),
        ({"test": "tukey"}, UnknownNameError, "no test named 'tukey'"),
        ({"level": 95}, DataError, "between 0 and 1"),
    ]
    for options, error, message in refused:
        with pytest.raises(error, match=message):
            arena.compare(**{"runs": [a, b]} | options)


def test_topics_without_labels_are_out(mini, tmp_path):
    arena.run(mini, "discovery", "title", tmp_path / "title")
    arena.run(mini, "discovery", "random", tmp_path / "random")
    found = arena.compare([tmp_path / "title", tmp_path / "random"])
    summary = json.loads((tmp_path / "title" / "metrics.json").read_text())
    assert summary["counts"]["not_scored"]
    for metric in found.metrics:
        assert len(metric.topics) == summary["counts"]["scored"]
    assert len(found.topics) == summary["counts"]["topics"]
    assert "the others lack labels" in as_text(found)


def test_the_verdict_is_one_sentence(forged, synthetic, tmp_path):
    runs = [forged("a", ONE), forged("b", OTHER)]
    remarks = "b has a better mean recall@10 than a over 8 topics: 0.5500 against 0.4500; the "
    assert verdict(arena.compare(runs)) == (
        remarks + "difference is not significant (p = 0.1562), better on 5 topics."
    )
    assert verdict(arena.compare(runs[::-1])) == verdict(arena.compare(runs))
    far = [value + 1 for value in ONE]
    assert "is significant (p = 0.0078), better on 8" in verdict(
        arena.compare([runs[0], forged("d", far)])
    )
    distance = [forged(n, {"tree_edit_distance": v}) for n, v in (("e", ONE), ("f", OTHER))]
    assert verdict(arena.compare(distance)).startswith(
        "e has a better mean tree_edit_distance (lower is better) than f over 8 topics: 0.4500"
    )
    same = verdict(arena.compare([runs[0], forged("g", ONE)]))
    assert same == "a and g have the same mean recall@10 over 8 topics: 0.4500 against 0.4500."
    alone = verdict(arena.compare(runs[:1]))
    assert (
        alone == "title, bm25 has a mean recall@10 of 0.4500 over 8 topics; the ceiling is 1.0000."
    )
    nothing = verdict(arena.compare([forged("h", [None] * 8)]))
    assert nothing.startswith("No topic has labels that recall@10 counts")


class Ranker(Researcher):
    """Submits rankings, and no mind-map."""

    def discover(self, desk):
        desk.ranking = [hit.id for hit in (yield from desk.search(desk.topic))]


def test_a_stage_without_an_answer_is_reported(synthetic, tmp_path, capsys):
    for name in ("a", "b"):
        arena.run(synthetic, "pipeline", Ranker, tmp_path / name, topics=2)
    text = "submitted nothing in the stage organization in 2 of 2 episodes; nothing scores"
    said = as_text(arena.compare([tmp_path / "a", tmp_path / "b"]))
    assert f"Warning: a {text}" in said and "stage discovery" not in said
    alone = arena.compare([tmp_path / "a", tmp_path / "b"], metrics=["pipeline_score"])
    assert "beside floors" in said and "beside floors" not in as_text(alone)
    command = ["rescore", str(tmp_path / "a"), "--corpus", str(synthetic)]
    assert arena.cli.main(command) == 0
    assert f"Warning: the agent {text}" in capsys.readouterr().out
    assert arena.cli.main([*command, "--metric", "pipeline_score"]) == 2
    assert "pipeline_score is the mean of the stages' headlines" in capsys.readouterr().err
