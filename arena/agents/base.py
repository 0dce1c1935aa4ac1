"""What an agent is: it receives observations, returns actions, and has access to nothing else."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from arena.registry import Registry

Observation = Mapping[str, Any]
Action = dict[str, Any] | str


class Agent:
    """One agent for one episode; subclass it and write `act`.

    A subclass registers itself with ``@AGENTS.register("name")``. It acts on observations alone:
    it receives no environment, no corpus and no labels. You can also write the whole episode as
    one generator: see `Researcher`.

    Args:
        seed: Seed of an agent that draws numbers; the same seed gives the same actions. A
            subclass whose constructor takes no `seed` has it as attribute after that.

    Attributes:
        unrecorded: Names of options that shape no action, such as the address of a server. They
            stay out of a run's manifest, so a run with other values is the same run.
        tools: The environment's tools as `arena.tool_schemas` returns them. A run sets them before
            the first observation; they are empty otherwise.
    """

    unrecorded: ClassVar[frozenset[str]] = frozenset()
    tools: Sequence[Mapping[str, Any]] = ()
    seed: int = 0

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def act(self, observation: Observation) -> Action:
        """Return the next action, ``{"tool": name, "arguments": {...}}`` or the same as JSON.

        Args:
            observation: Mapping with ``topic``, ``cutoff``, ``stage``, ``result`` (JSON text) and
                ``budget``; see docs/environments.md.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define act(observation)")

    def prepare(self) -> None:
        """Raise an error if the agent cannot play, for example without a key.

        A run calls it once, before the first episode.
        """

    def notes(self) -> dict[str, Any]:
        """Return a JSON object to keep with an episode, such as calls of a model and their tokens.

        A run calls it at the end of an episode and writes it into ``trajectories.jsonl``. Leave
        out times, or two runs differ.
        """
        return {}

    def prompts(self) -> dict[str, str]:
        """Return the prompt templates in use, by name; a run records their hash.

        A run calls it before the first episode.
        """
        return {}


def result_of(observation: Observation) -> dict[str, Any]:
    """Return the last tool's result as an object.

    >>> result_of({"result": '{"hits": []}'})
    {'hits': []}
    """
    return json.loads(observation["result"])  # type: ignore[no-any-return]


AGENTS: Registry[type[Agent]] = Registry(
    "agent", packages=["baselines"], entry_points="researcharena.agents", base=Agent
)
