"""Planning a comparison: power by simulation, variances by hand, and the command."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from compare_helpers import forge
from noise import WORLDS, compared, powers

import arena
import arena.cli
from arena.errors import DataError
from arena_analysis.planning import plan


@pytest.mark.parametrize("world", WORLDS)
def test_power_is_as_planned(world):
    """For three differences, 1 and 2 repeats planned from pilots with 3, also with clusters."""
    for effect, repeats, topics, found in powers(WORLDS[world], 24, 40, 60):
        assert found == pytest.approx(0.8, abs=0.05), (effect, repeats, topics)


def by_level(found):
    return {row["level"]: row for row in found["levels"]}


def test_variances_by_hand():
    """Two pooled runs, .2 apart, with +-.05 about the topic and the run: 16 * .0025 is left.

    Of it there are 7 degrees of freedom; the variance of the run's means is .02.
    """
    sign = np.array([1, -1] * 4) * 0.05
    topic = np.arange(8) / 10
    scores = np.stack([topic + sign, topic + 0.2 - sign], axis=1)[None]
    single = 16 * 0.0025 / 7
    found = plan(compared(scores, np.arange(8), corpora=["c"] * 8), 0.1)
    levels = by_level(found)
    assert levels["repeat"]["error"] ** 2 == pytest.approx(single / 2 / 8)
    assert levels["run"]["error"] ** 2 == pytest.approx((0.02 - single / 8) / 2)
    between = np.var(topic, ddof=1)  # of the means of topics, whose signs cancel
    assert levels["topic"]["error"] ** 2 == pytest.approx((between - single / 2) / 8)
    assert levels["corpus"] == {"level": "corpus", "number": 1}
    # As episodes of one run the .2 is noise: 8 * (.15 ** 2 + .05 ** 2), each a half of it twice.
    alone = by_level(plan(compared(scores, np.arange(8)), 0.1))
    noise = sum((b - a) ** 2 / 2 for a, b in scores[0]) / 8
    assert alone["repeat"]["error"] ** 2 == pytest.approx(noise / 2 / 8)
    assert "error" not in alone["run"]


@pytest.mark.parametrize("top", ["corpus", "run", "topic", "repeat"])
@pytest.mark.parametrize("nested", [False, True])
def test_the_level_that_dominates(top, nested):
    """Four seeds over six corpora of twenty topics, the same ones or others over each corpus."""
    random = np.random.default_rng(3)

    def draw(*shape):
        """Draw values with exactly the mean 0 and the variance 1."""
        values = random.normal(size=shape)
        return (values - values.mean(axis=-1, keepdims=True)) / values.std(
            -1, ddof=1, keepdims=True
        )

    # What makes the mean's standard error large at each level.
    large = {"corpus": 0.3, "run": 0.3, "topic": 1.0, "repeat": 2.5}
    size = {level: large[level] if level == top else 0.02 for level in large}
    corpora = np.repeat(np.arange(6), 20)
    shifts = draw(6, 4) if nested else np.tile(draw(4), (6, 1))
    scores = (
        size["corpus"] * draw(6)[corpora][:, None]
        + size["run"] * shifts[corpora]
        + size["topic"] * draw(120)[:, None]
        + size["repeat"] * random.normal(size=(120, 4))
    )
    systems = [[f"{c if nested else ''}{s}" for s in range(4)] for c in corpora]
    names = [f"c{c}" for c in corpora]
    found = plan(compared(scores[None], np.arange(120), corpora=names, systems=systems), 1.0)
    levels = by_level(found)
    assert max(levels.values(), key=lambda row: row["share"])["level"] == top
    assert sum(row["share"] for row in levels.values()) == pytest.approx(1)
    assert [row["number"] for row in levels.values()] == [6, 24 if nested else 4, 120, 4]
    expected = {"corpus": 0.3 / 6**0.5, "run": 0.3 / (24 if nested else 4) ** 0.5,
                "topic": 1 / 120**0.5, "repeat": 2.5 / 480**0.5}  # fmt: skip
    assert levels[top]["error"] == pytest.approx(expected[top], rel=0.1)
    assert any(f"The level {top} dominates" in note for note in found["notes"])


def test_flip_rate_by_hand():
    """Three of eight topics are on both sides of the first repeat's median, .45."""
    first = np.arange(1, 9) / 10
    second = np.array([0.1, 0.9, 0.3, 0.4, 0.1, 0.6, 0.2, 0.8])
    scores = np.stack([first, second], axis=1)[None]
    found = plan(compared(scores, np.arange(8)), 0.1)
    assert found["success"] == pytest.approx(0.45) and found["flip_rate"] == {"s0": 3 / 8}
    assert plan(compared(scores, np.arange(8)), 0.1, success=0.95)["flip_rate"] == {"s0": 0.0}
    lower = plan(compared(scores, np.arange(8), lower=True), 0.1, success=0.1)
    assert lower["flip_rate"] == {"s0": 1 / 8}  # the fifth topic's .5 and .1


