"""Where the tasks of a build run, one file each, found by name."""

from corpus_builder.executors.base import EXECUTORS, Executor, is_remote, make_executor

__all__ = ["EXECUTORS", "Executor", "is_remote", "make_executor"]
