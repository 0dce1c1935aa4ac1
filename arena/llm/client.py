"""The one way from an agent to a language model."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from arena.errors import DataError, clip, did_you_mean
from arena.llm._many import StoppedError, do_all
from arena.llm._model import Model
from arena.llm._request import Message, body_of, described, key_of
from arena.llm._retry import AgainError, Gate, backoff
from arena.llm._server import Server
from arena.llm.answers import Completion, from_record, read_answer, to_record
from arena.llm.errors import LLMError, ReplayMissError, RequestRefusedError, SpendingLimitError
from arena.llm.meter import Limits, Meter
from arena.llm.prices import price_of
from arena.llm.store import Store

MODES = ("live", "record", "replay")
MODE_ENV, STORE_ENV = "ARENA_LLM_MODE", "ARENA_LLM_STORE"
STORE = "llm-answers.jsonl"


class Client(Model):
    """A model behind an OpenAI-compatible endpoint; threads may share one.

    Args:
        model: as the server calls it.
        base_url: of the endpoint; by default ``$OPENAI_BASE_URL``, or OpenAI's.
        mode: ``record`` answers from the store what was answered before, and asks and keeps the
            rest; ``replay`` never asks; ``live`` always asks and keeps nothing. By default
            ``$ARENA_LLM_MODE``, or ``record``.
        store: file of answers; by default ``$ARENA_LLM_STORE``, or ``llm-answers.jsonl`` in the
            current directory.
        temperature: None sends none.
        seed: None sends none.
        max_tokens: of an answer; None sends none.
        request: further fields of every request, such as ``{"reasoning_effort": "low"}``.
        timeout: seconds for one attempt, > 0.
        max_retries: attempts after the first, >= 0.
        max_parallel: requests under way at once, >= 1.
        max_per_minute: requests begun in a minute, evenly; None for no bound.
        prices: a YAML file or a table, before the one that comes along; see prices.yaml.
        limits: what may really be asked for through this client; see `Limits`. With requests side
            by side it may be crossed by those under way.
        api_key_env: the environment variable with the key. The key is never kept, shown or pickled.
        sleep: waits for a number of seconds.

    Attributes:
        meter: what was really asked for; answers from the store are not in it.

    Raises:
        DataError: if an argument is out of its range.
        LLMError: if the store cannot be used.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        mode: str | None = None,
        store: str | Path | None = None,
        temperature: float | None = 0,
        seed: int | None = 42,
        max_tokens: int | None = None,
        request: Mapping[str, Any] | None = None,
        timeout: float = 120.0,
        max_retries: int = 5,
        max_parallel: int = 4,
        max_per_minute: float | None = None,
        prices: str | Path | Mapping[str, Any] | None = None,
        limits: Limits | Mapping[str, Any] | None = None,
        api_key_env: str = "OPENAI_API_KEY",
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._given = {name: value for name, value in locals().items() if name != "self"}
        self.model = _text("model", model)
        settled = self.settle({"mode": mode, "store": store})
        self.mode = settled["mode"]
        if self.mode not in MODES:
            raise DataError(f"mode={clip(self.mode)}: {did_you_mean(self.mode, MODES).strip()}")
        for name, value, least, kinds in (
            ("timeout", timeout, 1e-3, (int, float)),
            ("max_retries", max_retries, 0, (int,)),
            ("max_parallel", max_parallel, 1, (int,)),
            ("max_per_minute", max_per_minute, 1e-3, (int, float, type(None))),
        ):
            if type(value) not in kinds or (value is not None and not least <= value < 1e9):
                raise DataError(f"{name}={clip(value)}: give a number >= {least}.")
        self.meter = Meter(limits)
        self._options = {"temperature": temperature, "seed": seed, "max_tokens": max_tokens}
        self._options |= dict(request or {})
        self._retries, self._parallel, self._sleep = max_retries, max_parallel, sleep
        self._gate = Gate(max_parallel, max_per_minute, sleep)
        self._server = Server(base_url, _text("api_key_env", api_key_env), float(timeout))
        self._price = None if self.mode == "replay" else price_of(model, prices)
        self.check_price(self.meter.limits)
        self.store: Store | None = None
        if self.mode != "live":
            self.store = Store(settled["store"], read_only=self.mode == "replay")

    def check(self) -> None:
        """Look whether a first request could be made, without making one.

        Nothing is looked at in replay, and where answers are kept already: they may be all.

        Raises:
            LLMError: if the package or the key is missing.
            DataError: if the address or the key cannot be one.
        """
        if self.mode != "replay" and not self.store:
            self._server.check()

    @staticmethod
    def settle(options: Mapping[str, Any]) -> dict[str, Any]:
        """Return options with `mode` and `store` as the environment and the directory make them."""
        store = options.get("store") or os.environ.get(STORE_ENV) or STORE
        return dict(options) | {
            "mode": options.get("mode") or os.environ.get(MODE_ENV) or "record",
            "store": str(Path(store).absolute()),
        }

    def check_price(self, limits: Limits) -> None:
        """Refuse a limit on dollars that nobody could hold, before anything is spent.

        Raises:
            DataError: if the model has no price.
        """
        if limits.max_dollars is not None and self._price is None and self.mode != "replay":
            raise DataError(
                f"max_dollars cannot be held: no price of {clip(self.model)} is known. Give it "
                "(option `prices`)."
            )

    def answers(self, many: Sequence[Sequence[Message]], **options: Any) -> list[Completion]:
        """Return the answers to requests in their order; see `Model`.

        Where answers are kept, requests that are equal are asked once.

        Raises:
            LLMError: if one could not be answered: the first of those in order. No more are begun
                then, and the answers that came are kept.
        """
        if "model" in options:
            raise DataError("a client asks one model; make another one for another model.")
        bodies = [
            body_of(messages, {**self._options, "model": self.model, **options})
            for messages in many
        ]
        keys = [key_of(body) for body in bodies]
        if self.store is None:
            return do_all(
                [_call(self._ask, *pair) for pair in zip(bodies, keys, strict=True)],
                self._parallel,
            )
        found: dict[str, Completion] = {}
        missing: dict[str, dict[str, Any]] = {}
        for key, body in zip(keys, bodies, strict=True):
            record = None if key in found else self.store.get(key)
            if record is not None:
                found[key] = from_record(record)
            elif key not in found:
                missing.setdefault(key, body)
        if missing and self.mode == "replay":
            raise self._miss(next(iter(missing.values())))
        asked = do_all(
            [_call(self._ask, body, key) for key, body in missing.items()], self._parallel
        )
        found |= dict(zip(missing, asked, strict=True))
        return [found[key] for key in keys]

    def _ask(self, body: dict[str, Any], key: str, stopped: threading.Event) -> Completion:
        """Ask the server until it answers; keep the answer."""
        if (limit := self.meter.reached()) is not None:
            raise SpendingLimitError(
                f"the limit {limit}={getattr(self.meter.limits, limit)} of all requests of this "
                "process is reached. What was answered is kept."
            )
        with self._gate.place():
            started = time.monotonic()
            try:
                answer = self._answer(body, key, stopped)
            except RequestRefusedError as error:
                answer = Completion(key, "", refused=str(error))
            if not answer.refused and self._price is not None:
                answer = answer._replace(cost=self._price.of(answer.usage))
            answer = answer._replace(seconds=round(time.monotonic() - started, 3))
            record = to_record(answer, self.model)
            kept = record if self.store is None else self.store.put(record)
        answer = from_record(record)._replace(cached=False)
        self.meter.charge(answer)
        return answer if kept is record else from_record(kept)

    def _answer(self, body: dict[str, Any], key: str, stopped: threading.Event) -> Completion:
        for attempt in range(self._retries + 1):
            self._gate.wait()
            if stopped.is_set():
                raise StoppedError
            try:
                text = self._server.post(body)
                return read_answer(text, key, self._server.without_key(text))
            except AgainError as error:
                reason, asked = str(error), error.pause
            if attempt < self._retries:
                pause = backoff(key, attempt) if asked is None else asked
                self._gate.pause(pause, everyone=asked is not None)
        raise LLMError(
            f"{reason} ({self._retries + 1} attempts at request {described(body)}). What was "
            "answered before is kept."
        )

    def _miss(self, body: dict[str, Any]) -> ReplayMissError:
        assert self.store is not None
        if not self.store.path.exists():  # told now, since a run that asks nothing writes none
            return ReplayMissError(
                f"there is no file of answers {str(self.store.path)!r} to replay. Name the one "
                "that was recorded as `store`, or use mode='record' to make one."
            )
        others = sorted(self.store.models - {self.model})
        of = "" if self.model in self.store.models else f", all of other models: {clip(others)}"
        return ReplayMissError(
            f"replay: no answer is kept to the request {described(body)} in "
            f"{str(self.store.path)!r} ({len(self.store)} answers{of}). Model, prompts, options or "
            "corpus are not those of the recording, or it ended early; mode='record' asks for it."
        )

    def __repr__(self) -> str:
        return f"Client({self.model!r}, mode={self.mode!r})"

    def __getstate__(self) -> dict[str, Any]:
        return self._given

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]


def _call(
    ask: Callable[[dict[str, Any], str, threading.Event], Completion],
    body: dict[str, Any],
    key: str,
) -> Callable[[threading.Event], Completion]:
    return lambda stopped: ask(body, key, stopped)


def _text(name: str, value: object) -> str:
    if not isinstance(value, str) or not value:
        raise DataError(f"{name}={clip(value)}: give a name.")
    return value
