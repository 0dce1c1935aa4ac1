"""Adding an index to a built corpus: what it changes, how it fails, and what a kill leaves."""

from __future__ import annotations

import json
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import toy_engine
from helpers import SMALL, contents, names
from kills import between_two_renames, run_to_kill

import arena
from arena.cli.repair import build_command
from arena.corpus import layout
from arena.errors import ArenaError, CorpusError, DataError, UnknownNameError
from arena.retrieval import RETRIEVERS
from corpus_builder.build import build
from corpus_builder.cli import main
from corpus_builder.index import build_index
from corpus_builder.manifest import verify

INTACT = {"problems": {}}
TOYS = (
    f"import sys; sys.path.insert(0, {str(Path(__file__).parents[1])!r})\n"
    "import toy_engine; toy_engine.register()\n"
)
MAIN = "from corpus_builder.cli import main; sys.exit(main())"


@pytest.fixture(autouse=True)
def toys(monkeypatch: Any) -> None:
    """Both toy engines are registered while a test runs."""
    RETRIEVERS.names()
    monkeypatch.setattr(RETRIEVERS, "_items", dict(RETRIEVERS._items))
    toy_engine.register()


def command(*arguments: object, code: str = "", **options: Any) -> Any:
    """Run ``arena-corpus index`` in a process of its own."""
    line = [sys.executable, "-c", TOYS + code + MAIN, "index", *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, timeout=60, **options)


def state(corpus: Path) -> dict[str, Any]:
    report = verify(corpus)
    return {key: report[key] for key in INTACT}


# What is added.


def test_an_index_is_added_and_nothing_else_changes(copy: Path, capsys: Any) -> None:
    before = contents(copy)
    assert main(["index", str(copy), "--engine", "bm25", "--name", "titles",
                 "--fields", "title"]) == 0  # fmt: skip
    assert capsys.readouterr().out.startswith("index   titles (bm25) over title\n")
    after = contents(copy)
    new = {name for name in after if name.startswith("index/titles/")}
    assert after.keys() - before.keys() == new
    assert [n for n in before if after[n] != before[n]] == [layout.MANIFEST]
    old, now = (json.loads(files[layout.MANIFEST]) for files in (before, after))
    differing = {key for key in now if now[key] != old[key]}
    assert differing == {"indexes", "manifest_sha256"}
    assert now["indexes"].keys() == {"bm25", "titles"}
    index = json.loads(after["index/titles/manifest.json"])
    assert (index["engine"], index["name"], index["fields"]) == ("bm25", "titles", ["title"])
    assert state(copy) == INTACT
    assert main(["info", str(copy)]) == 0
    card = capsys.readouterr().out
    assert "bm25 over title, abstract, fulltext; titles (bm25) over title\n" in card


def test_an_open_corpus_continues(copy: Path) -> None:
    corpus = arena.Corpus.open(copy)
    view = corpus.at("2030")
    first = view.search("dense encoders")
    assert command(copy, "--engine", "toy").returncode == 0
    assert command(copy, "--engine", "bm25", "--fields", "title", "--overwrite").returncode == 0
    assert view.search("dense encoders") == first  # from the files that it had opened
    assert corpus.at("2030").search("dense encoders") == first
    assert len(corpus.at("2030", retriever="toy").search("x", 99)) == 11


# What is refused.

BAD = [
    ("NOWHERE --engine bm25", "there is no directory"),
    ("CORPUS", "required: --engine"),
    ("CORPUS --engine bm25 --fields title", "already has the index bm25 over title, abstract, "
     "fulltext. Pass --overwrite"),
    ("CORPUS --engine bm25 --name x --option fields=title", "Use --fields"),
    ("CORPUS --engine bm25 --name x --fields titel", "Did you mean 'title'?"),
    ("CORPUS --engine bm25 --name ../x", "cannot name an index"),
    ("CORPUS --engine bm25 --name toy", "that is another engine"),
    ("CORPUS --engine hybrid", "hybrid has no index of its own; name it as hybrid(bm25,dense)"),
    ("CORPUS --engine toy --encoder a --option encoder=b", "Give one of them"),
    ("CORPUS --engine toy --option speed=1", "toy knows the options encoder and shift"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "message"), BAD, ids=[line for line, _ in BAD])
def test_bad_input_is_one_line_and_leaves_nothing(
    copy: Path, tmp_path: Path, capsys: Any, line: str, message: str
) -> None:
    before = contents(tmp_path)
    words = line.replace("CORPUS", str(copy)).replace("NOWHERE", str(tmp_path / "no")).split()
    try:
        status = main(["index", *words])
    except SystemExit as stop:
        status = stop.code
    told = capsys.readouterr()
    assert (status, told.out) == (2, "")
    assert told.err.count("\n") == 1 and message in told.err
    assert contents(tmp_path) == before and names(copy / "index") == ["bm25"]


# Messages that name the command that helps.


def heal(error: CorpusError) -> None:
    """Run the command that the command line names."""
    (part,) = error.parts
    assert main(shlex.split(build_command(part))[1:]) == 0


