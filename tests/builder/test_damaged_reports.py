"""Damaged reports, plans and manifests: the work is done again, or one line names the file."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from helpers import contents
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from toy_release import ToyRelease, write_toy

from arena.cli import main as arena
from corpus_builder.cli import main
from corpus_builder.files import read_report, write_report
from corpus_builder.stages import plan, read_config, run_stages
from corpus_builder.world import WorldConfig

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2)
    ),
    max_leaves=3,
)
SLOW = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]


def few(examples: int) -> settings:
    return settings(max_examples=examples, deadline=None, suppress_health_check=SLOW)


@st.composite
def damage(draw: st.DrawFn, text: bytes) -> bytes:
    """Cut text, other JSON, other bytes, or one value of another type at any depth."""
    kind = draw(st.sampled_from(["cut", "other", "bytes", "value", "value", "value"]))
    if kind == "cut":
        return text[: draw(st.integers(0, len(text) - 2))]
    if kind == "other":
        return json.dumps(draw(JSON)).encode()
    if kind == "bytes":
        return draw(st.binary(max_size=20))
    value = json.loads(text)
    at: Any = value
    while True:
        key = draw(st.sampled_from(sorted(at) if isinstance(at, dict) else list(range(len(at)))))
        if not (isinstance(at[key], dict | list) and at[key]) or draw(st.booleans()):
            break
        at = at[key]
    if isinstance(at, dict) and draw(st.booleans()):
        del at[key]
    else:
        at[key] = draw(JSON.filter(lambda new: new != at[key]))
    return json.dumps(value).encode()


REPORT = {"lines": 9, "rejected": {"no id": 2}, "damage": None, "files": ["a", {"bytes": 1.5}]}


@few(100)
@given(st.data())
def test_a_report_counts_only_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.getbasetemp() / "report.json"
    write_report(path, ["key", 1], REPORT)
    assert read_report(path, ["key", 1]) == REPORT and read_report(path, ["key", 2]) is None
    path.write_bytes(data.draw(damage(path.read_bytes())))
    assert read_report(path, ["key", 1]) in (None, REPORT)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[ToyRelease, Path]:
    root = tmp_path_factory.mktemp("damaged")
    toy = write_toy(root / "release", WorldConfig(seed=3, papers=60, surveys=2), shards=2)
    run(toy, root / "c")
    return toy, root / "c"


def run(toy: ToyRelease, output: Path) -> Any:
    config = read_config({}, {"full_text_only": False, "surveys.judge": "all"})
    return run_stages(plan("toy", toy, output, config, workers=1, memory=1 << 30))


@pytest.mark.parametrize(
    "name",
    ["parse/shards/papers/000.gz/report.json", "parse/stage.json", "index/steps.json"],
)
def test_the_work_of_a_damaged_report_is_done_again(
    built: tuple[ToyRelease, Path], name: str
) -> None:
    toy, output = built
    stages = output.with_name("c.stages")
    before, whole, text = contents(output), contents(stages), (stages / name).read_bytes()

    @few(3)
    @given(damage(text))
    def check(damaged: bytes) -> None:
        (stages / name).write_bytes(damaged)
        done = stages / name.split("/")[0] / "stage.json"
        if not name.endswith("stage.json"):  # as of a killed run; else nobody reads the others
            done.unlink()
        run(toy, output)
        assert contents(output) == before and contents(stages) == whole

    check()


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("corpus") / "c"
    world = ["build", "world", "--papers", "60", "--surveys", "2", "--output", str(output)]
    assert main(world) == 0
    return output


COMMANDS = [["info"], ["verify"], ["card"], ["index", "--engine", "bm25", "--overwrite"],
            ["search"]]  # fmt: skip


@pytest.mark.parametrize("name", ["manifest.json", "index/bm25/manifest.json"])
def test_a_damaged_manifest_is_named(
    corpus: Path, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    @few(5)
    @given(damage((corpus / name).read_bytes()), st.sampled_from(COMMANDS))
    def check(damaged: bytes, command: list[str]) -> None:
        shutil.rmtree(tmp_path / "c", ignore_errors=True)
        shutil.copytree(corpus, tmp_path / "c")
        (tmp_path / "c" / name).write_bytes(damaged)
        if command == ["search"]:
            status = arena(
                ["search", "--corpus", str(tmp_path / "c"), "--query", "x", "--before", "2015"]
            )
        else:
            status = main([command[0], str(tmp_path / "c"), *command[1:]])
        error = capsys.readouterr().err
        assert status in (0, 2), error
        if status and name == "manifest.json":
            assert str(tmp_path / "c") in error and error.count("\n") == 1

    check()
