"""Reference coverage of surveys as cumulative curves (paper, figure 4c)."""

from __future__ import annotations

from collections.abc import Sequence

from arena.results.plots import dash, mark, px
from corpus_builder.card._facts import PERCENTS, Covered
from corpus_builder.card._svg import WIDTH, line, picture, text, write
from corpus_builder.card._words import ALL_SURVEYS, number

_LEFT, _RIGHT, _TOP, _BOTTOM = 70.0, WIDTH - 30.0, 14.0, 300.0


def draw_coverage(covered: Sequence[Covered], label: str) -> str:
    """Return the picture: at x % the share of surveys with at least x % of their references.

    Args:
        covered: all surveys, then the others; only these and the named ones have curves.
        label: what is to be seen.
    """
    body = []
    for value in range(0, 101, 20):
        body += [
            line("grid", _LEFT, _y(value, 100), _RIGHT, _y(value, 100)),
            write(_LEFT - 8, _y(value, 100) + 4, f"{value} %", "end", "soft"),
            write(_x(value), _BOTTOM + 18, f"{value} %", "middle", "soft"),
        ]
    body += [
        line("axis", _LEFT, _BOTTOM, _RIGHT, _BOTTOM),
        write((_LEFT + _RIGHT) / 2, _BOTTOM + 38, "at least this share of the survey's references "
              "is in the corpus", "middle", "soft"),
        f'<text class="soft" x="18" y="{px((_TOP + _BOTTOM) / 2)}" text-anchor="middle" '
        f'transform="rotate(-90 18 {px((_TOP + _BOTTOM) / 2)})">share of surveys</text>',
    ]  # fmt: skip
    curves = [group for group in covered if group.kind in ("all", "named")]
    y = _BOTTOM + 64
    for place, group in enumerate(curves):
        name = group.name if group.kind == "named" else ALL_SURVEYS
        told = f"{name}: {number(group.surveys)}"
        column, row = place % 2, place // 2
        x, at = _LEFT + column * (WIDTH - _LEFT) / 2, y + row * 22
        body += [
            _curve(group, place - 1, told),
            _sample(group, place - 1, x, at - 4),
            write(x + 40, at, told, room=(WIDTH - _LEFT) / 2 - 56),
        ]
    return picture(y + (len(curves) + 1) // 2 * 22 - 8, label, body)


def _curve(group: Covered, place: int, told: str) -> str:
    points = "L".join(
        f"{px(_x(value))} {px(_y(group.available[value], group.surveys))}" for value in PERCENTS
    )
    marks = ""
    if place >= 0:  # marks of several curves stand beside and not upon one another
        marks = "".join(
            mark(place, _x(value), _y(group.available[value], group.surveys))
            for value in range(4 * place % 20, 101, 20)
        )
    return (
        f'<g class="{_colour(place)}"><title>{text(told)}</title>'
        f'<path class="{_kind(place)}" d="M{points}"/>{marks}</g>'
    )


def _sample(group: Covered, place: int, x: float, y: float) -> str:
    drawn = "" if place < 0 else mark(place, x + 16, y)
    return (
        f'<g class="{_colour(place)}"><path class="{_kind(place)}" '
        f'd="M{px(x)} {px(y)}H{px(x + 32)}"/>{drawn}</g>'
    )


def _colour(place: int) -> str:
    return "ink" if place < 0 else f"c{place}"


def _kind(place: int) -> str:
    return "curve wide" if place < 0 else f"curve {dash(place)}"


def _x(value: float) -> float:
    return _LEFT + value / 100 * (_RIGHT - _LEFT)


def _y(part: int, whole: int) -> float:
    return _BOTTOM - part / whole * (_BOTTOM - _TOP)
