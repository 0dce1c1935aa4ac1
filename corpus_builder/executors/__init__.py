"""Executors, which run the tasks of a build; one file each, registered by name."""

from corpus_builder.executors.base import EXECUTORS, Executor, make_executor

__all__ = ["EXECUTORS", "Executor", "make_executor"]
