"""``arena train``: what learns from the tasks of a corpus."""

from __future__ import annotations

from arena.cli.app import print_json, print_table
from arena.cli.commands import command
from arena.text.display import count


@command("train.ranker")
def ranker(
    *,
    corpus: str,
    tasks: str,
    output: str,
    choose: str | None = None,
    test: str | None = None,
    max_tasks: int | None = None,
    trees: int = 400,
    leaves: int = 15,
    seed: int = 0,
    retriever: str = "bm25",
    without: tuple[str, ...] = (),
    json: bool = False,
) -> None:
    """Train a ranker for agents that follow links, on what the papers of a corpus cite.

    Args:
        tasks (TASKS): Directory of a task set, which `arena-corpus tasks` wrote, to learn from.
        output (FILE): File to write, for --agent-option ranker=FILE of title and scout.
        choose (DATE): Tasks from this day on decide how many trees there are (default: the latest
            fifth); those before are learned from.
        test (DATE): Tasks from this day on are only measured (default: none).
        max_tasks: Learn from the latest tasks, this many (default: all).
        trees: Most trees.
        leaves: Leaves of a tree.
        seed: Seed of the samples.
        without: Features not to learn from, such as age,age_of_best.

    Example:
        arena train ranker --corpus demo/synthetic --tasks demo/tasks --output ranker.json
    """
    from arena.corpus import Corpus
    from arena_integrations._train_ranker import train_ranker

    made = train_ranker(
        Corpus.open(corpus, tasks=tasks), output, choose=choose, test=test, max_tasks=max_tasks,
        trees=trees,
        leaves=leaves, seed=seed, retriever=retriever, without=without,
    )  # fmt: skip
    if json:
        print_json(made)
        return
    rows = [
        (part, made["tasks"][part], by, *scores.values())
        for part, of_part in made["measured"].items()
        for by, scores in of_part.items()
    ]
    print_table(rows, ("tasks", "n", "ranked by", "recall@10", "recall@100", "recall of the pool"))
    print(f"\nlearned from {count(made['tasks']['train'], 'task')}; written to {output}")
