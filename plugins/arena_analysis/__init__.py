"""Analyses of runs beyond their scores: credit of calls, noise, difficulty of topics, stopping."""
