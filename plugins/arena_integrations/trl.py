"""TRL: a class for ``GRPOTrainer(environment_factory=...)``, and the rows of its data set.

The trainer makes the functions of the class tools of the model. It never closes an instance: a
reset closes the episode before, and the end of an instance its last.
"""

from __future__ import annotations

import inspect
import json
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from arena.corpus import Corpus
from arena.errors import DataError
from arena.kit.lazy import load
from arena.llm.prompts import Fields, read_template
from arena.session import EpisodeSession, Sessions, Totals
from arena.tasks import TaskSet, choose_topics
from arena.telemetry import summary
from arena.tools import ToolError

if TYPE_CHECKING:
    from datasets import Dataset

PROMPT = Path(__file__).with_name("prompts") / "trl.txt"
"""The text that a user may replace: it stands before the first observation."""
_TYPES = {
    "string": str,
    "integer": int,
    "boolean": bool,
    "array": list[str],
    "object": dict[str, Any],
}
_SELF = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)


class _Rollout:
    """The methods that TRL needs besides the tools. All else is private, or it would be a tool."""

    _sessions: ClassVar[Sessions]
    _session: EpisodeSession
    _kept: str | None
    _totals: Totals | None

    def __init__(self) -> None:
        self._close: Callable[[], None] = lambda: None

    def reset(self, topic_id: str | None = None, seed: int | None = None, **columns: Any) -> str:
        """Start an episode with the columns of a row; return the text that ends the prompt."""
        if topic_id is None and seed is None:  # each rollout of a group would play another topic
            raise DataError(
                "the data set has no column 'topic_id'. Give train_dataset=rows(corpus), or rows "
                "of your own with 'topic_id' or 'seed'."
            )
        self._close()
        self._session, self._kept = self._sessions.open(seed=seed, topic_id=topic_id), None
        self._totals = None
        self._close = weakref.finalize(self, self._sessions.discard, self._session.key)
        return self._session.opening

    def get_reward(self) -> float | None:
        """Return the sum of the rewards of the episode; None, which TRL masks, if not valid.

        TRL asks when the model has stopped: what it selected or wrote counts.
        """
        totals = self._finish()
        return totals.reward if totals.valid else None

    def _finish(self) -> Totals:
        if self._totals is None:
            self._totals = self._session.finish(self._kept)
        return self._totals


def kept_results(
    completions: Sequence[Sequence[dict[str, Any]]],
    environments: Sequence[Any],
    log_metric: Callable[[str, float], None] | None = None,
    **_: Any,
) -> list[None]:
    """Tell each rollout which results the trainer kept; for ``GRPOTrainer(reward_funcs=...)``.

    TRL drops a result that exceeds ``max_completion_length``, and asks ``get_reward`` after this:
    the reward is then that of the episode without such calls. Returns None for each, which adds
    nothing: beside a 0, TRL would not mask a rollout whose own reward is None. The trainer's log
    gets what `arena.telemetry.summary` says of the step, as ``arena/calls`` and so on.
    """
    for rollout, completion in zip(environments, completions, strict=True):
        texts = [str(each["content"]) for each in completion if each["role"] == "tool"]
        rollout._kept = "\n".join(texts)
    if log_metric is not None:
        for name, value in summary([rollout._finish() for rollout in environments]).items():
            log_metric(f"arena/{name}", value)
    return [None] * len(completions)


def environment_factory(
    corpus: Corpus | str | Path, task: str = "discovery", **settings: Any
) -> type[Any]:
    """Return the class to give to ``GRPOTrainer(environment_factory=...)``.

    Its name is that of the reward in the trainer's log. Settings are those of
    `arena.envs.EnvConfig`, such as ``reward`` or ``max_steps``.
    """
    return _class_of(Sessions.make(corpus, task, **settings))


def _class_of(sessions: Sessions) -> type[Any]:
    tools = {tool["function"]["name"]: _method(tool["function"]) for tool in sessions.schemas()}
    name = sessions.env.task_name.title()
    return type(name, (_Rollout,), tools | {"_sessions": sessions})


def rows(
    corpus: Corpus | str | Path,
    topics: Sequence[str] | int | None = None,
    *,
    prompt: str | Path = PROMPT,
    **columns: Any,
) -> Dataset:
    """Return one row for each topic: ``prompt`` (messages), ``topic_id`` (its id), no labels.

    Topics are ids, or the number of the first that can be scored; by default all those. The file
    `prompt` has the user's message, which the first observation follows. Every row gets further
    columns, such as ``environment="easy"`` where the trainer maps several environments.
    """
    tasks = TaskSet(corpus)
    text = read_template(prompt, Fields()).fill()
    messages = [{"role": "user", "content": text}]
    chosen = choose_topics(tasks, topics, tasks.scorable)
    made = [{"prompt": messages, "topic_id": s, **columns} for s in chosen]
    return load("datasets", "arena_integrations.trl.rows()").Dataset.from_list(made)


def _method(schema: dict[str, Any]) -> Callable[..., str]:
    """Return a tool as TRL reads it: signature, type hints, and a docstring of Google's style."""
    name, parameters = schema["name"], schema["parameters"]

    def method(self: _Rollout, /, **arguments: Any) -> str:
        step = self._session.step({"tool": name, "arguments": arguments})
        if "reward_terms" not in step.info:  # the episode is over, or its tool is broken
            raise ToolError(json.loads(step.observation["result"])["error"])
        return step.text

    signed, lines, kind = [_SELF], list[str](), inspect.Parameter.POSITIONAL_OR_KEYWORD
    for each, part in parameters["properties"].items():
        hint: Any = Literal[tuple(part["enum"])] if "enum" in part else _TYPES[part["type"]]
        needed = each in parameters["required"]
        default = inspect.Parameter.empty if needed else part.get("default")
        hint = hint | None if default is None else hint
        signed.append(inspect.Parameter(each, kind, default=default, annotation=hint))
        lines.append(f"    {each}: {part['description']}{_bounds(part)}")
    method.__name__ = method.__qualname__ = name
    method.__doc__ = "\n".join([schema["description"], *["", "Args:"] * bool(lines), *lines])
    method.__signature__ = inspect.Signature(signed, return_annotation=str)  # type: ignore[attr-defined]
    method.__annotations__ = {p.name: p.annotation for p in signed[1:]} | {"return": str}
    return method


def _bounds(part: dict[str, Any]) -> str:
    """Return what TRL leaves out of its schemas: bounds and defaults."""
    least, most, default = (part.get(key) for key in ("minimum", "maximum", "default"))
    said = [f"at least {least}"] * (least is not None) + [f"at most {most}"] * (most is not None)
    said += [f"by default {default}"] * (default is not None)
    return f" ({', '.join(said)})" if said else ""
