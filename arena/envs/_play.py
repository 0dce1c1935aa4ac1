"""One running episode: the tools' side and the labels' side, kept apart."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from arena.errors import UnknownPaperError
from arena.rewards import Progress
from arena.tasks import Survey, evaluate_answers
from arena.tools import (
    MAX_QUERY,
    BudgetError,
    Call,
    Episode,
    Search,
    Shown,
    ToolError,
    parse_action,
)
from arena.tools._text import encode

if TYPE_CHECKING:
    from arena.envs._setting import Setting


class Outcome(NamedTuple):
    """What a step gives back; the order is Gymnasium's."""

    observation: dict[str, Any]
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]


class Play:
    """An episode with its score.

    A step is `begin`, then, if that returned a search, making it, then `complete`. So that many
    episodes can have their searches made together.
    """

    def __init__(self, setting: Setting, survey: Survey, episode: Episode) -> None:
        self.survey = survey
        self.over = False
        self._setting = setting
        self._episode = episode
        self._topic = survey.title.lower()[:MAX_QUERY]
        self._gains = setting.tasks.gold(survey.id).gains
        self._seen: set[str] = set()
        self._shown: Shown | dict[str, Any] = {}
        self._broke = False
        self._before = dict(episode.budget)
        self.result = encode(self._first())

    def _first(self) -> dict[str, Any]:
        episode, given = self._episode, self._setting.given
        told: dict[str, Any] = {"message": episode.instructions[0]}
        if given is not None:
            ids = given.papers(self._setting.tasks, episode.view, self.survey.id)
            told["references"] = episode.listed(ids)
            self._seen.update(paper_id for paper_id in ids if paper_id in self._gains)
        return told

    def begin(self, action: Any) -> Search | None:
        """Carry out an action as far as it goes without searching."""
        return self.begin_call(parse_action(action, self._setting.tools))

    def begin_call(self, call: Call | str) -> Search | None:
        """As `begin`, with what `parse_action` made of the action."""
        episode = self._episode
        self._before = dict(episode.budget)
        episode.budget["steps"] = max(0, episode.budget["steps"] - 1)  # 0 if an engine failed
        self._broke = False
        try:
            if isinstance(call, str):
                raise ToolError(call)
            found = call.tool.function(episode, **call.arguments)
        except BudgetError as error:
            self._shown, self._broke = {"error": str(error)}, True
        except (ToolError, UnknownPaperError) as error:
            self._shown = {"error": str(error)}
        else:
            if isinstance(found, Search):
                return found
            self._shown = found
        return None

    def complete(self, found: Shown | None = None) -> Outcome:
        """End the step that `begin` began.

        Args:
            found: the result of its search, if it asked for one.
        """
        episode, before = self._episode, self._before
        shown = self._shown if found is None else found
        found_before = len(self._seen)
        if isinstance(shown, Shown):
            self._show(shown)
        else:
            self.result = encode(shown)
        budget = episode.budget
        terminated = episode.over
        truncated = not terminated and (self._broke or budget["steps"] <= 0)
        self.over = terminated or truncated
        info: dict[str, Any] = {"survey": self.survey.id}
        score = None
        if self.over:
            info |= self._final()
            score = info["metrics"].get(self._setting.task.headline)
        progress = Progress(
            len(self._seen),
            found_before,
            len(self._gains),
            before["searches"] - budget["searches"],
            before["reads"] - budget["reads"],
            before["characters"] - budget["characters"],
            self.over,
            score,
        )
        terms: dict[str, float] = {}
        for reward in self._setting.rewards:
            terms |= reward.terms(progress)
        info["reward_terms"] = terms
        return Outcome(self.observation(), math.fsum(terms.values()), terminated, truncated, info)

    def observation(self) -> dict[str, Any]:
        """Return what the agent sees now."""
        return {
            "topic": self._topic,
            "cutoff": self.survey.date,
            "stage": self._episode.stage,
            "result": self.result,
            "budget": dict(self._episode.budget),
        }

    def render(self) -> str:
        """Return the state as text for a person to read."""
        left = ", ".join(f"{name} left {n}" for name, n in self._episode.budget.items())
        shown = self.result if len(self.result) <= 2000 else self.result[:1997] + "..."
        return (
            f"{self._episode.stage}: {self._topic} (before {self.survey.date})\n{left}\n{shown}\n"
        )

    def _show(self, shown: Shown) -> None:
        text = shown.result if isinstance(shown.result, str) else encode(shown.result)
        budget = self._episode.budget
        if len(text) > budget["characters"]:
            error = (
                f"the result has {len(text)} characters and {budget['characters']} may still be "
                "shown, so the episode is over."
            )
            self.result, self._broke = encode({"error": error}), True
            return
        budget["characters"] -= len(text)
        self.result = text
        gains = self._gains
        self._seen.update([paper_id for paper_id in shown.papers if paper_id in gains])

    def _final(self) -> dict[str, Any]:
        setting, answers = self._setting, self._episode.answers
        gold = setting.tasks.gold(self.survey.id)
        return {
            "answers": {
                stage: answer if isinstance(answer, list) else answer.to_json()
                for stage, answer in answers.items()
            },
            "metrics": evaluate_answers(
                setting.name, answers, setting.tasks, self.survey.id, setting.encoder
            ),
            "gold": len(gold.gains),
            "references": gold.references,
            "references_total": gold.references_total,
        }
