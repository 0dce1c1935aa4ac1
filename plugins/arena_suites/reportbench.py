"""ReportBench: are the references of a written report those of the survey that people wrote?

"ReportBench: Evaluating Deep Research Agents via Academic Survey Tasks", section 3.2.
docs/reportbench.md names every number, and every difference from the released code.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from arena.answers import remarked
from arena.corpus import Corpus, CorpusView
from arena.dates import format_day, last_version_month, parse_date
from arena.errors import DataError, clip
from arena.failures import scoring_failure
from arena.kit.code import code_sha256
from arena.kit.files import json_value, sha256_file
from arena.kit.terminal import progress
from arena.metrics import METRICS, evaluate, mean
from arena.report import PaperFinder, PaperName, Reference, Report, read_report, resolve, unfound
from arena.report.metrics import ReportGold, cited_works
from arena.suites import Evaluation, OutputPath, chosen, folder_sha256, json_lines, suite
from arena.tasks import TaskSet
from arena.text.display import count
from arena.text.identifiers import arxiv_key, arxiv_month, bibtex_keys, doi_key, normal_title
from arena_suites._library import CorpusPaper, Library
from arena_suites.verification.evidence import Page, read_pages

if TYPE_CHECKING:
    from arena_suites.verification.statements import StatementJudgements

REFERENCES = ("reference_precision", "reference_recall", "reference_f1", "reference_count")
COUNTS = ("cited_statements", "uncited_statements")
RATES = ("late_rate", "self_rate", "survey_rate", "unseen_rate", "fabricated_rate")
JUDGED = (
    "match_rate", "match_rate_all", "evidence_rate", "match_rate_found", "statement_match_rate",
    "claims", "factual_accuracy", "official_factual_accuracy",
    "official_factual_accuracy_without_ties",
)  # fmt: skip
OFFICIAL = ("precision", "recall", "f1", "references")
_SCORED = (*REFERENCES, *COUNTS, *RATES)
_DIRECTIONS = {name: METRICS.get(name).lower_is_better for name in _SCORED}
_DIRECTIONS |= dict.fromkeys(("claims", "references")) | {"dead_links": True, "not_papers": True}
_ZERO = dict.fromkeys((*REFERENCES, *COUNTS, "unresolved_count"), 0.0) | dict.fromkeys(RATES)


BIBTEX = """\
@misc{li2025reportbench,
  title = {{ReportBench}: Evaluating Deep Research Agents via Academic Survey Tasks},
  author = {Li, Minghao and Zeng, Ying and Cheng, Zhihao and Ma, Cong and Jia, Kai},
  year = {2025},
  eprint = {2508.15804}, archivePrefix = {arXiv},
  url = {https://arxiv.org/abs/2508.15804}
}
"""


@suite("reportbench", bibtex=BIBTEX)
def score_reports(
    *,
    data: str,
    reports: OutputPath,
    only: tuple[str, ...] | None = None,
    official: bool = False,
    corpus: str | None = None,
    llm_option: dict[str, Any] | None = None,
    voters: tuple[str, ...] | None = None,
    votes: int = 3,
    unsure: bool = False,
    passages: int = 1,
    pages: str | None = None,
) -> Evaluation:
    """Score reports that any system wrote by ReportBench's protocol.

    A report is ARXIV_ID.md, or ARXIV_ID.json with its text under ``response``. A survey without a
    readable report that cites something scores 0 and counts in the means; with `official` it is
    left out, as the released code does. A report with a list of references whose citations are
    not recognised has no scores, and is counted.

    Args:
        data (DIR): ReportBench's data: ReportBench_v1.1.jsonl and the folder ReportBench_v1.1_GT.
        reports (DIR): Folder of the reports, or directory of a run that wrote some.
        only (IDS): arXiv ids of the surveys to score (default: all).
        official: Compare titles as the released code does, and nothing else; with `pages` neither
            a dead link nor a page that is no paper is a reference.
        corpus (DIR): Corpus that arena-corpus built of the data: it names papers that a report
            cites by address alone, dates them, and knows which are surveys.
        llm_option: Option of a language model, such as model=NAME; with any, the model judges the
            statements, too, by what the corpus shows (docs/judging.md).
        voters (MODELS): Models that vote on statements without a citation (default: the model).
        votes: Votes of each of these models; 0 judges only statements with a citation.
        unsure: Let a model vote that it is unsure, which counts against a statement.
        passages: Passages of a source that a statement is compared with.
        pages (FILE): JSON lines of url, title, text and is_paper, which stand for the web: a page
            names the work that its address leads to, other pages than papers are not cited works,
            and the judge reads it; an address without a page is a dead link. Without --corpus the
            judge reads pages alone, and no statements without a citation.

    Example:
        arena evaluate reportbench --data reportbench --reports reports --json
    """
    if llm_option and corpus is None and pages is None:
        raise DataError(
            "--llm-option: a judge reads what is cited; name a corpus with --corpus, or web pages "
            "with --pages."
        )
    every = read_data(data)
    gold = chosen(every, only)
    if corpus and not {f"reportbench:{name}" for name in gold} & TaskSet(corpus).topics.keys():
        raise DataError(f"{corpus!r} has none of these surveys: build it of ReportBench's data.")
    files, problems = find_reports(reports, every)
    library = Library(corpus)
    web = None if pages is None else read_pages(pages)
    surveys: dict[str, dict[str, Any]] = {}
    readable: dict[str, Report] = {}
    for name in progress(gold, desc="score", unit="survey"):
        surveys[name], report = _score(files.get(name), gold[name], library, official, web)
        if report is not None:
            readable[name] = report
    settings: dict[str, Any] = {
        "data": folder_sha256(data), "reports": folder_sha256(reports), "official": official,
        "corpus": corpus and sha256_file(Path(corpus) / "manifest.json"),
        "pages": pages and sha256_file(pages),
    }  # fmt: skip
    if llm_option:
        more = {
            "votes": votes if corpus else 0,
            "unsure": unsure,
            "passages": passages,
            "pages": web,
        }
        judged = _judge(readable, gold, corpus, llm_option, voters or (), more)
        for name, of_report in judged.reports.items():
            surveys[name] |= {key: of_report["rates"].get(key) for key in JUDGED}
            surveys[name] |= {"claims": of_report["counts"]["claims"]}
            surveys[name]["judgements"] = of_report
        settings["judge"] = {**judged.judge, "counts": judged.counts, "rates": judged.rates}
    settings["code"] = code_sha256(__name__, *(METRICS.get(name).score for name in _SCORED))
    web_counts = ("not_papers", "dead_links") if pages else ()
    names = OFFICIAL if official else (*REFERENCES, *COUNTS, *RATES)
    names = (*names, *web_counts, *JUDGED)
    left_out = {name for name, row in surveys.items() if official and row.get("reason")}
    kept = [row for name, row in surveys.items() if name not in left_out]
    for key, what in (("failed", "failed"), ("unread", "have a report that cannot be read")):
        if number := sum(key in row for row in surveys.values()):
            problems.append(
                f"{number} of {count(len(surveys), 'survey')} {what} and are left out: see `{key}`."
            )
    if out := sum("reason" in row for row in surveys.values()):
        what = "are left out, as in the released code" if official else "count as 0"
        problems.append(f"{out} of {count(len(surveys), 'survey')} {what}.")
    problems += remarked(surveys.values())
    sums = {key: sum(row[key] for row in kept) for key in ("hits", "cited", "gold")}
    return Evaluation(
        {name: mean(row.get(name) for row in kept) for name in names},
        surveys,
        [name for name in gold if name not in files],
        problems,
        settings,
        micro=dict(zip(names[:3], _ratios(sums), strict=True)),
        lower_is_better=_DIRECTIONS,
        left_out=left_out,
        groups={name: survey.domain for name, survey in gold.items() if survey.domain},
        needs={} if llm_option else dict.fromkeys(JUDGED, "a judge"),
    )


def _score(
    path: Path | None,
    survey: GoldSurvey,
    library: Library,
    official: bool,
    pages: Mapping[str, Page] | None,
) -> tuple[dict[str, Any], Report | None]:
    """Return the row of a survey, and its report with the papers of the library if it is read."""
    about: dict[str, Any] = {"domain": survey.domain}
    if not official:
        about = {"cutoff": format_day(survey.cutoff)} | about
    resolved = None
    row: dict[str, Any] = dict.fromkeys(OFFICIAL if official else _ZERO)
    row |= {"hits": 0, "cited": 0, "gold": 0}
    try:
        if path is None:
            raise DataError("no report")
        report = read_report(report_text(path))
        resolved = resolve(report, library.finder)
        if pages is not None:
            report, counts = _read_web(report, pages, official)
            about |= counts
        if report.unread and not official:
            about |= {"unread": report.unread}
        elif report.references if official else report.cited:
            row = (_official_row if official else _row)(report, survey, library)
        else:
            raise DataError("no citations")
    except DataError as error:
        gold_size = len(_gold_titles(survey)) if official else len(survey.works)
        worst = dict.fromkeys(OFFICIAL, 0.0) if official else _ZERO
        row |= {**worst, "gold": gold_size}
        about |= {"reason": str(error)}
    except Exception as error:
        about |= {"failed": scoring_failure(error)}
        resolved = None
    return row | about | dict.fromkeys(JUDGED), resolved


def _judge(
    reports: Mapping[str, Report],
    gold: Mapping[str, GoldSurvey],
    corpus: str | None,
    options: dict[str, Any],
    voters: Sequence[str],
    more: Mapping[str, Any],
) -> StatementJudgements:
    from arena.llm import Client
    from arena_suites.verification.statements import judge_reports

    views: dict[str, CorpusView] = {}
    status: dict[str, dict[str, str]] = {}
    if corpus:
        opened = Corpus.open(corpus)
        tasks = TaskSet(opened)
        for name, report in reports.items():
            own = f"reportbench:{name}"
            views[name] = opened.at(format_day(gold[name].cutoff), [own])
            if own in tasks.topics:
                papers = [each.paper for each in report.references if each.paper]
                status[name] = tasks.citation_status(own, papers)
    client = Client.from_options(options, "--llm-option")
    others = [Client.from_options(options | {"model": name}, "--voters") for name in voters]
    return judge_reports(reports, views, client, voters=others, status=status, **more)


def _read_web(
    report: Report, pages: Mapping[str, Page], official: bool
) -> tuple[Report, dict[str, int]]:
    """Return a report with the titles of pages, and without citations of other pages than papers.

    Also returned are the numbers of cited references that are such pages, and of those with an
    address alone that no page has (ReportBench, section 2.2); and of the statements that cite a
    page of any kind, and that do not. Where it is `official`, neither is a reference: the released
    code knows a reference by the title that a model reads in its page.
    """
    found = {
        each.key: page
        for each in report.references
        if (page := next((pages[key] for key in each.ids if key in pages), None))
    }
    others = {key for key, page in found.items() if not page.is_paper}
    dead = {
        each.key
        for each in report.references
        if each.key not in found and any(key.startswith("url:") for key in each.ids)
    }
    references = tuple(
        each._replace(title=found[each.key].title or each.title) if each.key in found else each
        for each in report.references
        if not (official and each.key in others | dead)
    )
    statements = tuple(
        each._replace(citations=tuple(key for key in each.citations if key not in others))
        for each in report.statements
    )
    counts = {
        "not_papers": sum(each.key in others for each in report.cited),
        "dead_links": sum(each.key in dead for each in report.cited),
        "cited_statements": sum(bool(each.citations) for each in report.statements),
        "uncited_statements": sum(not each.citations for each in report.statements),
    }
    return report._replace(references=references, statements=statements), counts


def identify(report: Report, survey: GoldSurvey, library: Library) -> tuple[Report, dict[str, str]]:
    """Find the work that each reference of a report names.

    A reference is looked up by arXiv id and DOI, then by title: among the survey's own works, in
    the library, and among the works by what the library calls the paper. Then the longest title of
    either that the entry contains counts, see `PaperFinder.within`. Else an arXiv id gives its
    month.

    Returns:
        The report with resolved references, and the standing of the papers that they are.
    """
    finder = PaperFinder([survey.itself, *survey.works])
    standing: dict[str, str] = {}
    references = []
    for reference in report.references:
        cited = [key.removeprefix("corpus:") for key in reference.ids]  # by an id of the gym
        keys = [key for text in cited for key in (arxiv_key(text), doi_key(text)) if key]
        reference = reference._replace(ids=(*reference.ids, *keys))
        months = {key: month for key in reference.ids if (month := arxiv_month(key))}
        name, known = finder.named(reference), library.get(library.finder.named(reference))
        if name is None and known is None:
            own, other = finder.within(reference), library.finder.within(reference)
            name, known = own[1] if own[0] >= other[0] else None, library.get(other[1])
            known = None if own[0] > other[0] else known
        if name is None and known is not None:
            named = Reference("", title=known.name.title, ids=known.name.ids)
            name = finder.find(named) or f"corpus {known.name.id}"
        name = name or next(iter(months), None)
        if name is not None:
            days = [parse_date(month).day for month in months.values()]
            day = known.day if known is not None else next(iter(days), None)
            standing[name] = _standing(name, day, survey, known)
        references.append(reference._replace(paper=name))
    return report._replace(references=tuple(references)), standing


def _standing(name: str, day: int | None, survey: GoldSurvey, known: CorpusPaper | None) -> str:
    if name == survey.itself.id:
        return "itself"
    if day is not None and day >= survey.cutoff:
        return "late"
    if known is not None and known.day is None:
        return "undated"
    return "survey" if known is not None and known.is_survey else "reachable"


def _row(report: Report, survey: GoldSurvey, library: Library) -> dict[str, Any]:
    report, standing = identify(report, survey, library)
    gains = {work.id: 1 for work in survey.works}
    names = [*REFERENCES, *COUNTS, "unresolved_count", "late_rate", "self_rate"]
    names += ["survey_rate"] * library.is_known
    scores = evaluate(report, ReportGold(gains, standing), names)
    cited = cited_works(report).values()
    counts = {"hits": len(gains.keys() & set(cited)), "cited": len(cited), "gold": len(gains)}
    known = {name: score for name, score in scores.items() if score is not None}
    remark = unfound(report)
    about = {"styles": list(report.styles)} | ({"remark": remark} if remark else {})
    return {**_ZERO, **known, **counts, **about}


def _official_row(report: Report, survey: GoldSurvey, library: Library) -> dict[str, Any]:
    titles = {work.id: work.title for work in survey.works}
    finder = PaperFinder(survey.works)
    made = set()
    fetched = {_address(each) or each.key: each for each in reversed(report.references)}
    for reference in fetched.values():
        by_id = reference._replace(title="", text="")  # the title of the page behind an address
        known, work = library.find(by_id), titles.get(finder.find(by_id) or "")
        made.add(_released(known.name.title if known else work or reference.title))
    made, gold = made - {""}, _gold_titles(survey)
    counts = {"hits": len(made & gold), "cited": len(made), "gold": len(gold)}
    return dict(zip(OFFICIAL, (*_ratios(counts), float(len(made))), strict=True)) | counts


def _address(reference: Reference) -> str:
    """Return the address of a reference as the released code cuts it, without what follows ``?``.

    The first reference of an address counts, so that two papers of OpenReview are one.
    """
    address = next(iter(reference.ids), "")
    if address.startswith("openreview:"):
        return "openreview"
    return address.partition("?")[0] if address.startswith("url:") else ""


def _gold_titles(survey: GoldSurvey) -> set[str]:
    return {_released(title) for title in survey.titles} - {""}


def _released(title: str) -> str:
    """Return a title as the released code compares it."""
    return " ".join(title.lower().translate(_PUNCTUATION).split())


_PUNCTUATION = str.maketrans("", "", string.punctuation)


def _ratios(counts: Mapping[str, int]) -> tuple[float, float, float]:
    """Return precision, recall and F1."""
    hits, cited, gold = counts["hits"], counts["cited"], counts["gold"]
    precision, recall = hits / cited if cited else 0.0, hits / gold if gold else 0.0
    return precision, recall, 2 * hits / (cited + gold) if cited + gold else 0.0


# ReportBench's files and the reports to score: what is read, and under which survey

_TEXTS = ("response", "content", "text", "message", "output", "result")
_SUFFIXES = (".md", ".json", ".txt", ".html")


class GoldSurvey(NamedTuple):
    """A survey of the data.

    Attributes:
        cutoff: The first day that is too late, in days since 1970-01-01: the first of the month of
            the last version, which the prompts name (ReportBench, section 2.1.2).
        works: The distinct works of its bibliography. No key of a citation can be their ids.
    """

    itself: PaperName
    cutoff: int
    domain: str
    works: list[PaperName]
    titles: list[str]


def read_data(folder: str) -> dict[str, GoldSurvey]:
    """Read ``ReportBench_*.jsonl`` and the folder ``ReportBench_*_GT`` next to it.

    Returns:
        arXiv id -> survey, in the order of the file.
    """
    tables = sorted(Path(folder).glob("ReportBench_*.jsonl"))
    if len(tables) != 1:
        raise DataError(
            f"{folder!r} has {len(tables) or 'no'} ReportBench_*.jsonl: name the folder of "
            "ReportBench's data with --data."
        )
    truth = tables[0].with_name(tables[0].name.removesuffix(".jsonl") + "_GT")
    surveys: dict[str, GoldSurvey] = {}
    for where, record in _records(tables[0]):
        try:
            name, title = str(record["arxiv_id"]), str(record["title"])
        except KeyError:
            raise DataError(f"{where} is not a record of ReportBench.") from None
        cutoff = last_version_month(record.get("versions"))
        if cutoff is None:
            raise DataError(f"{where} is not a record of ReportBench: it has no versions.")
        if record.get("date", cutoff) != cutoff:  # what a selection was written with
            raise DataError(
                f"{where}: its prompt names {clip(record['date'])} as cutoff, and its last version "
                f"{cutoff}. Select the surveys again, and write their prompts again."
            )
        entries = [record for _, record in _records(truth / f"{name.replace('/', '_')}.jsonl")]
        ids = tuple(key for key in (arxiv_key(name), doi_key(record.get("doi"))) if key)
        surveys[name] = GoldSurvey(
            PaperName("the survey", title, ids),
            parse_date(cutoff).day,
            str(record.get("application_domain") or ""),
            distinct_works(entries),
            [str(entry.get("title") or "") for entry in entries],
        )
    if not surveys:
        raise DataError(f"{str(tables[0])!r} has no survey.")
    return surveys


def distinct_works(entries: list[dict[str, Any]]) -> list[PaperName]:
    """Return the works of a bibliography: entries that share an identifier or a title are one."""
    works: list[PaperName] = []
    places: dict[str, int] = {}
    for entry in entries:
        title, more = str(entry.get("title") or ""), entry.get("meta_info")
        ids = bibtex_keys(more if isinstance(more, Mapping) else {})
        keys = [*ids, *([f"title:{key}"] if (key := normal_title(title)) else [])]
        place = next((places[key] for key in keys if key in places), len(works))
        if place == len(works) and keys:
            works.append(PaperName(f"work {place}", title, ids))
        elif keys:
            works[place] = works[place]._replace(ids=(*works[place].ids, *ids))
        places.update((key, places.get(key, place)) for key in keys)
    return works


def find_reports(folder: str, surveys: Mapping[str, Any]) -> tuple[dict[str, Path], list[str]]:
    """Return the file of each survey's report, and a sentence for each file that has none.

    A file belongs to the survey whose arXiv id stands in its name, as in ``2004.05937.md`` or
    ``parsed_2004.05937v2.json``; in an old id ``_`` or ``-`` stands for the slash. The directory of
    a run is read at its reports.
    """
    place = Path(folder)
    place = place / "reports" if (place / "reports").is_dir() else place  # of a run
    files = sorted(path for path in place.iterdir() if path.suffix.lower() in _SUFFIXES)
    if not files:
        raise DataError(f"{folder!r} has no report: expected ARXIV_ID.md or ARXIV_ID.json.")
    names = {name.replace("/", slash): name for name in surveys for slash in "_-"}
    pattern = re.compile(rf"(?<!\d)({'|'.join(map(re.escape, names))})(?!\d)")
    found: dict[str, Path] = {}
    problems = []
    for path in files:
        match = pattern.search(path.stem)
        if match is None:
            problems.append(f"{path.name}: no survey of the data has the id in this name.")
        elif (name := names[match[1]]) in found:
            first = found[name].name
            problems.append(f"{path.name}: a second report on {name}; {first} counts.")
        else:
            found[name] = path
    return found, problems


def report_text(path: Path) -> bytes | str:
    """Return a report's text: the file, or what a JSON object has under ``response``."""
    content = path.read_bytes()
    if path.suffix.lower() != ".json":
        return content
    record = json_value(content)
    if record is None:
        raise DataError(f"{path.name} is not JSON.")
    for key in _TEXTS if isinstance(record, dict) else ():  # as the released code has them
        if isinstance(text := record.get(key), str):
            return text
    raise DataError(f"{path.name} has no text under 'response'.")


def _records(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        for number, text, record in json_lines(path):
            where = f"{path.name} line {number}"
            if record is None:
                raise DataError(f"{where}: {clip(text)} is not a JSON object.")
            yield where, record
    except FileNotFoundError:
        raise DataError(f"{str(path)!r} is missing: ReportBench has it.") from None
