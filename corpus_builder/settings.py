"""Settings in YAML, checked by a pydantic model, refused in one line with file and key.

Subclass `Settings` for the form of a file, read the file with `read_source`, and check it with
`Source.check`. Importing this module imports pydantic; modules of the core import it lazily.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, NamedTuple, TypeVar

import yaml
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
from arena.kit.code import own_packages

__all__ = [
    "ConfigSource", "Flag", "Place", "Positive", "Settings", "Text", "Whole", "read_source",
    "refusal",
]  # fmt: skip

Place = tuple[Any, ...]
"""The keys and positions that lead to a part of a configuration."""

_YAML = "tag:yaml.org,2002:"
_MERGE = f"{_YAML}merge"
_TAGS = [_YAML + kind for kind in ("null", "bool", "int", "float", "seq", "map")]
_CONFIGS = "configs"  # the folder of a package of this project with shipped configurations
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
    folder: Path  # directory of the file; the files that it names are looked for there

    def where(self, place: Place) -> str:
        """Return file and keys for a message."""
        return ", ".join([self.name, *filter(None, [".".join(map(str, place))])])

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
        data = copy.deepcopy(self.data)
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
        return self._replace(data=data)


def read_source(config: str | Path | Mapping[str, Any], what: str, page: str) -> ConfigSource:
    """Read a YAML file or a shipped one by its name, or accept a mapping as if it were one.

    `what` and `page` are for messages: what it describes, and the page that describes its keys.
    """
    if isinstance(config, Mapping):
        return ConfigSource(_copy(config), "the configuration", Path())
    if not isinstance(config, str | Path):
        raise DataError(f"config={clip(config)}: give a YAML file, or a mapping like one.")
    path = Path(config)
    folders = [root / package / _CONFIGS for package, root in own_packages().items()]
    shipped = {each.stem: each for folder in folders for each in sorted(folder.glob("*.yaml"))}
    try:
        if str(path.parent) in (".", _CONFIGS) and not path.is_file():
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
        data = _copy(yaml.load(content.decode(), _Loader))  # a change of one alias is of no other
    # Of `!!bool maybe` it is a KeyError, of `&a [*a]` a RecursionError.
    except (yaml.YAMLError, ValueError, KeyError, RecursionError) as error:
        why = clip(" ".join(str(error).split()), 200)
        raise DataError(f"{str(path)!r} is not YAML: {why}") from None
    if not isinstance(data, dict):
        raise DataError(f"{str(path)!r} contains no {what}. See {page}.")
    return ConfigSource(data, repr(str(path)), path.parent)


class _Loader(yaml.SafeLoader):
    """Keys stay the text that they are: ``No`` is not a boolean; and so do dates and bytes."""

    yaml_constructors: ClassVar[dict[Any, Any]] = {
        **{tag: yaml.SafeLoader.yaml_constructors[tag] for tag in _TAGS},
        None: yaml.SafeLoader.construct_scalar,
    }

    def compose_mapping_node(self, anchor: Any) -> Any:
        """Refuse a key that is given twice: YAML lets the last one win, and nobody would see it."""
        node, given = super().compose_mapping_node(anchor), set()
        for key, _ in node.value:
            if key.tag == _MERGE:
                continue
            if key.id != "scalar" or key.value in given:
                twice = f"the key {key.value} is given twice"
                why = twice if key.id == "scalar" else "a key must be a text"
                raise yaml.constructor.ConstructorError(None, None, why, key.start_mark)
            given.add(key.value)
            key.tag = _YAML + "str"
        return node


def _copy(value: Any) -> Any:
    """Return a copy without parts in common, whose keys are strings."""
    if isinstance(value, Mapping):
        return {str(key): _copy(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_copy(part) for part in value]
    return value
