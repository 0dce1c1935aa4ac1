"""Doors are tested on a made-up world, and on the real papers where they are."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session", params=["world", "real"])
def world(request: pytest.FixtureRequest, world: Path) -> Path:
    """The corpus behind the doors."""
    return request.getfixturevalue("real_corpus") if request.param == "real" else world
