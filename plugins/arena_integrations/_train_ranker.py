"""Train a ranker on the papers that a corpus' own papers cite."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import gymnasium
import numpy as np
from annotated_types import Ge, Interval

from arena.agents import Desk, Researcher, Steps
from arena.corpus import Corpus
from arena.dates import format_day, parse_cutoff, parse_date
from arena.errors import DataError
from arena.kit.code import code_sha256
from arena.kit.files import atomic_write, check_target
from arena.kit.lazy import load, require
from arena.kit.options import check_names, checked
from arena.kit.terminal import progress
from arena.ranker import FEATURES, Ranker, explore
from arena.ranker.trees import FORMAT
from arena.runs.episodes import play
from arena.tasks import TaskSet
from arena.text.display import count
from arena.tools import tool_schemas

_PLAYS = 2  # first exploring by votes, then by the ranker that learned from that
_BOOSTING = {
    "objective": "lambdarank", "lambdarank_truncation_level": 100, "metric": "ndcg",
    "eval_at": [100], "learning_rate": 0.05, "min_data_in_leaf": 50, "feature_fraction": 0.8,
    "bagging_fraction": 0.8, "bagging_freq": 1, "num_threads": 1, "deterministic": True,
    "force_row_wise": True, "verbose": -1,
}  # fmt: skip


class PlayedPool(NamedTuple):
    """An episode: the features of its pool in each round, which papers are gold, how many are."""

    features: list[np.ndarray[Any, Any]]
    gold: np.ndarray[Any, Any]
    in_reach: int


class _Explorer(Researcher):
    """Explores, and keeps the pool."""

    ranker: Ranker | None = None

    def discover(self, desk: Desk) -> Steps[None]:
        self.features: list[np.ndarray[Any, Any]] = []
        self.pool = yield from explore(
            desk, self.ranker, on_round=lambda pool: self.features.append(pool.features())
        )


@checked
def train_ranker(
    corpus: Corpus,
    output: str | Path,
    *,
    choose: str | None = None,
    test: str | None = None,
    max_tasks: Annotated[int, Ge(1)] | None = None,
    trees: Annotated[int, Interval(ge=1, le=2000)] = 400,
    leaves: Annotated[int, Interval(ge=2, le=64)] = 15,
    seed: int = 0,
    retriever: str = "bm25",
    without: Sequence[str] = (),
) -> dict[str, Any]:
    """Train a ranker by LambdaMART on the tasks of a corpus, and write it as JSON.

    Each task is explored (`arena.ranker.explore`), first by votes, then by the ranker that learned
    from these pools. The options are those of ``arena train ranker``. The same input gives the same
    bytes.

    Returns:
        What the file has under ``made``: ``sha256`` of what it was made of, ``options``,
        ``tasks``, and ``measured``: recall@10, recall@100 and the recall of the pool, each of
        votes and of the ranker, on the tasks that chose and that tested.
    """
    require("training a ranker", "lightgbm")  # before the tasks are played
    check_target(output)
    check_names("ranker", without, FEATURES)
    tasks = TaskSet(corpus)
    days = {topic: parse_date(tasks.topic(topic).date).day for topic in tasks.scorable}
    if len(days) < 10:
        raise DataError(
            f"{count(len(days), 'task has', 'tasks have')} a paper in reach, which is "
            "too few. Make tasks of the "
            "corpus' papers: `arena-corpus tasks`."
        )
    begin = (
        sorted(days.values())[len(days) * 4 // 5] if choose is None else parse_cutoff(choose).day
    )
    end = 2**31 if test is None else parse_cutoff(test).day
    parts = {
        "train": [topic for topic, day in days.items() if day < begin][-(max_tasks or len(days)) :],
        "choose": [topic for topic, day in days.items() if begin <= day < end],
        "test": [topic for topic, day in days.items() if day >= end],
    }
    for name in ("train", "choose", "test")[: 2 + (test is not None)]:
        if not parts[name]:
            span = " to ".join(format_day(at(days.values())) for at in (min, max))
            raise DataError(f"no task is left to {name}; the tasks are dated {span}.")
    ranker: Ranker | None = None
    measured: dict[str, Any] = {}
    table: dict[str, list[Any]] = {}
    for turn in range(_PLAYS):
        played = {
            name: _play(corpus, parts[name], ranker, retriever, f"play {turn + 1}, {name}")
            for name in ("train", "choose")
        }
        if not turn:
            measured["choose"] = {"votes": _measure(played["choose"], None)}
        table = _fit(played["train"], played["choose"], trees, leaves, seed, without)
        ranker = Ranker(table)
    last = _play(corpus, parts["choose"], ranker, retriever, "measure")
    measured["choose"]["ranker"] = _measure(last, ranker)
    if parts["test"]:
        measured["test"] = {
            name: _measure(_play(corpus, parts["test"], by, retriever, "test"), by)
            for name, by in (("votes", None), ("ranker", ranker))
        }
    made = {
        "sha256": {
            "corpus": corpus.sha256, "tasks": tasks.sha256, "code": code_sha256(__name__),
            "index": corpus.index_sha256(retriever),
        },
        "options": {
            "choose": choose, "test": test, "max_tasks": max_tasks, "trees": trees,
            "leaves": leaves,
            "seed": seed, "retriever": retriever, "without": list(without),
        },
        "tasks": {name: len(of_part) for name, of_part in parts.items()},
        "measured": measured,
    }  # fmt: skip
    content = {"format": FORMAT, "features": list(FEATURES), "made": made, "trees": table}
    atomic_write(output, json.dumps(content, separators=(",", ":")) + "\n")
    return made


def _play(
    corpus: Corpus, topics: Sequence[str], ranker: Ranker | None, retriever: str, what: str
) -> list[PlayedPool]:
    """Explore the tasks; one whose search finds nothing is left out of what is learned."""
    env = gymnasium.make("arena/Discovery-v0", corpus=corpus, retriever=retriever)
    tasks, tools, played = TaskSet(corpus), tool_schemas(env), []
    for topic in progress(topics, desc=what, unit="task"):
        explorer = _Explorer()
        explorer.ranker, explorer.tools = ranker, tools
        list(play(env, explorer.act, topic))
        gold = tasks.gold(topic).gains
        is_gold = np.array([paper in gold for paper in explorer.pool.ids], bool)
        played.append(PlayedPool(explorer.features, is_gold, len(gold)))
    env.close()
    return played


def _fit(
    train: Sequence[PlayedPool],
    choose: Sequence[PlayedPool],
    trees: int,
    leaves: int,
    seed: int,
    without: Sequence[str],
) -> dict[str, list[Any]]:
    """Return the table of the trees that LightGBM learns; see `Ranker`."""
    lightgbm = load("lightgbm")

    def data(played: Sequence[PlayedPool], **more: Any) -> Any:
        pools = [(pool, of.gold[: len(pool)]) for of in played for pool in of.features if len(pool)]
        rows = np.vstack([pool for pool, _ in pools])
        rows[:, [FEATURES.index(name) for name in without]] = 0.0  # what is constant splits nothing
        return lightgbm.Dataset(
            rows,
            np.concatenate([gold for _, gold in pools]).astype(int),
            group=[len(pool) for pool, _ in pools],
            **more,
        )

    learned = data(train)
    model = lightgbm.train(
        _BOOSTING | {"num_leaves": leaves, "seed": seed},
        learned,
        trees,
        valid_sets=[
            data([of._replace(features=of.features[-1:]) for of in choose], reference=learned)
        ],
        callbacks=[lightgbm.early_stopping(50, verbose=False)],
    )
    return table_of(model)


def table_of(model: Any) -> dict[str, list[Any]]:
    """Return the trees of a LightGBM model, up to its best iteration, as `Ranker` takes them."""
    names = ("roots", "feature", "threshold", "left", "right", "value")
    table: dict[str, list[Any]] = {name: [] for name in names}

    def add(node: dict[str, Any]) -> int:
        """Add a node and those below it; return its place."""
        place = len(table["feature"])
        table["feature"].append(node.get("split_feature", -1))  # a leaf has none
        table["threshold"].append(node.get("threshold", 0.0))
        table["value"].append(node.get("leaf_value", 0.0))
        for side in ("left", "right"):
            table[side].append(0)
        if "leaf_value" not in node:
            for side in ("left", "right"):
                table[side][place] = add(node[f"{side}_child"])
        return place

    for tree in model.dump_model(num_iteration=model.best_iteration)["tree_info"]:
        table["roots"].append(add(tree["tree_structure"]))
    return table


def _measure(played: Sequence[PlayedPool], ranker: Ranker | None) -> dict[str, float]:
    """Return mean recalls: of the first 10 and 100 papers, and of the whole pool."""
    sums = dict.fromkeys(("recall@10", "recall@100", "recall of the pool"), 0.0)
    for of in played:
        features = of.features[-1]
        scores = features[:, FEATURES.index("vote")] if ranker is None else ranker.scores(features)
        gold = of.gold[np.argsort(-scores, kind="stable")]
        for name, max_tasks in zip(sums, (10, 100, None), strict=True):
            sums[name] += float(gold[:max_tasks].sum() / of.in_reach)
    return {name: round(total / len(played), 4) for name, total in sums.items()}
