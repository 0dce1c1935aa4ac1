"""What an agent is: it sees observations and returns actions, and that is all it ever touches."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from arena.registry import Registry

Observation = Mapping[str, Any]
Action = dict[str, Any] | str


class Agent:
    """One agent for one episode; subclass it and write `act`.

    A subclass registers itself with ``@AGENTS.register("name")``. It must act on observations
    alone: it is given no environment, no corpus and no labels. `Researcher` is the base for one
    that is easier told from top to bottom.

    Args:
        seed: for an agent that draws numbers; the same seed gives the same actions.

    Attributes:
        unrecorded: names of options that shape no action, such as where a server is; they stay out
            of a run's manifest, so that it is the same run without them.
        tools: the environment's tools as `arena.tool_schemas` gives them, which a run sets before
            the first observation; empty if nobody did.
    """

    unrecorded: ClassVar[frozenset[str]] = frozenset()
    tools: Sequence[Mapping[str, Any]] = ()

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def act(self, observation: Observation) -> Action:
        """Return the next action, ``{"tool": name, "arguments": {...}}`` or the same as JSON.

        Args:
            observation: ``topic``, ``cutoff``, ``stage``, ``result`` (JSON text) and ``budget``;
                see docs/environments.md.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define act(observation)")

    def prepare(self) -> None:
        """Raise what would keep the agent from playing, such as a missing key.

        It is called once, before the first episode of a run.
        """

    def notes(self) -> dict[str, Any]:
        """Return what shall be kept of an episode, such as calls of a model and their tokens.

        It is asked for at the end of an episode and goes into ``trajectories.jsonl``: a JSON
        object. Leave out times, or two runs differ.
        """
        return {}

    def prompts(self) -> dict[str, str]:
        """Return the prompt templates in use, by name; their hash goes into the run.

        It is asked for before the first episode.
        """
        return {}


def result_of(observation: Observation) -> dict[str, Any]:
    """Return the last tool's result as an object.

    >>> result_of({"result": '{"hits": []}'})
    {'hits': []}
    """
    return json.loads(observation["result"])  # type: ignore[no-any-return]


AGENTS: Registry[type[Agent]] = Registry(
    "agent", packages=["baselines"], entry_points="researcharena.agents"
)
