"""Writing a report: Markdown with numbered references, BibTeX."""

from __future__ import annotations

import re
from collections.abc import Callable

from arena.report.listing import plain
from arena.report.marks import replace_groups
from arena.report.model import Reference, Report

_FIELDS = {"arxiv": "eprint", "doi": "doi"}
_TEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


def write_markdown(report: Report) -> str:
    """Return a report as Markdown with a list of its references.

    Citations in Pandoc's form become numbers, ``[1, 2]``, in the order of the first citation. Marks
    in other styles stay as they are, and so do the numbers of their list.
    """
    labels = _labels(report)
    text = _text(report, lambda keys: f"[{', '.join(labels.get(key, f'@{key}') for key in keys)}]")
    items = []
    for each in report.references:
        words, address = _described(each)
        label = f"[{labels[each.key]}] " if labels[each.key] else ""
        items.append(f"{label}{plain(words)} {address}".rstrip())
    return f"{text}\n## References\n\n" + "\n\n".join(items) + "\n" if items else text


def write_bibtex(report: Report) -> str:
    """Return the references of a report as entries of BibTeX, ``@misc``, in their order."""
    entries, used = [], set()
    for number, reference in enumerate(report.references, 1):
        key = re.sub(r"[^\w.:/-]+", "", reference.key, flags=re.ASCII) or str(number)
        key = key if key.lower() not in used else f"{key}-{number}"
        used.add(key.lower())
        words, address = _described(reference)
        fields = {"title": reference.title or words, "year": str(reference.year or "")}
        for scheme, name in _FIELDS.items():
            ids = (each.partition(":") for each in reference.ids)
            fields[name] = next((key for kind, _, key in ids if kind == scheme), "")
        fields |= {"archiveprefix": "arXiv" if fields["eprint"] else "", "url": address}
        fields["note"] = reference.text if reference.text != fields["title"] else ""
        lines = [f"  {name} = {{{_tex(value)}}}," for name, value in fields.items() if value]
        entries.append("\n".join([f"@misc{{{key},", *lines, "}", ""]))
    return "\n".join(entries)


FORMATS: dict[str, Callable[[Report], str]] = {"markdown": write_markdown, "bibtex": write_bibtex}
"""Names of the formats."""


def _labels(report: Report) -> dict[str, str]:
    """Return the number of each reference; "" where a list by author and year has none."""
    if "pandoc" in report.styles:
        cited = [each.key for each in report.cited]
        keys = dict.fromkeys([*cited, *(each.key for each in report.references)])
        return {key: str(number) for number, key in enumerate(keys, 1)}
    return {
        each.key: each.key if each.key.isdigit() and not each.text.startswith(each.key) else ""
        for each in report.references
    }


def _text(report: Report, mark: Callable[[list[str]], str]) -> str:
    parts = [f"# {plain(report.title)}"] if report.title else []
    for section in report.sections:
        if section.heading:
            parts.append(f"{'#' * min(section.level + 1, 6)} {plain(section.heading)}")
        parts.append(replace_groups(section.text, mark))
    return "\n\n".join(filter(None, parts)) + "\n"


def _described(reference: Reference) -> tuple[str, str]:
    """Return what describes a reference in words, and its address if the words lack it."""
    words = reference.text or reference.title or reference.key
    for scheme, _, name in (each.partition(":") for each in reference.ids):
        if scheme in _ADDRESSES and name not in words:
            return words, _ADDRESSES[scheme] + name
    return words, ""


_ADDRESSES = {
    "arxiv": "https://arxiv.org/abs/",
    "doi": "https://doi.org/",
    "openreview": "https://openreview.net/forum?id=",
    "acl": "https://aclanthology.org/",
    "url": "https://",
}


def _tex(value: str) -> str:
    """Escape what TeX acts upon; braces, which BibTeX counts, go."""
    return re.sub(
        r"[\\~^&%$#_{}]",
        lambda match: "" if match[0] in "{}" else _TEX.get(match[0], f"\\{match[0]}"),
        " ".join(value.split()),
    )
