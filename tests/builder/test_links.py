"""Linking must not pair every paper with every other one: a corpus has millions."""

from __future__ import annotations

from corpus_builder._content import LINKS
from corpus_builder._staging import database, stage
from corpus_builder.sources.world import WorldSource
from corpus_builder.world import WorldConfig


def test_the_plan_has_hash_joins_only(tmp_path):
    stage(WorldSource(WorldConfig(papers=200, surveys=2)), tmp_path)
    with database(tmp_path) as connection:
        plan = connection.execute(f"EXPLAIN {LINKS}").fetchall()[0][1].lower()
    assert plan.count("hash join") + plan.count("hash_join") == 2
    for slow in ("nested", "cross product", "cross_product", "blockwise", "piecewise"):
        assert slow not in plan
