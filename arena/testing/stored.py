"""A second reading of a corpus' Parquet files, independent of the code that serves them.

Nothing of `arena.corpus` or `arena.dates` is imported here: the audit compares the answers of the
environments with what this module reads and derives.
"""

from __future__ import annotations

import calendar
import datetime as dt
import html
import json
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache, reduce
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow.parquet as pq
import regex
from numpy.typing import NDArray

NEVER = 2**62
"""The day of an undated paper: after every cutoff."""


class StoredPaper(NamedTuple):
    """A row of papers.parquet, with its day as an ordinal; `NEVER` if it has no date.

    `flagged` and `searchable` are the columns as stored; `topic_id` is whether the paper is flagged
    as a topic, or has the id or title of a task.
    """

    number: int
    id: str
    title: str
    abstract: str
    date: str | None
    precision: str | None
    venue: str | None
    authors: tuple[str, ...]
    fields: tuple[str, ...]
    day: int
    flagged: bool
    searchable: bool
    survey: bool


class StoredTopic(NamedTuple):
    """A survey task with its labels; `references` are rows of tasks/gold.parquet."""

    id: str
    title: str
    date: str
    precision: str
    day: int
    references: tuple[dict[str, Any], ...]
    references_total: int
    mind_map: Any
    question: dict[str, Any] | None = None
    """The entry of ``tasks/questions.json``, if it is a question."""

    @property
    def text(self) -> str:
        """The text that an agent is asked about."""
        return self.title if self.question else self.title.lower()

    @property
    def gains(self) -> dict[str, int]:
        """Paper id -> 2 (influential) or 1, for the references with the status ``gold``."""
        gold = (row for row in self.references if row["status"] == "gold")
        return {row["reference"]: 1 + row["influential"] for row in gold}


class StoredDigests(NamedTuple):
    """The digests of an input: whether all papers were digested, and paper -> digest."""

    heading: str
    complete: bool
    texts: dict[str, str]


