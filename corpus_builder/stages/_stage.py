"""What a stage is, and how the steps within one survive a kill."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from arena._internal.files import write_json

if TYPE_CHECKING:
    from corpus_builder.stages._plan import Plan


class Stage(Protocol):
    """One stage.

    Attributes:
        name: of the stage and of its directory.
        keeps: files and directories in it that stay when the stage is done again with other
            inputs; `run` removes of them what those have outdated.
    """

    name: str
    keeps: tuple[str, ...]

    def inputs(self, plan: Plan) -> Any:
        """Return what the result depends on besides the stages before, as JSON can hold it.

        A stage that was done with other inputs is done again, and so are those behind it.
        """
        ...

    def run(self, plan: Plan, steps: Steps) -> dict[str, Any]:
        """Write the stage's output; go on where a killed run stopped.

        Returns:
            The report: counts, by name, that depend on nothing but the input.
        """
        ...


class Steps:
    """The directory of a stage, and the steps that are done in it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._done = directory / ".steps"

    def once(self, name: str, work: Callable[[], Any]) -> Any:
        """Return what `work` returned, calling it only if no earlier run has completed it.

        Args:
            name: of the step.
            work: writes files, which it replaces if a killed run has left some; returns JSON.
        """
        told = self._done / f"{name}.json"
        if told.exists():
            return json.loads(told.read_bytes())
        value = work()
        self._done.mkdir(parents=True, exist_ok=True)
        write_json(told, value)
        return value

    def forget(self) -> None:
        """Do all steps again."""
        shutil.rmtree(self._done, ignore_errors=True)

    def scratch(self) -> Path:
        """Return an empty directory for what need not survive; removed when the stage is done."""
        path = self.directory / ".scratch"
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        return path
