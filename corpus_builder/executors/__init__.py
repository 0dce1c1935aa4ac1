"""Where the tasks of a build run, one file each, found by name."""

from corpus_builder.executors.base import EXECUTORS, Executor

__all__ = ["EXECUTORS", "Executor"]
