"""Computes the credit of each call of an episode; docs/credit.md.

Shares are of the gold papers in reach. All numbers depend on labels: they are for people and for
trainers, and no agent receives them.
"""

from __future__ import annotations

import copy
import json
import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple, cast

from arena.agents import Agent
from arena.corpus import Corpus
from arena.credit import credit
from arena.envs import ResearchEnv
from arena.errors import DataError, UnknownNameError
from arena.kit.terminal import progress
from arena.report.listing import cite
from arena.report.marks import replace_groups, unwrap
from arena.results.comparison import usage_of
from arena.results.messages import MALFORMED, call_of
from arena.results.viewing.packing import listed
from arena.runs.directory import OpenedRun
from arena.runs.episodes import PlayedStep, episode_seed, play
from arena.runs.players import AgentFactory, failures
from arena.runs.replaying import replay_episodes
from arena.runs.trajectories import plain
from arena.tasks import TaskSet
from arena.tools import encode, json_action, make_searches, tool_schemas

_FINISH = {"tool": "finish", "arguments": {}}
_SKIPPED = "(this call is left out)"  # refused as any text that is no call


class CallCredit(NamedTuple):
    """The credit of one call of an episode; shares are of the gold papers in reach.

    Attributes:
        call: Number of the call in its episode, from 1.
        tool: Name of the tool.
        gain: Share of the gold that it was the first to show.
        marginal: Share of the gold that no other call showed.
        shapley: Its Shapley value for the share of the gold that calls showed.
        headline_script: What the headline loses without the call if the later calls stay as they
            were; None for a topic that cannot be scored.
    """

    call: int
    tool: str
    gain: float
    marginal: float
    shapley: float
    headline_script: float | None


def shapley_values(shown: Sequence[Collection[str]], gold: Collection[str]) -> list[float]:
    """Return the Shapley value of each call for the share of `gold` that the calls show together.

    Of a gold paper that m calls show, each gets 1 / m: the papers are games of their own, in which
    these calls are alike and all others count nothing (Shapley 1953, A Value for n-Person Games:
    symmetry, dummy and additivity). The values add up to the recall of what was shown.

    >>> shapley_values([{"a", "b"}, {"b", "x"}, set()], {"a", "b", "c"})
    [0.5, 0.16666666666666666, 0.0]
    """
    times = _times(shown, gold)
    sums = [math.fsum(1 / times[p] for p in times.keys() & papers) for papers in shown]
    return [value / max(1, len(gold)) for value in sums]


def marginal_values(shown: Sequence[Collection[str]], gold: Collection[str]) -> list[float]:
    """Return for each call the share of `gold` that it alone shows.

    >>> marginal_values([{"a", "b"}, {"b", "x"}, set()], {"a", "b", "c"})
    [0.3333333333333333, 0.0, 0.0]
    """
    times = _times(shown, gold)
    alone = [sum(times[p] == 1 for p in times.keys() & papers) for papers in shown]
    return [value / max(1, len(gold)) for value in alone]


def _times(shown: Sequence[Collection[str]], gold: Collection[str]) -> Counter[str]:
    """Return how many calls show each gold paper."""
    return Counter(paper for papers in shown for paper in {*papers} & {*gold})


@credit("shapley")
def shapley(env: ResearchEnv, tasks: TaskSet, topic_id: str, actions: Sequence[Any]) -> list[float]:
    """Share each wanted paper among the calls that showed it: sums to the recall of all shown."""
    episode = _Episode(env, tasks, topic_id, _carried_out(env, topic_id, actions))
    return shapley_values(episode.shown, episode.gold)[: len(actions)]


@credit("script")
def script(env: ResearchEnv, tasks: TaskSet, topic_id: str, actions: Sequence[Any]) -> list[float]:
    """Pay what the headline loses without the call, if the later calls stay as they were."""
    episode = _Episode(env, tasks, topic_id, _carried_out(env, topic_id, actions))
    return [episode.script(call) or 0.0 for call in range(1, len(actions) + 1)]


