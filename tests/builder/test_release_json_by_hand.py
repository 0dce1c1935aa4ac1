"""A ``release.json`` that was edited by hand is refused in words, and writes no control codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from release_helpers import paper, write_shard

from arena.errors import DataError
from corpus_builder.sources.s2orc import S2orc


@pytest.mark.parametrize(
    "release, entry",
    [
        ("2024-02-06", {"name": "0.gz", "bytes": "12"}),
        ("2024-02-06", {"name": "0.gz", "bytes": [1]}),
        ("2024-02-06", {"name": "\x1b[31m1.gz"}),
        ("\x1b[31m", {"name": "0.gz"}),
    ],
)
def test_it_is_refused(tmp_path: Path, release: str, entry: dict[str, Any]) -> None:
    write_shard(tmp_path / "papers" / "0.gz", [paper(1)])
    told = {"release": release, "datasets": {"papers": [entry]}}
    (tmp_path / "release.json").write_text(json.dumps(told))
    with pytest.raises(DataError, match="does not say what was downloaded"):
        S2orc(tmp_path).shards()