@pytest.mark.parametrize("name", ["toy", "lengths"])
def test_the_command_in_the_message_mends_the_index(
    copy: Path, tmp_path: Path, name: str, capsys: Any
) -> None:
    given = {"encoder": "a b", "shift": 2}
    build_index(copy, "toy", name=name, fields=["abstract", "title"], options=given)
    whole = contents(copy)
    directory = copy / "index" / name
    manifest = json.loads((directory / layout.MANIFEST).read_text())
    build(SMALL, tmp_path / "foreign")
    build_index(tmp_path / "foreign", "toy", fields=["abstract", "title"], options=given)

    def cut() -> None:
        (directory / "lengths.txt").write_text("0")

    def lose() -> None:
        (directory / "lengths.txt").unlink()

    def age() -> None:
        older = json.dumps(manifest | {"format_version": 0})
        (directory / layout.MANIFEST).write_text(older)

    def swap() -> None:
        shutil.rmtree(directory)
        shutil.copytree(tmp_path / "foreign/index/toy", directory)

    for damage, message in (
        (cut, "has 1 bytes, not"), (lose, "is missing"), (age, "is of format version 0"),
        (swap, "was built for corpus"),
    ):  # fmt: skip
        damage()
        for ask in (arena.Corpus.open(copy).retriever, arena.Corpus.open(copy).index_sha256):
            with pytest.raises(CorpusError, match=message) as caught:
                ask(name)
        assert build_command(*caught.value.parts).endswith("--overwrite")
        assert main(["verify", str(copy)]) == 2
        assert f"--engine toy {'' if name == 'toy' else '--name lengths '}" in (
            capsys.readouterr().err
        )
        heal(caught.value)
        assert contents(copy) == whole


def test_unknown_names_and_engines(copy: Path, monkeypatch: Any) -> None:
    build_index(copy, "toy", name="lengths")
    corpus = arena.Corpus.open(copy)
    for name, message in (
        ("length", r"no retriever named 'length'. Did you mean 'lengths'"),
        ("../lookup", "no retriever named '../lookup'"),
        ("", "no retriever named ''"),
    ):
        with pytest.raises(UnknownNameError, match=message):
            corpus.retriever(name)
    monkeypatch.delitem(RETRIEVERS._items, "toy")
    with pytest.raises(CorpusError, match="was made by the engine 'toy', which is not installed"):
        corpus.retriever("lengths")
    with pytest.raises(DataError, match="bm25 has no option 'directory'"):
        corpus.retriever("bm25", directory="/")


# Failures, interruptions and kills.


def test_other_settings_do_not_go_on_and_a_slip_destroys_nothing(
    copy: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    whole = Path(shutil.copytree(copy, tmp_path / "whole"))
    build_index(whole, "toy", options={"shift": 1})
    monkeypatch.setenv("TOY", "full 8")
    with pytest.raises(OSError, match="What is done is kept, and the same command continues"):
        build_index(copy, "toy")
    begun = contents(copy)
    with pytest.raises(DataError, match="toy knows the options"):
        build_index(copy, "toy", options={"speed": 1})
    assert contents(copy) == begun  # nothing of hours of work is lost to a typing error
    monkeypatch.setenv("TOY", "nothing -1")
    build_index(copy, "toy", options={"shift": 1})
    assert contents(copy) == contents(whole)


MOMENTS = {
    "written": "workdir.sync = die",
    "between two renames": between_two_renames("toy"),
    "before the manifest": "manifest.write_json = die",
    "after the manifest": "manifest.write_json = after(manifest.write_json)",
}


@pytest.mark.slow
@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("moment", MOMENTS)
def test_sigkill_at_every_step(copy: Path, tmp_path: Path, moment: str, overwrite: bool) -> None:
    whole = Path(shutil.copytree(copy, tmp_path / "whole"))
    build_index(whole, "toy", options={"shift": 1})
    if overwrite:
        build_index(copy, "toy")
    flags = ["--overwrite"] if overwrite else []
    line = [copy, "--engine", "toy", "--option", "shift=1", *flags]
    moment_code = f"from corpus_builder import manifest, index\n{MOMENTS[moment]}"
    done = run_to_kill(moment_code, TOYS + MAIN, ["index", *line])
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert arena.Corpus.open(copy).at("2030").search("dense")  # whatever happened, it works
    again = command(*line)
    assert again.returncode == 0, again.stderr
    if not overwrite and moment == "after the manifest":
        assert "built before from the same input" in again.stdout
        assert verify(copy)["problems"] == {}
    (copy / "index" / ".manifest.lock").unlink(missing_ok=True)  # of the killed process
    assert contents(copy) == contents(whole)
    assert state(copy) == INTACT


# Several at once.


def test_one_index_is_built_once_at_a_time(copy: Path, monkeypatch: Any) -> None:
    built, told = toy_engine.Toy.build, []

    def meanwhile(*arguments: Any, **options: Any) -> Any:
        with pytest.raises(ArenaError, match=r"another process is writing .*index/toy"):
            build_index(copy, "toy")
        told.append(command(copy, "--engine", "toy").stderr)
        told.append(verify(copy))
        return built(*arguments, **options)

    monkeypatch.setattr(toy_engine.Toy, "build", meanwhile)
    build_index(copy, "toy")
    assert "another process is writing" in told[0]
    assert told[1]["problems"] == {}
    assert state(copy) == INTACT
