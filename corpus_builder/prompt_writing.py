"""Prompts of surveys: what is wrong with them, and a language model that writes them."""

from __future__ import annotations

import calendar
import datetime as dt
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from annotated_types import Ge

from arena.corpus import Corpus
from arena.errors import DataError
from arena.kit.files import atomic_write
from arena.kit.options import checked
from arena.kit.workdir import exclusive_lock
from arena.llm import Failure, Fields, ParseError, Question, ask_many, unfenced, without_thoughts
from arena.tasks import PROMPT_LEVELS, TaskSet, choose_topics
from corpus_builder.asking import ask_records, open_model
from corpus_builder.records import parse_paper, parse_survey
from corpus_builder.sources.base import LocatedRecord, Source
from corpus_builder.sources.jsonl import JsonLinesFile

_MONTHS = "|".join(name[:3] + f"(?:{name[3:]})?" for name in calendar.month_name[1:])
_CUTOFF = re.compile(
    r"\b(?:before|prior to|until|up to|no later than|not later than|earlier than)\W+"
    r"(?:the\W+)?(?:end of\W+)?(?:"
    r"(?P<iso>\d{4}-\d\d(?:-\d\d)?)"
    rf"|(?:(?P<first>\d{{1,2}})(?:st|nd|rd|th)?\s+)?(?P<month>{_MONTHS})\.?"
    r"(?:\s+(?P<day>\d{1,2})(?:st|nd|rd|th)?,)?,?\s+(?P<year>\d{4})"
    r"|(?P<alone>(?:19|20)\d\d))\b",
    re.IGNORECASE,
)


class PromptFlag(NamedTuple):
    """A fault of the prompt of a `level`: its `flag`, and the title or cutoff as `detail`.

    Flags are ``title`` or ``reference_title`` if it contains the title of the survey or of a
    reference, ``no_cutoff`` if it names none, ``other_cutoff`` if that is not the survey's day,
    month or year.
    """

    level: str
    flag: str
    detail: str


FLAGS = ("title", "reference_title", "no_cutoff", "other_cutoff")
"""Values of `PromptFlag.flag`."""


def cutoff_in(prompt: str) -> str | None:
    """Return the first cutoff that a prompt names, ``YYYY``, ``YYYY-MM`` or ``YYYY-MM-DD``.

    >>> cutoff_in("published before April 2025"), cutoff_in("no later than 3 May 2019")
    ('2025-04', '2019-05-03')
    """
    match = _CUTOFF.search(prompt.replace("*", ""))
    if match is None:
        return None
    if match["month"] is None:
        return match["iso"] or match["alone"]
    month = [name[:3] for name in calendar.month_name].index(match["month"][:3].title())
    day = match["day"] or match["first"]
    return f"{match['year']}-{month:02}" + (f"-{int(day):02}" if day else "")


def cutoff_words(date: str) -> str:
    """Return a day, ``YYYY-MM-DD``, in words.

    >>> cutoff_words("2019-05-03")
    '3 May 2019'
    """
    day = dt.date.fromisoformat(date)
    return f"{day.day} {calendar.month_name[day.month]} {day.year}"


def check_prompt(
    level: str, prompt: str, title: str, date: str, references: Iterable[str]
) -> list[PromptFlag]:
    """Return the faults of a prompt; `date` is that of the survey, ``YYYY-MM-DD``.

    A prompt contains a title if it has its words in a row, without case and punctuation; titles of
    one word count.
    """
    words = _words(prompt)
    flags = [PromptFlag(level, "title", title)] if _words(title) in words else []
    found: dict[str, str] = {}
    for text in references:
        if (wanted := _words(text)) in words:
            found.setdefault(wanted, text)
    flags += [PromptFlag(level, "reference_title", text) for text in found.values()]
    cutoff = cutoff_in(prompt)
    if cutoff is None:
        flags.append(PromptFlag(level, "no_cutoff", ""))
    elif not date.startswith(cutoff):
        flags.append(PromptFlag(level, "other_cutoff", cutoff))
    return flags


def _words(text: str) -> str:
    """Return the words of a text, each with a blank on both sides; empty if there are none."""
    words = re.findall(r"[^\W_]+", text.casefold())
    return f" {' '.join(words)} " if words else "\n"


DOMAINS = (
    "Basic Research and Scientific Exploration",
    "Information and Communication Technology (ICT)",
    "Artificial Intelligence and Data Intelligence",
    "Healthcare and Biomedicine",
    "Manufacturing and Smart Manufacturing",
    "Transportation and Intelligent Mobility",
    "Public Safety and Social Governance",
    "Finance and Business Services",
    "Energy and Environmental Sustainability",
    "Culture, Media and Digital Content",
)
"""Domains of application, as the files of ReportBench name them (section 2.1.3)."""
UNKNOWN = "Unknown"

