"""Make the agent of each episode, and name every failure of its code."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from arena.agents import AGENTS, Action, Agent, Observation
from arena.errors import AgentError, ArenaError, DataError, clip
from arena.failures import failure
from arena.kit.lazy import missing
from arena.kit.options import check_names, check_options, parameters_of
from arena.plugins import origin_of
from arena.tasks import Task, TaskSet

if TYPE_CHECKING:
    from arena.answers import Answer

ORACLE = "oracle"
"""Name of the one agent that is not registered, since it receives the labels."""


class Oracle(Agent):
    """Submit the labels: the reachable references, the best first, the mind-map or the report.

    A stage without an answer is skipped with ``finish``.
    """

    def __init__(self, task: Task, answers: Mapping[str, Answer]) -> None:
        super().__init__()
        self._task, self._answers = task, answers
        self._calls: dict[str, list[tuple[str, dict[str, Any]]]] = {}

    def act(self, observation: Observation) -> Action:
        """Submit at once, stage by stage."""
        stage = self._task.stage(observation["stage"])
        if stage is None or stage.name not in self._answers:
            return {"tool": "finish", "arguments": {}}
        kind = stage.answer
        left = self._calls.setdefault(stage.name, kind.submission(self._answers[stage.name]))
        tool, arguments = left.pop(0) if left else ("finish", {})
        if isinstance(value := arguments.get(kind.argument), str):
            arguments[kind.argument] = value[: observation["budget"].get("written")]
        return {"tool": tool, "arguments": arguments}


class AgentFactory:
    """Makes the agents of one run, a fresh one for each episode.

    An `agent` is a registered name, ``FILE.py:CLASS``, ``"oracle"``, or a subclass of `Agent`. The
    oracle, and no other agent, receives the labels of `tasks`. `name` is that in files of the run.
    """

    def __init__(
        self, agent: str | type[Agent], options: Mapping[str, Any], task: Task, tasks: TaskSet
    ) -> None:
        self._task, self._tasks = task, tasks
        kind = Oracle if agent == ORACLE else agent
        if isinstance(kind, str):
            self.name = AGENTS.resolve(kind)
            kind = AGENTS.get(self.name)
        if not (isinstance(kind, type) and issubclass(kind, Agent)):
            raise DataError(f"agent={clip(agent)}: give a registered name or a subclass of Agent.")
        self.kind: type[Agent] = kind
        if kind is Oracle:
            self.name = ORACLE
            if options:
                raise DataError(f"the oracle takes no options, but got {clip(options)}.")
            return
        if not isinstance(agent, str) or ".py:" in agent:
            self.name = kind.__qualname__
        self._options = check_options(f"agent {self.name!r}", kind, options, ("seed",))

    @cached_property
    def prompts(self) -> dict[str, str]:
        """Prompt templates of the agents, by name."""
        return {} if self.kind is Oracle else self._ask(self._first, "prompts")

    def prepare(self) -> None:
        """Raise what would keep the agents from playing, such as a missing key."""
        if self.kind is not Oracle:
            self._ask(self._first, "prepare")

    def make(self, topic_id: str, seed: int) -> Agent:
        """Return a fresh agent for an episode."""
        if self.kind is Oracle:
            return Oracle(self._task, self._task.ideal(self._tasks, topic_id))
        # An agent may change what it receives, and its attributes: no episode sees that of another.
        options = copy.deepcopy(self._options)
        if "seed" in parameters_of(self.kind):
            return self.kind(**options, seed=seed)
        agent = self.kind(**options)
        agent.seed = seed
        return agent

    @cached_property
    def _first(self) -> Agent:
        with failures(self.name, "in its constructor", pass_on=ArenaError):
            try:
                return self.make("", 0)
            except TypeError:
                known = [name for name in parameters_of(self.kind) if name != "seed"]
                check_names(f"agent {self.name!r}", self._options, known)
                raise

    def _ask(self, agent: Agent, method: str) -> Any:
        with failures(self.name, f"in {method}()", pass_on=ArenaError):
            return getattr(agent, method)()


def baselines() -> list[str]:
    """Return the agents of the package that ask no model."""
    kinds = {name: AGENTS.get(name) for name in AGENTS.names()}
    return [name for name, kind in kinds.items() if not kind.waits and origin_of(kind) is None]


@contextmanager
def failures(
    name: str, where: str, then: str = "", pass_on: type[BaseException] = KeyboardInterrupt
) -> Iterator[None]:
    """Raise AgentError for what the agent's code raises in the block, except Ctrl-C and `pass_on`.

    `where` says in the message where it failed, `then` is its last sentence.
    """
    try:
        yield
    except BaseException as error:  # SystemExit and GeneratorExit are failures like any other
        if isinstance(error, KeyboardInterrupt | pass_on):
            raise
        if isinstance(error, ModuleNotFoundError) and (named := missing(f"agent {name!r}", error)):
            raise named from error
        what = str(error).rstrip(".")
        if not isinstance(error, ArenaError):
            what = f"{failure(error)}. ARENA_DEBUG=1 shows the traceback"
        raise AgentError(f"agent {name!r} failed {where}: {what}. {then}".strip()) from error
