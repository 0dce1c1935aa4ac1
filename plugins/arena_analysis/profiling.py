"""How hard each topic of a corpus is: what agents without a model find, and where its gold lies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from arena.corpus import Corpus
from arena.errors import DataError, NoLabelsError
from arena.kit.code import code_sha256
from arena.kit.terminal import progress
from arena.kit.workdir import staged_directory
from arena.runs import run
from arena.tasks import TaskSet, text_of
from arena.tasks.profiles import Profile, profile_file

AGENTS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "title": ("title", {}),
    "scout": ("scout", {}),
    "ranker": ("scout", {"ranker": "learned"}),
}
"""Column -> the agent whose recall@100 it has, and its options."""
METRIC = "recall@100"
COLUMNS = (*AGENTS, "wordless", "links", "ceiling", "size")
_FIRST = 100  # hits of the topic whose links are looked at


def profile(corpus: Corpus, *, jobs: int = 1) -> Profile:
    """Measure the topics of a corpus, or of the task set it was opened with; write the file.

    What was measured before is read. An interrupted call continues: the episodes that were played
    are kept beside the file.

    Args:
        corpus: An open corpus.
        jobs: Episodes to play at once, each in a process.

    Returns:
        Topic id -> the columns of `COLUMNS`: shares from 0 to 1, None where they are not defined,
        and ``size``, the number of gold papers.

    Raises:
        NoLabelsError: No topic has gold in reach.
    """
    tasks = TaskSet(corpus)
    code = code_sha256("arena.runs", "baselines.title", "baselines.scout", __name__)
    try:
        if (known := tasks.profile()).code == code:
            return known
    except DataError:
        pass  # there is none, or one of something else
    if not tasks.scorable:
        raise NoLabelsError(f"no topic of {str(tasks.directory)!r} has gold: nothing to measure.")
    target, about = profile_file(tasks.directory), {**tasks.identity, "code": code}

    def place(new: Path) -> None:
        (new / target.name).replace(target)

    with staged_directory(target, lambda _: None, manifest="", work=about, place=place) as folder:
        rows = {topic_id: dict[str, Any]() for topic_id in tasks.scorable}
        for column, (agent, options) in AGENTS.items():
            summary = run(
                corpus, "discovery", agent, folder / column, agent_options=dict(options),
                topics=tasks.scorable, jobs=jobs,
            )  # fmt: skip
            for topic_id, row in rows.items():
                row[column] = summary["per_topic"][topic_id][METRIC]
        shown = progress(rows, total=len(rows), desc="gold", unit=tasks.unit)
        for topic_id in shown:
            rows[topic_id] |= _of_gold(corpus, tasks, topic_id)
        schema = pa.schema(
            [("topic_id", pa.string()), *((name, pa.float64()) for name in COLUMNS)], about
        )
        table = [{"topic_id": topic_id, **row} for topic_id, row in rows.items()]
        pq.write_table(pa.Table.from_pylist(table, schema), folder / target.name)
    return tasks.profile()


def _of_gold(corpus: Corpus, tasks: TaskSet, topic_id: str) -> dict[str, float | None]:
    """Return how much of the gold no search for the topic's words can show, ceiling and size."""
    topic, gold = tasks.topic(topic_id), tasks.gold(topic_id).gains
    view = corpus.at(topic.date, exclude=[topic_id])
    hits = [hit.id for hit in view.search(text_of(topic, "title") or "", len(view))]
    wordless = gold.keys() - set(hits)
    ends: tuple[Callable[[str], list[str]], ...] = view.references, view.citations
    linked = {paper for hit in hits[:_FIRST] for end in ends for paper in end(hit)}
    return {
        "wordless": len(wordless) / len(gold),
        "links": len(wordless & linked) / len(gold),
        "ceiling": min(1.0, 100 / len(gold)),
        "size": float(len(gold)),
    }
