"""What a command would ask of language models, counted without asking them."""

from __future__ import annotations

import regex

_TOKEN = regex.compile(r"\p{L}{1,9}|\p{N}{1,3}|[^\s\p{L}\p{N}]+")


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text: pieces of 9 letters, of 3 digits, and runs of other signs.

    Beside OpenAI's cl100k_base the mean is 0.92 to 1.10 of the tokens for reports of five sources,
    0.98 for prompts, and 0.85 to 1.18 for single English texts; for other scripts it is too low.

    >>> estimate_tokens("Tokenization of 20,000 words.")
    8
    """
    return len(_TOKEN.findall(text))
