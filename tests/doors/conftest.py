"""Doors are tested on a made-up world, and on the real papers where they are."""

from __future__ import annotations

from pathlib import Path

import pytest

# Clients of frameworks that only `make doors` installs; they have no examples of their own.
collect_ignore = ["door_clients"]


@pytest.fixture(scope="session", params=["world", pytest.param("real", marks=pytest.mark.slow)])
def world(request: pytest.FixtureRequest, world: Path) -> Path:
    """The corpus behind the doors."""
    return request.getfixturevalue("real_corpus") if request.param == "real" else world
