"""The configurations that the project ships for releases."""

from __future__ import annotations

from pathlib import Path

import yaml

from corpus_builder.stages import Config, read_config
from corpus_builder.stages.base import Dates, IndexSettings, MindMaps, References, Surveys

CONFIGS = Path(__file__).resolve().parents[2] / "configs"


def test_the_configuration_of_s2orc_is_the_default_with_every_key():
    assert read_config(CONFIGS / "s2orc.yaml") == Config()
    told = yaml.safe_load((CONFIGS / "s2orc.yaml").read_text(encoding="utf-8"))
    for name, section in {
        "dates": Dates, "surveys": Surveys, "references": References, "mind_maps": MindMaps,
        "index": IndexSettings,
    }.items():  # fmt: skip
        assert set(told[name]) == set(section.model_fields)
    assert set(told) == set(Config.model_fields)


def test_the_configuration_of_openalex_asks_for_no_full_text():
    abstracts = IndexSettings(fields=("title", "abstract"))
    expected = Config(full_text_only=False, index=abstracts)
    assert read_config(CONFIGS / "openalex.yaml") == expected
