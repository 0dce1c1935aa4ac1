"""Agents whose whole episode is one generator."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from arena.agents.base import Action, Agent, Observation
from arena.agents.desk import Desk, Steps
from arena.errors import DataError, clip
from arena.papers import MAX_SUBMITTED

LISTED = 100
"""Most papers of a ranking that a report lists, where the agent writes no report of its own."""


class Researcher(Agent):
    """An agent that is written as one generator per episode, in the order of its steps.

    A subclass defines `discover`, `organize` or both, as generators that act through the desk.
    When one ends, the ranking or the mind-map on the desk is submitted::

        class Twice(Researcher):
            def discover(self, desk):
                first = yield from desk.search(desk.topic)
                more = yield from desk.search(first[0].title) if first else []
                desk.ranking = [hit.id for hit in first + more]

    In ``arena/Discovery-v0`` and ``arena/Selection-v0`` `discover` is called, in
    ``arena/Organization-v0`` `organize`, in ``arena/Survey-v0`` `discover`, `select` and
    `organize`, on one desk, and in ``arena/Report-v0`` `report`.
    """

    _desk: Desk | None = None
    _stage = ""
    _work: Steps[None] | None = None
    _submitted = ""

    def discover(self, desk: Desk) -> Steps[None]:
        """Find papers and rank them; here by searching for the topic."""
        hits = yield from desk.search(desk.topic)
        desk.ranking = [hit.id for hit in hits]

    def select(self, desk: Desk) -> Steps[None]:
        """Rank again, after a ranking was submitted; here nothing is changed."""
        yield from ()

    def organize(self, desk: Desk) -> Steps[None]:
        """Draw the mind-map; here none."""
        yield from ()

    def report(self, desk: Desk) -> Steps[None]:
        """Write the report; here find papers, which are then submitted as a list."""
        yield from self.discover(desk)

    def act(self, observation: Observation) -> Action:
        """Continue until the next action; submit at the end of a stage."""
        if self._desk is None:
            self._desk = Desk(observation, self.tools)
        else:
            self._desk.look(observation)
        try:
            action = self._continue(self._desk, observation)
        except StopIteration:
            return self.conclude(observation)
        except (AttributeError, TypeError) as error:
            # What using the generator of a move, or its first action, as its result raises.
            if "generator" not in str(error) and "'dict' object" not in str(error):
                raise
            raise DataError(
                f"{type(self).__name__}: {error}. Is a `yield from` missing before a move? Write "
                "`hits = yield from desk.search(...)`."
            ) from error
        if isinstance(action, Generator):
            raise DataError(
                f"{type(self).__name__} yielded a move. Write `yield from`, not `yield`, before it."
            )
        return action

    def _continue(self, desk: Desk, observation: Observation) -> Action:
        """Return the next action of the stage; raise StopIteration at its end."""
        if self._stage == desk.stage:
            assert self._work is not None
            return self._work.send(observation)
        begins = self._work is None and desk.stage not in ("organization", "report")
        work = {
            "selection": self.select, "organization": self.organize, "report": self.report,
        }  # fmt: skip
        stage_work = self.discover if begins else work[desk.stage]
        self._stage = desk.stage
        self._work = stage_work(desk)
        if not isinstance(self._work, Generator):
            raise DataError(
                f"{type(self).__name__}.{stage_work.__name__} is not a generator. Act with "
                "`hits = yield from desk.search(...)`, or write `yield from ()`."
            )
        return next(self._work)

    def conclude(self, observation: Observation) -> Action:
        """Submit what is on the desk; `finish` if that was refused before."""
        desk, stage = self._desk, observation["stage"]
        again, self._submitted = self._submitted == stage, stage
        if again:
            return {"tool": "finish", "arguments": {}}
        if stage != "organization":
            wrong = [i for i in desk.ranking if not isinstance(i, str)] if desk else []
            if wrong:
                raise DataError(
                    f"desk.ranking holds {clip(wrong[0])}, which is not an id. Write "
                    "desk.ranking = [hit.id for hit in hits]."
                )
            # An id that was never shown may not exist, and then the whole ranking would be refused.
            known = [i for i in dict.fromkeys(desk.ranking) if i in desk.papers] if desk else []
            if stage == "report":
                return _report(desk, known) if desk else {"tool": "finish", "arguments": {}}
            return {"tool": "submit", "arguments": {"paper_ids": known[:MAX_SUBMITTED]}}
        if desk is None or desk.mind_map is None:
            return {"tool": "finish", "arguments": {}}
        mind_map: Any = desk.mind_map
        if hasattr(mind_map, "to_json"):
            mind_map = mind_map.to_json()
        return {"tool": "organize", "arguments": {"mind_map": mind_map}}


def _report(desk: Desk, ranking: list[str]) -> Action:
    """Submit the report, or else the draft, or else a list of the first papers of the ranking."""
    from arena.report.listing import listing

    text = desk.report
    if text is None:
        if desk.drafted:
            return {"tool": "submit_report", "arguments": {}}
        text = listing(desk.topic, [desk.papers[i][:3] for i in ranking[:LISTED]])
    most = desk.budget.get("written", len(text))
    if len(text) > most:  # up to the end of the last line that the budget allows
        text = text[: text.rfind("\n", 0, most) + 1]
    return {"tool": "submit_report", "arguments": {"text": text}}
