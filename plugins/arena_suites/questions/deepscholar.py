"""DeepScholar-Bench: papers whose related work is wanted."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

from arena.errors import DataError
from arena.report.latex import from_latex
from corpus_builder.questions import Question, named, question_format
from corpus_builder.readers.base import plain
from corpus_builder.sources.matching import PaperQuery

_MARK = re.compile(r"\[\^([^\]]+)\]")
_COMMENT = re.compile(r"(?<!\\)%.*")
_COMMAND = re.compile(r"(\$[^$]*\$)|\\(?:begin|end)\{[^}]*\}|\\[a-zA-Z]+\*?")
_HEADING = re.compile(r"^(#.*)$", re.MULTILINE)


@question_format("deepscholar")
def read(path: Path) -> Iterator[Question]:
    """Abstracts of arXiv papers, with what their related work cites (arXiv:2508.20033); a folder.

    The day is that of the first version of the paper, which is hidden.
    """
    gold = defaultdict[str, list[tuple[str, PaperQuery]]](list)
    files = path / "citations.csv", path / "papers_with_related_works.csv"
    try:
        texts = (StringIO(file.read_text(encoding="utf-8")) for file in files)
        cited, papers = ([*csv.DictReader(text)] for text in texts)
        for row in cited:
            links = row["cited_paper_arxiv_link"], row["bib_paper_doi"]
            entry = row.get("citation_shorthand") or "", named(row["cited_paper_title"], *links)
            gold[row["parent_paper_arxiv_id"]].append(entry)
        for row in papers:
            asker, day = named(row["title"], row["arxiv_id"]), row["published_date"][:10]
            name, listed = row["arxiv_id"].partition("v")[0], gold[row["arxiv_id"]]
            latex = row.get("clean_latex_related_works") or ""
            yield Question(f"DeepScholar_{name}", row["abstract"], day,
                           tuple(paper for _, paper in listed), (asker,),
                           answer=_markdown(latex, [key for key, _ in listed]))  # fmt: skip
    except (OSError, KeyError, ValueError) as error:
        raise DataError(f"{str(path)!r} is not the folder of DeepScholar-Bench: {error}.") from None


def _markdown(latex: str, keys: list[str]) -> str:
    def cited(mark: re.Match[str]) -> str:
        return f"[@{keys.index(mark[1])}]" if mark[1] in keys else ""

    text = _MARK.sub(cited, from_latex(_COMMENT.sub("", latex)))
    text = _COMMAND.sub(lambda match: match[1] or "", _HEADING.sub(r"\n\1\n", text))
    return "\n\n".join(filter(None, map(plain, re.split(r"\n\s*\n", text))))
