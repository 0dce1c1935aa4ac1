"""The metrics of Bloom-Eval, one a module."""
