"""A run that several files of tests write in other forms."""

from __future__ import annotations

import pytest
from llm_server import LLMServer

import arena


@pytest.fixture(scope="session")
def title_on_tiny(tiny, tmp_path_factory):
    """A finished run of `title` on discovery in `tiny`; nothing is written into it."""
    output = tmp_path_factory.mktemp("runs") / "title"
    arena.run(tiny, "discovery", "title", output)
    return output


@pytest.fixture
def play(tiny, tmp_path):
    """Run `react` on one topic of `tiny` by a model's script; return the run and its answers."""

    def run(script):
        store = str(tmp_path / "answers.db")
        with LLMServer(script) as server:
            options = {"model": "m", "base_url": server.url, "store": store, "reminders": 0}
            only = {"topics": ["s1"], "agent_options": options}
            arena.run(tiny, "discovery", "react", tmp_path / "run", **only)
        return tmp_path / "run", store

    return run
