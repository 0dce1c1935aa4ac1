"""Every suite names parts that the gym has."""

from __future__ import annotations

import pytest

from arena import cli
from arena.metrics import METRICS
from arena.results.experiments import read_experiment
from arena.suites import SUITES
from arena.tasks import TASKS, environment_id
from corpus_builder.sources import SOURCES


@pytest.mark.parametrize("name", SUITES.names())
def test_a_suite_names_parts_that_exist(name):
    suite = SUITES.get(name)
    assert suite.source in SOURCES.names()
    assert {kind for kind, _ in suite.modes.values()} <= set(map(environment_id, TASKS.names()))
    for metric in suite.metrics:
        assert METRICS.get(metric)
    assert read_experiment(suite.experiment).name == suite.experiment


def test_the_list_of_suites(capsys):
    assert cli.main(["list", "suites"]) == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in SUITES.names())
