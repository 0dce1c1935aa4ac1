"""Options checked by the annotations of the function or constructor that takes them.

Types and ranges stand in the annotation, such as ``Annotated[int, Interval(ge=1, le=20)]`` or
``Literal["rrf", "score"]``; pydantic checks them, and a refusal is one line. Nothing is converted
but an integer to the float that an annotation asks for.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, ParamSpec, TypeVar, get_args, get_origin

from arena.errors import DataError, clip, did_you_mean

if TYPE_CHECKING:
    from pydantic import TypeAdapter

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


def takes_any(factory: Callable[..., object]) -> bool:
    """Return whether a factory takes further options with ``**``."""
    return any(p.kind is p.VAR_KEYWORD for p in _signature(factory))


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
    if not takes_any(factory):
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
    try:
        signature = inspect.signature(factory, eval_str=True)
    except NameError:  # an annotation that only a type checker imports; it stays a text
        signature = inspect.signature(factory)
    return tuple(signature.parameters.values())


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
        reason = _expected(annotation, value, error.errors(include_url=False)[0])
        raise DataError(f"{name}={clip(value)}{reason}") from None


@functools.cache
def _adapter(annotation: Any) -> TypeAdapter[Any]:
    from pydantic import ConfigDict, TypeAdapter

    strict = ConfigDict(strict=True, arbitrary_types_allowed=True, allow_inf_nan=False)
    return TypeAdapter(annotation, config=strict)


def _expected(annotation: Any, value: Any, error: Mapping[str, Any]) -> str:
    """Return the end of a message: what an option should be."""
    from pydantic.errors import PydanticInvalidForJsonSchema

    try:
        schema = _adapter(annotation).json_schema()
    except PydanticInvalidForJsonSchema:
        return f": {error['msg']}."
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
