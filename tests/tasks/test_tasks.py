"""The registry of tasks, and the environments that it registers."""

from __future__ import annotations

import gymnasium
import pytest

from arena.errors import DataError
from arena.tasks import TASKS, Task

TASK = Task("Ten papers.", "Submit ten papers.", ("recall@10",), "recall@10", stages=())


def test_two_names_cannot_have_one_environment(monkeypatch):
    monkeypatch.setattr(TASKS, "_items", {name: TASKS.get(name) for name in TASKS.names()})
    monkeypatch.setitem(gymnasium.registry, "arena/TwoLists-v0", None)
    del gymnasium.registry["arena/TwoLists-v0"]
    TASKS.register("two-lists")(TASK)
    TASKS.register("two-lists")(TASK)  # once more, as a notebook does
    with pytest.raises(DataError, match=r"'two_lists' and the task 'two-lists' .*TwoLists-v0"):
        TASKS.register("two_lists")(TASK)
    assert gymnasium.registry["arena/TwoLists-v0"].kwargs == {"task": "two-lists"}
