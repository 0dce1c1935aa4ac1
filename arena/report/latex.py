"""Citations and lists of LaTeX and BibTeX as footnotes of Markdown."""

from __future__ import annotations

import arena.counted as re

CITE = re.compile(
    r"~?\\(?:[a-zA-Z]{0,20}cite|[Cc]ite[a-zA-Z]{1,20})\*?(?:\[[^\[\]]{0,200}\]){0,2}\{([^{}]{1,2000})\}"
)
_SECTION = re.compile(r"^\\((?:sub){0,2})section\*?\{([^{}\n]{1,300})\}", re.MULTILINE)
_ENTRY = re.compile(
    r"^(?:```\w*[ \t]*\n)?[ \t]*"
    r"(?:\\bibitem[ \t]*(?:\[[^\n]{0,200}?\])?[ \t]*\{([^\[\]{}\s]{1,60})\}"
    r"|@(?!comment|string|preamble)[a-z]{2,20}[ \t]*\{[ \t]*([^\[\]\s,{}]{1,60})[ \t]*,)",
    re.MULTILINE | re.IGNORECASE,
)
_BEGIN = re.compile(r"\\begin\{thebibliography\}(?:\{[^{}\n]{0,99}\})?")
_END = re.compile(r"^[ \t]*\}[ \t]*$(?:\s*^```[ \t]*$)?|\\end\{thebibliography\}", re.MULTILINE)
_FIELD = re.compile(
    r"(?<!\w)(\w{1,30}+)\s{0,20}=\s{0,20}(?:\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*+\}){0,5000}+)\}"
    r"|\"((?:[^\"{}]|\{(?:[^{}]|\{[^{}]*\})*+\}){0,5000}+)\"|(\d+))"
)
_COMMAND = re.compile(
    r"\\[\"'`^~=.](?=[\s{\\]*\w)|\\(?:begin|end)\{\w+\}(?:\{\d*\})?|\\[a-zA-Z]+ ?|[{}]"
)


def from_latex(text: str) -> str:
    r"""Return a text in which ``\cite{a}`` is ``[^a]``, and an entry of a list ``[^a]: ...``.

    >>> from_latex(r"So \citep[p. 3]{a,b}.")
    'So [^a][^b].'
    """
    text = _BEGIN.sub("", text)
    found = list(_ENTRY.finditer(text))
    parts, at = [], 0
    limits = [*(each.start() for each in found[1:]), len(text)]
    for match, limit in zip(found, limits, strict=False):  # none: one limit
        end = _END.search(text, match.end(), limit)
        inside = text[match.end() : end.start() if end else limit]
        parts += [text[at : match.start()], f"\n\n[^{match[1] or match[2]}]: "]
        parts += [_plain(inside) if match[1] else _record(inside), "\n\n"]
        at = end.end() if end else limit
    text = _SECTION.sub(
        lambda match: f"{'#' * (len(match[1]) // 3 + 2)} {match[2]}", "".join([*parts, text[at:]])
    )
    return CITE.sub(
        lambda match: (
            " " * match[0].startswith("~")
            + "".join(f"[^{key.strip()}]" for key in match[1].split(","))
        ),
        text,
    )


def _record(fields: str) -> str:
    """Return an entry with the fields of BibTeX."""
    given = {name.lower(): _plain(a or b or c) for name, a, b, c in _FIELD.findall(fields)}
    venue = given.get("journal") or given.get("booktitle") or given.get("publisher") or ""
    ids = [
        f"{kind}:{given[name]}"
        for kind, name in (("arXiv", "eprint"), ("doi", "doi"))
        if name in given
    ]
    title = given.get("title", "")
    said = [
        given.get("author", ""),
        f"“{title}”",
        f"{venue}, {given.get('year', '')}",
        *ids,
        given.get("url", ""),
    ]
    return ". ".join(each for each in said if each)


def _plain(text: str) -> str:
    """Return a text without commands; an accent goes."""
    return " ".join(_COMMAND.sub("", text.replace("~", " ").replace("\\&", "&")).split())
