"""The registry of formats, one module each, and the functions that write mind-maps in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from arena.errors import DataError, clip, did_you_mean
from arena.mindmap.pictures import draw
from arena.mindmap.tree import MindMap
from arena.plugins import Registry, mirror

Write = TypeVar("Write", bound=Callable[[MindMap], str])


@dataclass(frozen=True)
class Format:
    """A way to write mind-maps: `write`, the first line of whose docstring describes the format.

    Suffixes have a dot and lower case, the usual one first.
    """

    write: Callable[[MindMap], str]
    suffixes: tuple[str, ...]

    def __post_init__(self) -> None:
        mirror(self, self.write)


FORMATS: Registry[Format] = Registry(
    "mind-map format", packages=["arena_suites.maps.formats"], base=Format
)


def mind_map_format(name: str, *, suffixes: tuple[str, ...]) -> Callable[[Write], Write]:
    """Return a decorator that registers a function as the `write` of a `Format`."""

    def register(write: Write) -> Write:
        FORMATS.register(name)(Format(write, suffixes))
        return write

    return register


def render(tree: MindMap, format: str = "text") -> str:
    """Return a mind-map in a format: text, json, markdown, mermaid, svg or one of your own.

    The same map gives the same characters on every machine.

    Example:
        >>> from arena.mindmap import MindMap
        >>> tree = MindMap("Graphs", (MindMap("Search", papers=("p1",)), MindMap("Colouring")))
        >>> print(render(tree), end="")
        Graphs
        ├── Search (1 paper)
        └── Colouring
    """
    return FORMATS.find(format).write(tree)


def format_of(file_name: str) -> str:
    """Return the name of the format that a file's suffix stands for."""
    known = {s: name for name in FORMATS.names() for s in FORMATS.get(name).suffixes}
    suffix = next((s for s in known if file_name.lower().endswith(s)), None)
    if suffix is None:
        raise DataError(
            f"{clip(file_name)}: its suffix is that of no format."
            f"{did_you_mean('.' + file_name.rpartition('.')[2], known)} Or name one: --format."
        )
    return known[suffix]


@mind_map_format("svg", suffixes=(".svg",))
def svg(tree: MindMap) -> str:
    """A picture; the pointer over a label shows the whole of it."""
    return draw([tree])
