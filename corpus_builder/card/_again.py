"""The command that builds a corpus again, as far as its manifest tells."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from arena.text.display import shown

_FOLD = " \\\n    "


def command(manifest: Mapping[str, Any]) -> str:
    """Return a command line; what a manifest does not tell of it is in capitals."""
    source = manifest["source"]
    name = str(source.get("source"))
    config, files = source.get("config"), source.get("files")
    if name == "world" and isinstance(config, Mapping):
        options = [f"--{key.replace('_', '-')} {_quoted(config[key])}" for key in sorted(config)]
    elif name == "jsonl" and isinstance(files, Mapping):
        options = [
            f"--{key} {_quoted(files[key].get('name'))}"
            for key in ("papers", "surveys")
            if isinstance(files.get(key), Mapping)
        ]
    elif "stages" in source:
        options = ["--input DIR"]
    else:  # asking the source itself would make the card depend on what is installed
        options = ["OPTIONS"]
    if "stages" in source:
        options.append("--config FILE")
    else:
        told = manifest["configuration"]
        options += [
            f"--{key} {_quoted(','.join(map(str, told[key])))}"
            for key in ("engines", "fields")
            if told.get(key)
        ]
    return _FOLD.join([f"arena-corpus build {_quoted(name)}", *options, "--output DIR"])


def _quoted(value: object) -> str:
    return shlex.quote(shown(str(value)))
