"""Stages broken off at odd moments: half-removed stages, an output moved away."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from helpers import contents
from toy_release import ToyRelease, write_toy

from arena._internal import workdir
from corpus_builder.stages import corpus, plan, read_config, run_stages
from corpus_builder.world import WorldConfig


def run(toy: ToyRelease, output: Path, only: str | None = None, **changes: Any) -> Any:
    config = read_config({}, {"full_text_only": False, "surveys.judge": "all"} | changes)
    options: dict[str, Any] = {"workers": 1, "memory": 1 << 30, "overwrite": True}
    return run_stages(plan("toy", toy, output, config, **options), only)


def test_the_old_configuration_after_ctrl_c(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy = write_toy(tmp_path / "release", WorldConfig(seed=3, papers=300, surveys=4))
    run(toy, tmp_path / "c", "parse", characters=1000)
    parse = tmp_path / "c.stages" / "parse"
    before, report = contents(parse), run(toy, tmp_path / "c", "parse", characters=1000)
    real = Path.unlink

    def half(path: Path, **options: bool) -> None:
        real(path, **options)
        if path.name == "papers.parquet":
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", half)
        with pytest.raises(KeyboardInterrupt):
            run(toy, tmp_path / "c", "parse", characters=2000)
    assert run(toy, tmp_path / "c", "parse", characters=1000) == report
    assert contents(parse) == before
    run(toy, tmp_path / "c", "parse", characters=2000)
    assert not list((tmp_path / "c.stages").glob(".*"))


class KilledError(BaseException):
    """Ends a build at once, as a kill does."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[ToyRelease, Path]:
    """A release, and its corpus with an index of titles."""
    place = tmp_path_factory.mktemp("whole")
    toy = write_toy(place / "release", WorldConfig(seed=3, papers=300, surveys=4))
    run(toy, place / "c", **{"index.fields": ["title"]})
    return toy, place / "c"


@pytest.mark.parametrize("again", [False, True])
def test_moved_away_after_a_kill(
    whole: tuple[ToyRelease, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, again: bool
) -> None:
    (toy, complete), output, real = whole, tmp_path / "c", workdir.put
    for name in ("parse", "surveys", "references", "mind-maps"):
        done = complete.with_name("c.stages") / name
        shutil.copytree(done, output.with_name("c.stages") / name)
    if again:
        run(toy, output, **{"index.fields": ["abstract"]})

    def put(new: Path, to: Path) -> None:
        real(new, to)
        raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(corpus, "put", put)
        with pytest.raises(KilledError):
            run(toy, output, **{"index.fields": ["title"]})
    output.rename(tmp_path / "away")
    run(toy, output, **{"index.fields": ["title"]})
    assert contents(output) == contents(complete)
