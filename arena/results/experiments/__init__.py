"""Grids of agents and retrievers, laid out as tables such as those of the paper.

>>> import arena
>>> arena.run_experiment("researcharena", "demo/world", "runs/paper",
...                      agents=["title", "random"])  # doctest: +SKIP
"""

from arena.results.experiments.config import Experiment, read_experiment
from arena.results.experiments.experiment import Planned, preview, run_experiment
from arena.results.experiments.tables import printed

__all__ = ["Experiment", "Planned", "preview", "printed", "read_experiment", "run_experiment"]
