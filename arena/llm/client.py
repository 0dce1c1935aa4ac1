"""The one way from an agent to a language model."""

from __future__ import annotations

import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextvars import copy_context
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from annotated_types import Ge, MinLen

from arena.errors import DataError, clip, did_you_mean
from arena.kit.lazy import once, require
from arena.kit.options import check_names, check_options, checked, parameters_of
from arena.llm.answers import (
    Completion,
    Limits,
    Message,
    Meter,
    ReplayMissError,
    RequestRefusedError,
    SpendingLimitError,
    body_of,
    describe_request,
    from_record,
    key_of,
    price_of,
)
from arena.llm.estimate import counting
from arena.llm.store import Store
from arena.monitoring import span, text_of, texts
from arena.text.display import count

if TYPE_CHECKING:
    from arena.llm.server import Server

MODES = ("live", "record", "replay")
MODE_ENV, STORE_ENV = "ARENA_LLM_MODE", "ARENA_LLM_STORE"
STORE = "llm-answers.db"


class Model(ABC):
    """Anything that answers requests: a `Client`, or the `ModelSession` of an episode."""

    @abstractmethod
    def answers(self, many: Sequence[Sequence[Message]], **options: Any) -> list[Completion]:
        """Return the answers to requests in their order, refusals included.

        Args:
            many: The messages of each request.
            options: Fields of all requests, as the protocol calls them: ``tools``,
                ``response_format``, ``stop``, ...; None removes one that the client has.
        """

    def complete(self, messages: Sequence[Message], **options: Any) -> Completion:
        """Return the answer to a conversation; for ``tools`` see `arena.tool_schemas`.

        Raises:
            RequestRefusedError: if the server refuses this request.
            LimitReachedError: if a limit of the episode is reached.
            LLMError: if the model could not be asked.
        """
        return self.complete_many([messages], **options)[0]

    def complete_many(self, many: Sequence[Sequence[Message]], **options: Any) -> list[Completion]:
        """Return the answers to several requests, asked side by side; errors as in `complete`."""
        completions = self.answers(many, **options)
        for completion in completions:
            if completion.refused:
                raise RequestRefusedError(completion.refused)
        return completions

    def failed(self, reason: str, key: str) -> None:  # noqa: B027 - a client keeps none
        """Note a step that failed; see `ask`."""

    def note(self, answer: Completion, step: str, why: str = "") -> None:  # noqa: B027
        """Note at which step an answer was asked for, and `why` it could not be read, if so."""


