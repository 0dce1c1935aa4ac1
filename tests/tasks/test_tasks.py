"""The registry of tasks, and the environments that it registers."""

from __future__ import annotations

import json
import subprocess
import sys

import gymnasium
import pytest

from arena.errors import DataError
from arena.report import PaperName
from arena.tasks import Task, TaskSet, task
from corpus_builder.build import build
from corpus_builder.sources.jsonl import JsonLines


class Ten(Task):
    """Ten papers."""

    instruction = "Submit ten papers."
    metrics = ("recall@10",)
    headline = "recall@10"


def test_two_names_cannot_have_one_environment(monkeypatch):
    monkeypatch.setitem(gymnasium.registry, "arena/TwoLists-v0", None)
    del gymnasium.registry["arena/TwoLists-v0"]
    task("two-lists")(Ten)
    task("two-lists")(Ten)  # once more, as a notebook does
    with pytest.raises(DataError, match=r"'two_lists' and the task 'two-lists' .*TwoLists-v0"):
        task("two_lists")(Ten)
    assert gymnasium.registry["arena/TwoLists-v0"].kwargs == {"task": "two-lists"}


def test_what_papers_are_to_a_topic(tmp_path):
    """By hand; a paper with the survey's title is the topic under another id."""
    papers = [
        {"id": "a", "title": "Early", "date": "2019-05-01", "arxiv_id": "1905.00001v2"},
        {"id": "b", "title": "Same day", "date": "2020-01-02"},
        {"id": "c", "title": "Undated"},
        {"id": "d", "title": "Reefs reviewed", "date": "2018"},
        {"id": "e", "title": "Other survey", "date": "2018", "is_survey": True},
        {"id": "s", "title": "Anything", "date": "2021"},
    ]
    topics = [
        {"id": "s", "title": "Reefs, Reviewed", "date": "2020-01-02", "references": ["a"],
         "prompts": {"detailed": "Do.\nThis.", "sentence": "Do this."}, "domain": "Seas",
         "outline": {"Reefs": ["Fish", "Coral"]}, "article": "# Reefs\n\nSo [@a]."},
        {"id": "t", "title": "Dunes", "date": "2021", "references": [], "prompt": "Do. So."},
    ]  # fmt: skip
    for name, records in (("papers", papers), ("topics", topics)):
        lines = "".join(json.dumps(record) + "\n" for record in records)
        (tmp_path / name).write_text(lines)
    build(JsonLines(tmp_path / "papers", tmp_path / "topics"), tmp_path / "corpus")
    tasks = TaskSet(tmp_path / "corpus")
    assert tasks.citation_status("s", [*"abcdest", "nowhere"]) == {
        "a": "reachable", "b": "late", "c": "undated", "d": "itself", "e": "survey", "s": "itself",
        "t": "late",
    }  # fmt: skip
    topic = tasks.topic("s")
    assert list(topic.prompts.items()) == [("sentence", "Do this."), ("detailed", "Do.\nThis.")]
    assert (topic.domain, tasks.topic("t").domain) == ("Seas", "")
    assert dict(tasks.topic("t").prompts) == {"paragraph": "Do. So."}
    assert tasks.outline("s").labels() == ["Reefs", "Fish", "Coral"]
    assert (tasks.article("s"), tasks.article("t")) == ("# Reefs\n\nSo [@a].", None)
    assert tasks.outline("t") is None
    assert list(tasks.paper_names()) == [
        PaperName("d", "Reefs reviewed"), PaperName("e", "Other survey"),
        PaperName("a", "Early", ("arxiv:1905.00001",)), PaperName("b", "Same day"),
        PaperName("s", "Anything"), PaperName("c", "Undated"), PaperName("t", "Dunes"),
    ]  # fmt: skip


def test_labels_are_read_without_threads(synthetic):
    """A thread that frees a buffer of Python while Python ends aborts the process."""
    code = (
        "import sys, pathlib, pyarrow.parquet, arena\n"
        "from arena.tasks import TaskSet\n"
        "def threads():\n"
        "    names = [p.read_text() for p in pathlib.Path('/proc/self/task').glob('*/comm')]\n"
        "    return [name for name in names if not name.startswith('jemalloc')]\n"
        "arena.Corpus.open(sys.argv[1])\n"
        "tasks, before = TaskSet(sys.argv[1]), threads()\n"
        "assert tasks.scorable\n"
        "assert threads() == before\n"
    )
    subprocess.run([sys.executable, "-c", code, str(synthetic)], check=True)
