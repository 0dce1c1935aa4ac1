"""Engines to measure: one adapter a file, found by the registry `ENGINES`."""

from arena.bench.engines.base import ENGINES, Convention, Engine

__all__ = ["ENGINES", "Convention", "Engine"]