def credit_of_episode(
    env: ResearchEnv, tasks: TaskSet, topic_id: str, steps: Sequence[PlayedStep]
) -> list[CallCredit]:
    """Return the credit of each call of an episode that is over.

    Args:
        env: Environment of the episode's settings; it is forked, not played.
        tasks: Its labels.
        topic_id: The topic of the episode.
        steps: Its reset and steps, as `arena.rollouts` and replays have them.
    """
    episode = _Episode(env, tasks, topic_id, steps)
    gains = [step.info["gain"] for step in steps[1:]]
    marginal = marginal_values(episode.shown, episode.gold)
    rows = zip(gains, marginal, shapley_values(episode.shown, episode.gold), strict=True)
    return [
        CallCredit(call, call_of(steps[call].action)[0], *row, episode.script(call))
        for call, row in enumerate(rows, 1)
    ]


def _carried_out(env: ResearchEnv, topic_id: str, actions: Sequence[Any]) -> list[PlayedStep]:
    """Return the reset and steps of these actions, finished where they end."""
    env, taken = env.fork(), [*actions, _FINISH]
    left = iter(taken)
    episode = play(env, lambda _: next(left), topic_id)
    return [step for _, step in zip([None, *taken], episode, strict=False)]


class _Episode:
    """An episode that is over, to be played without one of its calls.

    `shown` has the papers that each call showed, without those with which the episode began.
    """

    def __init__(
        self, env: ResearchEnv, tasks: TaskSet, topic_id: str, steps: Sequence[PlayedStep]
    ) -> None:
        self._steps, self.gold = steps, tasks.gold(topic_id).gains
        self._task = env.config.resolved_task.on(tasks)
        shown = [{*listed(step.observation["result"])} for step in steps]
        self._first: dict[str, int] = {}  # paper -> number of the first step that showed it
        for number, papers in enumerate(shown):
            if env.config.observation == "pool":  # a result lists the papers of all before it
                papers.difference_update(self._first)
            self._first.update(dict.fromkeys(papers - self._first.keys(), number))
        self.shown = [papers - shown[0] for papers in shown[1:]]
        self._submitting = {kind.tool for kind in self._task.kinds}
        refused = [step.observation["result"].startswith('{"error":') for step in steps]
        self._accepted = {n for n in range(1, len(steps)) if not refused[n]}
        self._changing = {n for n in self._accepted if not self._looked(n)}
        self._env = env.fork()
        self._env.reset(options={"topic_id": topic_id})
        self._begin = self._env.save()
        self.headline = self._task.worth(steps[-1].info.get("metrics", {}))
        self._known = {json.dumps(self._without(0)[0]): self.headline}

    def script(self, call: int) -> float | None:
        """Return what the headline loses without a call, if the later ones stay as they were."""
        actions, lost = self._without(call)
        if (key := json.dumps(actions)) not in self._known:
            self._known[key] = self._headline_of(actions, lost)
        without = self._known[key]
        return None if without is None or self.headline is None else self.headline - without

    def _looked(self, number: int) -> bool:
        """Return whether a call showed papers, or was to: others change what is submitted."""
        had, has = (self._steps[n].observation["budget"] for n in (number - 1, number))
        return any(has[name] < had[name] for name in ("searches", "reads", "characters"))

    def _without(self, skipped: int) -> tuple[list[Any], set[str]]:
        """Return the calls that change what is submitted, and the papers not shown, without a call.

        Papers that no remaining call has shown are dropped from the arguments of all later ones. A
        call that is left without papers is left out, and so is what it showed; a submission becomes
        empty. Papers that the agent named before any call showed them stay.
        """
        lost, actions = set[str](), []
        for number, step in enumerate(self._steps[1:], 1):
            action = step.action
            if lost and number in self._accepted:
                action = _dropped(action, lost, self._submitting)
            if number == skipped or action is None:
                lost |= {p for p in self.shown[number - 1] if self._first[p] == number}
            else:
                lost -= self.shown[number - 1]
                actions += [action] if number in self._changing else []
        return actions, lost

    def _headline_of(self, actions: list[Any], lost: Collection[str]) -> float | None:
        """Return the headline of an episode of these calls, in which papers were not shown."""
        state = copy.deepcopy(self._begin)
        if self._task.writes:  # a citation counts if its paper was shown
            state["episode"]["shown"] = [paper for paper in self._first if paper not in lost]
        end: Any = _FINISH
        if self._steps[-1].truncated:  # the last step of its budget is refused
            state["episode"]["budget"]["steps"], end = len(actions) + 1, _SKIPPED
        self._env.restore(state)
        for action in [*actions, end]:
            _, _, terminated, truncated, info = self._env.step(action)
            if terminated or truncated:
                break
        return self._task.worth(info.get("metrics", {}))


