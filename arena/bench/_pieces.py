"""The pieces of a benchmark: each is done by a process of its own and kept as a JSON file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from arena._internal.files import write_json
from arena.bench._jobs import Job, environment
from arena.errors import clip


def piece_name(documents: int, what: str, engine: str | None = None) -> str:
    """Return the name of a piece, which is also its path without the suffix."""
    return f"{documents}/{what}" if engine is None else f"{documents}/{file_name(engine)}.{what}"


def file_name(engine: str) -> str:
    """Return an engine's name as that of a file or directory."""
    return quote(engine, safe="")


class Pieces:
    """What has been done so far, in a directory."""

    def __init__(self, directory: Path, wait: Callable[[str], None] = lambda name: None) -> None:
        """Open the directory; `wait` is called some times a second while a piece is done."""
        self._directory, self._wait = directory, wait

    def read(self, name: str) -> dict[str, Any]:
        """Return the result of a piece; ``{"failed": reason}`` if it has none."""
        try:
            piece: dict[str, Any] = json.loads((self._directory / f"{name}.json").read_bytes())
        except FileNotFoundError:
            return {"failed": "not done"}
        return piece

    def done(self, name: str) -> bool:
        """Return whether the piece was done and did not fail."""
        return "failed" not in self.read(name)

    def forget(self, name: str) -> None:
        """Have the piece done again."""
        (self._directory / f"{name}.json").unlink(missing_ok=True)

    def do(self, name: str, job: Job, threads: int) -> str | None:
        """Do a piece unless it is done; return why it failed, or None.

        Args:
            name: of the piece.
            job: for `arena.bench._jobs`.
            threads: that libraries may use in its process.
        """
        self._wait(name)
        if self.done(name):
            return None
        result = self._directory / f"{name}.json"
        result.parent.mkdir(parents=True, exist_ok=True)
        given, log = self._directory / "job.json", self._directory / "log.txt"
        write_json(given, job | {"threads": threads})
        command = [sys.executable, "-m", "arena.bench._worker", str(given), str(result)]
        with log.open("wb") as stream:
            process = subprocess.Popen(
                command, stdout=stream, stderr=stream, env=os.environ | environment(threads)
            )
            try:
                while process.poll() is None:
                    time.sleep(0.05)
                    self._wait(name)
            finally:
                process.kill()
                process.wait()
                given.unlink(missing_ok=True)  # it names paths of this machine
        if process.returncode == 0:
            return None
        reason = _reason(process.returncode, log)
        write_json(result, {"failed": reason})
        return reason


def _reason(status: int, log: Path) -> str:
    if status < 0:
        return f"killed by signal {-status}" + (" (out of memory?)" if status == -9 else "")
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    said = [line.strip() for line in lines if line.strip()]
    return clip(said[-1], 300)[1:-1] if said else f"exit status {status}"