class StoredCorpus:
    """The papers, sections, links and tasks of a corpus directory, each read at its first use.

    With `tasks`, the directory of a task set, it is played in place of the topics:
    `topics` are the tasks that are played, by id. `title_keys` maps the `work` of the title of
    each survey task to its id.
    """

    def __init__(self, directory: str | Path, tasks: str | Path | None = None) -> None:
        self._directory = Path(directory)
        self._own = self._tasks(self._directory)
        self._of_papers = tasks is not None
        self.topics = self._own if tasks is None else self._tasks(Path(tasks))
        self.title_keys = {work(s.title): s.id for s in self._own.values()}
        self.title_keys.pop("", None)

    def _tasks(self, place: Path) -> dict[str, StoredTopic]:
        references = _grouped((row["topic_id"], row) for row in self._rows("tasks/gold", place))
        maps = {row["topic_id"]: row for row in self._rows("tasks/mind_maps", place)}
        topics, asked = {}, place / "tasks/questions.json"
        questions = json.loads(asked.read_bytes()) if asked.is_file() else {}
        for row in self._rows("tasks/topics", place):
            date, day = _day(row["date"])
            tree = json.loads(maps[row["id"]]["mind_map"] or "null")
            labels = tuple(references.get(row["id"], ())), maps[row["id"]]["n_references_total"]
            dated = date, row["date_precision"], day
            more = *dated, *labels, tree, questions.get(row["id"])
            topics[row["id"]] = StoredTopic(row["id"], row["title"], *more)
        return topics

    @cached_property
    def papers(self) -> list[StoredPaper]:
        """The papers by document number."""
        papers = []
        for number, row in enumerate(self._rows("papers")):
            is_task = row["id"] in self._own or work(row["title"]) in self.title_keys
            date, day = _day(row["date"]) if row["date"] else (None, NEVER)
            texts = row["id"], row["title"], row["abstract"], date, row["date_precision"]
            lists = row["venue"], tuple(row["authors"]), tuple(row["fields"])
            flags = row["is_survey"], row["searchable"], row["is_survey"] or is_task
            papers.append(StoredPaper(number, *texts, *lists, day, *flags))
        return papers

    @cached_property
    def by_id(self) -> dict[str, StoredPaper]:
        """The papers by id."""
        return {paper.id: paper for paper in self.papers}

    @cached_property
    def days(self) -> NDArray[np.int64]:
        """Ordinal of each paper's day, `NEVER` where undated; shape (n,)."""
        return np.array([paper.day for paper in self.papers], np.int64)

    @cached_property
    def survey(self) -> NDArray[np.bool_]:
        """Which papers are surveys, shape (n,)."""
        return np.array([paper.survey for paper in self.papers], np.bool_)

    @cached_property
    def sections(self) -> dict[int, list[tuple[str, str]]]:
        """Document number -> (heading, text) pairs in order."""
        rows = sorted(self._rows("sections"), key=lambda row: (row["document"], row["position"]))
        return _grouped((row["document"], (row["heading"], row["text"])) for row in rows)

    @cached_property
    def links(self) -> list[tuple[int, int]]:
        """(citing, cited) document numbers as stored."""
        return [(row["document"], row["cited"]) for row in self._rows("references")]

    @cached_property
    def cited(self) -> dict[int, list[int]]:
        """Document number -> the documents that it cites, ascending."""
        return _grouped(sorted(self.links))

    @cached_property
    def citing(self) -> dict[int, list[int]]:
        """Document number -> the documents that cite it, ascending."""
        return _grouped((cited, document) for document, cited in sorted(self.links))

    @cached_property
    def digests(self) -> dict[str, StoredDigests]:
        """The digests of the corpus by input."""
        digests = {}
        for folder in sorted((self._directory / "digest").glob("[!.]*")):
            manifest = json.loads((folder / "manifest.json").read_bytes())
            text, ends = (folder / "texts.bin").read_bytes(), np.load(folder / "texts.offsets.npy")
            texts = {
                self.papers[number].id: text[ends[place] : ends[place + 1]].decode()
                for place, number in enumerate(np.load(folder / "documents.npy").tolist())
            }
            complete = manifest["papers"] == "all"
            digests[folder.name] = StoredDigests(manifest["heading"], complete, texts)
        return digests

    def texts(self, number: int) -> Iterator[str]:
        """Yield every text of a document: title, abstract, digests, headings and sections."""
        yield from (self.papers[number].title, self.papers[number].abstract)
        yield from (d.texts.get(self.papers[number].id, "") for d in self.digests.values())
        for section in self.sections.get(number, ()):
            yield from section

    def broken_rules(self) -> Iterator[tuple[str, str, str]]:
        """Yield (id of a check, file, what is wrong) where rows break a rule of the format."""
        papers, before = self.papers, (-1, b"")
        rows: list[StoredPaper | StoredTopic] = [*papers, *self.topics.values()]
        for dated in rows:
            if dated.date != (expected := last_day(dated.date, dated.precision)):
                file = "papers" if isinstance(dated, StoredPaper) else "tasks/topics"
                what = f"{dated.id!r} is dated {dated.date} by {dated.precision!r}, not {expected}"
                yield "files.dates", f"{file}.parquet", what
        for paper in papers:
            if before >= (before := (paper.day, paper.id.encode("utf-8", "surrogatepass"))):
                what = f"row {paper.number}, {paper.id!r}, comes after a later or equal one"
                yield "files.order", "papers.parquet", what
            has_text = paper.abstract or paper.number in self.sections
            searchable = paper.day != NEVER and not paper.flagged
            for wrong, what in (
                (paper.survey and not paper.flagged, "is a survey task and not flagged"),
                (paper.searchable != searchable, f"has searchable={paper.searchable}"),
                (paper.survey and has_text, "is a survey and has a text"),
            ):
                if wrong:
                    yield "files.surveys", "papers.parquet", f"{paper.id!r} {what}"
        linkable = dict(enumerate(((self.days < NEVER) & ~self.survey).tolist()))
        for link, times in Counter(self.links).items():
            if not all(map(linkable.get, link)) or link[0] == link[1] or times > 1:
                yield "files.links", "references.parquet", f"{link} is there {times} times"
        for number in self.sections.keys() - linkable.keys():
            yield "files.links", "sections.parquet", f"there is no document {number}"
        for topic in self.topics.values():
            if self._of_papers and (fault := self._no_task(topic)):
                yield "files.gold", "tasks/topics.parquet", f"{topic.id!r} {fault}"
            for row in topic.references:
                status = self._status(row["reference"], topic)
                if (row["document"], row["status"]) != status:
                    what = f"{row['document']}, {row['status']!r}, and should be {status}"
                    what = f"{row['reference']!r} of {topic.id!r} is document {what}"
                    yield "files.gold", "tasks/gold.parquet", what

    @cached_property
    def _titles(self) -> Counter[str]:
        return Counter(title_key(paper.title) for paper in self.papers)

    def _no_task(self, task: StoredTopic) -> str | None:
        """Return what keeps a paper or question of a task set from being a fair task."""
        if task.question:
            early = [i for i in task.question["asker"] if self.by_id[i].day < task.day]
            return f"is asked by {early[0]!r}, which is in reach" if early else None
        name = task.id if task.id in self.by_id else task.id.removesuffix(f"@{task.date}")
        paper, day = self.by_id.get(name), task.day
        if paper and name != task.id:  # as of the day that its id names, not after its own
            day = max(day, paper.day)
        if paper is None or paper.survey or (paper.title, paper.day) != (task.title, day):
            return "is not a paper of that title and day, or is a survey"
        if self._titles[title_key(paper.title)] > 1:
            return "shares its title with another paper"
        cited = self.cited.get(paper.number, [])
        if sorted(row["document"] for row in task.references) != cited:
            return "has other references than the paper cites"
        return None

    def _status(self, paper_id: str, topic: StoredTopic) -> tuple[int | None, str]:
        """Return the document and the status of a reference."""
        if (paper := self.by_id.get(paper_id)) is None:
            return None, "unknown"
        if paper.day == NEVER:
            return paper.number, "undated"
        if paper.survey:
            return paper.number, "survey"
        return paper.number, "gold" if paper.day < topic.day else "not_before"

    def topic(self, topic_id: str, since: str | None = None) -> StoredTopic:
        """Return a topic; gold are references dated from `since` on, ``YYYY-MM-DD``, if given."""
        topic = self.topics[topic_id]
        if since is None:
            return topic
        first = dt.date.fromisoformat(since).toordinal()
        rows = (
            row
            if row["status"] != "gold" or self.by_id[row["reference"]].day >= first
            else row | {"status": "known"}
            for row in topic.references
        )
        return topic._replace(references=tuple(rows))

    def _rows(self, name: str, place: Path | None = None) -> list[dict[str, Any]]:
        # Not `read_table`, which imports pandas where it is installed.
        with pq.ParquetFile((place or self._directory) / f"{name}.parquet") as file:
            return file.read().to_pylist()  # type: ignore[no-any-return]


