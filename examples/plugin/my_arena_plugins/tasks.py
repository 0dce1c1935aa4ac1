"""Shortlist: the ten papers to read first."""

from arena.tasks import Task, task


@task("shortlist")
class Shortlist(Task):
    """Name the ten papers to read first."""

    instruction = "Submit the ten papers that one should read first on this topic, best first."
    metrics = ("ndcg@10", "precision@10")
    headline = "ndcg@10"
    tools = ("search", "read", "cocited", "submit")
