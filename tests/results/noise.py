"""Simulated runs: does a test of as many topics as planned find what it was planned for?

``PYTHONPATH=.:plugins python tests/results/noise.py`` prints the table of docs/results/noise.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from arena.results.comparison import Comparison
from arena.results.comparison.comparing import compare_by
from arena.results.comparison.opening import ComparedRun, Effort
from arena.results.comparison.paired import errors
from arena_analysis.planning import plan

METRIC = "recall@100"
_NONE = Effort(0, 0, 0, 0, 0, 0, 0)


@dataclass(frozen=True)
class World:
    """Normal scores of two systems: standard deviations of each part, and topics of a cluster."""

    topic: float = 0.2  # of both systems alike
    cluster: float = 0.0
    difference: float = 0.12
    repeat: float = 0.1
    inside: int = 1

    def draw(self, random, topics, repeats, shift=0.0):
        """Return scores, 2 systems x topics x repeats, and the number of each topic's cluster."""
        clusters = np.arange(topics) // self.inside
        both = 0.5 + self.topic * random.normal(size=topics)
        apart = shift + self.difference * random.normal(size=topics)
        apart += self.cluster * random.normal(size=clusters[-1] + 1)[clusters]
        scores = np.stack([both - apart / 2, both + apart / 2])[:, :, None]
        return scores + self.repeat * random.normal(size=(2, topics, repeats)), clusters


def compared(scores, clusters, lower=False, corpora=None, systems=None):
    """Return a comparison of systems with these scores, systems x topics x repeats.

    With `corpora`, one of each topic, the repeats are pooled runs, by default of one system each;
    `systems` has those of a topic, topics x repeats.
    """
    runs = []
    for number, system in enumerate(scores):
        rows, repeats = {}, {}
        for i, row in enumerate(system):
            rows[f"t{i:04}"] = {METRIC: float(row.mean()), "cluster": f"c{clusters[i]}"}
            repeats[f"t{i:04}"] = [{METRIC: float(score)} for score in row]
            if corpora is not None:
                rows[f"t{i:04}"]["corpus"] = corpora[i]
                for place, each in enumerate(repeats[f"t{i:04}"]):
                    each["system"] = place if systems is None else systems[i][place]
        metrics = {"per_topic": rows, "ceiling": {}, "counts": {"scored": len(rows)}}
        manifest = {"agent": "", "definition": {}, "sha256": {}}
        pooled = 1 if corpora is None else scores.shape[2]
        more = {"repeats": repeats, "pooled": pooled}
        runs.append(ComparedRun(f"s{number}", manifest, metrics, {}, _NONE, None, **more))
    names = [run.name for run in runs]
    table = compare_by(METRIC, lower, runs, [(n, names[0]) for n in names[1:]], "student", 0.95)
    topics = tuple(sorted(runs[0].metrics["per_topic"]))
    return Comparison("t", tuple(runs), names[0], "student", 0.95, (table,), METRIC, topics, {}, ())


def power(world, random, topics, repeats, shift, trials):
    """Return the share of simulated comparisons whose difference is significant at 5 %.

    The test is that of `student`, for all comparisons at once.
    """
    drawn = [world.draw(random, topics, repeats, shift) for _ in range(trials)]
    columns = [scores.mean(axis=2) for scores, _ in drawn]
    differences = np.stack([second - first for first, second in columns], axis=1)
    clusters = drawn[0][1]
    critical = stats.t.isf(0.025, clusters[-1])
    return float(
        np.mean(np.abs(differences.mean(axis=0)) > critical * errors(differences, clusters))
    )


WORLDS = {
    "single topics": World(),
    "clusters of 5 topics": World(cluster=0.08, inside=5),
}
EFFECTS = (0.03, 0.05, 0.08)


def powers(world, pilots, trials, clusters, played=3, seed=7):
    """Yield difference, repeats, planned topics of each pilot, and the mean power over pilots.

    Each pilot has so many clusters of topics; planned is another number of repeats than it played.
    """
    random = np.random.default_rng([seed, clusters])
    drawn = [compared(*world.draw(random, clusters * world.inside, played)) for _ in range(pilots)]
    for effect in EFFECTS:
        for place, repeats in enumerate((1, 2)):
            topics, found = [], []
            for pilot in drawn:
                option = plan(pilot, effect)["options"][place]
                assert option["repeats"] == repeats
                topics.append(option["topics"])
                found.append(power(world, random, topics[-1], repeats, effect, trials))
            yield effect, repeats, topics, float(np.mean(found))


def main(pilots=100, trials=200):
    """Print planned and actual power, by world, size of the pilot, difference and repeats."""
    print("| topics | clusters of the pilot | difference | repeats | planned topics | power |")
    print("|---|---|---|---|---|---|")
    for name, world in WORLDS.items():
        for clusters in (20, 100):
            for effect, repeats, topics, found in powers(world, pilots, trials, clusters):
                low, middle, high = np.quantile(topics, (0.1, 0.5, 0.9))
                planned = f"{middle:.0f} ({low:.0f} to {high:.0f})"
                cells = (name, clusters, effect, repeats, planned, f"{found:.3f}")
                print("|", " | ".join(map(str, cells)), "|", flush=True)


if __name__ == "__main__":
    main()
