"""Integrations are tested on a synthetic corpus, and on the real papers where they are."""

from __future__ import annotations

from pathlib import Path

import pytest

# Clients of frameworks that only `make integrations` installs; they have no examples of their own.
collect_ignore = ["clients"]


@pytest.fixture(scope="session", params=["synthetic", pytest.param("real", marks=pytest.mark.slow)])
def synthetic(request: pytest.FixtureRequest, synthetic: Path) -> Path:
    """The corpus behind the integrations."""
    return request.getfixturevalue("real_corpus") if request.param == "real" else synthetic
