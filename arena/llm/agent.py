"""An episode's share of a client, and the base of agents that ask a model."""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from arena.agents import Action, Observation, Researcher
from arena.dates import parse_cutoff
from arena.errors import DataError, clip
from arena.llm.answers import (
    Completion,
    LimitReachedError,
    Limits,
    Message,
    Meter,
    RequestRefusedError,
)
from arena.llm.client import Client, Model
from arena.llm.outcomes import kind_of, trouble_of
from arena.llm.prompts import Fields, Template, load_templates
from arena.llm.question import Failure, Question

T = TypeVar("T")


class ModelSession(Model):
    """Counts every answer of an episode, from the server or from the store.

    So an episode that is replayed has the same counts, reaches the same limit at the same call,
    and has the same notes. The limits of this episode are checked before a request or a batch: a
    batch that does not fit under ``max_calls`` is not begun.
    """

    def __init__(self, client: Client, limits: Limits | Mapping[str, Any] | None = None) -> None:
        self._client = client
        self.meter = Meter(limits)
        client.check_price(self.meter.limits)
        self._calls: list[dict[str, Any]] = []
        self._failures: list[dict[str, Any]] = []

    def answers(self, many: Sequence[Sequence[Message]], **options: Any) -> list[Completion]:
        """Return the answers to requests in their order; none is asked if a limit is reached."""
        limit = self.meter.limit_exceeded(len(many)) if many else None
        if limit is not None:
            raise LimitReachedError(
                f"the limit {limit}={getattr(self.meter.limits, limit)} of the episode is reached.",
                limit,
            )
        completions = self._client.answers(many, **options)
        for completion in completions:
            note: dict[str, Any] = {
                "request": completion.key,
                "prompt_tokens": completion.usage.prompt,
                "completion_tokens": completion.usage.completion,
                "cached_tokens": completion.usage.cached,
                "dollars": completion.cost,
            }
            self._calls.append(note | ({"refused": True} if completion.refused else {}))
            self.note(completion, "", trouble_of(completion))
            self.meter.charge(completion)
        return completions

    def note(self, answer: Completion, step: str, why: str = "") -> None:
        """Note at which step an answer was asked for, and `why` it could not be read, if so."""
        calls = (c for c in reversed(self._calls) if c["request"] == answer.key)
        empty: dict[str, Any] = {}
        call = next(
            (c for c in calls if not c.get("step")), empty
        )  # of equal requests each its own
        for name in ("kind", "why"):
            call.pop(name, None)
        call |= {"step": step, **({"kind": kind_of(answer), "why": why[:200]} if why else {})}

    def failed(self, reason: str, key: str) -> None:
        """Note a step that failed."""
        self._failures.append({"request": key, "reason": reason[:200]})

    def notes(self) -> dict[str, Any]:
        """Return the notes for a trajectory, without times.

        ``model``; ``calls``: hash of the request, tokens and dollars of each, the ``step`` that
        asked, and of an answer that could not be read its ``kind`` and ``why``; ``total``;
        ``failed``: hash and reason of the steps that failed.
        """
        return {
            "model": self._client.model,
            "calls": self._calls,
            "total": self.meter.totals(),
            "failed": self._failures,
        }


