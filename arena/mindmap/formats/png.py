"""The same picture in pixels."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path

from arena.errors import DataError
from arena.mindmap.formats import FORMATS, Format
from arena.mindmap.formats.svg import draw
from arena.mindmap.tree import MindMap
from arena.text.display import in_font

SCALE = 2
"""Pixels of the PNG to a pixel of the SVG, for sharp letters on any screen."""

MAX_PIXELS = 100_000_000
"""About 400 MB while it is drawn."""


def png(tree: MindMap) -> bytes:
    """The picture of svg in pixels; needs the extra 'pictures'."""
    return rasterised(draw([tree]))


def beside(
    maps: Sequence[MindMap], captions: Sequence[str], marks: Sequence[Mapping[str, int]]
) -> bytes:
    """Return maps side by side."""
    return rasterised(draw(maps, captions, marks))


FORMATS.register("png")(Format(png, (".png",), beside))


def rasterised(picture: str) -> bytes:
    """Return an SVG that `draw` made as PNG.

    Letters come from Noto Sans out of a package, so that all machines give the same bytes. Only a
    label with letters that it lacks (Chinese, Arabic) is looked for in the fonts of the machine.

    Raises:
        DataError: The picture is too large, or a package of the extra is absent.
    """
    picture = re.sub("<style>.*?</style>", "", picture)  # a PNG is light
    size = re.search(r'width="([\d.]+)" height="([\d.]+)"', picture)
    assert size is not None
    across, down = float(size[1]), float(size[2])
    scale = next((s for s in (SCALE, 1) if across * s * down * s <= MAX_PIXELS), None)
    if scale is None:
        raise DataError(
            f"the picture has {across:,.0f} x {down:,.0f} pixels, more than "
            f"{MAX_PIXELS:,} in all: write it as svg, or cut the mind-map with --depth."
        )
    try:
        resvg_py, font = map(import_module, ("resvg_py", "fontpkg_noto_sans"))
    except ImportError as error:
        raise DataError(
            f"PNG needs the package {str(error.name).replace('_', '-')!r}, which is not installed: "
            "pip install 'researcharena[pictures]', or write svg."
        ) from None
    drawn: bytes = resvg_py.svg_to_bytes(
        svg_string=picture,
        zoom=scale,
        skip_system_fonts=all(map(in_font, set(picture))),
        font_files=[str(Path(font.ROOT, "files", "NotoSans[wdth,wght].ttf"))],
        font_family=font.FAMILY,
        sans_serif_family=font.FAMILY,
    )
    return drawn
