"""Baselines: agents that act only through an environment's actions, one file each.

A package beside `arena`, not in it, so that nothing of `arena` can depend on an agent. Agents of
your own need not be here: a file, ``FILE.py:NAME``, or a distribution will do, as
docs/extending.md says.
"""
