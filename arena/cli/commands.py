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
    """Return a decorator that adds a function to `program` as the command `name`."""

    def register(function: F) -> F:
        COMMANDS.register(name)(Command(function, program))
        return function

    return register


def commands_of(program: Program) -> dict[str, Callable[..., Any]]:
    """Return name -> function of the commands that plug-ins add to a program."""
    found = {name: COMMANDS.get(name) for name in COMMANDS.names()}
    return {name: each.function for name, each in found.items() if each.program == program}
