"""The surveys of a corpus with their labels, which no agent ever gets, and the choice of some."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from arena.corpus import layout
from arena.dates import GUESSED, parse_date
from arena.errors import (
    CorpusError,
    DataError,
    NoLabelsError,
    UnknownNameError,
    clip,
    did_you_mean,
)
from arena.tasks.surveys import EXPERT, Gold, Survey, topic_of
from arena.text.display import count
from arena.text.identifiers import work_key

if TYPE_CHECKING:
    from arena.corpus import Corpus
    from arena.corpus.store import CorpusStore
    from arena.mindmap import MindMap
    from arena.report import PaperName

_IDENTIFIERS = (("arxiv", "arxiv_id"), ("doi", "doi"))
_GAINS = {True: 2, False: 1}


class PaperFacts(NamedTuple):
    """Title and abstract of a paper, and how many papers of the corpus cited it before a day.

    The number is None in a corpus without citations.
    """

    title: str
    abstract: str = ""
    citations: int | None = None


class TaskSet:
    """The surveys of a corpus, or the papers or questions of a task set, in order of their ids.

    Args:
        corpus: A built corpus, or its directory. The surveys of an open corpus are those that it
            was opened with: where others take their place, reading them raises CorpusError.

        references: The environment's setting.

    Attributes:
        expert: Whether `references` gives an agent all `expert_papers`.
        sha256: Hash of the tasks and their labels.
        options: Options of ``arena-corpus tasks``; None for the surveys of a corpus.
    """

    def __init__(self, corpus: Corpus | str | Path, references: str | None = None) -> None:
        self.expert = references == EXPERT
        if isinstance(corpus, str | Path):
            self._directory, manifest = Path(corpus), layout.read_manifest(Path(corpus))
            self._labels = self._directory
        else:
            self._directory, (self._labels, manifest) = corpus.directory, corpus.task_files
        self._files = manifest["files"]
        self.sha256 = str(manifest["tasks_sha256"])
        self.options: dict[str, Any] | None = manifest.get("options")
        self._trees: dict[str, MindMap | None] = {}

    @cached_property
    def surveys(self) -> dict[str, Survey]:
        """Survey id -> all that an agent may know of the survey."""
        rows = self._surveys
        if not rows:
            raise NoLabelsError(
                f"the corpus {str(self._directory)!r} has no surveys: it can be searched and read, "
                "not played or scored on. Build one with surveys (`--surveys FILE`)."
            )
        question = "questions" in (self.options or {})
        return {
            r["id"]: Survey(
                r["id"],
                r["title"],
                r["date"].isoformat(),
                r["date_precision"] == GUESSED,
                {level: text for level, text in (r["prompts"] or {}).items() if text},
                r["domain"] or "",
                question,
            )
            for r in rows
        }

    def survey(self, survey_id: str) -> Survey:
        """Return one survey."""
        if not isinstance(survey_id, str) or survey_id not in self.surveys:
            raise UnknownNameError(
                f"no survey {clip(survey_id)} in this corpus."
                f"{did_you_mean(survey_id, self.surveys)} `arena list surveys` shows all."
            )
        return self.surveys[survey_id]

    @property
    def unit(self) -> str:
        """Kind of topic: survey, paper or question."""
        return (
            "survey" if self.options is None else ("paper", "question")["questions" in self.options]
        )

    def groups(self, survey_id: str) -> dict[str, str]:
        """Return what a survey shares with others, for tests: ``cluster``, ``domain``, as known."""
        row = self._rows[survey_id]
        return {name: row[name] for name in ("cluster", "domain") if row.get(name)}

    def gold(self, survey_id: str) -> Gold:
        """Return the labels of one survey; `Gold.gains` is empty if it cannot be scored."""
        if survey_id not in self._gold:
            self.survey(survey_id)  # says what is wrong
        return self._gold[survey_id]

    def references(self, survey_id: str) -> dict[str, str]:
        """Return each listed reference of a survey -> its status, see docs/corpus-format.md."""
        self.survey(survey_id)
        return self._references[survey_id]

    def mind_map(self, survey_id: str) -> MindMap | None:
        """Return the survey's own mind-map, or None if it has no readable one with a heading."""
        self.survey(survey_id)
        if survey_id not in self._trees:
            self._trees[survey_id] = _tree(self._mind_maps[survey_id]["mind_map"])
        return self._trees[survey_id]

    def figure(self, survey_id: str) -> tuple[str | None, str | None]:
        """Return file name and caption of the figure that the mind-map was read from, if any."""
        self.survey(survey_id)
        row = self._mind_maps[survey_id]
        return row["figure"], row["caption"]

    def outline(self, survey_id: str) -> MindMap | None:
        """Return the survey's own table of contents, or None if it has no readable one."""
        self.survey(survey_id)
        return _tree(self._articles[survey_id]["outline"])

    def article(self, survey_id: str) -> str | None:
        """Return the survey's own text, or None if the corpus has none.

        It is Markdown that cites papers of the corpus as ``[@id]``, those out of reach included.
        """
        self.survey(survey_id)
        text: str | None = self._articles[survey_id]["article"]
        return text

    def text_in_reach(self, survey_id: str) -> str:
        """Return the survey's own text without citations of papers out of reach, or an empty text.

        For scoring.
        """
        from arena.report.listing import cite
        from arena.report.marks import replace_groups

        reached, article = self.gold(survey_id).gains, self.article(survey_id) or ""
        return replace_groups(article, lambda keys: cite(key for key in keys if key in reached))

    def facts(self, survey_id: str, papers: Iterable[str]) -> dict[str, PaperFacts]:
        """Return what the corpus knows of papers or surveys as of a survey, for scoring."""
        store, end = self._store, self._store.end(parse_date(self.survey(survey_id).date).day)
        facts = {}
        for paper in papers:
            if (document := store.document(paper)) is None:
                facts[paper] = PaperFacts(self.surveys[paper].title)
                continue
            count = bisect_left(store.linked(document, citing=True), end)
            abstract = store.row(document)["abstract"] or ""
            facts[paper] = PaperFacts(
                store.titles[document], abstract, count if len(store.citing) else None
            )
        return facts

    def paper_names(self) -> Iterator[PaperName]:
        """Yield the names of all papers of the corpus, whatever their date, and of all surveys.

        They are for scoring, and never for an agent. First come the papers in document order, then
        the surveys that the corpus does not have. Their `ids` are ``arxiv:...`` and ``doi:...``.
        """
        import pyarrow.parquet as pq

        surveys = {row["id"]: row for row in self._surveys}
        with pq.ParquetFile(self._directory / layout.PAPERS) as papers:
            for batch in papers.iter_batches(columns=["id", "title", "arxiv_id", "doi"]):
                for row in batch.to_pylist():
                    surveys.pop(row["id"], None)
                    yield _name(row)
        yield from map(_name, surveys.values())

    def citation_status(self, survey_id: str, papers: Iterable[str]) -> dict[str, str]:
        """Return what papers are to a survey, for scoring.

        Id -> ``itself`` (the survey's id or title), ``late`` (not before the survey), ``undated``,
        ``survey`` or ``reachable``; the first that applies. An unknown id is left out.
        """
        survey, store = self.survey(survey_id), self._store
        cutoff, title = parse_date(survey.date).day, work_key(survey.title)
        kinds = {}
        for paper in papers:
            document = store.document(paper)
            if document is None:
                if (other := self.surveys.get(paper)) is not None:
                    kinds[paper] = "late" if other.date >= survey.date else "survey"
            elif work_key(store.titles[document]) == title:  # no other paper has a survey's title
                kinds[paper] = "itself"
            elif (day := store.days.item(document)) >= cutoff:
                kinds[paper] = "undated" if day == layout.UNDATED else "late"
            else:
                kinds[paper] = "reachable" if store.is_searchable(document) else "survey"
        if survey_id in kinds:
            kinds[survey_id] = "itself"
        return kinds

    def expert_papers(self, survey_id: str) -> list[str]:
        """Return the papers of the corpus that the survey's own mind-map files, by their numbers.

        Their dates do not count, nor whether they are surveys; the survey itself is left out.
        """
        tree = self.mind_map(survey_id)
        status = self.citation_status(survey_id, tree.all_papers() if tree else ())
        numbers = {self._store.document(p): p for p, kind in status.items() if kind != "itself"}
        numbers.pop(None, None)  # of a survey that the corpus does not contain
        return [numbers[number] for number in sorted(numbers)]  # type: ignore[type-var]

    @cached_property
    def _store(self) -> CorpusStore:
        from arena.corpus.store import CorpusStore

        return CorpusStore(self._directory)

    @cached_property
    def scorable(self) -> list[str]:
        """Ids of the surveys with at least one reference in reach, in order."""
        return [survey_id for survey_id in self.surveys if self._gold[survey_id].gains]

    @cached_property
    def _gold(self) -> dict[str, Gold]:
        totals = {key: row["n_references_total"] for key, row in self._mind_maps.items()}
        listed: dict[str, int] = dict.fromkeys(self.surveys, 0)
        gains: dict[str, dict[str, int]] = {survey_id: {} for survey_id in self.surveys}
        for row in self._read(layout.GOLD):
            listed[row["survey"]] += 1
            if row["status"] == "gold":
                gains[row["survey"]][row["reference"]] = _GAINS[row["influential"]]
        return {
            survey_id: Gold(gains[survey_id], listed[survey_id], totals[survey_id])
            for survey_id in self.surveys
        }

    @cached_property
    def _references(self) -> dict[str, dict[str, str]]:
        references: dict[str, dict[str, str]] = {survey_id: {} for survey_id in self.surveys}
        for row in self._read(layout.GOLD):
            references[row["survey"]][row["reference"]] = row["status"]
        return references

    @cached_property
    def _surveys(self) -> list[dict[str, Any]]:
        return self._read(layout.SURVEYS)

    @cached_property
    def _rows(self) -> dict[str, dict[str, Any]]:
        return {row["id"]: row for row in self._surveys}

    @cached_property
    def _articles(self) -> dict[str, dict[str, Any]]:
        return {row["survey"]: row for row in self._read(layout.ARTICLES)}

    @cached_property
    def _mind_maps(self) -> dict[str, dict[str, Any]]:
        return {row["survey"]: row for row in self._read(layout.MIND_MAPS)}

    def _read(self, name: str) -> list[dict[str, Any]]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        path = self._labels / name
        content = path.read_bytes()  # once, so that what is compared is what is read
        # A score must be what it says.
        if hashlib.sha256(content).hexdigest() != self._files[name]["sha256"]:
            make = "`arena-corpus verify` finds damage, build it"
            if self._labels != self._directory:
                make = "that fails, make the tasks again with `arena-corpus tasks`"
            raise CorpusError(
                f"{str(path)!r} is not as it was built, or the corpus was built again since it was "
                f"opened. Open the corpus again; if {make}."
            )
        # Not `read_table`: its threads may keep the buffer until Python ends, and to free it then
        # aborts the process.
        with pq.ParquetFile(pa.BufferReader(content)) as file:
            return file.read(use_threads=False).to_pylist()  # type: ignore[no-any-return]