class Client(Model):
    """A model behind an OpenAI-compatible endpoint; threads may share one.

    Args:
        model: Name of the model at the server.
        base_url: Address of the endpoint; by default ``$OPENAI_BASE_URL``, or OpenAI's.
        mode: ``record`` takes known answers from the store, asks for the others and keeps them;
            ``replay`` never asks; ``live`` always asks and keeps nothing. By default
            ``$ARENA_LLM_MODE``, or ``record``.
        store: File of answers; by default ``$ARENA_LLM_STORE``, or ``llm-answers.db`` in the
            current directory.
        temperature: Temperature; None sends none.
        seed: Seed; None sends none.
        max_tokens: Longest answer; None sends none.
        request: Further fields of every request, such as ``{"reasoning_effort": "low"}``.
        timeout: Seconds for one attempt, > 0.
        max_retries: Attempts after the first, >= 0.
        max_parallel: Requests under way at once, >= 1.
        prices: A YAML file or a table that precedes the built-in one; see prices.yaml.
        limits: Limits on new requests through this client; see `Limits`. Requests that are
            already under way may cross one.
        api_key_env: Environment variable with the key. The key is never kept or shown.

    Attributes:
        meter: Sums over new requests, without answers from the store.
    """

    @checked
    def __init__(
        self,
        model: Annotated[str, MinLen(1)],
        *,
        base_url: str | None = None,
        mode: str | None = None,
        store: str | Path | None = None,
        temperature: float | None = 0,
        seed: int | None = 42,
        max_tokens: int | None = None,
        request: Mapping[str, Any] | None = None,
        timeout: Annotated[float, Ge(1e-3)] = 120.0,
        max_retries: Annotated[int, Ge(0)] = 5,
        max_parallel: Annotated[int, Ge(1)] = 8,
        prices: str | Path | Mapping[str, Any] | None = None,
        limits: Limits | Mapping[str, Any] | None = None,
        api_key_env: Annotated[str, MinLen(1)] = "OPENAI_API_KEY",
    ) -> None:
        settled = self.settle({"mode": mode, "store": store})
        self.model, self.mode = model, settled["mode"]
        if self.mode not in MODES:
            raise DataError(f"mode={clip(self.mode)}.{did_you_mean(self.mode, MODES)}")
        self.meter = Meter(limits)
        self._options = {"temperature": temperature, "seed": seed, "max_tokens": max_tokens}
        self._options |= dict(request or {})
        self._endpoint = base_url, api_key_env, float(timeout), max_retries
        self._parallel = max_parallel
        self._unkept: dict[str, Any] = {}  # what is paid, and not yet in the store
        self._proven = False  # whether the endpoint has answered a request with these options
        self._places = threading.BoundedSemaphore(max_parallel)
        self._price = price_of(model, prices)
        self.check_price(self.meter.limits)
        self.store: Store | None = None
        if self.mode != "live":
            self.store = Store(settled["store"], read_only=self.mode == "replay")

    @classmethod
    def from_options(cls, options: Mapping[str, Any], option: str) -> Client:
        """Return a client, checked, with the options that a command line calls `option`."""
        owner = "client of a language model"
        check_names(owner, options, parameters_of(cls))
        if "model" not in options:
            raise DataError(f"which model? Give `{option} model=NAME`, as the server calls it.")
        client = cls(**check_options(owner, cls, options))
        client.check()
        return client

    @property
    def fields(self) -> dict[str, Any]:
        """The fields of every request, the model's name among them."""
        fields = {"model": self.model, **self._options}
        return {name: value for name, value in fields.items() if value is not None}

    @staticmethod
    def settle(options: Mapping[str, Any]) -> dict[str, Any]:
        """Return options with `mode` and `store` as the environment sets them."""
        store = options.get("store") or os.environ.get(STORE_ENV) or STORE
        return dict(options) | {
            "mode": options.get("mode") or os.environ.get(MODE_ENV) or "record",
            "store": str(Path(store).absolute()),
        }

    def check(self) -> None:
        """Check that a first request could be made, without making one.

        A replay needs no check, and where the store has answers they may suffice.
        """
        answered = self.store is not None and len(self.store)
        if not (answered or counting or self.mode == "replay"):
            self._server  # noqa: B018 - it checks the key and the address

    @once
    def _server(self) -> Server:
        require("asking a language model", "openai")
        from arena.llm.server import Server  # it imports openai, which takes a second

        return Server(*self._endpoint)

    def check_price(self, limits: Limits) -> None:
        """Refuse a limit on dollars that cannot be kept, before anything is spent."""
        if limits.max_dollars is not None and self._price is None and self.mode != "replay":
            raise DataError(
                f"max_dollars cannot be kept: no price of {clip(self.model)} is known. Give it "
                "(option `prices`)."
            )

    def answers(self, many: Sequence[Sequence[Message]], **options: Any) -> list[Completion]:
        """Return the answers to requests in their order; see `Model`.

        Where answers are kept, equal requests are asked once. If one cannot be answered, the error
        is that of the first in order; no more are begun then, and answers that arrived are kept.
        """
        if "model" in options:
            raise DataError("a client asks one model; make another one for another model.")
        fields = {**self._options, "model": self.model, **options}
        bodies = [body_of(messages, fields) for messages in many]
        requests = [(key_of(body), body) for body in bodies]
        if self.store is None:
            return self._ask_all(requests)
        records = {key: self.store.get(key) for key in dict(requests)}
        answers = {key: self._kept_answer(record) for key, record in records.items() if record}
        self._proven = self._proven or bool(answers)
        missing = {key: body for key, body in requests if key not in answers}
        if missing and self.mode == "replay":
            raise self._miss(next(iter(missing.values())))
        answers |= dict(zip(missing, self._ask_all(list(missing.items())), strict=True))
        return [answers[key] for key, _ in requests]

    def _kept_answer(self, record: Mapping[str, Any]) -> Completion:
        """Return an answer of the store, which may have been kept before its price was known."""
        answer = from_record(record)
        if answer.cost is None and self._price is not None:
            return answer._replace(cost=self._price.cost(answer.usage))
        return answer

    def _ask_all(self, requests: Sequence[tuple[str, dict[str, Any]]]) -> list[Completion]:
        """Ask side by side; raise the first failure in order, after which none is begun."""
        if counting:
            return [counting[-1](key, body, self._price) for key, body in requests]
        if requests and self.store is not None and not self._proven:
            self.store.check()  # before an answer is paid that cannot be kept
        if len(requests) < 2:
            return [self._ask(request) for request in requests]
        # Its threads are daemons: those of an executor would keep a stopped process waiting.
        with ThreadPool(min(self._parallel, len(requests))) as pool:
            # Each in a copy of this context, which has the span of an episode.
            each = [(copy_context(), request) for request in requests]
            return list(pool.imap(lambda pair: pair[0].run(self._ask, pair[1]), each))

    def _ask(self, request: tuple[str, dict[str, Any]]) -> Completion:
        """Ask the server until it answers; keep the answer."""
        key, body = request
        if (limit := self.meter.limit_exceeded()) is not None:
            raise SpendingLimitError(
                f"the limit {limit}={getattr(self.meter.limits, limit)} of all requests of this "
                "process is reached. Earlier answers are kept."
            )
        with self._places:
            self._keep_paid()
            started = time.monotonic()
            with span(f"chat {self.model}", _of_request(body), "CLIENT") as add:
                try:
                    answer = self._server.answer(key, body, self._proven)
                    self._proven = True
                    if self._price is not None:
                        answer = answer._replace(cost=self._price.cost(answer.usage))
                except RequestRefusedError as error:
                    answer = Completion(key, "", refused=str(error))
                add(_of_answer(answer))
            answer = answer._replace(seconds=round(time.monotonic() - started, 3))
            record = answer.record(self.model)
            kept = record
            if self.store is not None:
                self._unkept[key] = record, body["messages"]
                kept = self.store.put(*self._unkept[key])
                self._unkept.pop(key, None)
        answer = from_record(record)._replace(cached=False)
        self.meter.charge(answer)
        return answer if kept == record else from_record(kept)

    def _keep_paid(self) -> None:
        """Keep answers that the store refused, as on a full disk, before another one is paid."""
        if self.store is not None:
            for key, paid in [*self._unkept.items()]:
                self.store.put(*paid)
                self._unkept.pop(key, None)

    def _miss(self, body: dict[str, Any]) -> ReplayMissError:
        assert self.store is not None
        where = repr(str(self.store.path))
        if not self.store.path.exists():  # only now, since a run that asks nothing writes none
            return ReplayMissError(
                f"there is no file of answers {where} to replay. Name the recorded one as `store`, "
                "or use mode='record' to make one."
            )
        models = sorted(self.store.models)
        of = "" if self.model in models else f", all of other models: {clip(models)}"
        return ReplayMissError(
            f"replay: no answer is kept to the request {describe_request(body)} in {where} "
            f"({count(len(self.store), 'answer')}{of}). Model, prompts, options or "
            "corpus are not those of "
            "the recording, or it ended early; mode='record' asks for it."
        )

    def __repr__(self) -> str:
        return f"Client({self.model!r}, mode={self.mode!r})"


def _of_request(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of a request's span; the messages only where texts are asked for."""
    about = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai"}
    about["gen_ai.request.model"] = body["model"]
    if texts():
        about["gen_ai.input.messages"] = text_of(body["messages"])
    return about


def _of_answer(answer: Completion) -> dict[str, Any]:
    """Return the attributes that an answer adds to the span of its request."""
    about = {
        "gen_ai.usage.input_tokens": answer.usage.prompt,
        "gen_ai.usage.output_tokens": answer.usage.completion,
        "error.type": "refused" if answer.refused else None,
    }
    if texts():
        about["gen_ai.output.messages"] = text_of([answer.message])
    return {name: value for name, value in about.items() if value is not None}