# Names of tags and commands without a meaning of their own: written apart from the builder's list.
_TAGS = re.compile(
    "i|b|u|a|p|br|em|su[bp]|scp?|tt|small|strong|italic|bold|span|font|semantics|inline-formula|"
    "underline|inf|div|li|[uo]l|h[1-6]|"
    "tex-math|math|m[ino]|mrow|mtext|mstyle|mspace|mfrac|msu[bp]|msubsup|mml:.+|jats:.+"
)
_OPTIONS = r"\*?(?:(?:\s{0,9}\[[^\[\]{}\\]{0,200}\]){0,3}(?=\s{0,9}\{)|\[\d\])?"
_ATTRIBUTES = r"""(?:\s(?:=\s*"[^"<]*"|=\s*'[^'<]*'|[^<>])*+)"""
_UP = "¹²³⁴-⁹ᵃᵇ"
_PIECE = re.compile(  # of what stands behind the last word of a title
    rf"""(?P<mark>(?=<(?:[a-z]+:)?(?:sup|xref|fn)(?![A-Za-z]))</?[A-Za-z][^<>\s]*{_ATTRIBUTES}?>
    |\\textsuperscript(?![A-Za-z])|\^|[{_UP}])|(?P<gap></?[A-Za-z][^<>\s]*{_ATTRIBUTES}?>
    |[\s.,;:?!~'"*∗†‡§¶$(){{}}[\]]|\\[():;,]|\\ensuremath(?![A-Za-z]))
    |(?P<text>[1-9]|[ab](?![^\W_])|\\(?:S|P|ast|star|dag|ddag|dagger|ddagger|textdagger|textddagger
    |textasteriskcentered|text|(?:text|math)?(?:rm|it|bf))(?![A-Za-z])
    |\\(?:thanks|footnotemark|footnotetext|footnote)(?:\[\d*\])?(?:\{{(?:[^{{}}]|\{{[^{{}}]*\}})*\}})?)""",
    re.VERBOSE,
)
_NOTE = """href|texorpdfstring|textcolor|foreignlanguage|(?:par|raise|rotate|scale|color)box
    |hyper(?:link|target)|thanks[a-zA-Z]*|(?i:[a-zA-Z]*noop[a-zA-Z]*)|[a-zA-Z]*note(?:s|text|mark|ref)?|foot[a-zA-Z]*
    |[a-zA-Z]*cite[a-zA-Z]*|(?!hyperref)[a-zA-Z]*ref(?:mark)?|label|index|url|todo|email|orcid|inst
    |affil|[hv]?phantom|[hv]space|color|begin|end|selectlanguage|input|font(?:family|series|shape)
    |includegraphics"""
