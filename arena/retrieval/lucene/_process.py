"""The process that runs Java, as the calling process sees it.

Both sides send lines of JSON. The process ends when nobody can ask it any more.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from typing import Any

from arena.errors import ArenaError
from arena.retrieval.lucene._java import requirements


class JavaProcess:
    """A process of `_worker`; `versions` are those of Lucene and Java.

    `failing` begins the message about an error in it: what cannot be done. Raises ArenaError if a
    package or Java is absent, or Java does not start.
    """

    def __init__(self, failing: str, *arguments: str) -> None:
        self._failing = f"Java in {str(requirements().java_home)!r} does not start"
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - `close` closes it
        paths = [path or os.getcwd() for path in sys.path]  # noqa: PTH109
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "arena.retrieval.lucene._worker", *arguments],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors,
                bufsize=1 << 20, env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            )  # fmt: skip
        except OSError as error:  # of memory
            raise ArenaError(f"{self._failing}: {error.strerror}.") from None
        try:
            self.versions = self.receive()
        except BaseException:
            self.close()
            raise
        self._failing = failing

    def send(self, value: Any) -> None:
        """Send a value; ArenaError if the process has ended."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(value).encode("ascii") + b"\n")
        except BrokenPipeError:
            raise self._ended() from None

    def receive(self) -> dict[str, Any]:
        """Return the answer to all that was sent.

        Raises:
            OSError: if Lucene cannot write or read its files.
            ArenaError: if Java runs out of memory, or the process ends.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line.endswith(b"\n"):
            raise self._ended()
        return self._checked(json.loads(line))

    def _checked(self, answer: dict[str, Any]) -> dict[str, Any]:
        if (failure := answer.get("failure")) is None:
            return answer
        if failure == "files":
            raise OSError(answer["why"])
        why = answer["why"]
        if failure == "memory":
            why = "Java ran out of memory. Ask for fewer hits, or allow it more with the "
            why += "environment variable _JAVA_OPTIONS=-Xmx4g"
        raise ArenaError(f"{self._failing}: {why.rstrip('.')}.")

    def _ended(self) -> ArenaError:
        status = self._process.wait()
        what = f"exit status {status}" if status >= 0 else signal.Signals(-status).name
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").splitlines()
        said = " ".join(line for line in lines if not line.startswith("Picked up "))
        return ArenaError(f"{self._failing}: its process ended with {what}. {said[-500:]}".rstrip())

    def close(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            with contextlib.suppress(BrokenPipeError):
                stream.close()  # type: ignore[union-attr]
