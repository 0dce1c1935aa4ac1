"""A report in the making: sections of Markdown by heading."""

from __future__ import annotations

from typing import NamedTuple


class _Section(NamedTuple):
    text: str
    cited: tuple[str, ...]


class Draft:
    """The sections of a report, in the order in which their headings were first written.

    The citations of a section are read when it is written; the rest of the draft is not read again.
    """

    def __init__(self) -> None:
        self._sections: dict[str, _Section] = {}

    def __len__(self) -> int:
        return len(self._sections)

    def __contains__(self, heading: object) -> bool:
        return heading in self._sections

    def write(self, heading: str, text: str) -> None:
        """Add a section, or replace the one of this heading; remove it if `text` is blank."""
        from arena.report import cited_ids

        if text.strip():
            self._sections[heading] = _Section(text.strip("\r\n"), tuple(cited_ids(text)))
        else:
            del self._sections[heading]

    def headings(self) -> list[str]:
        """Return the headings in order."""
        return list(self._sections)

    def markdown(self) -> str:
        """Return the report: each heading as ``## HEADING``, then its text."""
        return "\n".join(f"## {heading}\n\n{s.text}\n" for heading, s in self._sections.items())

    def cited(self) -> list[str]:
        """Return the distinct ids that the sections cite, in order."""
        return list(dict.fromkeys(i for s in self._sections.values() for i in s.cited))


def whole_characters(text: str) -> str:
    """Return a text in which half a surrogate pair, which no file can hold, is replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