def test_what_repeats_cannot_do():
    """Two systems without repeats have one option, and what the comparison itself could show."""
    random = np.random.default_rng(0)
    comparison = compared(random.random((2, 30, 1)), np.arange(30))
    found = plan(comparison, 0.1)
    (difference,) = comparison.metrics[0].differences
    assert found["detectable"] == pytest.approx(difference.detectable)
    assert [row["repeats"] for row in found["options"]] == [1] and not found["flip_rate"]
    assert found["topics"] == found["options"][0]["topics"] > 30
    needed = plan(comparison, found["detectable"] * (1 + 1e-9))
    assert needed["topics"] == 30
    many = plan(comparison, 0.1, power=0.95, level=0.01)
    assert many["topics"] > 2 * found["topics"]
    assert plan(comparison, 5.0)["topics"] == 7  # clusters that a test needs


@pytest.fixture(scope="module")
def runs(synthetic, title_run, tmp_path_factory):
    """Three runs whose topics are each a cluster; the second plays them three times."""
    folder = tmp_path_factory.mktemp("planned")
    played = {"title": title_run, "three": folder / "3", "seed": folder / "5"}
    for name, options in (("three", {"repeats": 3}), ("seed", {"seed": 5})):
        arena.run(synthetic, "discovery", "random", played[name], **options)
    for name, run in played.items():
        rows = json.loads((run / "metrics.json").read_text())["per_topic"]
        scores = {m: {s: row[m] for s, row in rows.items()} for m in ("recall@100", "recall@10")}
        forge(run, folder / name, scores)
    return [str(folder / name) for name in played]


def test_the_command(runs, capsys):
    def run(*arguments):
        status = arena.cli.main(["plan", *arguments])
        return status, capsys.readouterr()

    options = ("--detect", ".05", "--clusters", "cluster")
    status, said = run(runs[1], *options, "--json")
    assert status == 0, said.err
    found = json.loads(said.out)
    assert found["metric"] == "recall@100" and found["repeats"] == 3
    assert [row["repeats"] for row in found["options"]] == [1, 2, 4, 8]
    topics = [row["topics"] for row in found["options"]]
    assert topics == sorted(topics, reverse=True) and math.isfinite(found["detectable"])
    assert set(found["flip_rate"]) == {"random, bm25"}
    status, said = run(runs[1], *options)
    assert status == 0 and "Assumed, as one system is given" in said.out
    assert f"two systems need {found['topics']} topics x 3 repeats" in said.out
    status, said = run(runs[0], f"A={runs[1]},{runs[2]}", *options, "--metric", "recall@10")
    assert status == 0 and "Nothing is known of repeats of title, bm25" in said.out
    for arguments, message in (
        ((*runs, "--detect", ".1"), "plan for one system or two, not 3"),
        ((runs[0], "--detect", "0"), "give a difference above 0"),
        ((runs[0], "--detect", ".1", "--power", "80"), "power=80"),
        ((runs[0], "--detect", ".1", "--level", "0"), "detect=0.1, level=0, power=0.8: give"),
        ((runs[0], "--detect", ".1", "--metric", "recal@10"), "no metric"),
    ):
        status, said = run(*arguments)
        assert status == 2 and message in said.err and not said.out


def test_too_few_clusters():
    with pytest.raises(DataError, match="6 clusters of topics: a test needs 7"):
        plan(compared(np.random.default_rng(0).random((2, 12, 1)), np.arange(12) // 2), 0.1)
