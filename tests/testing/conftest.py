"""What audits and checks compute of the corpora that no test changes, computed once."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from arena.testing.exposure import Words
from arena.testing.files import Facts
from arena.testing.reference import Bm25

UNCHANGED: set[str] = set()


@pytest.fixture(scope="session")
def world(world: Path) -> Path:
    UNCHANGED.add(str(world))
    return world


@pytest.fixture(scope="session")
def mini(mini: Path) -> Path:
    UNCHANGED.add(str(mini))
    return mini


@lru_cache
def once(make: type, *arguments: Any) -> Any:
    return make(*arguments)


@pytest.fixture(autouse=True)
def read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def facts(directory: str | Path, tasks: str | Path | None = None) -> Facts:
        known = tasks is None and str(directory) in UNCHANGED
        return once(Facts, str(directory)) if known else Facts(directory, tasks)

    for module in ("auditor", "contract"):
        monkeypatch.setattr(f"arena.testing.{module}.Facts", facts)
    monkeypatch.setattr("arena.testing.auditor.Bm25", lambda *of: once(Bm25, *of))
    monkeypatch.setattr("arena.testing.exposure.Words", lambda of: once(Words, of))
