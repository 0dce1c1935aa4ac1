"""Grids of agents and retrievers, laid out as tables such as those of the paper.

>>> import arena
>>> arena.run_experiment("configs/researcharena.yaml", "demo/world", "runs/paper",
...                      agents=["title", "random"])  # doctest: +SKIP
"""

from arena.results.experiments._reading import read_experiment
from arena.results.experiments.config import Experiment
from arena.results.experiments.experiment import Planned, preview, run_experiment

__all__ = ["Experiment", "Planned", "preview", "read_experiment", "run_experiment"]
