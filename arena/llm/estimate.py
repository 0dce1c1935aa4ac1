"""What a command would ask of language models, counted without asking them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import regex

from arena.llm.answers import Price, Usage

_TOKEN = regex.compile(r"\p{L}{1,9}|\p{N}{1,3}|[^\s\p{L}\p{N}]+")
_open: list[RequestCount] = []


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text: pieces of 9 letters, of 3 digits, and runs of other signs.

    Beside OpenAI's cl100k_base the mean is 0.92 to 1.10 of the tokens for reports of five sources,
    0.98 for prompts, and 0.85 to 1.18 for single English texts; for other scripts it is too low.

    >>> estimate_tokens("Tokenization of 20,000 words.")
    8
    """
    return len(_TOKEN.findall(text))


class Asked(NamedTuple):
    """New requests to one model.

    Attributes:
        prompt_tokens: Estimate for all prompts.
        most_tokens: Most tokens of all answers, by ``max_tokens``; None without it.
        dollars: Estimated cost of the prompts; None without a known price.
        most_dollars: The same with the longest answers; None if these are unknown.
    """

    model: str
    requests: int
    prompt_tokens: int
    most_tokens: int | None
    dollars: float | None
    most_dollars: float | None


class RequestCount:
    """Requests that were counted in place of being asked, equal ones once."""

    def __init__(self) -> None:
        self._requests: dict[str, tuple[str, Usage, Price | None]] = {}

    def add(self, key: str, body: Mapping[str, Any], price: Price | None) -> None:
        """Count a request."""
        read = [str(each.get("content") or "") for each in body["messages"]]
        read += [str(body[name]) for name in ("tools", "response_format") if name in body]
        longest = body.get("max_tokens", body.get("max_completion_tokens"))
        usage = Usage(sum(map(estimate_tokens, read)), longest)
        self._requests[key] = body["model"], usage, price

    def by_model(self) -> list[Asked]:
        """Return what each model would be asked, in order of the first request."""
        found = []
        for model in dict.fromkeys(model for model, *_ in self._requests.values()):
            rows = [(u, price) for name, u, price in self._requests.values() if name == model]
            longest = [u.completion for u, _ in rows if u.completion is not None]
            cost = [price.of(u._replace(completion=0)) if price else None for u, price in rows]
            most = [price.of(u) if price else None for u, price in rows]
            found.append(
                Asked(
                    model, len(rows), sum(u.prompt or 0 for u, _ in rows),
                    sum(longest) if len(longest) == len(rows) else None, _sum(cost), _sum(most),
                )
            )  # fmt: skip
        return found

    def to_json(self) -> list[dict[str, Any]]:
        """Return the rows of `by_model` as plain dicts."""
        return [each._asdict() for each in self.by_model()]


def _sum(dollars: list[float | None]) -> float | None:
    known = [each for each in dollars if each is not None]
    return sum(known) if len(known) == len(dollars) else None


@contextmanager
def counted_requests() -> Iterator[RequestCount]:
    """Count the new requests of all clients of the process within the block; ask none.

    The caller of a client sees a refused request. Requests that build on such an answer are not
    counted, and answers of the store are used.
    """
    _open.append(RequestCount())
    try:
        yield _open[-1]
    finally:
        _open.pop()


def counting() -> RequestCount | None:
    """Return what counts requests now; None if they are asked."""
    return _open[-1] if _open else None
