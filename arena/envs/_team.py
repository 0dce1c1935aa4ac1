"""All episodes of a vector environment, in this process alone or in several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from arena.envs._packing import packed, packed_step
from arena.envs._share import Seen, Share, Stepped, joined, joined_steps
from arena.envs._workers import Workers

if TYPE_CHECKING:
    from arena.envs._setting import Setting
    from arena.envs.core import SurveyEnv


class Team:
    """Environments 0 to `size` - 1, in contiguous shares, of which this process has the first.

    Args:
        setting: of the share here.
        kind: of the scalar environment, to be made in each other process.
        arguments: of it.
        size: environments.
        processes: that share them, this one included.
        context: how the others are started, as `multiprocessing.get_context` takes it.
    """

    def __init__(
        self,
        setting: Setting,
        kind: type[SurveyEnv],
        arguments: Mapping[str, Any],
        size: int,
        processes: int,
        context: str | None,
    ) -> None:
        # What does not divide goes to the others: this process puts all together besides.
        self._bounds = list(pairwise(share * size // processes for share in range(processes + 1)))
        sizes = [high - low for low, high in self._bounds]
        self._tools = setting.tools
        self.share = Share(setting, sizes[0])
        self.workers = Workers(kind, arguments, sizes[1:], context) if processes > 1 else None

    def begin(self, surveys: Mapping[int, str], numbers: Sequence[int]) -> Seen:
        """Begin episodes of these surveys; return what is seen at `numbers`, ascending."""
        if self.workers is None:
            return self.share.begin(surveys, numbers)
        parts = [
            (_part(surveys, low, high), [n - low for n in numbers if low <= n < high])
            for low, high in self._bounds
        ]
        requests = [packed("begin", *part) if part[1] else None for part in parts[1:]]
        found = self.workers.together(lambda: self.share.begin(*parts[0]), requests)
        return joined([part for part in found if part is not None])

    def step(self, actions: Sequence[Any], surveys: Mapping[int, str]) -> Stepped:
        """Carry out an action each; where there is a survey, begin an episode of it instead."""
        if self.workers is None:
            return self.share.step(actions, surveys)
        parts = [(actions[low:high], _part(surveys, low, high)) for low, high in self._bounds]
        requests = [packed_step(*part, self._tools) for part in parts[1:]]
        return joined_steps(self.workers.together(lambda: self.share.step(*parts[0]), requests))

    def render(self) -> list[str]:
        """Return the state of each environment as text."""
        if self.workers is None:
            return self.share.render()
        requests = [packed("render")] * (len(self._bounds) - 1)
        parts = self.workers.together(self.share.render, requests)
        return [text for part in parts for text in part]

    @property
    def processes(self) -> list[Any]:
        """The other processes, as `multiprocessing.Process`."""
        return [] if self.workers is None else self.workers.processes

    def revive(self) -> None:
        """Start the other processes anew unless all run; the episodes they had are lost."""
        if self.workers is not None:
            self.workers.revive()


def _part(surveys: Mapping[int, str], low: int, high: int) -> dict[int, str]:
    return {number - low: name for number, name in surveys.items() if low <= number < high}
