"""The pictures of a run: their content, their names, and other files next to them."""

from __future__ import annotations

import pytest
from helpers import contents

import arena
from arena.answers import file_name
from arena.tasks import TASKS, open_task


def test_names_differ_and_stay_in_the_folder():
    ids = ["A", "a", "..", ".", "", "/etc/x", "../x", "..\\x", "x" * 300, "x" * 301, "a/b", "a b"]
    ids += [file_name(topic_id) for topic_id in ("a/b", "..")]  # with a name before it, without
    names = [file_name(topic_id) for topic_id in ids]
    assert len({name.lower() for name in names}) == len(ids)
    assert not any(set(name) & set("/\\ ") or name.startswith(".") for name in names)


@pytest.mark.parametrize("task", TASKS.names())
def test_overwriting_leaves_nothing_of_the_run_before(synthetic, title_run, tmp_path, task):
    """Every file that a run writes is one that its kinds of answers name, so that it is removed."""
    run = tmp_path / "run"
    arena.run(synthetic, task, "oracle", run, topics=3, timed=True)
    written = set(contents(run))
    kinds = open_task(task).kinds
    assert all(any((run / name).match(f) for name in written) for kind in kinds
               for f in kind.files if "run." not in f)  # fmt: skip
    arena.run(synthetic, "discovery", "title", run, overwrite=True)
    assert contents(run) == contents(title_run)


def test_other_files_among_the_pictures(synthetic, tmp_path):
    """A file of the user's stays, what a kill left of a picture goes, and neither is in the way."""
    pictures = tmp_path / "run" / "pictures"

    def run(topics, **options):
        arena.run(synthetic, "organization", "oracle", tmp_path / "run", topics=topics, **options)
        return {path.name for path in pictures.iterdir()}

    drawn = run(2)
    assert len(drawn) == 2
    for options in ({}, {"overwrite": True}):
        (pictures / "mine.png").write_bytes(b"mine")
        (pictures / ".x.atomic-write.tmp").write_bytes(b"<sv")
        assert run(2, **options) == drawn | {"mine.png"}
        assert (pictures / "mine.png").read_bytes() == b"mine"
    assert len(run(1, overwrite=True)) == 2  # the other picture is gone
    (pictures / "mine.png").unlink()
    arena.run(synthetic, "discovery", "title", tmp_path / "run", overwrite=True)
    assert not pictures.exists()