_NOTES = regex.compile(
    rf"""\\(?:(?P<second>rule|fontsize|resizebox|fcolorbox)|{_NOTE})(?![a-zA-Z]){_OPTIONS}
    \s*+(?P<group>\{{(?:[^{{}}]++|(?&group))*+(?:\}}|\Z))(?(second)\s*+(?&group))?""",
    regex.VERBOSE,
)
_WHITE = re.compile(
    "q?quad|(?:non|nobreak|thin|med|thick|en|[hv])?space|(?:small|med|big|[hv])skip|[hv]fill|and"
    "|newline|hline|linebreak|pagebreak|break|newpage|par|item"
)
_ALIKE = {"aa": "a", "AA": "a", "dh": "ð", "DH": "ð", "th": "þ", "TH": "þ", "ng": "ŋ", "dj": "d",
          "DJ": "d", "ell": "l", "hbar": "ħ", "Re": "r", "Im": "i", "aleph": "א", "ast": "*",
          "star": "*", "S": "", "P": ""}  # fmt: skip
_KEPT = re.compile(
    "(?:La|Bib|Xe|Lua)?TeX|ConTeXt|log|ln|exp|sin|cos|tan|max|min|sup|inf|lim|arg|argmax|argmin|det"
    "|dim|ker|gcd|deg|hom|mod|Pr|ae|AE|oe|OE|ss|[^`'^~\"=.uvHcdbkrt]"
)
_SPELLED = {"ø": "o", "ł": "l", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe"}
_GREEK = [chr(code) for code in range(ord("α"), ord("ω") + 1)]
_SPELLED |= {c: unicodedata.name(c).split()[-1].lower().replace("lamda", "lambda") for c in _GREEK}


def work(title: str) -> str:
    """Return the `title_key` of a title without what names a version, such as an abstract."""
    key = title_key(title)
    kinds = "extended full long short revised updated preliminary conference technical invited"
    for text in ("version", "abstract", "paper", "report", "talk"):
        for kind in kinds.split():
            if key.endswith(kind + text) and key != kind + text:
                return key.removesuffix(kind + text)
    return key


def _without_mark(title: str) -> str:
    """Return a title without the mark of a footnote at its end; tags stay that close there."""
    for word in re.finditer(rf"[^\W\d_{_UP}]+", title):
        before, place, kinds = title[: word.start()], word.end(), ""
        is_word = len(word[0]) > 3 or re.fullmatch("[A-Z]{3}", word[0])
        if not is_word or before.endswith(("\\", "_", "_{")) or re.search(rf"[{_UP}]\Z", before):
            continue
        while piece := _PIECE.match(title, place):
            place, kinds = piece.end(), kinds + str(piece.lastgroup)[0]
        if place == len(title) and re.match("g*m", kinds):
            return title[: word.end()] + "".join(
                re.findall("</[A-Za-z][^<>]*>", title[word.end() :])
            )
    return title


@lru_cache(200_000)
def title_key(title: str) -> str:
    """Return the letters and digits of a title without case, accents, punctuation and markup."""
    plain = _without_mark(reduce(lambda text, _: html.unescape(text), range(9), title))
    plain = re.sub(r"(?is)<annotation\b[^<>]*>[^<>]*</annotation>", "", plain)
    plain = re.sub(r"(?i)<!--[^<>]*-->|<!--|-->|<!\[CDATA\[", "", plain)
    ends = {
        name.lower() for name in re.findall(rf"</([A-Za-z][\w:.-]*)(?:{_ATTRIBUTES}|/)?>", plain)
    }
    tag = rf"<(/?)([A-Za-z][\w:.-]*)({_ATTRIBUTES}|/)?>"
    plain = re.sub(tag, lambda found: "" if _is_tag(found, ends) else found[0], plain)
    kind = r"((?i:retracted)|WITHDRAWN)(\s(?i:article|paper|chapter))?"
    mark = rf"[\[(]{kind}[\])]\s?[:.–—-]?|{kind}(\s?[:–—]|\s-\s)"
    plain = re.sub(rf"^\s*(({mark})\s*+)++(?=\S)", "", plain)
    if "\\" in plain:
        plain = plain.replace("\\$", " ").replace("$", "")
        plain = re.sub(r"\\\\(?:\*?\[[\w.\s-]{1,20}\])?", "\x01 ", plain)
        plain = re.sub(r"(?s)\\([^a-zA-Z])", _of_sign, plain)
        plain = re.sub(rf"\\([a-zA-Z]+){_OPTIONS}\s*", _of_command, _NOTES.sub("\x01", plain))
    plain = re.sub("[\x01{}$^~]", "", unicodedata.normalize("NFKC", plain)).casefold()
    plain = re.sub("[∗⋆★﹡]", "*", plain).replace("♯", "#")
    plain = "".join(c for c in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(c))
    plain = re.sub(r"(?<=[^\W_])\s*+\+\s?\+", "plusplus", plain)
    plain = re.sub(r"(?<![\w*])([^\W\d_])#(?![\w*])", r"\1sharp", plain)
    plain = re.sub(r"(?<![\w*])([^\W\d_])\*(?![\w*])", r"\1star", plain)
    letters = (c for c in plain if c.isalnum())
    return "".join(_SPELLED.get(c, c) for c in letters)


def _is_tag(tag: re.Match[str], ends: set[str]) -> bool:
    more, name = tag[3] or "", tag[2].lower()
    if tag[1] or more == "/" or name in ends or "=" in more:
        return True
    return not more and bool(_TAGS.fullmatch(name)) and tag[2] not in "BIUAP"


def _of_sign(sign: re.Match[str]) -> str:
    return "\x01" if sign[1] in "{}()[]!/-@`'^~\"=." else f"\x01{sign[1]}\x01"


def _of_command(command: re.Match[str]) -> str:
    name = command[1]
    if len(name) == 1 and name in "uvHcdbkrt":
        return ""
    for greek in (name, re.sub("^(?:text|var|up|bold)", "", name)):
        if len(greek) > 1 and greek.lower() in _SPELLED.values():
            return greek
    if name in _ALIKE or _KEPT.fullmatch(name):
        return _ALIKE.get(name, name)
    before = command.string[: command.start()]
    glued = before[-1:].isalpha() and not re.search(r"\\[a-zA-Z]+\Z", before)
    if glued and re.match(r"(?!Huge|Large|LARGE|Big)[A-Z][a-zA-Z]", name):
        return command[0]
    return " " * bool(_WHITE.fullmatch(name))


def last_day(date: str | None, precision: str | None) -> str | None:
    """Return the last day that a date of this precision can mean; None if there is none."""
    if date is None:
        return None if precision is None else "a date"
    if precision == "year":
        return f"{date[:4]}-12-31"
    if precision == "month":
        return f"{date[:7]}-{calendar.monthrange(int(date[:4]), int(date[5:7]))[1]:02d}"
    return date if precision in ("day", "guessed", "stand-in") else None


def _day(date: Any) -> tuple[str, int]:
    return date.isoformat(), date.toordinal()


def _grouped(pairs: Iterable[tuple[Any, Any]]) -> dict[Any, list[Any]]:
    groups: dict[Any, list[Any]] = defaultdict(list)
    for one, other in pairs:
        groups[one].append(other)
    return groups
