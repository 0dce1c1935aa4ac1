"""``arena plan``: how many topics and repeats show a difference."""

from __future__ import annotations

from arena.cli.app import print_json, print_table
from arena.cli.commands import command


@command("plan")
def plan(
    runs: list[str],
    *,
    detect: float,
    power: float = 0.8,
    level: float = 0.05,
    metric: str | None = None,
    success: float | None = None,
    clusters: str = "cluster",
    common: bool = False,
    json: bool = False,
) -> None:
    """Say how many topics and repeats show a difference, by how given runs vary.

    Args:
        runs (RUN): Run of one system or two, as arena compare takes them: NAME=RUN,RUN pools runs.
        detect (X): True difference of two systems to be found.
        power (X): Chance that the paired test finds it.
        level (X): Level of significance of the two-sided test.
        metric (NAME): Metric of the runs (default: the task's headline).
        success (X): Score that a success reaches, for the flip rate (default: the median of the
            first run).
        clusters (NAME): What topics share that depend on each other: cluster or domain.
        common: Take the topics that all runs played.

    Example:
        arena plan demo/runs/discovery-title-bm25 demo/runs/discovery-title-dense --detect .03
    """
    from arena.metrics import METRICS
    from arena.results.comparison import compare
    from arena.results.comparison.clusters import in_clusters
    from arena.text.display import count, printable
    from arena_analysis import planning

    planning.check_numbers(detect, power, level)
    names = None if metric is None else [METRICS.resolve(metric)]
    compared = compare(runs, metrics=names, level=1 - level, clusters=clusters, common=common)
    found = planning.plan(compared, detect, power, level, success)
    if json:
        print_json(found)
        return
    over = in_clusters(found["given"]["topics"], found["given"]["clusters"], compared.unit)
    needed = f"{count(found['topics'], compared.unit)} x {count(found['repeats'], 'repeat')}"
    print(
        f"To show a difference of {detect:g} in {found['metric']} with a power of {power:g} at the "
        f"level {level:g}, two systems need {needed}.\n"
        f"The given runs, over {over}, show one of {found['detectable']:.4f} or more.\n"
    )
    print_table([[*row.values()] for row in found["options"]], ["repeats", "topics"])
    print()
    header = ["level", "number", "error", "share"]
    print_table([[row.get(key) for key in header] for row in found["levels"]], header)
    print()
    print(f"Design effect of clusters: {found['design_effect']:.2f}.")
    print(*map(printable, found["notes"]), sep="\n")
