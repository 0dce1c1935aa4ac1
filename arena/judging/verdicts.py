"""What models decide about one statement: evidence and verdict, or votes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from arena.judging.passages import Passage
from arena.llm import Failed, ParseError, as_json, unfenced, without_thoughts
from arena.llm.client import Model
from arena.text import tokenize

NOT_FOUND = "NOT_FOUND"
TEMPERATURE = 1.0
"""Temperature of votes, which would be equal at 0."""

Ask = Callable[..., list[Any]]
"""Name of a template, its values for each request, reader of an answer, options -> answers."""


def compare(pairs: Sequence[tuple[str, Passage | None]], ask: Ask) -> list[dict[str, Any]]:
    """Let a model compare statements with passages of the papers that they cite.

    The model quotes the evidence (A.2.3 of ReportBench), then decides on the quotation alone
    whether it supports the statement (A.2.4).

    Args:
        pairs: A statement, and the passage or None where there is none, of which nothing is asked.
        ask: Asks with the templates ``evidence`` and ``verdict``.

    Returns:
        For each ``outcome``: ``match``, ``mismatch``, ``not_found`` (no evidence), ``unreachable``
        (no passage) or ``failed`` (no readable answer); and as far as it comes ``passage``,
        ``evidence``, ``verbatim`` (whether the passage holds it word for word) and ``reason``.
    """
    rows: list[dict[str, Any]] = [{"outcome": "unreachable"} for _ in pairs]
    read = [(row, *pair) for row, pair in zip(rows, pairs, strict=True) if pair[1]]
    many = [{"statement": text, "title": p.title, "passage": p.text} for _, text, p in read if p]
    found = []
    quotations = ask("evidence", many, _read_evidence)
    for (row, statement, passage), evidence in zip(read, quotations, strict=True):
        assert passage is not None
        row["passage"] = passage._asdict()
        if isinstance(evidence, Failed):
            row |= {"outcome": "failed", "reason": evidence.reason}
        elif evidence == NOT_FOUND:
            row["outcome"] = "not_found"
        else:
            row |= {"evidence": evidence, "verbatim": _plain(evidence) in _plain(passage.text)}
            found.append((row, {"statement": statement, "evidence": evidence}))
    many = [values for _, values in found]
    verdicts = ask("verdict", many, lambda text: _read(text, "match", _BOOLEANS))
    for (row, _), verdict in zip(found, verdicts, strict=True):
        if isinstance(verdict, Failed):
            row |= {"outcome": "failed", "reason": verdict.reason}
        else:
            row |= {"outcome": "match" if verdict[0] else "mismatch", "reason": verdict[1]}
    return rows


def vote(
    claims: Sequence[Mapping[str, str]], ask: Ask, voters: Mapping[str, Model], votes: int
) -> list[dict[str, Any]]:
    """Let models vote on statements (A.2.5 and section 3.1 of ReportBench).

    Args:
        claims: Values of the template ``vote`` for each statement.
        ask: Asks with that template.
        voters: Name -> model.
        votes: Votes of each model. Vote `i` from 1 has the seed `i`, so that each is a request of
            its own, and the temperature `TEMPERATURE`.

    Returns:
        For each ``outcome``: ``true`` or ``false`` by majority of the votes for and against,
        ``tie``, or ``failed`` if no vote can be read; ``confidence``: the share of the readable
        votes that say the same, None without a majority; ``official``: the outcome if every vote
        that is not for it is against it; ``votes``, each with ``model``, and ``decision`` (true,
        false or "unsure") and ``reason``, or else ``failed``.
    """
    cast: list[list[dict[str, Any]]] = [[] for _ in claims]
    for name, model in voters.items():
        for seed in range(1, votes + 1):
            sampling = {"model": model, "seed": seed, "temperature": TEMPERATURE}
            answers = ask(
                "vote", claims, lambda text: _read(text, "decision", _DECISIONS), **sampling
            )
            for row, answer in zip(cast, answers, strict=True):
                if isinstance(answer, Failed):
                    row.append({"model": name, "failed": answer.reason})
                else:
                    row.append({"model": name, "decision": answer[0], "reason": answer[1]})
    return [_count(row) for row in cast]


def _count(votes: list[dict[str, Any]]) -> dict[str, Any]:
    said = Counter(str(vote["decision"]).lower() for vote in votes if "decision" in vote)
    outcome = _majority(said["true"], said["false"])
    return {
        "outcome": outcome if said else "failed",
        "confidence": None if outcome == "tie" else said[outcome] / said.total(),
        "official": _majority(said["true"], len(votes) - said["true"]),
        "votes": votes,
    }


def _majority(votes_for: int, votes_against: int) -> str:
    if votes_for == votes_against:
        return "tie"
    return "true" if votes_for > votes_against else "false"


_BOOLEANS: dict[str, Any] = {"true": True, "false": False}
_DECISIONS = _BOOLEANS | {"unsure": "unsure"}


def _read_evidence(text: str) -> str:
    found = unfenced(without_thoughts(text)).strip('"“” \n')
    if not found:
        raise ParseError(f"It is empty. Quote the passage, or answer {NOT_FOUND}.")
    return NOT_FOUND if NOT_FOUND in found.upper().replace(" ", "_") else found


def _read(text: str, key: str, known: Mapping[str, Any]) -> tuple[Any, str]:
    found = as_json(text)
    value = str(found.get(key)).strip().lower() if isinstance(found, dict) else ""
    if value not in known:
        raise ParseError(f'It is no JSON object whose "{key}" is {" or ".join(known)}.')
    return known[value], " ".join(str(found.get("reason", "")).split())


def _plain(text: str) -> str:
    return f" {' '.join(tokenize(text))} "
