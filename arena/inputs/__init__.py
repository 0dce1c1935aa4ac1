"""Inputs by name: what an episode shows of a paper, from the abstract alone to a model's digest.

A digest is made once a paper by ``arena-corpus digest`` and stored beside the corpus; an
environment shows it with ``show=NAME``. To add an input, add a module to this package, or name an
`Input` of your own file as ``FILE.py:NAME``:

    INPUTS.register("method")(
        Input("Title, abstract and method.", "Abstract and method", (Question("method", read),))
    )

and put the prompt of each question, with the fields ``$title`` and ``$text``, into
``prompts/method.txt`` beside it.
"""

from arena.inputs.base import INPUTS, TITLE_ABSTRACT, Input, Question, items_schema, read_items

__all__ = ["INPUTS", "TITLE_ABSTRACT", "Input", "Question", "items_schema", "read_items"]
