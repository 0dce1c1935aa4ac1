"""Collections by name, fetched from where their authors publish them, or from the user's places."""

from __future__ import annotations

import json
import os
import shutil
import tarfile
from collections.abc import Callable
from contextlib import ExitStack, closing
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from arena.corpus import layout
from arena.errors import DataError, UnknownNameError, clip, did_you_mean
from arena.kit.files import sha256_file, write_json
from arena.kit.workdir import atomic_directory
from corpus_builder.collections import collections
from corpus_builder.download.fetch import Fetcher, RemoteFile, writing
from corpus_builder.manifest import verify

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
    if "folder" in about:
        return _copy(about["folder"], Path(output))
    if "archive" in about:
        base, _, file = about["archive"].rpartition("/")
        about = {**about, "base": f"{base}/", "files": {file: about.get("sha256")}}
    if "files" not in about:
        raise DataError(f"{name} cannot be downloaded: {about['why']}. See {about['home']}.")
    mirror = mirror or os.environ.get(MIRROR)
    if mirror and not mirror.startswith(("http://", "https://")):
        raise DataError(f"mirror {clip(mirror)}: must begin with https:// or http://.")
    directory = Path(output)
    for place in (*about["files"], name):
        if {"", ".", ".."} & {*place.split("/")} or not place.isprintable():
            raise DataError(f"{name}: {clip(place)} is not the path of a file below a folder.")
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
    if "archive" in about:
        _unpack(directory / file, directory / name)
    return {**counts, "unverified": sum(sha256 is None for sha256 in files.values())}


def _same(address: str, _: str) -> str:
    return address


def _copy(folder: str, output: Path) -> dict[str, int]:
    """Copy a folder; a corpus in it must be as it was built."""
    if not Path(folder).is_dir():
        raise DataError(f"the collection is in {folder!r}, which is not a folder here.")
    if output.exists() and any(output.iterdir()):
        raise DataError(f"{str(output)!r} contains files already. Name a new directory.")
    output.parent.mkdir(parents=True, exist_ok=True)
    with atomic_directory(output) as new:
        shutil.copytree(folder, new, dirs_exist_ok=True)
        _verify(new)
    sizes = [path.stat().st_size for path in output.rglob("*") if path.is_file()]
    is_corpus = (output / layout.MANIFEST).is_file()
    return {"files": len(sizes), "bytes": sum(sizes), "unverified": 0 if is_corpus else len(sizes)}


def _unpack(archive: Path, directory: Path) -> None:
    """Unpack an archive; a corpus in it must be as it was built."""
    if directory.is_dir():
        return
    try:
        with atomic_directory(directory) as new:
            if archive.suffix == ".zip":  # whose unpacking skips names outside anyway
                shutil.unpack_archive(archive, new)
            else:
                shutil.unpack_archive(archive, new, filter="data")
            _verify(new)
    except (shutil.ReadError, tarfile.TarError, ValueError) as error:
        raise DataError(f"{str(archive)!r} cannot be unpacked: {error}.") from None


def _verify(directory: Path) -> None:
    if (directory / layout.MANIFEST).is_file() and (wrong := verify(directory)["problems"]):
        name, problem = next(iter(wrong.items()))
        raise DataError(f"the corpus of the collection is not as built: {name} {problem}.")


def _record(directory: Path, files: dict[str, Any]) -> dict[str, str]:
    """Return the SHA-256 of the files that were fetched before."""
    try:
        record = json.loads((directory / RECORD).read_bytes())["files"]
        return {file: record[file] for file in files if isinstance(record.get(file), str)}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}
