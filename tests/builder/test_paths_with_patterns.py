"""Folders whose names hold what DuckDB takes for a pattern, or for the end of a text."""

from __future__ import annotations

from pathlib import Path

from release_helpers import citation, paper, write_shard

from arena.corpus import layout
from corpus_builder.sources.s2orc import S2orc
from corpus_builder.stages import plan, read_config, run_stages


def test_a_folder_with_brackets_stars_and_quotes(tmp_path: Path) -> None:
    root = tmp_path / "it's [a] *? {x} ; --\"" / "r"
    survey = paper(9, title="Reefs: a survey", year=2019, publicationdate=None)
    write_shard(root / "papers" / "0.gz", [survey, paper(1)])
    write_shard(root / "citations" / "0.gz", [citation("9", "1")])
    config = read_config({"full_text_only": False})
    run_stages(plan("s2orc", S2orc(root), root.parent / "c[1]", config, workers=1))
    assert layout.read_manifest(root.parent / "c[1]")["counts"]["papers"] == 2