class LLMAgent(Researcher):
    """A researcher with a model; a subclass writes `discover` and `organize`, or `decide`.

    A subclass names its templates, files of ``prompts/<folder>/`` next to its own file, or of
    ``prompts/`` where several agents share one; docs/llm.md has an example.

    All agents of a process with the same options share one client: its connections, its store, its
    pauses and its `run_limits`.

    Args:
        seed: Seed of the episode.
        model: Name of the model at the server; required.
        model_cutoff: First day of which the model knows nothing. A run records it, and `arena
            compare` shows the topics dated before it apart.
        model_seed: Seed that is sent with every request.
        limits: Limits of an episode: ``max_calls``, ``max_tokens``, ``max_dollars``,
            ``max_seconds``. At a limit the agent submits what is on its desk.
        prompts: A folder with templates that replace the built-in ones of the same names.
        run_limits: The same names, as limits on the new requests of this process. Reaching one
            ends the run with an error, and the same command continues with as much again.

    The other options are those of `Client`.

    Attributes:
        llm: The `ModelSession` of this episode.
        stopped: The limit that ended the episode, ``"refused"`` if the server refused a request,
            or None.
    """

    waits = True
    folder: ClassVar[str] = ""
    templates: ClassVar[Mapping[str, Fields]] = {}
    unrecorded: ClassVar[frozenset[str]] = frozenset(
        {
            "base_url", "mode", "store", "prompts", "timeout", "max_retries", "max_parallel",
            "prices", "run_limits", "api_key_env",
        }
    )  # fmt: skip

    def __init__(
        self,
        seed: int = 0,
        *,
        model: str | None = None,
        model_cutoff: str | None = None,
        model_seed: int | None = 42,
        temperature: float | None = 0,
        max_tokens: int | None = None,
        request: Mapping[str, Any] | None = None,
        limits: Mapping[str, Any] | None = None,
        prompts: str | None = None,
        run_limits: Mapping[str, Any] | None = None,
        base_url: str | None = None,
        mode: str | None = None,
        store: str | None = None,
        timeout: float = 120.0,
        max_retries: int = 5,
        max_parallel: int = 8,
        prices: str | Mapping[str, Any] | None = None,
        api_key_env: str = "OPENAI_API_KEY",
    ) -> None:
        super().__init__(seed)
        if model is None:
            raise DataError(
                "which model? Give the option model (`--agent-option model=NAME`) with its name "
                "as the server calls it; docs/baselines.md."
            )
        if model_cutoff is not None:
            parse_cutoff(model_cutoff)
        options = {
            "model": model, "base_url": base_url, "mode": mode, "store": store,
            "temperature": temperature, "seed": model_seed, "max_tokens": max_tokens,
            "request": request, "timeout": timeout, "max_retries": max_retries,
            "max_parallel": max_parallel, "prices": prices,
            "limits": run_limits, "api_key_env": api_key_env,
        }  # fmt: skip
        try:
            self._client = shared_client(json.dumps(Client.settle(options)))
        except TypeError as error:
            raise DataError(f"the options {clip(options)} are not JSON: {error}.") from None
        self.llm = ModelSession(self._client, limits)
        self.stopped: str | None = None
        self._templates = load_templates(self.templates, self._folder(), prompts)

    def act(self, observation: Observation) -> Action:
        """Return the action of `decide`, or of `conclude` after a limit or a refusal."""
        if self.stopped is None:
            try:
                return self.decide(observation)
            except LimitReachedError as error:
                self.stopped = error.limit
            except RequestRefusedError as error:
                self.stopped = "refused"
                self.llm.failed(str(error), "")
        return self.conclude(observation)

    def decide(self, observation: Observation) -> Action:
        """Return the next action; by default that of `discover`, `select` and `organize`."""
        return super().act(observation)

    def prepare(self) -> None:
        """Check that the model can be asked; see `Client.check`."""
        self._client.check()

    def template(self, name: str) -> Template:
        """Return the template `name`."""
        return self._templates[name]

    def ask(self, template: str, parse: Callable[[str], T], **values: str | int) -> T | Failure:
        """Fill a template, ask the model and return what `parse` reads in the answer; see `ask`."""
        return self.ask_many(template, parse, [values])[0]

    def ask_many(
        self, template: str, parse: Callable[[str], T], many: Iterable[Mapping[str, str | int]]
    ) -> list[T | Failure]:
        """Do as `ask` for each of many values, side by side."""
        return Question(self.template(template), parse).ask(self.llm, many)

    def prompts(self) -> dict[str, str]:
        """Return the templates in use, by name."""
        return {name: template.text for name, template in self._templates.items()}

    def notes(self) -> dict[str, Any]:
        """Return ``llm``: the calls of the episode, see `ModelSession.notes`, and ``stopped``."""
        return {"llm": self.llm.notes() | {"stopped": self.stopped}}

    def _folder(self) -> Path:
        owner = next(kind for kind in type(self).__mro__ if "templates" in vars(kind))
        if not self.templates:
            return Path()
        return Path(inspect.getfile(owner)).parent / "prompts" / self.folder


@functools.lru_cache(maxsize=16)
def shared_client(options: str) -> Client:
    """Return the client with these options, as JSON; the same one each time."""
    return Client(**json.loads(options))
