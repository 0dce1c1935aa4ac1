"""ReAct: a model with function calling uses the environment's tools as it likes."""

from __future__ import annotations

import json
from typing import Any

from arena.agents import AGENTS, Action, Desk, Observation, actions_from, tool_message
from arena.llm import Fields, LLMAgent

LEFT_OUT = "(left out, the conversation is long)"


@AGENTS.register("react")
class React(LLMAgent):
    """A model with function calling uses the tools as it likes, until it hands in.

    A call for which no budget is left is answered here, since it would end the episode with
    nothing handed in. What the model selected, or else all papers that it saw, is handed in when
    steps run out, a limit is reached, or it has stopped calling tools.

    Args:
        seed: of the episode.
        tool_choice: as the protocol has it: ``"auto"``, or ``"required"`` for models that
            otherwise talk.
        reminders: how often in a row a model that calls no tool is asked to, >= 0.
        memory: characters of results that are sent along; beyond it the oldest are left out.
        options: see `LLMAgent`.
    """

    folder = "react"
    templates = {  # noqa: RUF012
        "begin": Fields(("topic", "task"), ("cutoff", "budget")),
        "remind": Fields((), ("task", "budget")),
    }

    def __init__(
        self,
        seed: int = 0,
        tool_choice: str = "auto",
        reminders: int = 1,
        memory: int = 200_000,
        **options: Any,
    ) -> None:
        super().__init__(seed, **options)
        self._tool_choice, self._reminders, self._memory = tool_choice, reminders, memory
        self._messages: list[dict[str, Any]] = []
        self._calls: list[tuple[str, Action]] = []  # of the last message, not yet carried out
        self._running = ""  # the id of the call whose result the next observation is
        self._selected: list[str] = []
        self._task = ""

    def decide(self, observation: Observation) -> Action:
        """Return the model's next tool call."""
        desk = self._look(observation)
        silent = 0
        while desk.steps_left and silent <= self._reminders:
            while self._calls:
                self._running, action = self._calls.pop(0)
                problem = _unaffordable(action, desk)
                if not problem:
                    return action
                self._answer(json.dumps({"error": problem}))
            self._ask()
            if not self._calls:
                silent += 1
                self._say("remind", desk)
        self.stopped = self.stopped or ("steps" if silent <= self._reminders else "silent")
        return self.conclude(observation)

    def conclude(self, observation: Observation) -> Action:
        """Hand in what was selected, or else all papers in the order in which they were seen."""
        desk = self._look(observation)
        desk.ranking = self._selected or list(desk.papers)
        return super().conclude(observation)

    def _look(self, observation: Observation) -> Desk:
        """Take in an observation, once."""
        if self._desk is None:
            self._desk = Desk(observation, self.tools)
            self._task = self._desk.result["message"]
            self._say("begin", self._desk)
            if self._desk.given:
                self._messages[-1]["content"] += "\n\n" + observation["result"]
        elif self._desk.observation is not observation:
            self._desk.look(observation)
            self._task = self._desk.result.get("message", self._task)
            if self._running:
                self._answer(tool_message(self._running, observation)["content"])
        return self._desk

    def _say(self, template: str, desk: Desk) -> None:
        budget = ", ".join(f"{left} {name}" for name, left in desk.budget.items())
        values = {"task": self._task, "budget": budget}
        if template == "begin":
            values |= {"topic": desk.topic, "cutoff": desk.cutoff}
        self._messages += self.template(template).messages(**values)

    def _answer(self, content: str) -> None:
        """Put the result of the running call into the conversation."""
        message = {"role": "tool", "tool_call_id": self._running, "content": content}
        self._messages.append(message)
        self._running = ""
        kept = 0
        for message in reversed(self._messages):
            if message["role"] == "tool":
                kept += len(message["content"])
                if kept > self._memory:
                    message["content"] = LEFT_OUT

    def _ask(self) -> None:
        answer = self.llm.complete(
            self._messages, tools=list(self.tools), tool_choice=self._tool_choice
        )
        said: dict[str, Any] = {"role": "assistant", "content": answer.text}
        for _, action in actions_from(answer.message):
            assert isinstance(action, dict)
            # Servers draw ids by chance and refuse arguments that are no JSON, so both are set.
            call_id = f"call_{len(self._messages)}_{len(self._calls)}"
            sound = action["arguments"] if isinstance(action["arguments"], dict) else {}
            function = {"name": str(action["tool"]), "arguments": json.dumps(sound)}
            said.setdefault("tool_calls", []).append(
                {"id": call_id, "type": "function", "function": function}
            )
            self._calls.append((call_id, action))
            if action["tool"] == "select" and isinstance(sound.get("paper_ids"), list):
                self._selected += [i for i in sound["paper_ids"] if isinstance(i, str)]
        self._messages.append(said)


def _unaffordable(action: Action, desk: Desk) -> str:
    """Return why an action would end the episode, or nothing."""
    assert isinstance(action, dict)
    if action["tool"] == "search" and not desk.searches_left:
        return "no searches are left. Hand in."
    if action["tool"] in ("read", "references", "citations") and not desk.reads_left:
        return "no reads are left. Hand in."
    return ""
