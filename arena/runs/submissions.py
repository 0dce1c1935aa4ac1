"""Submissions: the directory of a run, or an archive of one, opened within limits."""

from __future__ import annotations

import gzip
import shutil
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple

from arena.errors import ArenaError, DataError, clip, first_line
from arena.runs.directory import MANIFEST

_PACK = "Pack the directory of a run, and nothing else, as .tar.gz or .zip."
_STEP = b'"observation_sha256"'  # in a text the quotes are escaped


class Limits(NamedTuple):
    """Limits of a submission from elsewhere.

    Attributes:
        size: Bytes of all files, unpacked.
        steps: Steps of an episode.
        seconds: Time to play all episodes again.
    """

    size: int = 10**9
    steps: int = 10_000
    seconds: float = 600.0

    def refuse_long(self, path: Path) -> None:
        """Refuse ``trajectories.jsonl`` if an episode has too many steps, before it is parsed."""
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if (steps := line.count(_STEP) - 1) > self.steps:
                    raise DataError(
                        f"{str(path)!r} line {number}: the episode has {steps:,} steps; an episode "
                        f"of a submission has at most {self.steps:,}."
                    )


@contextmanager
def open_submission(path: str | Path, limits: Limits | None = None) -> Iterator[Path]:
    """Yield the directory of a run that is one, or that is packed as ``.tar.gz`` or ``.zip``.

    An archive is unpacked into a directory that goes with the block; errors name the archive. Raise
    DataError for links and other special files, for names that lead elsewhere, and for too much.
    """
    path, limits = Path(path), limits or Limits()
    if not path.is_file():
        _check_files(path, limits)
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        _unpack(path, Path(folder), limits)
        inside = [*Path(folder).iterdir()]
        found = inside[0] if len(inside) == 1 and inside[0].is_dir() else Path(folder)
        try:
            yield found
        except ArenaError as error:
            error.args = (str(error).replace(str(found), str(path)),)
            raise


def _check_files(directory: Path, limits: Limits) -> None:
    """Refuse what an archive may not contain; a directory without a run is refused elsewhere."""
    size = 0
    for path in directory.rglob("*") if (directory / MANIFEST).is_file() else ():
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            raise _special(directory, path.relative_to(directory).as_posix())
        size += path.stat().st_size
        if size > limits.size:
            raise _too_large(directory, limits)


def _unpack(path: Path, folder: Path, limits: Limits) -> None:
    members = _zipped if zipfile.is_zipfile(path) else _tarred
    try:
        for name, mode, source in members(path, limits):
            parts = PurePosixPath(name).parts
            if source is None and not stat.S_ISDIR(mode):
                raise _special(path, name)
            if ".." in parts or name.startswith("/") or "\\" in name:
                raise DataError(f"{str(path)!r} names {clip(name)}, which leads elsewhere. {_PACK}")
            target = folder.joinpath(*parts)
            (target if source is None else target.parent).mkdir(parents=True, exist_ok=True)
            if source is not None:
                with target.open("xb") as file:
                    shutil.copyfileobj(source, file)
    except (
        tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, OSError,
        RuntimeError, NotImplementedError,  # encrypted, or compressed in another way
    ) as error:  # fmt: skip
        raise DataError(
            f"{str(path)!r} cannot be unpacked: {first_line(error)}. {_PACK}"
        ) from error


def _zipped(path: Path, limits: Limits) -> Iterator[tuple[str, int, IO[bytes] | None]]:
    """Yield name, mode and content of the members; no more is read than their sizes say."""
    with zipfile.ZipFile(path) as archive:
        if sum(info.file_size for info in archive.infolist()) > limits.size:
            raise _too_large(path, limits)
        for info in archive.infolist():
            mode = info.external_attr >> 16
            if info.is_dir():
                yield info.filename, stat.S_IFDIR, None
            elif stat.S_IFMT(mode) in (0, stat.S_IFREG):
                with archive.open(info) as source:
                    yield info.filename, mode, source
            else:
                yield info.filename, mode, None


def _tarred(path: Path, limits: Limits) -> Iterator[tuple[str, int, IO[bytes] | None]]:
    """Yield what `_zipped` does; a stream is read once, so that no header is believed."""
    with gzip.open(path) as packed:
        bounded: Any = _Bounded(packed, path, limits)
        with tarfile.open(fileobj=bounded, mode="r|") as archive:
            for member in archive:
                plain = member.isreg() and not member.issparse()  # a sparse one grows as it is read
                mode = stat.S_IFDIR if member.isdir() else stat.S_IFREG
                yield member.name, mode, archive.extractfile(member) if plain else None


class _Bounded:
    """Reads at most so many bytes of a stream."""

    def __init__(self, source: gzip.GzipFile, path: Path, limits: Limits) -> None:
        self._source, self._path, self._limits = source, path, limits
        self._left = limits.size

    def read(self, size: int) -> bytes:
        data = self._source.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise _too_large(self._path, self._limits)
        return data


def _special(path: Path, name: str) -> DataError:
    return DataError(
        f"{str(path)!r} has {clip(name)}, a link or a special file: a submission has none. {_PACK}"
    )


def _too_large(path: Path, limits: Limits) -> DataError:
    return DataError(
        f"{str(path)!r} has more than {limits.size / 1e9:g} GB, unpacked, the most that a "
        f"submission may have. Leave out what `arena run` did not write."
    )
