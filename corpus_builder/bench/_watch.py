"""Watches a command and all processes that it starts: memory, processor time, disk."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

INTERVAL = 0.2
"""Seconds between two looks at the memory."""

_PATIENCE = 30.0  # seconds for the children of a killed process to end
_DISK_EVERY = 5  # looks at the memory for one at the disk
_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICK = os.sysconf("SC_CLK_TCK")


class Watched:
    """A command that runs in a session of its own, so that every process it starts is known.

    Args:
        command: program and arguments.
        places: directories whose size is watched.
        on_line: called with the time since the start in seconds and each line it prints.

    Attributes:
        peak: ``rss`` and ``pss``: the most bytes of all its processes together, at one look; the
            first counts what processes share for each of them. ``processes``: most at once.
            ``disk``: most bytes in `places`.
        looks: how often the memory was looked at.
    """

    def __init__(
        self,
        command: Sequence[str],
        places: Sequence[Path] = (),
        on_line: Callable[[float, str], None] | None = None,
    ) -> None:
        self.peak = {"rss": 0, "pss": 0, "processes": 0, "disk": 0}
        self.looks = 0
        self.errors = ""
        self._places, self._on_line = places, on_line
        self._done = threading.Event()
        self._started = time.monotonic()
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        self._threads = [
            threading.Thread(target=work, daemon=True)
            for work in (self._look, self._read, self._read_errors)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def pid(self) -> int:
        """The first process, which leads the session."""
        return self._process.pid

    @property
    def seconds(self) -> float:
        """Since the start."""
        return time.monotonic() - self._started

    def processes(self) -> list[int]:
        """Return all processes of the session that have not ended."""
        return [pid for pid, told in _processes() if told[3] == str(self.pid) and told[0] != "Z"]

    def processor(self) -> float:
        """Return the seconds of processor time so far, of all its processes."""
        mine = [told for _, told in _processes() if told[3] == str(self.pid)]
        # Fields 14 and 15 of proc(5), and of the first process those it has waited for, too.
        ticks = sum(int(n) for told in mine for n in told[11:13])
        first = [told for pid, told in _processes() if pid == self.pid]
        return (ticks + sum(int(n) for told in first for n in told[13:15])) / _TICK

    def kill(self, alone: bool = False) -> float:
        """Kill the first process, or all of them; return seconds until none was left.

        Args:
            alone: only the first; its children must notice.

        Raises:
            RuntimeError: if a child was there after 30 seconds.
        """
        targets, outlived = [self.pid] if alone else self.processes(), 0
        started = time.monotonic()
        _kill(targets)
        self._process.wait()
        while left := self.processes():
            if alone and not outlived and time.monotonic() - started > _PATIENCE:
                outlived = len(left)
            if outlived or not alone:  # also those begun while the others were killed
                _kill(left)
            time.sleep(0.01)
        waited = time.monotonic() - started
        self._finish()
        if outlived:
            raise RuntimeError(f"{outlived} processes outlived the one that started them")
        return waited

    def running(self) -> bool:
        """Return whether the first process runs."""
        return self._process.poll() is None

    def wait(self) -> int:
        """Wait for the command; return its exit status."""
        status = self._process.wait()
        self._finish()
        return status

    def _finish(self) -> None:
        self._done.set()
        for thread in self._threads:
            thread.join()

    def _look(self) -> None:
        while not self._done.is_set():
            pids = self.processes()
            self._raise("processes", len(pids))
            self._raise("rss", sum(map(_resident, pids)))
            self._raise("pss", sum(map(_proportional, pids)))
            if self.looks % _DISK_EVERY == 0:
                self._raise("disk", sum(map(size_of, self._places)))
            self.looks += 1
            self._done.wait(INTERVAL)
        self._raise("disk", sum(map(size_of, self._places)))

    def _raise(self, name: str, value: int) -> None:
        self.peak[name] = max(self.peak[name], value)

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                if self._on_line is not None:
                    self._on_line(self.seconds, line.rstrip("\n"))

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as file:
            self.errors = file.read()[-4000:]


def size_of(place: Path) -> int:
    """Return the bytes that a directory takes on the disk, with all below it; 0 if it is gone."""
    total = 0
    for root, _, files in os.walk(place):
        for name in files:
            with suppress(OSError):
                total += (Path(root) / name).lstat().st_blocks * 512
    return total


def _kill(pids: Sequence[int]) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _processes() -> list[tuple[int, list[str]]]:
    """Return each process and what proc(5) tells of it from field 3, its state, on."""
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with suppress(OSError):
                text = Path(entry.path, "stat").read_text(errors="replace")
                found.append((int(entry.name), text[text.rindex(")") + 2 :].split()))
    return found


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0


def _proportional(pid: int) -> int:
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    lines: list[Any] = [line.split() for line in text.splitlines() if line.startswith("Pss:")]
    return int(lines[0][1]) * 1024 if lines else 0
