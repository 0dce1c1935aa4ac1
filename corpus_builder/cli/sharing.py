"""``arena-corpus export dataset`` and ``freeze``: what others get of a corpus."""

from __future__ import annotations

from pathlib import Path

from arena.cli.app import print_json
from arena.cli.run import parse_topics
from arena.errors import DataError
from arena.text.display import count
from corpus_builder.cli.info import print_rows


def export_dataset(
    directory: str,
    *,
    output: str,
    full_text: str | None = None,
    json: bool = False,
) -> None:
    """Write a corpus as a data set for others: Parquet, a card, Croissant, labels apart.

    Args:
        directory (DIR): A built corpus.
        output (DIR): A new directory.
        full_text (LICENCE): Export full texts, too, whose licence this is, such as cc-by-4.0.

    Example:
        arena-corpus export dataset demo/synthetic --output exported
    """
    from corpus_builder.dataset.export import export_dataset

    about = export_dataset(directory, output, full_text)
    if json:
        print_json(about)
        return
    print_rows([(name, count(of["rows"], "row")) for name, of in about["tables"].items()])
    if "topics" in about["tables"]:
        print(f"Labels are in {output}/labels, with the canary {about['canary']}.")


def freeze(
    directory: str,
    *,
    name: str,
    output: str | None = None,
    topics: str | None = None,
    tasks: str | None = None,
    json: bool = False,
) -> None:
    """Give topics a name: the file says which ones, of which corpus, with which labels.

    Args:
        directory (DIR): A built corpus.
        name (NAME@VERSION): The name, such as surveys@2026.11.
        output (FILE): File to write (default: NAME@VERSION.tasks.json).
        topics (IDS|N): Topic ids with commas, or the first N (default: all).
        tasks (TASKS): Directory of `arena-corpus tasks`, to name its papers or questions.

    Example:
        arena-corpus freeze demo/synthetic --name surveys@2026.11
    """
    from arena.corpus import Corpus
    from arena.tasks import FrozenTopics, TaskSet, choose_topics
    from arena.tasks.frozen import SUFFIX

    known = TaskSet(Corpus.open(directory, tasks=tasks))
    chosen = choose_topics(known, parse_topics(topics, known.topics))
    days = {topic_id: known.topic(topic_id).date for topic_id in chosen}
    frozen, path = FrozenTopics.freeze(name, known.identity, days), Path(output or name + SUFFIX)
    if not path.name.endswith(SUFFIX):
        raise DataError(f"--output {str(path)!r}: end the name with {SUFFIX}.")
    frozen.write(path)
    if json:
        print_json(frozen.content)
    else:
        print(f"{name}: {count(len(frozen), 'topic')}, {frozen.identity['sha256'][:12]}; {path}")
