"""A run that several files of tests write in other forms."""

from __future__ import annotations

import pytest

import arena


@pytest.fixture(scope="session")
def title_on_tiny(tiny, tmp_path_factory):
    """A finished run of `title` on discovery in `tiny`; nothing is written into it."""
    output = tmp_path_factory.mktemp("runs") / "title"
    arena.run(tiny, "discovery", "title", output)
    return output
