"""LLM: a language model answers True or False to title and abstract."""

from __future__ import annotations

import re
from collections.abc import Sequence
from inspect import Parameter, Signature
from pathlib import Path
from typing import Any

from arena.llm import Failure, Fields, ParseError, Question, without_thoughts
from corpus_builder.asking import client_options, open_model
from corpus_builder.judges import OTHER, SURVEY, UNREAD, Candidate, Verdict, judge

PROMPTS = Path(__file__).resolve().parent.parent / "prompts" / "judge"
TEMPLATES = {"judge": Fields(required=("title", "abstract"))}
_CLIENT = client_options()
_WORD = re.compile(r"\b(true|false)\b", re.IGNORECASE)
_ANSWER = re.compile(r"\W*(?:(?:final )?answer\W*)?(true|false)\b", re.IGNORECASE)


@judge("llm")
class LLMJudge:
    """A language model answers True or False (paper, section 3.1, with settings of appendix A).

    An answer that is neither is asked for once more; after a second one, or where the server
    refuses the request, the verdict is ``unread``.

    Args:
        model: Name of the model on the server; required.
        prompts: Folder with your own template ``judge.txt``, which uses $title and $abstract.
        options: Options of `arena.llm.Client`.
    """

    __signature__ = Signature([
        Parameter(name, Parameter.KEYWORD_ONLY, default=default)
        for name, default in ({"model": None, "prompts": None} | _CLIENT).items()
    ])  # fmt: skip

    def __init__(self, **options: Any) -> None:
        self._client, templates, shaping = open_model(options, TEMPLATES, PROMPTS)
        self._question = Question(templates["judge"], true_or_false)
        self.config = shaping | {"prompt": templates["judge"].text}
        # What a kill can lose is only what is under way.
        self.batch = 64 * (_CLIENT | options)["max_parallel"]

    def judge(self, candidates: Sequence[Candidate]) -> list[Verdict]:
        """Ask about each candidate, in parallel."""
        self._client.check()
        shown = ({"title": c.title, "abstract": c.abstract or "(none)"} for c in candidates)
        answers = self._question.ask(self._client, shown)
        return [
            Verdict(UNREAD, answer.reason)
            if isinstance(answer, Failure)
            else Verdict(SURVEY if answer else OTHER, "the model's answer")
            for answer in answers
        ]


def true_or_false(text: str) -> bool:
    """Return the verdict of an answer that begins with one of the words and lacks the other.

    >>> true_or_false("**True**"), true_or_false("Answer: false. It is a census.")
    (True, False)
    """
    plain = without_thoughts(text)
    answers = {match[1].lower() for match in _WORD.finditer(plain)}
    begins = _ANSWER.match(plain)
    if begins is None or len(answers) != 1:
        raise ParseError("It does not begin with one of the words True and False.")
    return answers == {"true"}
