"""DeepScholar-Bench: papers whose related work is wanted."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path

from arena.errors import DataError
from arena.report.latex import CITE, from_latex
from arena.report.listing import cite
from corpus_builder.questions import FORMATS, Question, named
from corpus_builder.readers.base import plain
from corpus_builder.sources.matching import PaperQuery

_COMMENT = re.compile(r"(?<!\\)%.*")
_COMMAND = re.compile(r"(\$[^$]*\$)|\\(?:begin|end)\{[^}]*\}|\\[a-zA-Z]+\*?")
_HEADING = re.compile(r"^(#.*)$", re.MULTILINE)


@FORMATS.register("deepscholar")
def read(path: Path) -> Iterator[Question]:
    """Abstracts of arXiv papers, with what their related work cites (arXiv:2508.20033); a folder.

    The day is that of the first version of the paper, which is hidden.
    """
    gold = defaultdict[str, list[PaperQuery]](list)
    keys = defaultdict[str, dict[str, str]](dict)
    files = path / "citations.csv", path / "papers_with_related_works.csv"
    try:
        texts = (StringIO(file.read_text(encoding="utf-8")) for file in files)
        cited, papers = ([*csv.DictReader(text)] for text in texts)
        for row in cited:
            links = row["cited_paper_arxiv_link"], row["bib_paper_doi"]
            parent, key = row["parent_paper_arxiv_id"], row.get("citation_shorthand") or ""
            keys[parent][key] = str(len(gold[parent]))
            gold[parent].append(named(row["cited_paper_title"], *links))
        for row in papers:
            asker, day = named(row["title"], row["arxiv_id"]), row["published_date"][:10]
            name, of_paper = row["arxiv_id"].partition("v")[0], tuple(gold[row["arxiv_id"]])
            section = _markdown(row.get("clean_latex_related_works") or "", keys[row["arxiv_id"]])
            yield Question(f"DeepScholar_{name}", row["abstract"], day, of_paper, (asker,),
                           answer=section)  # fmt: skip
    except (OSError, KeyError, ValueError) as error:
        raise DataError(f"{str(path)!r} is not the folder of DeepScholar-Bench: {error}.") from None


def _markdown(latex: str, keys: Mapping[str, str]) -> str:
    def mark(match: re.Match[str]) -> str:
        known = cite(keys[key] for key in map(str.strip, match[1].split(",")) if key in keys)
        return " " * match[0].startswith("~") + known

    text = from_latex(CITE.sub(mark, _COMMENT.sub("", latex)))
    text = _COMMAND.sub(lambda match: match[1] or "", _HEADING.sub(r"\n\1\n", text))
    return "\n\n".join(filter(None, map(plain, re.split(r"\n\s*\n", text))))
