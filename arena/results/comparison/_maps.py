"""Mind-maps on the page of a survey."""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

from arena.errors import DataError
from arena.results.comparison._html import chip, more, text
from arena.results.comparison.model import Comparison

HEADINGS_SHOWN = 80
_SIZE = re.compile(r'<svg [^>]*?width="(\d+)(?:\.\d+)?" height="(\d+)(?:\.\d+)?"')


def maps(comparison: Comparison, survey: str) -> list[str]:
    """Return what each run handed in as a mind-map: the picture and an outline."""
    parts = []
    for place, run in enumerate(comparison.runs):
        episode = run.episodes[survey]
        for answer in episode.answers.values():
            if isinstance(answer, dict):
                parts.append(_map(run.name, place, answer, episode.picture))
    told = "<noscript><p>Without JavaScript the pictures are in each run's folder.</p></noscript>"
    return [f"<h3>Mind-maps</h3>{told}", *parts] if parts else []


def _map(name: str, place: int, answer: Mapping[str, Any], picture: str | None) -> str:
    lines = list(_outline(answer))
    rest = more(len(lines) - HEADINGS_SHOWN, "headings")
    shown = "\n".join(
        f"{'  ' * level}{text(label, 200)}" for level, label in lines[:HEADINGS_SHOWN]
    )
    outline = f"<details><summary>As an outline</summary><pre>{shown}</pre>{rest}</details>"
    image = ""
    if picture is not None:
        size = _SIZE.search(picture[:2000])
        fitted = f' width="{size[1]}" height="{size[2]}"' if size else ""
        packed = base64.b64encode(zlib.compress(picture.encode("utf-8"), 9)).decode("ascii")
        # As an image it can hold no script that runs, and its ids are its own.
        image = (
            f'<div class="picture" tabindex="0"><img{fitted} data-picture="{packed}" '
            f"alt=\"The mind-map of {text(name)} beside the survey's own; the outline below holds "
            'the headings of the former"></div>'
        )
    return f"<figure><figcaption>{chip(name, place)}</figcaption>{image}{outline}</figure>"


def _outline(answer: Mapping[str, Any]) -> Iterator[tuple[int, str]]:
    from arena.mindmap import read_mind_map

    try:
        waiting = [(0, read_mind_map(dict(answer))[0])]
    except DataError:
        return
    while waiting:
        level, node = waiting.pop()
        count = len(node.papers)
        yield level, node.label + (f" ({count})" if count else "")
        waiting.extend((level + 1, child) for child in reversed(node.children))
