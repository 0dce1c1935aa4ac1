"""Digest: a report of sentences of abstracts, without a model."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from annotated_types import Interval

from arena.agents import Desk, KnownPaper, Steps, agent
from arena.mindmap.tree import MindMap
from arena.report.listing import cite, entry, heading, plain
from arena.report.sentences import split_sentences
from arena.text import analyze
from arena.text.display import count
from baselines.organizer import arrange
from baselines.scout import Scout

_LEAST, _MOST = 40, 400  # characters of a sentence that is quoted
_OWN = re.compile(
    r"\b(?:we|(?:this|the present) (?:article|paper|study|work))\b(?: \w+)?"
    r" (?:analy[sz]e|demonstrate|describe|develop|establish|find|give|introduce|investigate"
    r"|present|prove|propose|report|show|study)s?\b",
    re.IGNORECASE,
)
# Sentences that begin so lean on the one before them.
_LEANING = re.compile(
    r"(?:additionally|and|besides|but|furthermore|hence|however|it|moreover|nevertheless|so|such"
    r"|then|therefore|these|they|thus|to this end)\b",
    re.IGNORECASE,
)
# What may be read as a citation, or is cut off from what it belongs to.
_UNFIT = re.compile(
    r"https?:|www\.|doi\.|arxiv:|et al\b|[\[\]“”]|\([^()]*\b\d{4}[a-z]?\)", re.IGNORECASE
)


@agent("digest")
class Digest(Scout):
    """Find papers as `scout`, group them as `organizer`, and quote a sentence of each abstract.

    Each heading of the map is a section, and each paper an item in it: its title and year, one
    whole sentence of its abstract in quotation marks, and the citation. Papers of which no sentence
    is quoted, since their abstract was not read or no sentence fits, are listed by title at the
    end. So nothing in the report is invented: besides the quotations there are counts and headings.

    The sentence is the one that shares most with the title, and with the titles of the section,
    and one in which the authors say what they do counts more; see `sentence`.

    Args:
        cited: Most papers to cite, 1 to 1000: the first of the ranking.
        links: As in `scout`; fewer, since every list takes a step in which a paper could be read.
    """

    def __init__(
        self,
        seed: int = 0,
        cited: Annotated[int, Interval(ge=1, le=1000)] = 80,
        links: int = 12,
        **more: Any,
    ) -> None:
        super().__init__(seed, links=links, **more)
        self._cited = cited

    def report(self, desk: Desk) -> Steps[None]:
        """Find, read, group and quote papers."""
        yield from self.discover(desk)
        chosen = desk.ranking[: self._cited]
        for paper_id in chosen:
            yield from desk.read(paper_id)
        papers = [desk.papers[paper_id] for paper_id in chosen]
        desk.report = digest(papers, desk.topic, desk.cutoff)


def digest(papers: Sequence[KnownPaper], topic: str, cutoff: str) -> str:
    """Return a report that quotes and cites papers, each once, the most relevant first."""
    tree = arrange(papers, topic)
    known = {paper.id: paper for paper in papers}
    # Of n titles df contain the term.
    df = Counter(term for paper in papers for term in set(analyze(paper.title)))
    weights = {term: math.log(1 + len(papers) / count) for term, count in df.items()}
    quoted: dict[str, str] = {}
    for part in tree.children:
        section = Counter(t for i in part.all_papers() for t in set(analyze(known[i].title)))
        common = {t: weights[t] * n / len(part.all_papers()) for t, n in section.items() if n > 1}
        for paper_id in part.all_papers():
            if said := sentence(known[paper_id], weights, common):
                quoted[paper_id] = said
    rest = [paper for paper in papers if paper.id not in quoted]
    introduction = (
        f"This report cites {count(len(papers), 'paper')} from before {cutoff}. It "
        "quotes a sentence of the "
        f"abstract of {len(quoted)} of them, in groups of papers that are alike."
    )
    lines = [f"# {heading(topic)}", "", introduction, ""]
    for part in tree.children:
        lines += _section(part, known, quoted, 2)
    if rest:
        lines += ["## Further papers", "", *(entry(*paper[:3]) for paper in rest), ""]
    return "\n".join(lines)


def sentence(
    paper: KnownPaper, weights: Mapping[str, float], common: Mapping[str, float] | None = None
) -> str:
    """Return the sentence of the abstract that says best what the paper does; empty if none fits.

    With T the terms of the title, S those of the sentence, w the weights and c the common terms,
    a sentence's score is

        (sum of w over S and T) / (sum of w over T) + (sum of c over S) / (sum of c) + own - leaning

    where own is 1 if the authors say what they do ("we propose", "this paper presents"), and
    leaning is 0.5 if it begins with a word such as "however". Of equals the first counts. A
    sentence fits if it has 40 to 400 characters, ends with a full stop, a question or exclamation
    mark, and contains nothing that looks like a citation.
    """
    common = common or {}
    title = set(analyze(paper.title))
    of_title, of_common = (math.fsum(w) for w in ([weights[t] for t in title], common.values()))
    best, chosen = -1.0, ""
    for said in split_sentences(" ".join(paper.abstract.split())):
        if not _LEAST <= len(said) <= _MOST or said[-1] not in ".!?" or _UNFIT.search(said):
            continue
        terms = set(analyze(said))
        score = math.fsum(weights[t] for t in terms & title) / (of_title or 1.0)
        score += math.fsum(common[t] for t in terms & common.keys()) / (of_common or 1.0)
        score += bool(_OWN.search(said)) - 0.5 * bool(_LEANING.match(said))
        score = round(score, 9)
        if score > best:
            best, chosen = score, said
    return chosen


def _section(
    part: MindMap, known: Mapping[str, KnownPaper], quoted: Mapping[str, str], level: int
) -> list[str]:
    """Return the lines of a section and its subsections; none if nothing in it is quoted."""
    below = [line for child in part.children for line in _section(child, known, quoted, level + 1)]
    items = [_item(known[i], quoted[i]) for i in part.papers if i in quoted]
    if not below and not items:
        return []
    return [f"{'#' * min(level, 6)} {plain(part.label)}", "", *items, *[""] * bool(items), *below]


def _item(paper: KnownPaper, said: str) -> str:
    """Return an item that quotes a paper; a full stop stands behind the citation."""
    end = "." if said[-1] == "." else ""
    quote = f"“{plain(said.removesuffix('.'))}” {cite([paper.id])}{end}"
    return f"- “{plain(paper.title)}”, {paper.date[:4]}: {quote}"
