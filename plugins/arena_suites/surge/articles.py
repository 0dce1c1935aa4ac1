"""Generated surveys as SurGE's evaluation reads them: a folder each, headings, citations."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from arena.errors import DataError
from arena.suites import json_lines
from corpus_builder.sources.published import check_record

_HEADING = re.compile(r"#+ (?=.*\S)")
_CITATION = re.compile(r"\[(\d{1,99})\]")
# Other characters end a title, such as (, / and ?
_ENTRY = re.compile(r"\[(\d{1,99})\]\s*([\w\s:,.-]+)")
_LIST = ("references", "bibliography", "reference")
_ABSTRACT = "abstract:"
_OWN = re.compile(r"\[@(\d{1,99})\]")
_TOPIC = re.compile(r"surge:(\d{1,99})")
REPORTS = "reports.jsonl"
_REPORT: dict[str, Any] = {"topic_id": str, "report": str | None}


class Section(NamedTuple):
    """A heading, empty for what precedes the first one, and the text up to the next."""

    title: str
    content: str

    @property
    def counts(self) -> bool:
        """Whether its heading and citations count: it is neither root nor abstract."""
        return bool(self.title) and self.title.strip().lower().rstrip(":") + ":" != _ABSTRACT


class Citation(NamedTuple):
    """A citation in the text: number in the list, title of the section, sentence around it."""

    number: int
    section: str
    sentence: str


class Article(NamedTuple):
    """A generated survey: its sections, and its references by number: a title, or a doc_id."""

    sections: tuple[Section, ...]
    references: Mapping[int, str | int]

    def citations(self) -> list[Citation]:
        """Return the citations in sections that count; of a sentence, all between two stops."""
        return [
            Citation(int(number), section.title, sentence)
            for section in self.sections
            if section.counts
            for sentence in map(str.strip, section.content.split("."))
            for number in _CITATION.findall(sentence)
        ]


def read_article(text: str) -> Article:
    r"""Read a survey in Markdown.

    A line of ``#`` and a blank begins a section; the first one, if no other has as few ``#``, is
    the title of the survey and counts as the root. A line that begins with ``[n]`` is an entry of
    the list of references, of which the title ends before any character but letters, digits,
    blanks and ``: , . - _``. A citation is one number in brackets: ``[1, 2]`` is not read.

    Example:
        >>> article = read_article("# Toys\n## Nets\nNets hop [1]. So [2].\n[1] Toy nets.")
        >>> article.citations()[0], article.references
        (Citation(number=1, section='Nets', sentence='Nets hop [1]'), {1: 'Toy nets.'})
    """
    sections: list[tuple[str, list[str]]] = [("", [])]
    references, levels = dict[int, str](), []
    for line in text.splitlines():
        if entry := _ENTRY.match(line.strip()):
            references.setdefault(int(entry[1]), entry[2].strip())
        elif heading := _HEADING.match(line):
            levels.append(len(line) - len(line.lstrip("#")))
            sections.append((line[heading.end() :].strip(), []))
        else:
            sections[-1][1].append(line)
    if levels and levels[0] < min(levels[1:], default=9):
        sections[1] = "", sections[1][1]
    listed = [each for each in sections if each[0].strip(": ").lower() not in _LIST]
    read = (Section(title, "\n".join(lines).strip()) for title, lines in listed)
    return Article(tuple(read), references)


def read_articles(folder: str) -> dict[int, Article]:
    """Return surveys by their number.

    A survey is a folder called by its number, with one file or the first ``*.md`` of several. The
    directory of a run of the task report is read, too: its citations ``[@7]`` name doc_ids.

    Raises:
        DataError: There is none, or two of one number; a folder has several files and no ``*.md``;
            or a line of the run has another form.
    """
    place, found = Path(folder), dict[int, Article]()
    if (rows := place / REPORTS).is_file():
        for line, text, row in json_lines(rows):
            check_record(row or text, f"{REPORTS} line {line}", _REPORT, "a run of the task report")
            if row and (topic := _TOPIC.fullmatch(row["topic_id"])) and row["report"]:
                article = read_article(_OWN.sub(r"[\1]", row["report"]))
                cited = (int(paper) for paper in _OWN.findall(row["report"]))
                papers = {paper: paper for paper in dict.fromkeys(cited)}
                found[int(topic[1])] = article._replace(references=papers)
    for each in sorted(place.iterdir()) if place.is_dir() and not found else ():
        if each.is_dir() and each.name.isdecimal():
            files = sorted(path for path in each.iterdir() if path.is_file())
            chosen = files if len(files) == 1 else [p for p in files if p.suffix == ".md"]
            if not chosen:
                raise DataError(f"{str(each)!r} has {len(files)} files: give one, or a *.md.")
            if int(each.name) in found:
                raise DataError(f"{str(each)!r} is a second folder of the survey {int(each.name)}.")
            found[int(each.name)] = read_article(chosen[0].read_text("utf-8", errors="replace"))
    if not found:
        raise DataError(
            f"{folder!r} has no surveys: expected a folder for each, called by its survey_id and "
            "with one file, or the directory of a run of the task report."
        )
    return dict(sorted(found.items()))


def letters(title: str) -> str:
    """Return the letters of a title in lower case, by which SurGE compares titles."""
    return "".join(filter(str.isalpha, title.lower()))
