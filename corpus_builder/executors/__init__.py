"""Where the tasks of a build run, one file each, found by name."""

from corpus_builder.executors.base import EXECUTORS, Executor, make_executor

__all__ = ["EXECUTORS", "Executor", "make_executor"]
