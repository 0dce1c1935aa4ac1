"""Stages: the same corpus as in one go, however often broken off, with any resources."""

from __future__ import annotations

import gzip
import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from helpers import Memory, contents, table
from toy_release import ToyRelease, write_toy

import arena
from arena.corpus import layout
from arena.errors import CorpusError, DataError
from corpus_builder.build import build
from corpus_builder.cli import main
from corpus_builder.index import FIELDS, build_index
from corpus_builder.manifest import verify
from corpus_builder.sources import SOURCES
from corpus_builder.stages import plan, read_config, run_stages
from corpus_builder.synthetic import SyntheticConfig, SyntheticCorpus

SYNTHETIC = SyntheticConfig(seed=3, papers=600, surveys=6)
CONFIG = {
    "full_text_only": False,
    "surveys": {"title": "survey", "judge": "all"},
    "index": {"fields": ["title", "abstract", "fulltext"]},
}
NAMES = ["parse", "surveys", "references", "mind-maps", "index", "card"]


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> ToyRelease:
    return write_toy(tmp_path_factory.mktemp("toy") / "release", SYNTHETIC)


def run(toy: ToyRelease, output: Path, only: str | None = None, **options: Any) -> Any:
    config = read_config(CONFIG, options.pop("changes", None))
    options = {"workers": 1, "memory": 1 << 30} | options
    return run_stages(plan("toy", toy, output, config, **options), only)


