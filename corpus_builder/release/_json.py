"""JSON values from text that may be anything, in bounded memory."""

from __future__ import annotations

import codecs
import json
from typing import Any

import orjson

from arena.errors import clip
from corpus_builder.release.base import RejectError

_SMALL = 4 << 20  # bytes or characters; the values of so few are small whatever they are
_LARGE = 16 << 20  # Python's own parser takes up to nine times a text
_PARTS = 1_000_000


def read_json(text: bytes | str) -> Any:
    """Return the value that a line, or a string within a record, holds.

    Python's parser has the last word where the text is of moderate length: it takes lone
    surrogates and huge integers, too.

    Raises:
        RejectError: ``no UTF-8``, ``no JSON``, or ``too many parts``: a list of 20 million empty
            lists takes 60 megabytes as text and gigabytes as a value.
    """
    if len(text) > _SMALL:
        parts = _count(text)
        if parts > _PARTS:
            raise RejectError("too many parts", f"{parts:,} in one record")
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        if len(text) > _LARGE:
            _refuse_other_encodings(text)
            raise RejectError("no JSON", clip(str(error))) from None
    try:
        # Given bytes, it would take other encodings than UTF-8.
        return json.loads(text.decode() if isinstance(text, bytes) else text)
    except UnicodeDecodeError as error:
        raise RejectError("no UTF-8", clip(str(error))) from None
    except (ValueError, RecursionError) as error:
        raise RejectError("no JSON", clip(f"{error}: {text[:60]!r}", 120)) from None


def _count(text: bytes | str) -> int:
    if isinstance(text, bytes):
        return sum(text.count(mark) for mark in (b",", b"[", b"{"))
    return sum(text.count(mark) for mark in (",", "[", "{"))


def _refuse_other_encodings(text: bytes | str) -> None:
    if isinstance(text, bytes):
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            for start in range(0, len(text), _SMALL):
                decoder.decode(text[start : start + _SMALL])
            decoder.decode(b"", final=True)
        except UnicodeDecodeError as error:
            raise RejectError("no UTF-8", error.reason) from None
