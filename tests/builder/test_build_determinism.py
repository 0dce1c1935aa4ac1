"""Building: the same records give the same bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
from helpers import Memory, contents
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arena.corpus import layout
from corpus_builder import files
from corpus_builder.build import build


def pruned(directory: Path) -> dict[str, bytes]:
    """Everything but what the manifest says of the source."""
    files = contents(directory)
    manifest = json.loads(files[layout.MANIFEST])
    del manifest["source"], manifest["manifest_sha256"]
    files[layout.MANIFEST] = json.dumps(manifest).encode()
    return files


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_the_order_of_records_does_not_matter(
    mini: Path, mini_records: Any, tmp_path: Path, data: st.DataObject
) -> None:
    papers = data.draw(st.permutations(mini_records.papers))
    surveys = data.draw(st.permutations(mini_records.surveys))
    for record in [*papers, *surveys]:
        if "references" in record:
            record["references"] = data.draw(st.permutations(record["references"]))
    build(Memory(papers, surveys), tmp_path / "c", overwrite=True)
    assert pruned(tmp_path / "c") == pruned(mini)


def test_neither_threads_nor_memory_matter(tmp_path: Path, monkeypatch: Any) -> None:
    from corpus_builder.sources.synthetic import SyntheticSource
    from corpus_builder.synthetic import SyntheticConfig

    source = SyntheticSource(SyntheticConfig(seed=3, papers=200, surveys=4))
    monkeypatch.setattr(files, "_CHARACTERS", 1 << 15)  # many row groups, read in parallel
    connect = duckdb.connect
    for threads, memory in ((1, 10**9), (4, 10**9), (3, 60 * 10**6)):
        monkeypatch.setattr("corpus_builder.build._MEMORY_LIMIT", memory)
        monkeypatch.setattr(
            duckdb,
            "connect",
            lambda config, threads=threads: connect(config={**config, "threads": threads}),
        )
        build(source, tmp_path / f"{threads}")
    one, four, three = (contents(tmp_path / name) for name in "143")
    assert one == four == three


def test_the_hash_follows_the_content(tmp_path: Path, mini: Path, mini_records: Any) -> None:
    before = json.loads((mini / layout.MANIFEST).read_text())
    hashes = {before["content_sha256"]}
    changes = [
        lambda papers, surveys: papers[4].update(title="Sparse Models in Practise"),
        lambda papers, surveys: papers[4].update(date="2020-12-31"),  # the same day, said precisely
        lambda papers, surveys: papers[4].update(references=["p:day"]),
        lambda papers, surveys: papers[4].update(venue="X"),
        lambda papers, surveys: papers[1]["sections"][0].update(text="Passages matter!"),
        lambda papers, surveys: surveys[0]["references"].pop(),
        lambda papers, surveys: surveys[1]["mind_map"].update(name="Other"),
    ]
    for change in changes:
        records = json.loads(json.dumps(mini_records))
        change(*records)
        manifest = build(Memory(*records), tmp_path / "c", overwrite=True)
        hashes.add(manifest["content_sha256"])
    assert len(hashes) == 1 + len(changes)