@pytest.fixture(scope="module")
def built(toy: ToyRelease, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("built") / "c"
    run(toy, output)
    return output


def copy_build(built: Path, output: Path) -> Path:
    """Copy a corpus with its stages, as the same call would make them for another output."""
    shutil.copytree(built, output)
    shutil.copytree(built.with_name(f"{built.name}.stages"), f"{output}.stages")
    return output


def test_the_same_corpus_as_a_build_in_one_go(built: Path, tmp_path: Path) -> None:
    papers = list(SyntheticCorpus(SYNTHETIC).papers())
    surveys = [
        {key: paper[key] for key in ("id", "title", "date", "references")}
        for paper in papers
        if paper["is_survey"]
    ]
    build(Memory(papers, surveys), tmp_path / "c")
    staged, expected = contents(built), contents(tmp_path / "c")
    extra = {name for name in staged if name.startswith("card/")} | {layout.MANIFEST}
    assert {n: d for n, d in staged.items() if n not in extra} == {
        n: d for n, d in expected.items() if n != layout.MANIFEST
    }
    one, other = (json.loads(files[layout.MANIFEST]) for files in (staged, expected))
    for key in ("content_sha256", "tasks_sha256", "indexes", "counts", "dates", "configuration"):
        assert one[key] == other[key], key
    assert verify(built)["problems"] == {}


@pytest.mark.parametrize(("workers", "memory"), [(2, 1 << 30), (3, 4 << 30)])
def test_neither_workers_nor_memory_matter(
    toy: ToyRelease, built: Path, tmp_path: Path, workers: int, memory: int
) -> None:
    run(toy, tmp_path / "c", workers=workers, memory=memory)
    assert contents(tmp_path / "c") == contents(built)
    stages = f"{built.name}.stages"
    assert contents(tmp_path / stages) == contents(built.with_name(stages))


DIE = """
import os, signal, sys
sys.path.insert(0, {tests!r})
from toy_release import ToyRelease
from corpus_builder.stages import base, plan, read_config, run_stages
left, when = {number}, {when!r}
def once(self, name, work, once=base.Steps.once):
    global left
    if name in self.done:
        return once(self, name, work)
    left -= 1
    last = left == 0
    if last and when == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    value = work()
    if last:
        os.kill(os.getpid(), signal.SIGKILL)
    return once(self, name, lambda: value)
base.Steps.once = once
config = read_config({config!r})
run_stages(plan("toy", ToyRelease({release!r}), {output!r}, config, workers=1, memory=1 << 30))
"""


@pytest.mark.slow
@pytest.mark.parametrize("when", ["before", "after"])
def test_sigkill_at_every_step(toy: ToyRelease, built: Path, tmp_path: Path, when: str) -> None:
    """A build that is killed at its fourth step, then at the fourth that is left, and so on, ends.

    Three may be parts of one another, and of these only the innermost is done for good.
    """
    killed = 0
    while True:
        code = DIE.format(
            tests=str(Path(__file__).parents[1]), number=4,
            when=when, config=CONFIG, release=str(toy._directory), output=str(tmp_path / "c"),
        )  # fmt: skip
        result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        if result.returncode == 0:
            break
        assert result.returncode == -signal.SIGKILL, result.stderr
        killed += 1
        if (tmp_path / "c" / layout.MANIFEST).exists():
            assert verify(tmp_path / "c")["problems"] == {}
    assert killed >= 3
    assert contents(tmp_path / "c") == contents(built)
    assert not list((tmp_path / "c.stages").rglob(".*"))


def test_what_is_done_is_not_done_again(toy: ToyRelease, built: Path, tmp_path: Path) -> None:
    output = copy_build(built, tmp_path / "c")

    def times() -> dict[str, int]:
        return {name: (tmp_path / "c.stages" / name / "stage.json").stat().st_mtime_ns
                for name in NAMES}  # fmt: skip

    before = times()
    reports = run(toy, output)
    assert list(reports) == NAMES and all(reports.values())
    assert times() == before
    run(toy, output, changes={"references.min_available": 2})
    after = times()
    assert [name for name in NAMES if after[name] != before[name]] == NAMES[2:]
    shutil.rmtree(output)
    run(toy, output, changes={"references.min_available": 2})
    again = times()
    assert [name for name in NAMES if again[name] != after[name]] == NAMES[4:]
    assert verify(output)["problems"] == {}


def test_an_output_that_holds_something_else(toy: ToyRelease, tmp_path: Path) -> None:
    output = tmp_path / "c"
    survey = {"id": "s", "title": "S", "date": "2020", "references": ["a"]}
    build(Memory([{"id": "a", "title": "A", "date": "2019"}], [survey]), output)
    old = contents(output)
    with pytest.raises(CorpusError, match="--overwrite"):
        run(toy, output)
    assert contents(output) == old
    run(toy, output, overwrite=True)
    assert contents(output) != old
    run(toy, output)  # its own output needs no permission
    other = tmp_path / "d.stages"
    other.mkdir()
    (other / "diary.txt").write_text("mine")
    with pytest.raises(CorpusError, match=r"has 'diary.txt', which is not a stage"):
        run(toy, tmp_path / "d")
    assert (other / "diary.txt").read_text() == "mine"


def bad_release(directory: Path, lines: list[bytes]) -> ToyRelease:
    directory.mkdir()
    (directory / "0.gz").write_bytes(gzip.compress(b"\n".join(lines), mtime=0))
    return ToyRelease(directory)


PAPER = {"id": "a", "title": "Paper", "date": "2019", "abstract": "x"}
SURVEY = {"id": "s", "title": "A survey", "date": "2020", "references": ["a"], "is_survey": True}


def line(*records: dict[str, Any]) -> list[bytes]:
    return [json.dumps(record).encode() for record in records]


def test_too_many_rejects_stop_the_build(tmp_path: Path) -> None:
    toy = bad_release(tmp_path / "r", [*line(PAPER, SURVEY), b"nonsense", b"[]"])
    with pytest.raises(DataError) as raised:
        run(toy, tmp_path / "c")
    assert "2 of 4 records of 'papers' cannot be used: no id 1, not JSON 1." in str(raised.value)
    rejects = tmp_path / "c.stages" / "parse" / "rejects.jsonl"
    assert str(rejects) in str(raised.value)
    staged = [json.loads(text) for text in rejects.read_text().splitlines()]
    assert [(r["shard"], r["line"], r["reason"], r["kept"]) for r in staged] == [
        ("papers/0.gz", 3, "not JSON", False),
        ("papers/0.gz", 4, "no id", False),
    ]
    reports = run(toy, tmp_path / "c", changes={"max_rejected": 0.5})
    assert reports["parse"]["datasets"]["papers"]["rejected"] == {"not JSON": 1, "no id": 1}
    assert verify(tmp_path / "c")["problems"] == {}


def test_a_paper_with_a_duplicate_id_is_not_taken(tmp_path: Path) -> None:
    twin = PAPER | {"title": "Twin", "date": "2001", "abstract": "y"}
    toy = bad_release(tmp_path / "r", line(PAPER, twin, SURVEY))
    with pytest.raises(DataError, match=r"^1 of 3 papers have an id twice: .*release mixed"):
        run(toy, tmp_path / "c")
    reports = run(toy, tmp_path / "c", changes={"max_rejected": 0.05})
    assert reports["parse"]["duplicate_ids"] == {"papers": 1, "abstracts": 1, "texts": 1}
    assert reports["index"]["counts"]["papers"] == 2
    files = contents(tmp_path / "c")
    assert b"Paper" in files["lookup/titles.bin"] and b"Twin" not in files["lookup/titles.bin"]
    rejects = (tmp_path / "c.stages" / "parse" / "rejects.jsonl").read_text().splitlines()
    assert {json.loads(text)["line"] for text in rejects} == {2}


def test_a_shard_that_ends_early(toy: ToyRelease, built: Path, tmp_path: Path) -> None:
    shutil.copytree(toy._directory, tmp_path / "r")
    cut = tmp_path / "r" / "001.gz"
    data = cut.read_bytes()
    cut.write_bytes(data[: len(data) // 2])
    damage = r"1 of 4 shards are damaged, 'papers/001.gz' after line \d+"
    with pytest.raises(DataError, match=damage):
        run(ToyRelease(tmp_path / "r"), tmp_path / "c")
    # Repaired, or taken as it is, only that shard is read again.
    kept = [tmp_path / f"c.stages/parse/shards/papers/{n}.gz" for n in ("000", "002", "003")]
    before = [path.stat().st_mtime_ns for path in kept]
    reports = run(ToyRelease(tmp_path / "r"), tmp_path / "c", changes={"allow_damaged": True})
    assert reports["parse"]["datasets"]["papers"]["damaged"] == 1
    assert [path.stat().st_mtime_ns for path in kept] == before
    cut.write_bytes(data)
    run(ToyRelease(tmp_path / "r"), tmp_path / "c")
    assert [path.stat().st_mtime_ns for path in kept] == before
    assert contents(tmp_path / "c") == contents(built)


@pytest.mark.parametrize(
    ("survey", "why"),
    [
        (SURVEY | {"references": ["s"]}, "1 too few references"),
        (SURVEY | {"references": ["s"], "referencecount": 4}, "1 failed extraction"),
        (SURVEY | {"references": ["nobody"]}, "1 too few references available"),
        (SURVEY | {"date": "2019"}, "1 too few references available"),
        (SURVEY | {"date": None}, "1 undated"),
        (PAPER | {"id": "b"}, "there is none"),
    ],
)
def test_no_survey_can_be_a_task(tmp_path: Path, survey: dict[str, Any], why: str) -> None:
    toy = bad_release(tmp_path / "r", line(PAPER, survey))
    with pytest.raises(DataError) as raised:
        run(toy, tmp_path / "c")
    assert f"no survey can be a task: {why}." in str(raised.value)
    assert not (tmp_path / "c").exists()


def test_fate_and_coverage_of_every_survey(tmp_path: Path) -> None:
    late = {"id": "b", "title": "Late", "date": "2021"}
    half = SURVEY | {"id": "t", "title": "Half", "references": ["a", "b", "gone", "lost"]}
    records = line(PAPER, late, SURVEY, half, SURVEY | {"id": "u", "title": "Old", "date": "2001"})
    run(bad_release(tmp_path / "r", records), tmp_path / "c")
    staged = table(tmp_path / "c.stages" / "references" / "coverage.parquet")
    assert staged == [
        ("s", "A survey", "kept", 1, 1, 1),
        ("t", "Half", "kept", 4, 2, 1),
        ("u", "Old", "too few references available", 1, 1, 0),
    ]


def test_words_of_the_full_text_are_searched_and_vectors_are_of_the_abstract(
    tmp_path: Path,
) -> None:
    deep = PAPER | {"sections": [{"heading": "Method", "text": "Zirconium crystals."}]}
    toy = bad_release(tmp_path / "r", line(deep, SURVEY))
    changes = {"index.engines": ["bm25", "dense"], "index.fields": None}
    run(toy, tmp_path / "c", changes=changes)
    added = build_index(tmp_path / "c", "dense", name="again", options={"encoder": "static"})
    fields = [
        json.loads((layout.index_directory(tmp_path / "c", name) / layout.MANIFEST).read_text())[
            "fields"
        ]
        for name in ("bm25", "dense", "again")
    ]
    assert fields == [[*FIELDS], ["title", "abstract"], ["title", "abstract"]]
    assert added["fields"] == fields[1]
    hits = arena.Corpus.open(tmp_path / "c").at("2021").search("zirconium")
    assert [hit.id for hit in hits] == ["a"]
    # The old way, by name.
    run(toy, tmp_path / "c", changes={"index.fields": ["title", "abstract"]})
    assert not arena.Corpus.open(tmp_path / "c").at("2021").search("zirconium")


CLI = """
import sys
sys.path.insert(0, {tests!r})
from corpus_builder.sources import SOURCES
from toy_release import ToyRelease
SOURCES.register("toy")(ToyRelease)
from corpus_builder.cli import main
{code}
sys.exit(main())
"""


def words(toy: ToyRelease, output: Path, *options: str) -> list[str]:
    config = output.with_name("config.yaml")
    config.write_text(json.dumps(CONFIG))  # which is YAML as well
    return ["build", "toy", "--input", str(toy._directory), "--output", str(output), "--config",
            str(config), "--workers", "2", "--memory", "1GiB", *options]  # fmt: skip


def command(toy: ToyRelease, output: Path, code: str = "") -> Any:
    """Run the command in a process of its own, after `code`."""
    text = CLI.format(tests=str(Path(__file__).parents[1]), code=code)
    line = [sys.executable, "-c", text, *words(toy, output)]
    return subprocess.run(line, capture_output=True, text=True)


@pytest.fixture
def toy_is_a_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SOURCES._items, "toy", ToyRelease)


@pytest.mark.usefixtures("toy_is_a_source")
def test_the_command(
    toy: ToyRelease, built: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = command(toy, tmp_path / "c")
    assert (result.returncode, result.stderr) == (0, "")
    said = [text.split()[2:] for text in result.stdout.splitlines() if text[8:12] == " s  "]
    assert said == [[name, *words] for name in NAMES for words in (["begins"], ["is", "done"])]
    lines = [text.strip() for text in result.stdout.splitlines()]
    assert "papers: 600 records in 4 shards" in lines and "no figures were given" in lines
    assert contents(tmp_path / "c") == contents(built)
    assert main(words(toy, tmp_path / "c")) == 0
    printed = capsys.readouterr().out.splitlines()
    said = [text.split()[2:] for text in printed if text[8:12] == " s  "]
    assert said == [[name, "was", "done", "before"] for name in NAMES]
    assert main(words(toy, tmp_path / "c", "--json")) == 0
    assert list(json.loads(capsys.readouterr().out)) == NAMES
    for options, extra in (
        (["--memory", "much"], "--memory 'much': write a number and a unit, such as 4GB"),
        (["--set", "surveys.jugde=all"], "Did you mean 'judge'?"),
        (["--stage", "indx"], "Did you mean 'index'?"),
        (["--executor", "locl"], "Did you mean 'local'?"),
    ):
        assert main(words(toy, tmp_path / "d", *options)) == 2
        errors = capsys.readouterr().err
        assert extra in errors and errors.count("\n") == 1


@pytest.mark.usefixtures("toy_is_a_source")
def test_a_full_disk(toy: ToyRelease, built: Path, tmp_path: Path) -> None:
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 15, 1 << 15))"
    result = command(toy, tmp_path / "c", code=limit)
    assert result.returncode == 2, result.stderr
    assert "What is done is kept" in result.stderr and result.stderr.count("\n") == 1
    assert main(words(toy, tmp_path / "c")) == 0
    assert contents(tmp_path / "c") == contents(built)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("title", ["A Survey of Trees", "A survey", r"A\quad sur\-vey"])
def test_a_paper_that_any_record_calls_a_survey_is_hidden(tmp_path, title, turned) -> None:
    """By a word of the title, or by the very title of a task; the records in both orders."""
    twins = [PAPER | {"id": "b", "title": "Plain"}, PAPER | {"id": "b", "title": title}]
    records = [PAPER, *(reversed(twins) if turned else twins), SURVEY | {"references": ["a", "b"]}]
    toy = bad_release(tmp_path / "r", line(*records))
    run(toy, tmp_path / "c", changes={"max_rejected": 0.5})
    papers = pq.read_table(tmp_path / "c" / "papers.parquet").to_pylist()
    assert {row["id"]: row["searchable"] for row in papers} == {"a": True, "b": False, "s": False}
    gold = pq.read_table(tmp_path / "c" / "tasks" / "gold.parquet").to_pylist()
    assert {(row["reference"], row["status"]) for row in gold} == {("a", "gold"), ("b", "survey")}