def _tree(text: str | None) -> MindMap | None:
    """Return the tree of a JSON text; None if there is none, or no heading below its root."""
    from arena.mindmap import read_mind_map

    if text is None:
        return None
    try:
        tree = read_mind_map(text)[0]
    except DataError:
        return None
    return tree if tree.size else None  # a root alone leaves nothing to compare


def _name(row: dict[str, Any]) -> PaperName:
    from arena.report import PaperName  # whose patterns take long to compile

    ids = (f"{kind}:{row[key]}" for kind, key in _IDENTIFIERS if row[key])
    return PaperName(row["id"], row["title"], tuple(ids))


def choose_surveys(
    tasks: TaskSet, surveys: Sequence[str] | int | None, candidates: Sequence[str] | None = None
) -> list[str]:
    """Return the ids of the surveys to play or score, in order.

    `surveys` are any ids of the corpus; or a number, for the first of `candidates`, by default all
    surveys; or None, for all candidates.
    """
    counted = list(tasks.surveys if candidates is None else candidates)
    if surveys is None:
        return counted
    if isinstance(surveys, str):
        raise DataError(f"surveys={clip(surveys)} is one string; give a list of ids.")
    if isinstance(surveys, int):
        if not 1 <= surveys <= len(counted):
            which = "" if candidates is None else " that can be scored"
            raise DataError(
                f"surveys={surveys}: the corpus has "
                f"{count(len(counted), 'survey')}{which}. Give 1 to "
                f"{len(counted)}."
            )
        return counted[:surveys]
    chosen = {tasks.survey(survey_id).id for survey_id in surveys}
    if not chosen:
        raise DataError("no survey is named. Give ids, a number, or nothing for all.")
    return sorted(chosen)


def with_topic(tasks: TaskSet, prompt: str) -> list[str]:
    """Return the ids of the surveys that have a prompt; for arguments and errors see `topic_of`."""
    asked = [s for s, survey in tasks.surveys.items() if topic_of(survey, prompt) is not None]
    if not asked:
        raise NoLabelsError(
            f"prompt={clip(prompt)}: no survey of this corpus has such a prompt. Give 'title', or "
            "another one."
        )
    return asked


def play_order(tasks: TaskSet, surveys: Iterable[str]) -> list[str]:
    """Return surveys in order of their cutoffs, and of their ids where these are equal.

    What an agent's code keeps from one episode to the next is then of the past.
    """
    return sorted(surveys, key=lambda survey_id: (tasks.survey(survey_id).date, survey_id))
