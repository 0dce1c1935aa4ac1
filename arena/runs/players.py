"""Make the agent of each episode: a registered one, a class, one of a file, or the oracle."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from arena.agents import AGENTS, Action, Agent, Observation
from arena.errors import DataError, clip, did_you_mean
from arena.registry import check_options
from arena.tasks import TaskSet, ideal_answers

if TYPE_CHECKING:
    from arena.mindmap import MindMap

ORACLE = "oracle"
"""Name of the one agent that is not registered, since it receives the labels."""


class Oracle(Agent):
    """Submit the labels: the reachable references, the influential ones first, and the mind-map.

    Args:
        answers: Stage -> the best answer; a stage without one is skipped with ``finish``.
        seed: Not used.
    """

    def __init__(self, answers: Mapping[str, list[str] | MindMap], seed: int = 0) -> None:
        super().__init__(seed)
        self._answers = answers

    def act(self, observation: Observation) -> Action:
        """Submit at once, stage by stage."""
        answer = self._answers.get(observation["stage"])
        if answer is None:
            return {"tool": "finish", "arguments": {}}
        if isinstance(answer, list):
            return {"tool": "submit", "arguments": {"paper_ids": answer}}
        return {"tool": "organize", "arguments": {"mind_map": _labels_alone(answer)}}


def _labels_alone(mind_map: MindMap) -> dict[str, object]:
    """Return the map without its papers: some may not be visible, and none is scored."""
    plain = mind_map.to_json()
    nodes = [plain]
    while nodes:
        node = nodes.pop()
        node["papers"] = []
        nodes.extend(node["children"])
    return plain


class AgentFactory(NamedTuple):
    """Makes the agents of one run.

    Attributes:
        name: Name of the agent in the files of the run.
        kind: Class of the agents.
        prompts: Their prompt templates.
        prepare: Function that raises what would keep them from playing, such as a missing key.
        make: Function (survey id, seed of the episode) -> a fresh agent.
    """

    name: str
    kind: type[Agent]
    prompts: dict[str, str]
    prepare: Callable[[], None]
    make: Callable[[str, int], Agent]


def agent_factory(
    agent: str | type[Agent], options: dict[str, Any], task: str, tasks: TaskSet
) -> AgentFactory:
    """Return the factory of a run's agents.

    Args:
        agent: A registered name, ``"oracle"``, or a subclass of `Agent`.
        options: Keyword arguments for the agent, besides its seed.
        task: Task to play.
        tasks: Task set; the oracle, and no other agent, receives its labels.

    Raises:
        UnknownNameError: No agent has that name.
        DataError: `agent` is neither, or does not take these options.
    """
    if agent == ORACLE:
        if options:
            raise DataError(f"the oracle takes no options, but got {clip(options)}.")

        def oracle(survey_id: str, seed: int) -> Oracle:
            return Oracle(ideal_answers(task, tasks, survey_id), seed=seed)

        return AgentFactory(ORACLE, Oracle, {}, lambda: None, oracle)
    kind = AGENTS.get(agent) if isinstance(agent, str) else agent
    if not (isinstance(kind, type) and issubclass(kind, Agent)):
        raise DataError(f"agent={clip(agent)}: give a registered name or a subclass of Agent.")
    name = agent if isinstance(agent, str) else kind.__qualname__
    known, complete = _option_names(kind)
    if complete:
        check_options(f"agent {name!r}", options, known)
    try:
        first = kind(seed=0, **options)
    except TypeError as error:
        check_options(f"agent {name!r}", options, known)
        raise DataError(
            f"agent {name!r} does not take seed=0 and the options {clip(options)}: {error}."
        ) from None
    return AgentFactory(
        name, kind, first.prompts(), first.prepare, lambda _, seed: kind(seed=seed, **options)
    )


def load_agent(text: str) -> str | type[Agent]:
    """Return the class that ``FILE.py:CLASS`` names; return any other text as it is, a name.

    Raises:
        DataError: There is no such file or class, or the file does not import.
    """
    if text.endswith(".py"):
        raise DataError(f"--agent {text!r}: name the class in it, too: {text}:CLASS.")
    file, _, name = text.rpartition(":")
    if not file.endswith(".py"):
        return text
    path = Path(file)
    if not path.is_file():
        raise DataError(f"--agent {text!r}: there is no file {file!r}.")
    # A name of its own: a file json.py must not take the place of the library.
    specification = importlib.util.spec_from_file_location(f"agent_file_{path.stem}", path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = module  # so that the source of its classes is found
    try:
        specification.loader.exec_module(module)
    except Exception as error:
        raise DataError(
            f"--agent {text!r}: {file!r} does not import: {type(error).__name__}: {error}."
        ) from error
    agents = {
        key: value
        for key, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, Agent) and value is not Agent
    }
    if name not in agents:
        raise DataError(
            f"--agent {text!r}: no agent {name!r} in {file!r}.{did_you_mean(name, agents)}"
        )
    return agents[name]


def _option_names(kind: type[Agent]) -> tuple[list[str], bool]:
    """Return the options that a class and its bases name, and whether it takes no others."""
    own = inspect.signature(kind).parameters.values()
    complete = all(parameter.kind is not parameter.VAR_KEYWORD for parameter in own)
    signatures = [
        inspect.signature(base).parameters.values()
        for base in kind.__mro__[:-1]
        if "__init__" in vars(base)
    ]
    names = {
        parameter.name: None
        for parameters in ([own] if complete else signatures)
        for parameter in parameters
        if parameter.kind is not parameter.VAR_KEYWORD and parameter.name != "seed"
    }
    return (list(names) if complete else sorted(names)), complete
