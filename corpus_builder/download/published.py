"""Collections by name, fetched from where their authors publish them, or from a mirror."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import ExitStack, closing
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from arena.errors import DataError, UnknownNameError, clip, did_you_mean
from arena.kit.files import sha256_file, write_json
from corpus_builder.collections import collections
from corpus_builder.download.fetch import Fetcher, RemoteFile, writing

MIRROR = "ARENA_MIRROR"
RECORD = "download.json"

_PARALLEL = 4


def fetch_published(
    name: str,
    output: str | Path,
    mirror: str | None = None,
    *,
    leave_out: str = "",
    on_message: Callable[[str], None] = lambda line: None,
) -> dict[str, int]:
    """Fetch the files of a published data set that are missing in a folder.

    The ``download.json`` of the folder lists the files that were fetched. A `mirror` is an address
    under which the files have the names that they get there; by default that in the environment
    variable ``ARENA_MIRROR``, or else the authors' are asked. Files that match the pattern
    `leave_out`, such as ``corpus_*``, are not wanted.

    Returns:
        The number of fetched ``files`` and received ``bytes``, and of ``unverified`` files, whose
        checksum nobody publishes.
    """
    names = collections()
    if name not in names:
        raise UnknownNameError(f"no collection named {clip(name)}.{did_you_mean(name, names)}")
    about = names[name]
    if "files" not in about:
        raise DataError(f"{name} cannot be downloaded: {about['why']}. See {about['home']}.")
    mirror = mirror or os.environ.get(MIRROR)
    if mirror and not mirror.startswith(("http://", "https://")):
        raise DataError(f"mirror {clip(mirror)}: must begin with https:// or http://.")
    directory = Path(output)
    files = {f: sha256 for f, sha256 in about["files"].items() if not fnmatchcase(f, leave_out)}
    if directory.name in files:  # taxobench takes the file as well
        directory = directory.parent
    with ExitStack() as stack:
        stack.enter_context(writing(directory))
        record = _record(directory, files)
        fetcher = stack.enter_context(closing(Fetcher(_PARALLEL, on_message)))
        headers = {}
        if not mirror and (token := os.environ.get(about.get("token", ""), "").strip()):
            headers["Authorization"] = f"Bearer {token}"
        wanted = []
        for file, sha256 in files.items():
            path, known = directory / file, sha256 or record.get(file)
            if path.is_file() and known:
                if sha256_file(path) == known:
                    continue
                raise DataError(
                    f"{str(path)!r} is another file than {name} publishes (by its SHA-256). Move "
                    "it away, or name another folder."
                )
            address = about.get("addresses", {}).get(file) or about["base"] + quote(file)
            if mirror:
                address = f"{mirror.rstrip('/')}/{quote(file)}"
            link = partial(_same, address)
            wanted.append(RemoteFile(f"{name}/{file}", path, link, sha256, headers))

        def on_done(file: RemoteFile) -> None:
            record[file.path.relative_to(directory).as_posix()] = sha256_file(file.path)
            write_json(directory / RECORD, {"data_set": name, "files": record})

        try:
            counts = fetcher.fetch_all(wanted, on_done)
        except DataError as error:
            raise DataError(
                f"{error} The files are at {about['home']}; --mirror names another server."
            ) from None
    return {**counts, "unverified": sum(sha256 is None for sha256 in files.values())}


def _same(address: str, _: str) -> str:
    return address


def _record(directory: Path, files: dict[str, Any]) -> dict[str, str]:
    """Return the SHA-256 of the files that were fetched before."""
    try:
        record = json.loads((directory / RECORD).read_bytes())["files"]
        return {file: record[file] for file in files if isinstance(record.get(file), str)}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}
