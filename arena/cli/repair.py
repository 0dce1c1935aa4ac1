"""The commands that build a part of a corpus, or build it again."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from arena.corpus import layout
from arena.kit.files import json_value
from arena.retrieval import engine_of


def build_command(part: Path) -> str:
    """Return the command that builds a corpus, or the index or digests in that directory.

    It replaces what is there; of a damaged index it has the options as far as they can be read.
    """
    corpus, name = part.parent.parent, part.name
    if part.parent.name == layout.DIGESTS:
        words = ["arena-corpus", "digest", str(corpus), "--input", name, "--llm-option"]
        return f"{shlex.join(words)} model=MODEL{' --overwrite' * part.exists()}"
    if part.parent.name != layout.INDEXES:
        return "arena-corpus build"
    manifest = _peek(part)
    engine, fields, options = (manifest.get(key) for key in ("engine", "fields", "options"))
    usual = _peek(corpus).get("configuration")
    listed = isinstance(fields, list) and all(isinstance(field, str) for field in fields)
    if isinstance(usual, dict) and usual.get("fields") == fields:
        listed = False
    return index_command(
        corpus,
        engine if isinstance(engine, str) else engine_of(name) or "ENGINE",
        name,
        fields if listed else None,
        options if isinstance(options, dict) else None,
        overwrite=part.exists(),
    )


def index_command(
    corpus: Path,
    engine: str,
    name: str | None = None,
    fields: Sequence[str] | None = None,
    options: Mapping[str, Any] | None = None,
    *,
    overwrite: bool = False,
) -> str:
    """Return the ``arena-corpus index`` command with these arguments, as a shell takes it."""
    words = ["arena-corpus", "index", str(corpus), "--engine", engine]
    if name is not None and name != engine.lower():
        words += ["--name", name]
    if fields is not None:
        words += ["--fields", ",".join(fields)]
    for key, value in (options or {}).items():
        text = value if isinstance(value, str) else json.dumps(value)
        words += ["--encoder", text] if key == "encoder" else ["--option", f"{key}={text}"]
    return shlex.join([*words, *["--overwrite"] * overwrite])


def _peek(directory: Path) -> dict[str, Any]:
    """Return a manifest that may be damaged; nothing if it cannot be read at all."""
    manifest = json_value(directory / layout.MANIFEST)
    return manifest if isinstance(manifest, dict) else {}
