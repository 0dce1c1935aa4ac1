"""A corpus that was moved away right after a kill is built again, not replaced by its remains."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from helpers import contents
from toy_release import ToyRelease, write_toy

from arena._internal import workdir
from corpus_builder.stages import corpus, plan, read_config, run_stages
from corpus_builder.world import WorldConfig


class KilledError(BaseException):
    """Ends a build at once, as a kill does."""


def run(toy: ToyRelease, output: Path, field: str) -> Any:
    changes = {"full_text_only": False, "surveys.judge": "all", "index.fields": [field]}
    config = read_config({}, changes)
    return run_stages(plan("toy", toy, output, config, workers=1, memory=1 << 30, overwrite=True))


@pytest.mark.parametrize("again", [False, True])
def test_moved_away_after_a_kill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, again: bool
) -> None:
    toy = write_toy(tmp_path / "release", WorldConfig(seed=3, papers=300, surveys=4))
    output, real = tmp_path / "c", workdir.put
    if again:
        run(toy, output, "abstract")

    def put(new: Path, to: Path) -> None:
        real(new, to)
        raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(corpus, "put", put)
        with pytest.raises(KilledError):
            run(toy, output, "title")
    output.rename(tmp_path / "away")
    run(toy, output, "title")
    run(toy, tmp_path / "whole", "title")
    assert contents(output) == contents(tmp_path / "whole")
