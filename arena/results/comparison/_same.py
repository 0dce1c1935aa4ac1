"""Whether runs may be compared at all, and in what else they differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from arena.errors import DataError, clip

_SHORT = 12
_FOLLOWS = {"corpus": ("task set", "surveys"), "task": ("metrics", "encoder")}


def refuse_different(runs: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]]) -> None:
    """Refuse runs that did not play the same.

    Args:
        runs: name -> (manifest, metrics).

    Raises:
        DataError: if one differs from the first in corpus, task set, task, surveys, metrics, or
            the encoder that they compare headings by; the message has both values.
    """
    (first, (manifest, metrics)), *others = runs.items()
    for name, (other_manifest, other_metrics) in others:
        pairs = zip(
            _identity(manifest, metrics), _identity(other_manifest, other_metrics), strict=True
        )
        differing = {what: (mine, theirs) for (what, mine), (_, theirs) in pairs if mine != theirs}
        for cause, effects in _FOLLOWS.items():
            if cause in differing:
                differing = {k: v for k, v in differing.items() if k not in effects}
        told = [f"{what} ({_values(*values)})" for what, values in differing.items()]
        if told:
            raise DataError(
                f"{name!r} cannot be compared with {first!r}: they differ in {'; '.join(told)}. "
                "Leave one of them out, or run it again like the other."
            )


def notes_on(runs: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]]) -> Iterator[str]:
    """Yield a sentence on each thing that differs and may: code, release, budget, seed, reward."""
    manifests = {name: manifest for name, (manifest, _) in runs.items()}
    for told, take in _TOLD.items():
        groups: dict[str, list[str]] = {}
        for name, manifest in manifests.items():
            groups.setdefault(take(manifest), []).append(name)
        if len(groups) > 1:
            parts = [f"{value} ({'; '.join(names)})" for value, names in groups.items()]
            yield f"The runs differ in {told}: {', '.join(parts)}."


def _identity(manifest: Mapping[str, Any], metrics: Mapping[str, Any]) -> list[tuple[str, Any]]:
    hashes = manifest["sha256"]
    return [
        ("task", manifest["task"]),
        ("corpus", str(hashes.get("corpus"))),
        ("task set", str(hashes.get("tasks"))),
        ("surveys", sorted(map(str, manifest["surveys"]))),
        ("metrics", list(metrics["mean"])),
        ("encoder", manifest.get("encoder")),
    ]


def _values(mine: Any, theirs: Any) -> str:
    """Return both values; of lists what only one of them has."""
    if isinstance(mine, list):
        parts = []
        for whose, only in (
            ("the first", [x for x in mine if x not in set(theirs)]),
            ("the other", [x for x in theirs if x not in set(mine)]),
        ):
            shown = ", ".join(only[:3]) + (f" and {len(only) - 3} more" if len(only) > 3 else "")
            parts += [f"only {whose} has {shown}"] if only else []
        told = "; ".join(parts) or "in another order"
        return f"{len(mine)} and {len(theirs)}, {told}"
    return f"{_short(mine)} and {_short(theirs)}"


def _short(value: Any) -> str:
    if isinstance(value, Mapping):
        name = value.get("encoder")
        model = (
            value.get("config", {}).get("model") if isinstance(value.get("config"), dict) else ""
        )
        return clip(f"{name} {model}")
    is_hash = isinstance(value, str) and len(value) == 64
    return repr(value[:_SHORT] + "...") if is_hash else clip(value)


def _budget(manifest: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value:,}" for name, value in sorted(manifest["budget"].items()))


def _given(manifest: Mapping[str, Any]) -> str:
    options = manifest["environment"]
    return f"{options.get('references')}, {_short_found(options.get('found'))}"


def _short_found(found: Any) -> str:
    return str(found.get("sha256"))[:_SHORT] if isinstance(found, Mapping) else "no run"


_TOLD = {
    # Without the agent's own, which differs where that lies in a file of the user's.
    "the code of environment and scores": lambda m: str(m["sha256"].get("environment"))[:_SHORT],
    "release": lambda m: m["arena"],
    "budget": _budget,
    "seed": lambda m: str(m["seed"]),
    "reward": lambda m: str(m["environment"].get("reward")),
    "the papers given at the beginning": _given,
}
