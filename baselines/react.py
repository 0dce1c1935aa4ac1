"""ReAct: a model with function calling uses the environment's tools."""

from __future__ import annotations

import json
import re
from typing import Annotated, Any

from annotated_types import Ge

from arena.agents import Action, Desk, Observation, actions_from, agent, tool_message
from arena.llm import Fields, LLMAgent

LEFT_OUT = "(left out, the conversation is long)"
CUT = " ... (cut, the rest is too long)"
DEFAULT_K = 10  # hits of a search that names no `k`, where the environment allows as many
MAX_REFUSED = 5  # messages in a row with refused calls alone, after which the model is stopped


@agent("react")
class React(LLMAgent):
    """A model with function calling uses the tools until it submits.

    The agent itself refuses a call that the budget does not allow, since that call would end the
    episode without an answer, and lowers the `k` of a search whose hits might not fit. It submits
    the papers that the model selected, or else all papers shown, when the steps run out, a limit
    is reached, the model calls no tool, or all its calls are refused: ``stopped`` is ``"steps"``,
    the limit, ``"silent"`` or ``"budget"``. As a report it then submits the sections that the model
    wrote, or else a list of those papers.

    Args:
        tool_choice: ``tool_choice`` of the protocol: ``"auto"``, or ``"required"`` for models that
            otherwise write text.
        reminders: Most reminders in a row to a model that calls no tool, >= 0.
        memory: Most characters of results in the conversation, >= 0; beyond it the oldest are left
            out, and a single longer one is cut.
    """

    folder = "react"
    templates = {  # noqa: RUF012
        "begin": Fields(("topic", "task"), ("cutoff", "budget")),
        "given": Fields(("papers",)),
        "remind": Fields((), ("task", "budget")),
    }

    def __init__(
        self,
        seed: int = 0,
        tool_choice: str = "auto",
        reminders: Annotated[int, Ge(0)] = 1,
        memory: Annotated[int, Ge(0)] = 200_000,
        **options: Any,
    ) -> None:
        super().__init__(seed, **options)
        self._tool_choice, self._reminders, self._memory = tool_choice, reminders, memory
        self._messages: list[dict[str, Any]] = []
        self._calls: list[tuple[str, Action]] = []  # of the last message, not yet carried out
        self._running = ""  # the id of the call whose result the next observation is
        self._selected: list[str] = []
        self._task = ""
        self._over = ("", "")  # the last stage that was ended here, and why

    def decide(self, observation: Observation) -> Action:
        """Return the model's next tool call."""
        desk = self._look(observation)
        if self._over[0] == desk.stage:
            return self.conclude(observation)
        silent = refused = 0
        while desk.steps_left and silent <= self._reminders and refused < MAX_REFUSED:
            while self._calls:
                self._running, action = self._calls.pop(0)
                problem = _unaffordable(action, desk)
                if not problem:
                    return _smaller(action, desk)
                self._answer(json.dumps({"error": problem}))
                refused += not self._calls
            if refused < MAX_REFUSED:
                self._ask()
                if not self._calls:
                    silent += 1
                    self._say("remind", desk)
        over = "silent" if silent > self._reminders else "budget"
        self._over = (desk.stage, over if desk.steps_left else "steps")
        return self.conclude(observation)

    def notes(self) -> dict[str, Any]:
        """Return the calls of the model, and why it stopped."""
        notes = super().notes()
        notes["llm"]["stopped"] = self.stopped or self._over[1] or None
        return notes

    def conclude(self, observation: Observation) -> Action:
        """Submit the selected papers, or else all papers in the order in which they were shown."""
        desk = self._look(observation)
        desk.ranking = self._selected or list(desk.papers)
        return super().conclude(observation)

    def _look(self, observation: Observation) -> Desk:
        """Store an observation, once."""
        if self._desk is None:
            self._desk = Desk(observation, self.tools)
            self._task = self._desk.result["message"]
            self._say("begin", self._desk)
            if self._desk.given:
                given = json.dumps(self._desk.result["references"], ensure_ascii=False)
                self._messages[-1]["content"] += "\n" + self.template("given").fill(papers=given)
        elif self._desk.observation is not observation:
            self._desk.update(observation)
            self._task = self._desk.result.get("message", self._task)
            if self._running:
                self._answer(tool_message(self._running, observation)["content"])
        return self._desk

    def _say(self, template: str, desk: Desk) -> None:
        names = {"written": "characters to write"}
        budget = ", ".join(f"{left} {names.get(name, name)}" for name, left in desk.budget.items())
        values = {"task": self._task, "budget": budget}
        if template == "begin":
            values |= {"topic": desk.topic, "cutoff": desk.cutoff}
        self._messages += self.template(template).messages(**values)

    def _answer(self, content: str) -> None:
        """Put the result of the running call into the conversation."""
        if len(content) > self._memory:
            content = content[: self._memory] + CUT
        kept = len(content)
        for message in reversed(self._messages):
            if message["role"] == "tool":
                kept += len(message["content"])
                if kept > self._memory:
                    message["content"] = LEFT_OUT
        self._messages.append({"role": "tool", "tool_call_id": self._running, "content": content})
        self._running = ""

    def _ask(self) -> None:
        answer = self.llm.complete(
            self._messages, tools=list(self.tools), tool_choice=self._tool_choice
        )
        actions = actions_from(answer.message)
        calls = any(isinstance(action["arguments"], dict) for _, action in actions)
        self.llm.note(answer, "turn", "" if calls else "it calls no tool that can be read")
        said: dict[str, Any] = {"role": "assistant", "content": answer.text, **answer.extra}
        for sent, (_, action) in zip(answer.tool_calls, actions, strict=True):
            assert isinstance(action, dict)
            # Servers draw ids by chance, and refuse a conversation with arguments that are not JSON
            # or names that no function can have: a 400, which ends the run.
            call_id = f"call_{len(self._messages)}_{len(self._calls)}"
            sound = action["arguments"] if isinstance(action["arguments"], dict) else {}
            name = re.sub(r"[^a-zA-Z0-9_-]", "_", str(action["tool"]))[:64] or "none"
            # What else the server sent with the call, such as a signature, goes back with it.
            function = sent["function"] | {"name": name, "arguments": _as_json(sound)}
            said.setdefault("tool_calls", []).append(sent | {"id": call_id, "function": function})
            self._calls.append((call_id, action))
            if action["tool"] == "select" and isinstance(sound.get("paper_ids"), list):
                self._selected += [i for i in sound["paper_ids"] if isinstance(i, str)]
        if not said["content"].strip() and "tool_calls" not in said:
            said["content"] = "(nothing)"  # some servers refuse a message without either
        self._messages.append(said)


def _unaffordable(action: Action, desk: Desk) -> str:
    """Return why an action would end the episode, or nothing."""
    assert isinstance(action, dict)
    left = {"search": desk.searches_left, "read": desk.reads_left}
    left |= dict.fromkeys(("references", "citations"), desk.lists_left)
    tool = action["tool"]
    return "" if left.get(tool, 1) else f"the budget allows no further {tool}. Submit."


def _smaller(action: Action, desk: Desk) -> Action:
    """Return a search with no more hits than the characters that are left may show."""
    assert isinstance(action, dict)
    arguments = action["arguments"]
    if action["tool"] == "search" and isinstance(arguments, dict):
        k = DEFAULT_K if arguments.get("k") is None else arguments["k"]
        if isinstance(k, int | float) and k > desk.largest_k:
            return action | {"arguments": arguments | {"k": desk.largest_k}}
    return action


def _as_json(arguments: dict[str, Any]) -> str:
    try:
        return json.dumps(arguments, allow_nan=False)
    except (ValueError, RecursionError):
        return "{}"
