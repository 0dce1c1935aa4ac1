"""The configurations that the project ships for releases."""

from __future__ import annotations

from pathlib import Path

import yaml

from corpus_builder.stages import Config, read_config
from corpus_builder.stages._config import Index, MindMaps, References, Surveys

CONFIGS = Path(__file__).resolve().parents[2] / "configs"


def test_the_configuration_of_s2orc_is_the_default_with_every_key():
    assert read_config(CONFIGS / "s2orc.yaml") == Config()
    told = yaml.safe_load((CONFIGS / "s2orc.yaml").read_text(encoding="utf-8"))
    for name, section in {
        "surveys": Surveys, "references": References, "mind_maps": MindMaps, "index": Index
    }.items():  # fmt: skip
        assert set(told[name]) == set(section._fields)
    assert set(told["dates"]) == {"first_year", "last_year"}
    renamed = {"first_year": "dates", "last_year": "dates", "indexing": "index"}
    assert set(told) == {renamed.get(name, name) for name in Config._fields}


def test_the_configuration_of_openalex_asks_for_no_full_text():
    assert read_config(CONFIGS / "openalex.yaml") == Config(full_text_only=False)
