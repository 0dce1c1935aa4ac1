"""A configuration as it was given, each part of it with the line it stands in."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from arena.errors import DataError, clip, has_many_parts

Place = tuple[Any, ...]
"""The keys and positions that lead to a part of a configuration."""

_MANY = 20_000
_MERGE = "tag:yaml.org,2002:merge"


class Source(NamedTuple):
    """What a configuration says.

    Attributes:
        data: the mapping at its root; keys are strings.
        name: what messages call it.
        lines: place -> number of a line; empty for a configuration that is no file.
        folder: where it lies; files that it names are looked for there.
    """

    data: dict[str, Any]
    name: str
    lines: Mapping[Place, int]
    folder: Path

    def where(self, place: Place) -> str:
        """Return file, line and keys for a message."""
        keys = ".".join(map(str, place))
        above = (place[:length] for length in range(len(place), 0, -1))
        line = next((self.lines[part] for part in above if part in self.lines), None)
        return f"{self.name}{f' line {line}' if line else ''}{f', {keys}' if keys else ''}"

    def changed(self, changes: Mapping[Place, Any]) -> Source:
        """Return a configuration with other values.

        Args:
            changes: place -> value; mappings on the way are made where there are none.

        Raises:
            DataError: if a place leads through something that is no mapping.
        """
        data, lines = copy.deepcopy(self.data), dict(self.lines)
        for place, value in changes.items():
            inside: Any = data
            for number, key in enumerate(place[:-1]):
                if inside.get(key) is None:
                    inside[key] = {}
                elif not isinstance(inside[key], dict):
                    raise DataError(
                        f"{'.'.join(place)} cannot be set: {'.'.join(place[: number + 1])} is "
                        f"{clip(inside[key])}, which has no keys."
                    )
                inside = inside[key]
            inside[place[-1]] = value
            for old in [old for old in lines if old[: len(place)] == place]:
                del lines[old]  # what stands there is not what counts
        return self._replace(data=data, lines=lines)


def read_source(
    config: str | Path | Mapping[str, Any],
    what: str = "experiment",
    page: str = "docs/experiments.md",
) -> Source:
    """Read a YAML file, or take a mapping as if it stood in one.

    Args:
        config: the file or the mapping.
        what: it describes, for messages.
        page: of the documentation that says what may stand in it.

    Raises:
        DataError: if there is no such file, it is no YAML, holds no mapping, or a mapping in it
            has a key twice.
    """
    if isinstance(config, Mapping):
        if has_many_parts(config, _MANY):
            raise DataError("the configuration is too long, or holds itself.")
        return Source(_copy(config), "the configuration", {}, Path())
    if not isinstance(config, str | Path):
        raise DataError(f"config={clip(config)}: give a YAML file, or a mapping like one.")
    import yaml

    path = Path(config)
    try:
        root = yaml.compose(path.read_text(encoding="utf-8"), yaml.SafeLoader)
        reader = _Reader(str(path))
        data = None if root is None else reader.value(root, ())
    except FileNotFoundError:
        raise DataError(f"{str(path)!r} does not exist. Name a YAML file.") from None
    except RecursionError:
        raise DataError(
            f"{str(path)!r} is nested too deep, or a part of it holds itself."
        ) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        told = clip(" ".join(str(error).split()), 200)
        raise DataError(f"{str(path)!r} is no YAML: {told}") from None
    if not isinstance(data, dict):
        raise DataError(f"{str(path)!r} holds no {what}. See {page}.")
    return Source(data, repr(str(path)), reader.lines, path.parent)


class _Reader:
    """Makes values of YAML nodes. Keys stay the text that they are: ``No`` is no boolean."""

    def __init__(self, name: str) -> None:
        self.lines: dict[Place, int] = {}
        self._name = name
        self._parts = 0

    def value(self, node: Any, place: Place) -> Any:
        import yaml

        self._parts += 1
        if self._parts > _MANY:  # ten of ten of ten, say
            raise DataError(f"{self._name!r} is too long: it has more than {_MANY} parts.")
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, place)
        if isinstance(node, yaml.SequenceNode):
            return [self._part(part, (*place, n), part) for n, part in enumerate(node.value)]
        try:
            value = yaml.SafeLoader("").construct_object(node)
        except (ValueError, KeyError):  # a date that no calendar has, `!!bool maybe`
            return node.value
        # What YAML takes for a date, or for bytes, is the text that stands there.
        return value if isinstance(value, str | int | float | None) else node.value

    def _mapping(self, node: Any, place: Place) -> dict[str, Any]:
        own: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for key, part in node.value:
            line = key.start_mark.line + 1
            if key.tag == _MERGE:
                parts = part.value if part.id == "sequence" else [part]
                for found in (self.value(one, place) for one in parts):
                    if not isinstance(found, dict):
                        raise DataError(
                            f"{self._name!r} line {line}: only a mapping can be merged."
                        )
                    merged = found | merged
                continue
            if not isinstance(key.value, str):
                raise DataError(f"{self._name!r} line {line}: a key must be a text.")
            # YAML lets the last one win, and nobody would see that the first one does nothing.
            if key.value in own:
                raise DataError(
                    f"{self._name!r} line {line}: {clip(key.value)} stands there twice."
                )
            own[key.value] = self._part(part, (*place, key.value), key)
        return merged | own

    def _part(self, node: Any, place: Place, begins: Any) -> Any:
        self.lines[place] = begins.start_mark.line + 1
        return self.value(node, place)


def _copy(value: Any) -> Any:
    """Return a copy without parts in common, whose keys are strings."""
    if isinstance(value, Mapping):
        return {str(key): _copy(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_copy(part) for part in value]
    return value