def _dropped(action: Any, lost: Collection[str], submitting: Collection[str]) -> Any:
    """Return a call without papers; None if no argument that named some has one left."""
    tool, arguments = call_of(action)
    if tool == MALFORMED:
        return action
    left = {name: _rest(value, lost) for name, value in arguments.items()}
    emptied = any(left[name] in ("", []) and arguments[name] not in ("", []) for name in left)
    return None if emptied and tool not in submitting else {"tool": tool, "arguments": left}


def _rest(value: Any, lost: Collection[str]) -> Any:
    """Return an argument without papers: ids, those in lists, and citations in texts."""
    if isinstance(value, list):
        return [_rest(each, lost) for each in value if not (isinstance(each, str) and each in lost)]
    if isinstance(value, dict):
        return {name: _rest(each, lost) for name, each in value.items()}
    if not isinstance(value, str) or value in lost:
        return "" if isinstance(value, str) else value
    return replace_groups(unwrap(value), lambda keys: cite(i for i in keys if i not in lost))


def _emptied(result: Any) -> Any:
    """Return a result without papers and text."""
    if isinstance(result, list):
        is_papers = bool(result) and isinstance(result[0], dict) and "id" in result[0]
        return [] if is_papers else [_emptied(each) for each in result]
    if isinstance(result, dict):
        return {name: "" if name == "text" else _emptied(each) for name, each in result.items()}
    return result


def credit_of_run(
    run: str | Path,
    corpus: Corpus | str | Path,
    tasks: str | Path | None = None,
    *,
    played: bool = False,
    repeats: int = 1,
    agent: str | type[Agent] | None = None,
) -> list[dict[str, Any]]:
    """Return the credit of every call of a run, whose episodes are played again.

    A row has ``topic_id``, ``repeat`` in a run with several episodes of each topic, the fields of
    `CallCredit`, and ``headline_played`` if asked for: what the headline loses without the call if
    the agent plays on from there.

    Args:
        run: Directory of a run, finished or not.
        corpus: Its corpus, or the directory.
        tasks: Directory of the task set that the run played, if any.
        played: Whether to play on without each call, too.
        repeats: With `played`, how often: first with the episode's own seed, then with others, for
            which the calls before are those of the run.
        agent: The run's agent, if it has no registered name: a class or ``FILE.py:CLASS``.

    Raises:
        CorpusError: The run does not replay, or is of another corpus.
        DataError: With `played`, the agent asks a language model, or acts differently now.
    """
    recorded = OpenedRun(run)
    corpus, task_set = recorded.open_corpus(corpus, tasks)
    total = len(recorded.manifest["topics"]) * recorded.repeats
    rows = list[dict[str, Any]]()
    with closing(recorded.environment(corpus, recorded.manifest["topics"])) as made:
        env = cast(ResearchEnv, made.unwrapped)
        player = _Player(env, task_set, recorded, agent, repeats) if played else None
        episodes = replay_episodes(recorded, corpus, every=True)
        for record, steps in progress(episodes, total=total, desc="credit", unit="episode"):
            topic_id = record["topic_id"]
            about = {name: record[name] for name in ("topic_id", "repeat") if name in record}
            values = credit_of_episode(env, task_set, topic_id, steps)
            lost = player.lost(record, steps) if player else ()
            for call, each in enumerate(values):
                more = {"headline_played": lost[call]} if player else {}
                rows.append({**about, **each._asdict(), **more})
    return rows


