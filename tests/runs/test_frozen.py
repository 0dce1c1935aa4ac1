"""A change of structure changes no answer, no observation and no number."""

from __future__ import annotations

import json
from pathlib import Path

import frozen
import pytest


@pytest.mark.slow
def test_small_runs_are_as_they_were_frozen(tmp_path: Path) -> None:
    expected = json.loads(frozen.FROZEN.read_text(encoding="utf-8"))
    assert frozen.differences(frozen.outputs(tmp_path), expected) == []