PROMPTS = Path(__file__).parent / "prompts" / "report"
_FIELDS = Fields(("title", "text", "cutoff"))
TEMPLATES = dict.fromkeys(PROMPT_LEVELS, _FIELDS) | {"domain": Fields(("title", "text", "domains"))}
_REASONS = {
    "title": "It holds the title of the survey.",
    "reference_title": "It holds the title of a paper, {!r}.",
    "no_cutoff": "It does not say that only papers published before a day are cited.",
    "other_cutoff": "It names another day than the one that was asked for: {}.",
}
_MARKS = re.compile(r"\s*\[@[^\]]*\]")
_TITLES = 40  # of references, shown where a corpus has no text of a survey


class SurveyText(NamedTuple):
    """The text of a survey that a model reads, and the titles that a prompt must not contain.

    `abstract` is empty where it is not known, as in a corpus.
    """

    id: str
    title: str
    date: str
    text: str
    references: list[str]
    domain: str
    abstract: str = ""


@checked
def write_prompts(
    source: str | Path,
    output: str | Path,
    llm_option: dict[str, Any] | None = None,
    *,
    surveys: Sequence[str] | int | None = None,
    characters: Annotated[int, Ge(1)] = 20_000,
) -> dict[str, Any]:
    """Let a language model write a prompt at each level for each survey, from the survey's text.

    A prompt that has the title of the survey or of a reference, or does not name the day of the
    survey as cutoff, is asked for once more, and left out if the second one has a fault, too. The
    answers are kept in the store of `arena.llm`: after a kill the same call asks only for what is
    missing. Of a corpus the model reads article, outline and mind-map, of a file in the format of
    ``jsonl`` ``abstract``, ``sections`` and ``article``.

    A line of `output`, ordered by id, has ``id``, ``prompts``, ``domain`` (one of `DOMAINS` or
    `UNKNOWN`; that of the survey if it has one) and ``failed`` (level -> reason).

    Args:
        source (DIR|FILE): A built corpus, or surveys as JSON lines.
        output (FILE): JSON lines to write, for `arena-corpus build SOURCE --prompts FILE`.
        llm_option: Option of the model's client (docs/llm.md), or prompts=DIR with own templates.
        surveys (IDS|N): Only these surveys, ids with commas or the first N.
        characters: Most characters of a survey's text, the abstract first, in a request.

    Example:
        arena-corpus prompts demo/synthetic --output prompts.jsonl --llm-option model=gpt-4o

    Returns:
        ``config`` (model, settings, templates) and ``counts``: ``surveys``, the prompts of each
        level, ``failed`` and ``unknown`` domains.
    """
    client, templates, config = open_model(llm_option or {}, TEMPLATES, PROMPTS)
    client.check()
    of_corpus = Path(source).is_dir()
    subjects = list(_of_corpus(source, surveys) if of_corpus else _of_file(source, surveys))
    counts: Counter[str] = Counter(surveys=len(subjects))

    def line_of(survey: SurveyText) -> dict[str, Any]:
        shown = {"title": survey.title, "text": survey.text[:characters]}
        wanted = shown | {"cutoff": cutoff_words(survey.date)}
        read = partial(
            read_prompt, title=survey.title, date=survey.date, references=survey.references
        )
        messages = [templates[level].messages(**wanted) for level in PROMPT_LEVELS]
        answers = dict(zip(PROMPT_LEVELS, ask_many(client, messages, read), strict=True))
        prompts = {level: text for level, text in answers.items() if isinstance(text, str)}
        failed = {level: why.reason for level, why in answers.items() if isinstance(why, Failure)}
        domain: str | Failure = survey.domain
        if not domain:
            asked = shown | {"domains": "\n".join(DOMAINS)}
            asked |= {"text": survey.abstract} if survey.abstract else {}  # section 2.1.3
            (domain,) = Question(templates["domain"], read_domain).ask(client, [asked])
        domain = domain or UNKNOWN
        return {"id": survey.id, "prompts": prompts, "domain": domain, "failed": failed}

    written = ask_records(
        subjects, partial(map, line_of), 1, total=len(subjects), desc="prompts", unit="survey"
    )
    lines, output = [], Path(output)
    with exclusive_lock(output.absolute().with_name(f".{output.name}.lock"), output):
        for _, line in written:
            failed = ["failed"] * len(line["failed"])
            counts.update([*line["prompts"], *failed, *["unknown"] * (line["domain"] == UNKNOWN)])
            lines.append(json.dumps(line, ensure_ascii=False) + "\n")
        atomic_write(output, "".join(lines))
    texts = {name: template.text for name, template in templates.items()}
    config |= {"characters": characters, "prompts": texts}
    names = ("surveys", *PROMPT_LEVELS, "failed", "unknown")
    return {"config": config, "counts": {name: counts[name] for name in names}}


