"""Inputs by name: what an episode shows of a paper, from the abstract alone to a model's digest.

To add an input, add a module to this package, or name an `Input` of your own file as
``FILE.py:NAME``; its prompt, ``prompts/NAME.txt``, has the fields ``$title`` and ``$text``:

    INPUTS.register("method")(Input("Title, abstract, method.", "Abstract and method", read))
"""

from arena.inputs.base import INPUTS, Input, read_items

__all__ = ["INPUTS", "Input", "read_items"]