class _Player:
    """Plays episodes of a run on without one of their calls, by the run's agent."""

    def __init__(
        self,
        env: ResearchEnv,
        tasks: TaskSet,
        recorded: OpenedRun,
        agent: str | type[Agent] | None,
        repeats: int,
    ) -> None:
        if repeats < 1:
            raise DataError(f"repeats={repeats}: give 1 or more.")
        named, options = recorded.manifest["agent"], recorded.manifest["agent_options"]
        self._env, self._repeats = env.fork(), repeats
        self._task, self._schemas = env.config.resolved_task.on(tasks), tool_schemas(env)
        try:
            self._factory = AgentFactory(agent or named, options, self._task, tasks)
        except UnknownNameError as error:
            raise DataError(f"{error} Name the run's agent: --agent FILE.py:CLASS.") from None

    def _refused(self, why: str) -> DataError:
        return DataError(
            f"the agent {self._factory.name!r} {why}. It takes an agent without a model that acts "
            "as in the run; without --played none is needed."
        )

    def lost(self, record: Mapping[str, Any], steps: Sequence[PlayedStep]) -> list[float | None]:
        """Return for each call what the headline loses without it, a mean over the repeats."""
        if usage_of(record["notes"]) is not None:
            raise self._refused("asks a language model, which --played would ask for every call")
        self._found: dict[str, Any] = {}  # the topic's searches; most ways to play on repeat them
        if (headline := self._task.worth(record["metrics"])) is None:
            return [None] * (len(steps) - 1)
        states = []
        self._env.reset(options={"topic_id": record["topic_id"]})
        for step in steps[1:]:
            states.append(self._env.save())
            if not self._task.writes:  # then what was shown changes no score
                states[-1]["episode"]["shown"] = []
            self._step(step.action)
        lost = list[float | None]()
        for call, state in enumerate(states, 1):
            without = [self._played(record, steps, call, state, n) for n in range(self._repeats)]
            known = [each for each in without if each is not None]
            complete = len(known) == len(without)
            lost.append(headline - math.fsum(known) / len(known) if complete else None)
        return lost

    def _played(
        self,
        record: Mapping[str, Any],
        steps: Sequence[PlayedStep],
        call: int,
        state: Mapping[str, Any],
        repeat: int,
    ) -> float | None:
        """Return the headline if the agent plays on from the `state` before a call, without it.

        The call costs a step and does nothing; the agent is shown its result without papers and
        text, or the pool as it was. After an error it would only call again.
        """
        topic_id, seed = record["topic_id"], record["seed"]
        with failures(self._factory.name, f"on topic {topic_id!r} without call {call}"):
            agent = self._factory.make(topic_id, episode_seed(seed, repeat) if repeat else seed)
            agent.tools = copy.deepcopy(self._schemas)
            shown = [each.observation for each in steps[:call]]  # an agent may change what it gets
            taken = [agent.act({**each, "budget": {**each["budget"]}}) for each in shown]
        taken = [plain(json_action(action)) for action in taken]
        if not repeat and taken != [step.action for step in steps[1 : call + 1]]:
            raise self._refused(f"acts differently now on the topic {topic_id!r}")
        self._env.restore(state)
        step = self._step(_SKIPPED)
        if self._env.config.observation != "pool":
            result = encode(_emptied(json.loads(steps[call].observation["result"])))
            step = step._replace(observation=step.observation | {"result": result})
        while not (step.terminated or step.truncated):
            with failures(self._factory.name, f"on topic {topic_id!r} without call {call}"):
                action = json_action(agent.act(step.observation))
            step = self._step(action)
        return self._task.worth(step.info.get("metrics", {}))

    def _step(self, action: Any) -> PlayedStep:
        """Carry out an action; a search that was made before is not made again."""
        search = self._env.start_step(action)
        hits, key = None, json.dumps(action)
        if search is not None:
            hits = self._found[key] = self._found.get(key) or make_searches([search])[0]
        return PlayedStep(action, *self._env.finish_step(hits))
