"""A file that is being received: what is on disk, and which version of the object it is part of."""

from __future__ import annotations

import json
import os
from pathlib import Path

from arena._internal.files import write_json
from corpus_builder.download._checks import Claims, Digest


class Partial:
    """``.<name>.part`` beside the place of the file, and ``.<name>.part.json`` with its claims.

    At every moment, also after a kill, the bytes in the first are the beginning of the object that
    the second describes, or the first is empty. After a power failure they may not be; the checks
    of the complete file find that out.
    """

    def __init__(self, final: Path) -> None:
        self.final = final
        self.claims: Claims | None = None
        self.digest = Digest()
        self._path = final.with_name(f".{final.name}.part")
        self._told = final.with_name(f".{final.name}.part.json")

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return self._path.stat().st_size if self._path.is_file() else 0

    def open(self) -> None:
        """Take up what is on disk, if it can be gone on with."""
        self.digest, self.claims = Digest(), self._read_claims()
        if self.claims is None or not self.claims.etag or self.size > self.claims.bytes:
            self.discard()
            return
        if self._path.is_file():
            with self._path.open("rb") as file:
                while block := file.read(1 << 20):
                    self.digest.update(block)

    def begin(self, claims: Claims) -> None:
        """Begin an object from its first byte."""
        self.discard()
        write_json(self._told, claims._asdict())
        self.claims = claims

    def append(self, data: bytes) -> None:
        """Add the next bytes."""
        with self._path.open("ab", buffering=0) as file:
            view = memoryview(data)
            while view:
                view = view[file.write(view) :]
        self.digest.update(data)

    def discard(self) -> None:
        """Remove everything; the bytes before what says whose they are."""
        self._path.unlink(missing_ok=True)
        self._told.unlink(missing_ok=True)
        self.digest, self.claims = Digest(), None

    def put(self) -> None:
        """Move the complete file to its place."""
        with self._path.open("rb") as file:
            os.fsync(file.fileno())
        self._path.replace(self.final)
        self._told.unlink(missing_ok=True)

    def _read_claims(self) -> Claims | None:
        try:
            claims = Claims(**json.loads(self._told.read_bytes()))
        except (OSError, ValueError, TypeError):
            return None
        return claims if isinstance(claims.bytes, int) else None
