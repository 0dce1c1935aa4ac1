"""A retriever for tests of the index command: slow on demand, and it can be stopped anywhere."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from arena.errors import DataError
from arena.retrieval import RETRIEVERS, Ranking, Retriever, Scope


class Toy(Retriever):
    """Keeps the length of every text, a line a paper, and continues after the last whole line.

    The environment variable TOY says what to do and at which paper: "kill 5", "interrupt 5",
    "full 5". TOY_LOG names a file that gets a line for every paper that is worked on.
    """

    resumes = True
    config: ClassVar[dict[str, Any]] = {}

    def __init__(self, directory: Path) -> None:
        lines = (directory / "lengths.txt").read_text().splitlines()
        self.documents = [int(line.split()[0]) for line in lines]

    @classmethod
    def build(
        cls,
        source: Any,
        directory: Path,
        fields: tuple[str, ...],
        progress: Callable[..., Any],
        **options: Any,
    ) -> dict[str, Any]:
        if options.keys() - {"encoder", "shift"}:
            raise DataError("toy knows the options encoder and shift.")
        what, _, where = os.environ.get("TOY", "nothing -1").partition(" ")
        path = directory / "lengths.txt"
        done = path.read_text().rpartition("\n")[0].splitlines() if path.exists() else []
        path.write_text("".join(f"{line}\n" for line in done))
        papers = list(source.texts(fields))
        for number, text in progress(papers[len(done) :], desc="toy"):
            if number == int(where):
                stop(what)
            if "TOY_LOG" in os.environ:
                with Path(os.environ["TOY_LOG"]).open("a") as log:
                    log.write(f"{number}\n")
            with path.open("a") as file:
                file.write(f"{number} {len(text) + options.get('shift', 0)}\n")
        return {"documents": len(papers), "encoder": options.get("encoder")}

    @classmethod
    def open(cls, directory: Path, **options: Any) -> Toy:
        return cls(directory)

    def search(self, query: str, k: int, scope: Scope) -> Ranking:
        found = [d for d in self.documents if d < scope.end and d not in scope.excluded][:k]
        return Ranking(np.array(found, np.int64), -np.arange(len(found), dtype=np.float64))


class Once(Toy):
    """The same, but what was begun is thrown away."""

    resumes = False


def stop(what: str) -> None:
    if what == "full":
        raise OSError(28, "No space left on device")
    os.kill(os.getpid(), signal.SIGKILL if what == "kill" else signal.SIGINT)
    time.sleep(9)


def register() -> None:
    RETRIEVERS.register("toy")(Toy)
    RETRIEVERS.register("once")(Once)
