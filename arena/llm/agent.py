"""The base of agents that ask a language model."""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from arena.agents import Action, Observation, Researcher
from arena.errors import DataError, clip
from arena.llm.asking import Failed, ask, ask_many
from arena.llm.client import Client
from arena.llm.errors import LimitReachedError, RequestRefusedError
from arena.llm.prompts import Fields, Template, load_templates
from arena.llm.session import Session

T = TypeVar("T")


class LLMAgent(Researcher):
    """A researcher with a model; write `discover` and `organize`, or `decide` in their place.

    A subclass names its templates, which lie in ``prompts/<folder>/`` beside its file::

        class Mine(LLMAgent):
            folder = "mine"
            templates = {"query": Fields(required=("topic",), optional=("cutoff",))}

            def discover(self, desk):
                query = self.ask("query", str.strip, topic=desk.topic)
                hits = yield from desk.search(query or desk.topic)
                desk.ranking = [hit.id for hit in hits]

    All agents of a process that are given the same options share one client: its connections, its
    store, its pauses and its `run_limits`.

    Args:
        seed: of the episode.
        model: as the server calls it; it must be given.
        model_seed: sent with every request.
        limits: of an episode: ``max_calls``, ``max_tokens``, ``max_dollars``, ``max_seconds``; at
            one of them the agent hands in what lies on the desk.
        prompts: a folder with templates of your own, which go before those that come along.
        run_limits: the same names, of what this process really asks for; one that is reached ends
            the run with an error, and the same command goes on with as much again.
        base_url, mode, store, temperature, max_tokens, request, timeout, max_retries, max_parallel,
            max_per_minute, prices, api_key_env: see `Client`.

    Attributes:
        llm: the model, as this episode may use it.
        stopped: the limit that ended the episode, ``"refused"`` if the server would not answer, or
            None.

    Raises:
        ArenaError: if an option, a template or the store cannot be used.
    """

    folder: ClassVar[str] = ""
    templates: ClassVar[Mapping[str, Fields]] = {}
    unrecorded: ClassVar[frozenset[str]] = frozenset(
        {
            "base_url", "mode", "store", "prompts", "timeout", "max_retries", "max_parallel",
            "max_per_minute", "prices", "run_limits", "api_key_env",
        }
    )  # fmt: skip

    def __init__(
        self,
        seed: int = 0,
        *,
        model: str | None = None,
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
        max_parallel: int = 4,
        max_per_minute: float | None = None,
        prices: str | Mapping[str, Any] | None = None,
        api_key_env: str = "OPENAI_API_KEY",
    ) -> None:
        super().__init__(seed)
        if model is None:
            raise DataError(
                "which model? Give the option model (`--agent-option model=NAME`) with its name "
                "as the server calls it; docs/baselines.md."
            )
        self._client = shared_client(
            model=model, seed=model_seed, temperature=temperature, max_tokens=max_tokens,
            request=request, limits=run_limits, base_url=base_url, mode=mode, store=store,
            timeout=timeout, max_retries=max_retries, max_parallel=max_parallel,
            max_per_minute=max_per_minute, prices=prices, api_key_env=api_key_env,
        )  # fmt: skip
        self.llm = Session(self._client, limits)
        self.stopped: str | None = None
        self._templates = load_templates(self.templates, self._folder(), prompts)

    def act(self, observation: Observation) -> Action:
        """Return what `decide` says, or `conclude` once the model may not be asked any more."""
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
        """Return the next action; it may ask the model. By default `discover` and so on act."""
        return super().act(observation)

    def prepare(self) -> None:
        """Look whether the model could be asked; see `Client.check`."""
        self._client.check()

    def template(self, name: str) -> Template:
        """Return the template `name`."""
        return self._templates[name]

    def ask(self, template: str, parse: Callable[[str], T], **values: str | int) -> T | Failed:
        """Fill a template, ask the model and return what `parse` reads in the answer; see `ask`."""
        return ask(self.llm, self.template(template).messages(**values), parse)

    def ask_many(
        self,
        template: str,
        parse: Callable[[str], T],
        many: Iterable[Mapping[str, str | int]],
    ) -> list[T | Failed]:
        """As `ask` for each of many values, side by side."""
        messages = [self.template(template).messages(**values) for values in many]
        return ask_many(self.llm, messages, parse)

    def prompts(self) -> dict[str, str]:
        """Return the templates in use, by name."""
        return {name: template.text for name, template in self._templates.items()}

    def notes(self) -> dict[str, Any]:
        """Return ``llm``: the calls of the episode, see `Session.notes`, and ``stopped``."""
        return {"llm": self.llm.notes() | {"stopped": self.stopped}}

    def _folder(self) -> Path:
        owner = next(kind for kind in type(self).__mro__ if "templates" in vars(kind))
        try:
            return Path(inspect.getfile(owner)).parent / "prompts" / self.folder
        except (OSError, TypeError):
            if self.templates:
                raise DataError(
                    f"{owner.__name__} has templates but no file beside which they could lie."
                ) from None
            return Path()


def shared_client(**options: Any) -> Client:
    """Return the client with these options, the same one each time."""
    try:
        return _client(json.dumps(Client.settle(options)))
    except TypeError as error:
        raise DataError(
            f"the options {clip(options)} are not what JSON can hold: {error}."
        ) from None


@functools.lru_cache(maxsize=16)
def _client(options: str) -> Client:
    return Client(**json.loads(options))
