"""The pictures of a run: their content, their names, and other files beside them."""

from __future__ import annotations

import arena
from arena.mindmap import MindMap, beside, render
from arena.runs.runner import file_name, write_pictures


def test_a_map_is_drawn_beside_the_gold_one(tmp_path):
    ours, own = MindMap("t", (MindMap("a"),)), MindMap("t", (MindMap("b"),))
    names = write_pictures(tmp_path, {"s": ours, "../S": ours}, {"s": own, "../S": None})
    assert names[0] == "pictures/s.svg"
    assert {path.parent for path in tmp_path.rglob("*.svg")} == {tmp_path / "pictures"}
    both = beside(ours, own, captions=("submitted", "the survey's own"))
    drawn = [(tmp_path / name).read_text(encoding="utf-8") for name in names]
    assert drawn == [both, render(ours, "svg")]


def test_names_differ_and_stay_in_the_folder():
    ids = ["A", "a", "..", ".", "", "/etc/x", "../x", "..\\x", "x" * 300, "x" * 301, "a/b", "a b"]
    ids += [file_name(survey_id) for survey_id in ("a/b", "..")]  # with a name before it, without
    names = [file_name(survey_id) for survey_id in ids]
    assert len({name.lower() for name in names}) == len(ids)
    assert not any(set(name) & set("/\\ ") or name.startswith(".") for name in names)


def test_other_files_among_the_pictures(world, tmp_path):
    """A file of the user's stays, what a kill left of a picture goes, and neither is in the way."""
    pictures = tmp_path / "run" / "pictures"

    def run(surveys, **options):
        arena.run(world, "organization", "oracle", tmp_path / "run", surveys=surveys, **options)
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
    arena.run(world, "discovery", "title", tmp_path / "run", overwrite=True)
    assert not pictures.exists()


def test_a_link_in_place_of_the_folder(world, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "run").mkdir()
    arena.run(world, "organization", "oracle", tmp_path / "run", surveys=1)
    (picture,) = (tmp_path / "run" / "pictures").iterdir()
    picture.unlink()
    picture.parent.rmdir()
    picture.parent.symlink_to(tmp_path / "elsewhere")
    arena.run(world, "organization", "oracle", tmp_path / "run", surveys=1, overwrite=True)
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == [picture.name]