def read_prompt(text: str, title: str, date: str, references: Sequence[str]) -> str:
    """Return the prompt in an answer."""
    prompt = unfenced(without_thoughts(text)).strip().strip('"').strip()
    if not prompt:
        raise ParseError("It is empty.")
    faults = check_prompt("", prompt, title, date, references)
    cutoff = cutoff_in(prompt)
    if cutoff != date and date.startswith(cutoff or "-"):  # a month or a year alone is not a day
        faults.append(PromptFlag("", "other_cutoff", cutoff or ""))
    if faults:
        raise ParseError(" ".join(_REASONS[flag].format(detail) for _, flag, detail in faults))
    return prompt


def read_domain(text: str) -> str:
    """Return the one domain that an answer names.

    >>> read_domain("**Healthcare and Biomedicine**.")
    'Healthcare and Biomedicine'
    """
    plain = without_thoughts(text).casefold()
    named = [name for name in (*DOMAINS, UNKNOWN) if name.casefold() in plain]
    if len(named) != 1:
        raise ParseError("It does not name exactly one of the domains.")
    return named[0]


def _of_corpus(source: str | Path, surveys: Sequence[str] | int | None) -> Iterator[SurveyText]:
    corpus = Corpus.open(source)
    tasks = TaskSet(corpus)
    titles = {name.id: name.title for name in tasks.paper_names()}
    for survey in map(tasks.topic, choose_topics(tasks, surveys)):
        listed = [titles[paper] for paper in tasks.gold(survey.id).gains]
        trees = (tasks.outline(survey.id), tasks.mind_map(survey.id))
        headings = next(("\n".join(tree.labels()) for tree in trees if tree), "")
        article = _MARKS.sub("", tasks.article(survey.id) or "")
        text = "\n\n".join(filter(None, (headings, article or "\n".join(listed[:_TITLES]))))
        yield SurveyText(
            survey.id, survey.text, survey.date, text or "(none)", listed, survey.domain
        )


def _of_file(source: str | Path, surveys: Sequence[str] | int | None) -> Iterator[SurveyText]:
    subjects = {}
    for record, file, line in JsonLinesFile(source, "surveys"):
        try:
            survey, paper = parse_survey(record), parse_paper(record | {"references": None})
        except DataError as error:
            raise DataError(f"{file} line {line}: {error}") from None
        sections = (f"{heading}\n{text}" for heading, text in paper.sections)
        parts = (paper.abstract, *sections, _MARKS.sub("", survey.article or ""))
        text = "\n\n".join(filter(None, parts)) or "(none)"
        subjects[survey.id] = SurveyText(
            survey.id, survey.title, str(survey.date), text, survey.listed_titles,
            survey.domain or "", paper.abstract,
        )  # fmt: skip
    if isinstance(surveys, Sequence):
        if missing := [survey for survey in surveys if survey not in subjects]:
            raise DataError(f"{str(source)!r} has no survey {missing[0]!r}.")
        yield from (subjects[survey] for survey in sorted(set(surveys)))
    else:
        yield from (subjects[survey] for survey in sorted(subjects)[:surveys])


class PromptedSource:
    """A source whose surveys have the prompts and domains of a file that `write_prompts` wrote."""

    def __init__(self, source: Source, path: str | Path) -> None:
        self._source, self._file = source, JsonLinesFile(path, "prompts")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)

    def surveys(self) -> Iterator[LocatedRecord]:
        """Yield every survey with its prompts."""
        own = {}
        for place in self._file:
            if not isinstance(place.record, dict) or not isinstance(place.record.get("id"), str):
                raise DataError(
                    f"{place.file} line {place.line}: expected an object with the id of a survey."
                )
            own[place.record["id"]] = place.record
        for place in self._source.surveys():
            more = own.pop(str(place.record["id"]), {})
            added = {key: more[key] for key in ("prompts", "domain") if more.get(key)}
            yield place._replace(record={**place.record, **added})
        for survey in own:
            raise DataError(f"{self._file.name}: the source has no survey {survey!r}.")

    def describe(self) -> dict[str, Any]:
        """Return the description of the source, and name and sha256 of the file."""
        prompts = {"name": self._file.name, "sha256": self._file.sha256}
        return {**self._source.describe(), "prompts": prompts}
