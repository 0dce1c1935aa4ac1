"""Commands of plug-ins, which the command lines list beside their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from arena.plugins import Registry, mirror

Program = Literal["arena", "arena-corpus"]
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Command:
    """A function whose signature is its command line, see `arena.cli.app`, and its program."""

    function: Callable[..., Any]
    program: Program = "arena"

    def __post_init__(self) -> None:
        mirror(self, self.function)


COMMANDS: Registry[Command] = Registry("command", packages=(), base=Command)


def command(name: str, *, program: Program = "arena") -> Callable[[F], F]:
    """Return a decorator that adds a function to `program` as the command `name`.

    ``GROUP.NAME`` is a command of a group that the program has, such as ``export.mine``.
    """

    def register(function: F) -> F:
        COMMANDS.register(name)(Command(function, program))
        return function

    return register


def commands_of(program: Program) -> dict[str, dict[str, Callable[..., Any]]]:
    """Return group -> name -> function of what plug-ins add to a program; "" is no group."""
    found: dict[str, dict[str, Callable[..., Any]]] = {}
    for full_name in COMMANDS.names():
        each, (group, _, name) = COMMANDS.get(full_name), full_name.rpartition(".")
        if each.program == program:
            found.setdefault(group, {})[name] = each.function
    return found
