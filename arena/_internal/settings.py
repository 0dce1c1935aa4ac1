"""Settings in YAML: every key with its line, checked by a pydantic model, refused in one line.

Subclass `Settings` for the form of a file, read the file with `read_source`, and check it with
`Source.check`. Importing this module imports pydantic; modules of the core import it lazily.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, NamedTuple, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError

from arena.errors import DataError, clip, did_you_mean

Place = tuple[Any, ...]
"""The keys and positions that lead to a part of a configuration."""

_SHIPPED = Path(__file__).parent.parent / "configs"
_MERGE = "tag:yaml.org,2002:merge"
_MAPPING = "`name: value`, one a line"
_EXPECTED = {
    "int_type": "an integer",
    "bool_type": "true or false",
    "float_type": "a number",
    "list_type": "a list",
    "tuple_type": "a list",
    "string_type": "a text",
    "dict_type": _MAPPING,
    "greater_than_equal": "a number >= {ge:g}",
    "less_than_equal": "a number <= {le:g}",
    "literal_error": "{expected}",
    "too_short": "at least one entry",
}
_Model = TypeVar("_Model", bound="Settings")


def refusal(why: str, *place: Any) -> PydanticCustomError:
    """Return the error that a validator raises: what is wrong, at `place` inside its value."""
    return PydanticCustomError("refusal", "{why}", {"why": why, "place": place})


def _one_line(value: Any) -> Any:
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        raise refusal(f"expected a text, not {clip(value)}.")
    if not value.isprintable():
        raise refusal(f"expected a text of one line, not {clip(value)}.")
    return value


Text = Annotated[str, BeforeValidator(_one_line)]
"""A text of one line that is not empty; numbers count as text."""
Whole = Annotated[StrictInt, Field(ge=0)]
"""An integer of at least 0."""
Positive = Annotated[StrictInt, Field(ge=1)]
"""An integer of at least 1."""
Flag = StrictBool
"""True or false."""


class Settings(BaseModel):
    """The form of a mapping in a configuration. A key that says nothing (null) has its default."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    short: ClassVar[str | None] = None
    """The key that a value stands for where it is given alone, in place of the mapping."""

    @model_validator(mode="before")
    @classmethod
    def _check_keys(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            if cls.short is None:
                raise refusal(f"expected {_MAPPING}, not {clip(value)}.")
            value = {cls.short: value}
        for key in value:
            if key not in cls.model_fields:
                raise refusal(f"no such key.{did_you_mean(key, cls.model_fields)}", key)
        for name, field in cls.model_fields.items():
            if field.is_required() and value.get(name) is None:
                raise refusal(f"the key {name!r} is missing.")
        return {key: part for key, part in value.items() if part is not None}


class ConfigSource(NamedTuple):
    """The content of a configuration."""

    data: dict[str, Any]  # the mapping at its root
    name: str  # what messages call it
    lines: Mapping[Place, int]  # number of the line of a place; empty if it is not a file
    folder: Path  # directory of the file; the files that it names are looked for there

    def where(self, place: Place) -> str:
        """Return file, line and keys for a message."""
        keys = ".".join(map(str, place))
        above = (place[:length] for length in range(len(place), 0, -1))
        line = next((self.lines[part] for part in above if part in self.lines), None)
        return f"{self.name}{f' line {line}' if line else ''}{f', {keys}' if keys else ''}"

    def check(self, model: type[_Model]) -> _Model:
        """Return the configuration as `model`; its validators find `folder` in their context."""
        try:
            return model.model_validate(self.data, context={"folder": self.folder})
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
        detail = first.get("ctx", {})
        if first["type"] == "refusal":
            raise DataError(f"{self.where((*first['loc'], *detail['place']))}: {detail['why']}")
        expected = _EXPECTED[first["type"]].format(**detail)
        raise DataError(
            f"{self.where(first['loc'])}: expected {expected}, not {clip(first['input'])}."
        )

    def changed(self, changes: Mapping[Place, Any]) -> ConfigSource:
        """Return a configuration with other values by place; missing mappings are added.

        Raises DataError if a place leads through something that is not a mapping.
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
                del lines[old]  # the file's line no longer has the value that counts
        return self._replace(data=data, lines=lines)


def read_source(config: str | Path | Mapping[str, Any], what: str, page: str) -> ConfigSource:
    """Read a YAML file or a shipped one by its name, or accept a mapping as if it were one.

    `what` and `page` are for messages: what it describes, and the page that describes its keys.
    """
    if isinstance(config, Mapping):
        return ConfigSource(_copy(config), "the configuration", {}, Path())
    if not isinstance(config, str | Path):
        raise DataError(f"config={clip(config)}: give a YAML file, or a mapping like one.")
    import yaml

    path = Path(config)
    shipped = {each.stem: each for each in sorted(_SHIPPED.glob("*.yaml"))}
    try:
        if str(path.parent) in (".", _SHIPPED.name) and not path.is_file():
            path = shipped.get(path.name.removesuffix(".yaml"), path)
        content = path.read_bytes()
    except FileNotFoundError:
        raise DataError(
            f"{str(path)!r} does not exist.{did_you_mean(path.stem, shipped)} Name a YAML file, or "
            "a shipped configuration by its name."
        ) from None
    except OSError as error:
        raise DataError(
            f"{str(config)!r} cannot be read: {error.strerror}. Name a YAML file."
        ) from None
    try:
        root = yaml.compose(content.decode(), yaml.SafeLoader)
        reader = _YamlReader(str(path))
        data = None if root is None else reader.value(root, ())
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        why = clip(" ".join(str(error).split()), 200)
        raise DataError(f"{str(path)!r} is not YAML: {why}") from None
    if not isinstance(data, dict):
        raise DataError(f"{str(path)!r} contains no {what}. See {page}.")
    return ConfigSource(data, repr(str(path)), reader.lines, path.parent)


class _YamlReader:
    """Makes values of YAML nodes. Keys stay the text that they are: ``No`` is not a boolean."""

    def __init__(self, name: str) -> None:
        self.lines: dict[Place, int] = {}
        self._name = name

    def value(self, node: Any, place: Place) -> Any:
        import yaml

        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, place)
        if isinstance(node, yaml.SequenceNode):
            return [self._part(part, (*place, n), part) for n, part in enumerate(node.value)]
        try:
            value = yaml.SafeLoader("").construct_object(node)
        except (ValueError, KeyError):  # a date that no calendar has, `!!bool maybe`
            return node.value
        # What YAML takes for a date, or for bytes, is the text in the file.
        return value if isinstance(value, str | int | float | None) else node.value

    def _mapping(self, node: Any, place: Place) -> dict[str, Any]:
        own: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for key, part in node.value:
            where = f"{self._name!r} line {key.start_mark.line + 1}"
            if key.tag == _MERGE:
                for one in part.value if part.id == "sequence" else [part]:
                    value = self.value(one, place)
                    if not isinstance(value, dict):
                        raise DataError(f"{where}: only a mapping can be merged.")
                    merged = value | merged
                continue
            if not isinstance(key.value, str):
                raise DataError(f"{where}: a key must be a text.")
            # YAML lets the last one win, and nobody would see that the first one does nothing.
            if key.value in own:
                raise DataError(f"{where}: the key {clip(key.value)} is given twice.")
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
