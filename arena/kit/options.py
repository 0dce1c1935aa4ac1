"""Options as the signature and the docstring of the function or constructor declare them.

The command line, the sources of papers and the tools read both here. Types and ranges stand in the
annotation, such as ``Annotated[int, Interval(ge=1, le=20)]`` or ``Literal["rrf", "score"]``;
pydantic checks them, and a refusal is one line. Nothing is converted but an integer to the float
that an annotation asks for.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    NamedTuple,
    ParamSpec,
    TypeVar,
    get_args,
    get_origin,
)

from arena.errors import DataError, clip, did_you_mean

if TYPE_CHECKING:
    from pydantic import TypeAdapter

__all__ = [
    "Docstring", "Option", "check_described", "check_names", "check_options", "checked",
    "describe", "options_of", "parameters_of", "read_docstring", "what_to_give",
]  # fmt: skip

P = ParamSpec("P")
R = TypeVar("R")

_KINDS = {
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "string": "a text",
    "array": "a list",
    "object": "a mapping",
}


class Docstring(NamedTuple):
    """A docstring of Google's style.

    Attributes:
        summary: Its first line.
        text: What stands before its sections, on one line.
        arguments: Name of each entry of ``Args:``, as ``name: text`` or ``name (METAVAR): text``,
            -> METAVAR, or "", and text.
        example: The section ``Example:`` on one line.
    """

    summary: str
    text: str
    arguments: dict[str, tuple[str, str]]
    example: str


class Option(NamedTuple):
    """A parameter with its metavar and text in the docstring, which may be empty."""

    parameter: inspect.Parameter
    metavar: str
    text: str

    @property
    def name(self) -> str:
        """The name of the parameter."""
        return self.parameter.name


def read_docstring(source: object) -> Docstring:
    """Return the parts of the docstring of an object, or of a text like one."""
    whole = source if isinstance(source, str) else inspect.getdoc(source) or ""
    sections = dict(re.findall(r"^(\w+):\n((?:    .*\n?|\n)+)", whole, re.MULTILINE))
    arguments = {
        name: (metavar, " ".join(words.split()))
        for name, metavar, words in re.findall(
            r"^ {4}(\w+)(?: \((.+?)\))?: (.*(?:\n {6,}.*)*)", sections.get("Args", ""), re.MULTILINE
        )
    }
    text = re.split(r"\n\s*\n(?:Args|Attributes|Example|Returns|Raises|Yields):\n", whole)[0]
    example = " ".join(sections.get("Example", "").replace("\\\n", "").split())
    return Docstring(whole.split("\n", 1)[0], " ".join(text.split()), arguments, example)


def options_of(
    factory: Callable[..., object], shared: Mapping[str, tuple[str, str]] | None = None
) -> list[Option]:
    """Return the parameters of a factory, described by its docstring or by that of a parent.

    `shared` has metavar and text of those that neither describes.
    """
    makers = reversed(factory.__mro__[:-1]) if isinstance(factory, type) else [factory]
    described = dict(shared or {})
    for maker in makers:
        described |= read_docstring(maker).arguments
    return [Option(p, *described.get(n, ("", ""))) for n, p in parameters_of(factory).items()]


def check_described(owner: str, options: Iterable[Option]) -> None:
    """Raise DataError for the first option without a text in the docstring of `owner`."""
    for option in options:
        if not option.text:
            raise DataError(f"{owner}: describe {option.name!r} under 'Args:' of its docstring.")


def parameters_of(factory: Callable[..., object]) -> dict[str, inspect.Parameter]:
    """Return the parameters of a factory; those of a class that it hands on with ``**`` too."""
    known: dict[str, inspect.Parameter] = {}
    makers = factory.__mro__[:-1] if isinstance(factory, type) else (factory,)
    for maker in makers:
        own = _signature(maker)
        known = {p.name: p for p in own if p.kind is not p.VAR_KEYWORD} | known
        if all(p.kind is not p.VAR_KEYWORD for p in own):
            break
    return known


def check_names(owner: str, options: Iterable[str], known: Collection[str]) -> None:
    """Raise DataError for the first option that `owner`, such as "encoder static", lacks."""
    for option in options:
        if option not in known:
            hint = did_you_mean(option, known) if known else " It has none."
            raise DataError(f"the {owner} has no option {clip(option)}.{hint}")


def check_options(
    owner: str,
    factory: Callable[..., object],
    options: Mapping[str, Any],
    without: tuple[str, ...] = (),
) -> dict[str, Any]:
    """Return a user's options for `factory`, checked by its signature.

    Messages call it `owner`, such as ``"encoder static"``; the parameters `without` are no options.
    """
    known = {name: p for name, p in parameters_of(factory).items() if name not in without}
    if not any(p.kind is p.VAR_KEYWORD for p in _signature(factory)):
        check_names(owner, options, known)
        for name, parameter in known.items():
            variadic = parameter.kind is parameter.VAR_POSITIONAL
            if parameter.default is parameter.empty and name not in options and not variadic:
                raise DataError(f"the {owner} needs the option {name!r}: give {name}=VALUE.")
    return {
        name: _check(f"{owner}: {name}", value, known[name].annotation) if name in known else value
        for name, value in options.items()
    }


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Check those arguments of every call whose annotation has a range or names the choices."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        bound = inspect.signature(function).bind(*args, **kwargs)
        for parameter in _signature(function):
            name = parameter.name
            if name in bound.arguments and _is_narrow(parameter.annotation):
                bound.arguments[name] = _check(name, bound.arguments[name], parameter.annotation)
        return function(*bound.args, **bound.kwargs)

    return call


@functools.cache
def _signature(factory: Callable[..., object]) -> tuple[inspect.Parameter, ...]:
    with suppress(NameError):
        return tuple(inspect.signature(factory, eval_str=True).parameters.values())
    # Only a type checker imports some annotation; that one stays a text.
    names = getattr(inspect.unwrap(factory), "__globals__", {})
    return tuple(
        p.replace(annotation=_evaluated(p.annotation, names))
        for p in inspect.signature(factory).parameters.values()
    )


def _evaluated(annotation: Any, names: dict[str, Any]) -> Any:
    if isinstance(annotation, str):
        with suppress(NameError):
            return eval(annotation, names)
    return annotation


def _is_narrow(annotation: Any) -> bool:
    kind = get_origin(annotation)
    return kind in (Annotated, Literal) or any(map(_is_narrow, get_args(annotation)))


def _check(name: str, value: Any, annotation: Any) -> Any:
    """Return the value of an option, or raise DataError if it does not fit the annotation."""
    if annotation is inspect.Parameter.empty or isinstance(annotation, str):
        return value
    from pydantic import ValidationError

    try:
        return _adapter(annotation).validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
    from pydantic.errors import PydanticInvalidForJsonSchema

    try:
        expected = what_to_give(_adapter(annotation).json_schema(), value)
    except PydanticInvalidForJsonSchema:
        expected = f": {first['msg']}."
    raise DataError(f"{name}={clip(value)}{expected}")


@functools.cache
def _adapter(annotation: Any) -> TypeAdapter[Any]:
    from pydantic import ConfigDict, TypeAdapter

    strict = ConfigDict(strict=True, arbitrary_types_allowed=True, allow_inf_nan=False)
    return TypeAdapter(annotation, config=strict)


def what_to_give(schema: Mapping[str, Any], value: Any) -> str:
    """Return the end of a message about a value that a JSON schema refuses."""
    forms = [form for form in schema.get("anyOf", [schema]) if form.get("type") != "null"]
    choices = [choice for form in forms for choice in form.get("enum", [form.get("const")])]
    if None not in choices:
        return f".{did_you_mean(value, choices)}"
    return f": give {', or '.join(map(describe, forms))}."


def describe(schema: Mapping[str, Any]) -> str:
    """Return what a JSON schema asks for in words, such as "an integer from 1 to 20".

    >>> describe({"type": "array", "items": {"type": "number", "exclusiveMinimum": 0}})
    'a list, each a number above 0'
    """
    choices = schema.get("enum", [schema["const"]] if "const" in schema else [])
    if choices:
        return " or ".join(map(repr, choices))
    if "anyOf" in schema:
        return " or ".join(map(describe, schema["anyOf"]))
    text = _KINDS.get(schema.get("type", ""), "a value")
    least, most, above = (schema.get(f"{end}imum") for end in ("min", "max", "exclusiveMin"))
    if least is not None and most is not None:
        text += f" from {_number(least)} to {_number(most)}"
    elif least is not None:
        text += f" >= {_number(least)}"
    elif above is not None:
        text += f" above {_number(above)}"
        text += "" if most is None else f" and at most {_number(most)}"
    for parts in ("items", "additionalProperties"):
        if schema.get(parts) not in (None, True, False, {}):
            text += f", each {describe(schema[parts])}"
    return text


def _number(value: float) -> str:
    return f"{value:.7g}" if isinstance(value, float) else str(value)
