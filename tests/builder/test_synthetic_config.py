"""The knobs of a made-up field of science: bad ones are refused, shipped ones load."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from arena.errors import DataError
from corpus_builder.synthetic import SyntheticConfig, SyntheticCorpus

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("knob", "value", "range_told"),
    [
        ("seed", -1, "from 0 to"),
        ("papers", 19, "from 20 to"),
        ("depth", 7, "from 1 to 6"),
        ("synonymy", 1.01, "from 0 to 1"),
        ("reference_noise", None, "from 0 to 1"),
        ("year_only", float("nan"), "from 0 to 1"),
    ],
)
def test_a_bad_knob_is_named_with_its_value_and_range(knob, value, range_told):
    with pytest.raises(DataError) as caught:
        SyntheticConfig(**{knob: value})
    message = str(caught.value)
    assert knob in message and repr(value) in message and range_told in message


def test_too_many_surveys_are_refused_with_a_way_out():
    with pytest.raises(DataError, match=r"surveys is 30, .*papers=100: at most 10 .* to 300"):
        SyntheticConfig(papers=100, surveys=30)


def test_a_synthetic_without_anything_to_cite_is_refused():
    with pytest.raises(DataError, match=r"undated=1\.0: raise papers or years, or lower"):
        SyntheticCorpus(SyntheticConfig(undated=1.0))
    with pytest.raises(DataError, match=r"years=1, year_only=1\.0"):
        SyntheticCorpus(SyntheticConfig(years=1, year_only=1.0))


@pytest.mark.parametrize(
    "name", ["synthetic.yaml", "synthetic-hard.yaml", "synthetic-measured.yaml"]
)
def test_shipped_configurations_load_and_set_every_knob(name):
    knobs = yaml.safe_load((ROOT / "configs" / name).read_text(encoding="utf-8"))
    config = SyntheticConfig(**knobs)
    assert config.to_dict() == knobs
    if name == "synthetic.yaml":
        assert config == SyntheticConfig()
