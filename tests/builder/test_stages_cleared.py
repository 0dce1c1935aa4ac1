"""A stage that a new configuration removes is removed whole, whenever that is broken off."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from helpers import contents
from toy_release import ToyRelease, write_toy

from corpus_builder.stages import plan, read_config, run_stages
from corpus_builder.world import WorldConfig


def run(toy: ToyRelease, output: Path, characters: int) -> Any:
    changes = {"full_text_only": False, "surveys.judge": "all", "characters": characters}
    built = plan("toy", toy, output, read_config({}, changes), workers=1, memory=1 << 30)
    return run_stages(built, "parse")


def test_the_old_configuration_after_ctrl_c(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy = write_toy(tmp_path / "release", WorldConfig(seed=3, papers=300, surveys=4))
    run(toy, tmp_path / "c", 1000)
    parse = tmp_path / "c.stages" / "parse"
    before, report = contents(parse), run(toy, tmp_path / "c", 1000)
    real = shutil.rmtree

    def half(path: Any, *rest: Any, **options: Any) -> None:
        table = Path(path) / "papers.parquet"
        if table.exists():
            table.unlink()
            raise KeyboardInterrupt
        real(path, *rest, **options)

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", half)
        with pytest.raises(KeyboardInterrupt):
            run(toy, tmp_path / "c", 2000)
    assert run(toy, tmp_path / "c", 1000) == report
    assert contents(parse) == before
    run(toy, tmp_path / "c", 2000)
    assert not list((tmp_path / "c.stages").glob(".*"))
