"""Executors, which run the tasks of a build; one file each, registered by name."""

from corpus_builder.executors.base import EXECUTORS, Executor, is_remote, make_executor

__all__ = ["EXECUTORS", "Executor", "is_remote", "make_executor"]
