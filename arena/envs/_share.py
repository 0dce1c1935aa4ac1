"""Some episodes of a vector environment, all in one process: one batched search a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from arena.envs._play import Outcome, Play
from arena.tools import Call, Search, make_searches

if TYPE_CHECKING:
    from arena.envs._setting import Setting

_TEXTS = ("topic", "cutoff", "stage", "result")


class Seen(NamedTuple):
    """Observations as columns, which are less to send to another process than as many dicts.

    Attributes:
        texts: name -> a text of each environment.
        budget: name -> what is left of it in each environment.
    """

    texts: dict[str, list[str]]
    budget: dict[str, list[int]]

    def row(self, place: int) -> dict[str, Any]:
        """Return the observation of one environment, as a scalar one gives it."""
        row: dict[str, Any] = {name: column[place] for name, column in self.texts.items()}
        row["budget"] = {name: column[place] for name, column in self.budget.items()}
        return row

    def put(self, place: int, other: Seen, its_place: int) -> None:
        """Replace the observation of one environment by one of `other`."""
        for name, texts in self.texts.items():
            texts[place] = other.texts[name][its_place]
        for name, left in self.budget.items():
            left[place] = other.budget[name][its_place]


class Stepped(NamedTuple):
    """What a step of some environments gives back, one item an environment."""

    seen: Seen
    rewards: list[float]
    terminated: list[bool]
    truncated: list[bool]
    infos: list[dict[str, Any]]


class Share:
    """The episodes of `size` environments, counted from 0."""

    def __init__(self, setting: Setting, size: int) -> None:
        self.setting = setting
        self.plays: list[Play | None] = [None] * size

    def begin(self, surveys: Mapping[int, str], places: Sequence[int]) -> Seen:
        """Begin episodes of these surveys (place -> id), and return what is seen at `places`."""
        for place, survey_id in surveys.items():
            self._begin(place, survey_id)
        return _seen([self._running(place).observation() for place in places])

    def step(
        self,
        actions: Sequence[Any],
        surveys: Mapping[int, str],
        calls: Mapping[int, Call | str] | None = None,
    ) -> Stepped:
        """Begin every step, make all searches at once, complete every step.

        Args:
            actions: one for each environment.
            surveys: place -> the survey of which an episode begins there instead of a step.
            calls: place -> what `parse_action` made of the action there, where it is known.
        """
        outcomes: list[Any] = [None] * len(actions)
        searches: list[Search] = []
        searching = []
        for place, action in enumerate(actions):
            if place in surveys:
                play = self._begin(place, surveys[place])
                info = {"survey": play.survey.id}
                outcomes[place] = Outcome(play.observation(), 0.0, False, False, info)
                continue
            play = self._running(place)
            if calls and place in calls:
                search = play.begin_call(calls[place])
            else:
                search = play.begin(action)
            if search is None:
                outcomes[place] = play.complete()
            else:
                searching.append((place, play))
                searches.append(search)
        for (place, play), shown in zip(searching, make_searches(searches), strict=True):
            outcomes[place] = play.complete(shown)
        observations, *columns = map(list, zip(*outcomes, strict=True))
        return Stepped(_seen(observations), *columns)

    def render(self) -> list[str]:
        """Return the state of each environment as text."""
        return [self._running(place).render() for place in range(len(self.plays))]

    def _begin(self, place: int, survey_id: str) -> Play:
        self.plays[place] = play = self.setting.play(survey_id)
        return play

    def _running(self, place: int) -> Play:
        play = self.plays[place]
        assert play is not None  # the vector environment has asked for a reset
        return play


def _seen(observations: Sequence[dict[str, Any]]) -> Seen:
    budgets = [observation["budget"] for observation in observations]
    names = budgets[0] if budgets else ()
    return Seen(
        {name: [observation[name] for observation in observations] for name in _TEXTS},
        {name: [budget[name] for budget in budgets] for name in names},
    )


def joined(parts: Sequence[Seen]) -> Seen:
    """Return the observations of all parts, one part after another."""
    if len(parts) == 1:
        return parts[0]
    texts, budget = zip(*parts, strict=True)
    return Seen(_chained(texts), _chained(budget))


def joined_steps(parts: Sequence[Stepped]) -> Stepped:
    """Return what all parts gave, one part after another."""
    if len(parts) == 1:
        return parts[0]
    seen, *columns = zip(*parts, strict=True)
    return Stepped(
        joined(seen), *([item for part in column for item in part] for column in columns)
    )


def _chained(parts: Sequence[dict[str, list[Any]]]) -> dict[str, list[Any]]:
    # Of a part without environments nothing is known, not even the names.
    names = max(parts, key=len)
    return {name: [item for part in parts for item in part.get(name, ())] for name in names}
