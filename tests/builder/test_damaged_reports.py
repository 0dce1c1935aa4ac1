"""Damaged reports and manifests: the work is done again, or one line names the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from helpers import contents
from toy_release import ToyRelease, write_toy

from corpus_builder.stages import plan, read_config, run_stages
from corpus_builder.synthetic import SyntheticConfig


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[ToyRelease, Path]:
    root = tmp_path_factory.mktemp("damaged")
    toy = write_toy(root / "release", SyntheticConfig(seed=3, papers=60, surveys=2), shards=2)
    run(toy, root / "c")
    return toy, root / "c"


def run(toy: ToyRelease, output: Path) -> Any:
    config = read_config({}, {"full_text_only": False, "surveys.judge": "all"})
    return run_stages(plan("toy", toy, output, config, workers=1, memory=1 << 30))


@pytest.mark.parametrize(
    ("name", "damages"),
    [
        ("parse/shards/papers/000.gz/report.json", (b"", b"[3]")),
        ("parse/stage.json", (b"{damaged",)),
        ("index/steps.json", (b'{"report": 3}', b"")),
    ],
)
def test_the_work_of_a_damaged_report_is_done_again(
    built: tuple[ToyRelease, Path], name: str, damages: tuple[bytes, ...]
) -> None:
    toy, output = built
    stages = output.with_name("c.stages")
    before, whole = contents(output), contents(stages)
    for damaged in damages:
        (stages / name).write_bytes(damaged)
        if not name.endswith("stage.json"):  # as of a killed run; else nobody reads the others
            (stages / name.split("/")[0] / "stage.json").unlink()
        run(toy, output)
        assert contents(output) == before and contents(stages) == whole
