"""Baselines: agents that act only through an environment's actions, one file each."""
