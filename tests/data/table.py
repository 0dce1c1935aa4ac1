"""A kind of answer in one file: a table of papers, its tool, metrics, a task and two agents."""

from __future__ import annotations

import json
from typing import Any

from arena.agents import Agent, agent
from arena.answers import AnswerKind, answer, write_rows
from arena.metrics import metric
from arena.tasks import Task, task
from arena.tools import tool


@answer("table")
class Table(AnswerKind):
    """Papers with a remark on each, best first."""

    tool, argument, scored, files = "tabulate", "rows", ("table",), ("tables.jsonl",)

    def fits(self, value):
        return isinstance(value, dict)

    def papers(self, answer):
        return list(answer or {})

    def compare(self, answer, kind, context):
        return answer or {}, context.tasks.gold(context.survey).gains

    def ideal(self, tasks, survey_id):
        return dict.fromkeys(tasks.gold(survey_id).gains, "cited")

    def size(self, answer):
        return len(answer)

    def write(self, output, stage, answers, tag, tasks):
        write_rows(output / "tables.jsonl", "table", answers)
        return ["tables.jsonl"]


@tool("tabulate")
def tabulate(episode, rows: dict[str, Any]):
    """Submit a table of papers. This ends the stage.

    Args:
        rows: id of a paper -> what is said of it.
    """
    episode.papers(rows)
    return {"rows": len(rows)} | episode.submit("table", rows)


@metric("row_gaps", "table", lower_is_better=True)
def row_gaps(answer, gold, context):
    """Return the number of gold papers that the table lacks."""
    return float(len(set(gold) - set(answer)))


@task("tabulation")
class Tabulation(Task):
    """Tabulate what is known of a topic."""

    instruction = "Tabulate the papers of this topic. Submit the table with tabulate."
    metrics = ("row_gaps", "recall@10")
    headline = "row_gaps"
    answer = "table"


class _Lists(Agent):
    """Tabulates the first hits of a search for the topic."""

    rows = 10

    def act(self, observation):
        hits = json.loads(observation["result"]).get("hits")
        if hits is None:
            return {"tool": "search", "arguments": {"query": observation["topic"], "k": 10}}
        rows = {
            hit["id"]: {"remark": "<b>found</b>", "numbers": [1, 2]} for hit in hits[: self.rows]
        }
        return {"tool": "tabulate", "arguments": {"rows": rows}}


@agent("long")
class Long(_Lists):
    """Tabulates ten papers."""


@agent("short")
class Short(_Lists):
    """Tabulates one paper."""

    rows = 1
