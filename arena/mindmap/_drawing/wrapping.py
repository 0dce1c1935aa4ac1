"""Labels broken into few lines of about the same width."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from arena.mindmap._drawing.letters import is_mark, is_wide

_ELLIPSIS = "…"
_Measure = Callable[[str], float]


def wrap(label: str, measure: _Measure, room: float, most: int) -> list[str]:
    """Return a label as at most `most` lines, none wider than `room`.

    Lines break at spaces, between wide characters, and inside a word only if it has no room on a
    line of its own. What is too long ends in an ellipsis.

    Args:
        label: Without line breaks.
        measure: Gives the width of a text.
        room: Wider than any letter with an ellipsis.
        most: The number of lines, at least 1.
    """
    if measure(label) <= room:
        return [label]
    units = list(_units(label, measure, room))
    lines = _filled(units, measure, room)
    if len(lines) > most:
        return [*lines[: most - 1], _cut(lines[most - 1], measure, room)]
    low, high = room / len(lines), room
    for _ in range(8):  # the narrowest room for as many lines, to 1/256
        middle = (low + high) / 2
        fits = len(_filled(units, measure, middle)) == len(lines)
        low, high = (low, middle) if fits else (middle, high)
    even = _filled(units, measure, high)
    # A word may be wider than the narrower room; then the lines stay as they were.
    return even if len(even) == len(lines) and max(map(measure, even)) <= room else lines


def _filled(units: list[tuple[str, str]], measure: _Measure, room: float) -> list[str]:
    lines: list[str] = []
    for space, unit in units:
        longer = f"{lines[-1]}{space}{unit}" if lines else unit
        if lines and measure(longer) <= room:
            lines[-1] = longer
        else:
            lines.append(unit)
    return lines


def _units(label: str, measure: _Measure, room: float) -> Iterator[tuple[str, str]]:
    """Yield what is not broken, with the space in front of it."""
    for word in label.split():
        space = " "
        for piece in _pieces(word):
            if measure(piece) <= room:
                yield space, piece
                space = ""
                continue
            for part in _broken(piece, measure, room):
                yield space, part
                space = ""


def _pieces(word: str) -> Iterator[str]:
    """Yield a word in pieces that end at a wide character, a hyphen or a slash."""
    piece = ""
    for character in word:
        if piece and not is_mark(character) and (is_wide(character) or is_wide(piece[-1])):
            yield piece
            piece = ""
        piece += character
        if character in "-/" and len(piece) > 3:
            yield piece
            piece = ""
    if piece:
        yield piece


def _broken(word: str, measure: _Measure, room: float) -> Iterator[str]:
    part = ""
    for character in word:
        if part and not is_mark(character) and measure(part + character) > room:
            yield part
            part = ""
        part += character
    yield part


def _cut(line: str, measure: _Measure, room: float) -> str:
    while line and (measure(line + _ELLIPSIS) > room or is_mark(line[-1])):
        line = line[:-1]
    return line.rstrip(" ,;:-–/(") + _ELLIPSIS
