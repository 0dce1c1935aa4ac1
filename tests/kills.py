"""One kill battery for all commands: kill a process at a chosen or a random moment.

A *moment* is a line of Python that replaces a function by `die` or `after(function)`. The test
compares the files after the kill, runs the command again, and compares them with an uninterrupted
run.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

PRELUDE = """
import os, shutil, signal, sys
from pathlib import Path
from arena.kit import workdir
def die(*arguments, **options):
    os.kill(os.getpid(), signal.SIGKILL)
def after(function):
    return lambda *arguments, **options: (function(*arguments, **options), die())
"""


def between_two_renames(name: str) -> str:
    """The moment at which the old directory is moved away and the new one `name` not yet there."""
    return (
        "Path.replace = lambda self, to: die() if Path(to).name == "
        f"{name!r} else os.replace(self, to)"
    )


def run_to_kill(moment: str, main: str, arguments: list[Any], **options: Any) -> Any:
    """Run code after the lines of a moment; return the completed process."""
    code = f"{PRELUDE}{moment}\n{main}"
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True, text=True, timeout=60, **options,
    )  # fmt: skip


def kill_at(moment: str, main: str, arguments: list[Any], **options: Any) -> None:
    """Run Python code up to a moment at which it must kill itself; see `run_to_kill`."""
    done = run_to_kill(moment, main, arguments, **options)
    assert done.returncode == -signal.SIGKILL, done.stderr


def kill_when(process: subprocess.Popen[Any], ready: Callable[[], Any], pause: float = 0.0) -> bool:
    """Kill a process after `ready` returns true; return whether it was still running."""
    while not ready() and process.poll() is None:
        time.sleep(0.002)
    time.sleep(pause)
    process.kill()
    process.communicate()
    return process.returncode == -signal.SIGKILL
