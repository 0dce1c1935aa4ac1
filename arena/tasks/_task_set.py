"""The topics of a corpus with their labels, which no agent ever gets, and the choice of some."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from arena.corpus import layout
from arena.corpus.schemes import resolve_directory
from arena.dates import GUESSED, UNDATED, parse_date
from arena.errors import (
    CorpusError,
    DataError,
    NoLabelsError,
    UnknownNameError,
    clip,
    did_you_mean,
)
from arena.kit.files import read_json, sha256_json
from arena.tasks.frozen import FrozenTopics
from arena.tasks.profiles import Profile, is_comparison, read_comparisons, read_profile, where
from arena.tasks.topics import EXPERT, Gold, Topic, text_of
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
    """The topics of a corpus, or the papers or questions of a task set, in order of their ids.

    Args:
        corpus: A built corpus, or its directory. The topics of an open corpus are those that it
            was opened with: where others take their place, reading them raises CorpusError.

        references, since: The environment's settings. With `since` papers from before that day are
            no gold.

    Attributes:
        expert: Whether `references` gives an agent all `expert_papers`.
        sha256: Hash of the tasks and their labels, and of `since` if that is given.
        directory: Directory of the corpus, or of the task set.
        identity: The hashes of ``corpus`` and ``tasks``, whatever `since` is.
        options: Options of ``arena-corpus tasks``; None for the topics of a corpus.
        undated: Whether papers have the day of a protocol without days, so that none is hidden.
    """

    def __init__(
        self,
        corpus: Corpus | str | Path,
        references: str | None = None,
        since: str | None = None,
    ) -> None:
        self.expert = references == EXPERT
        self._since = since
        if isinstance(corpus, str | Path):
            self._directory = resolve_directory(corpus)
            manifest = layout.read_manifest(self._directory)
            self._labels = self._directory
            counts = manifest["counts"]
        else:
            self._directory, (self._labels, manifest) = corpus.directory, corpus.task_files
            counts = corpus.manifest["counts"]
        self.undated = "papers_stand_in_dates" in counts
        self._files = manifest["files"]
        self.sha256, self.directory = str(manifest["tasks_sha256"]), self._labels
        corpus_sha256 = manifest.get("corpus") or manifest["content_sha256"]
        self.identity = {"corpus": str(corpus_sha256), "tasks": self.sha256}
        if since is not None:
            self.sha256 = sha256_json([self.sha256, since])
        self.options: dict[str, Any] | None = manifest.get("options")
        self._trees: dict[str, MindMap | None] = {}

    @cached_property
    def topics(self) -> dict[str, Topic]:
        """Topic id -> all that an agent may know of the topic."""
        rows = self._topics
        if not rows:
            raise NoLabelsError(
                f"the corpus {str(self._directory)!r} has no topics: it can be searched and read, "
                "not played or scored on. Build one with surveys (`--surveys FILE`)."
            )
        question = "questions" in (self.options or {})
        return {
            r["id"]: Topic(
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

    def topic(self, topic_id: str) -> Topic:
        """Return one topic."""
        if not isinstance(topic_id, str) or topic_id not in self.topics:
            raise UnknownNameError(
                f"no topic {clip(topic_id)} in this corpus."
                f"{did_you_mean(topic_id, self.topics)} `arena list topics` shows all."
            )
        return self.topics[topic_id]

    @property
    def unit(self) -> str:
        """Kind of topic: topic, paper or question; ``undated`` comes before it if it is so."""
        kind = "paper" if self.options is not None else "topic"
        kind = "question" if "questions" in (self.options or {}) else kind
        return f"{UNDATED} {kind}" if self.undated else kind

    def profile(self) -> Profile:
        """Return how hard the topics are, as ``arena profile`` measured it; never for an agent."""
        return read_profile(self.directory, self.identity)

    def groups(self, topic_id: str) -> dict[str, str]:
        """Return what a topic shares with others, for tests: ``cluster``, ``domain``, as known."""
        row = self._rows[topic_id]
        return {name: row[name] for name in ("cluster", "domain") if row.get(name)}

    def labels(self, topic_id: str) -> dict[str, str]:
        """Return the kinds of a question by which scores are split, for scoring; often none."""
        return dict(self._questions.get(topic_id, {}).get("labels", {}))

    def gold(self, topic_id: str) -> Gold:
        """Return the labels of one topic; `Gold.gains` is empty if it cannot be scored."""
        if topic_id not in self._gold:
            self.topic(topic_id)  # says what is wrong
        return self._gold[topic_id]

    def references(self, topic_id: str) -> dict[str, str]:
        """Return each listed reference of a topic -> its status, see docs/corpus-format.md."""
        self.topic(topic_id)
        return self._references[topic_id]

    def mind_map(self, topic_id: str) -> MindMap | None:
        """Return the survey's own mind-map, or None if it has no readable one with a heading."""
        self.topic(topic_id)
        if topic_id not in self._trees:
            self._trees[topic_id] = _tree(self._mind_maps[topic_id]["mind_map"])
        return self._trees[topic_id]

    def figure(self, topic_id: str) -> tuple[str | None, str | None]:
        """Return file name and caption of the figure that the mind-map was read from, if any."""
        self.topic(topic_id)
        row = self._mind_maps[topic_id]
        return row["figure"], row["caption"]

    def outline(self, topic_id: str) -> MindMap | None:
        """Return the survey's own table of contents, or None if it has no readable one."""
        self.topic(topic_id)
        return _tree(self._articles[topic_id]["outline"])

    def article(self, topic_id: str) -> str | None:
        """Return the survey's own text, or None if the corpus has none.

        It is Markdown that cites papers of the corpus as ``[@id]``, those out of reach included.
        """
        self.topic(topic_id)
        text: str | None = self._articles[topic_id]["article"]
        return text

    def text_in_reach(self, topic_id: str) -> str:
        """Return the survey's own text without citations of papers out of reach, or an empty text.

        For scoring.
        """
        from arena.report.listing import cite
        from arena.report.marks import replace_groups

        reached, article = self.gold(topic_id).gains, self.article(topic_id) or ""
        return replace_groups(article, lambda keys: cite(key for key in keys if key in reached))

    def facts(self, topic_id: str, papers: Iterable[str]) -> dict[str, PaperFacts]:
        """Return what the corpus knows of papers or surveys as of a topic, for scoring."""
        store, end = self._store, self._store.end(parse_date(self.topic(topic_id).date).day)
        facts = {}
        for paper in papers:
            if (document := store.document(paper)) is None:
                facts[paper] = PaperFacts(self.topics[paper].text)
                continue
            count = bisect_left(store.linked(document, citing=True), end)
            abstract = store.row(document)["abstract"] or ""
            facts[paper] = PaperFacts(
                store.titles[document], abstract, count if len(store.citing) else None
            )
        return facts

    def paper_names(self) -> Iterator[PaperName]:
        """Yield the names of all papers of the corpus, whatever their date, and of all topics.

        They are for scoring, and never for an agent. First come the papers in document order, then
        the topics that the corpus does not have. Their `ids` are ``arxiv:...`` and ``doi:...``.
        """
        import pyarrow.parquet as pq

        topics = {row["id"]: row for row in self._topics}
        with pq.ParquetFile(self._directory / layout.PAPERS) as papers:
            for batch in papers.iter_batches(columns=["id", "title", "arxiv_id", "doi"]):
                for row in batch.to_pylist():
                    topics.pop(row["id"], None)
                    yield _name(row)
        yield from map(_name, topics.values())

    def in_reach(self, topic_id: str) -> int:
        """Return how many papers an agent can find as of a topic, gold or not; for scoring."""
        store = self._store
        end = store.end(parse_date(self.topic(topic_id).date).day)
        return int(store.searchable_before[end])

    def citation_status(self, topic_id: str, papers: Iterable[str]) -> dict[str, str]:
        """Return what papers are to a topic, for scoring.

        Id -> ``itself`` (the topic's id or title), ``late`` (not before the topic), ``undated``,
        ``topic_id`` or ``reachable``; the first that applies. An unknown id is left out.
        """
        topic, store = self.topic(topic_id), self._store
        cutoff, title = parse_date(topic.date).day, work_key(topic.text)
        kinds = {}
        for paper in papers:
            document = store.document(paper)
            if document is None:
                if (other := self.topics.get(paper)) is not None:
                    kinds[paper] = "late" if other.date >= topic.date else "survey"
            elif work_key(store.titles[document]) == title:  # no other paper has a survey's title
                kinds[paper] = "itself"
            elif (day := store.days.item(document)) >= cutoff:
                kinds[paper] = "undated" if day == layout.UNDATED else "late"
            else:
                kinds[paper] = "reachable" if store.is_searchable(document) else "survey"
        if topic_id in kinds:
            kinds[topic_id] = "itself"
        return kinds

    def expert_papers(self, topic_id: str) -> list[str]:
        """Return the papers of the corpus that the survey's own mind-map files, by their numbers.

        Their dates do not count, nor whether they are surveys; the survey itself is left out.
        """
        tree = self.mind_map(topic_id)
        status = self.citation_status(topic_id, tree.all_papers() if tree else ())
        numbers = {self._store.document(p): p for p, kind in status.items() if kind != "itself"}
        numbers.pop(None, None)  # of a topic that the corpus does not contain
        return [numbers[number] for number in sorted(numbers)]  # type: ignore[type-var]

    @cached_property
    def _store(self) -> CorpusStore:
        from arena.corpus.store import CorpusStore

        return CorpusStore(self._directory)

    @cached_property
    def scorable(self) -> list[str]:
        """Ids of the topics with at least one reference in reach, in order."""
        return [topic_id for topic_id in self.topics if self._gold[topic_id].gains]

    @cached_property
    def _gold(self) -> dict[str, Gold]:
        totals = {key: row["n_references_total"] for key, row in self._mind_maps.items()}
        listed: dict[str, int] = dict.fromkeys(self.topics, 0)
        gains: dict[str, dict[str, int]] = {topic_id: {} for topic_id in self.topics}
        first = None if self._since is None else parse_date(self._since).day
        for row in self._read(layout.GOLD):
            listed[row["topic_id"]] += 1
            if row["status"] == "gold" and (
                first is None or self._store.days.item(row["document"]) >= first
            ):
                gains[row["topic_id"]][row["reference"]] = _GAINS[row["influential"]]
        return {
            topic_id: Gold(gains[topic_id], listed[topic_id], totals[topic_id])
            for topic_id in self.topics
        }

    @cached_property
    def _references(self) -> dict[str, dict[str, str]]:
        references: dict[str, dict[str, str]] = {topic_id: {} for topic_id in self.topics}
        for row in self._read(layout.GOLD):
            references[row["topic_id"]][row["reference"]] = row["status"]
        return references

    @cached_property
    def _topics(self) -> list[dict[str, Any]]:
        return self._read(layout.TOPICS)

    @cached_property
    def _rows(self) -> dict[str, dict[str, Any]]:
        return {row["id"]: row for row in self._topics}

    @cached_property
    def _articles(self) -> dict[str, dict[str, Any]]:
        return {row["topic_id"]: row for row in self._read(layout.ARTICLES)}

    @cached_property
    def _mind_maps(self) -> dict[str, dict[str, Any]]:
        return {row["topic_id"]: row for row in self._read(layout.MIND_MAPS)}

    @cached_property
    def _questions(self) -> dict[str, Any]:
        known = layout.QUESTIONS in self._files
        return read_json(self._content(layout.QUESTIONS)) if known else {}

    def _read(self, name: str) -> list[dict[str, Any]]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        # Not `read_table`: its threads may keep the buffer until Python ends, and to free it then
        # aborts the process.
        with pq.ParquetFile(pa.BufferReader(self._content(name))) as file:
            return file.read(use_threads=False).to_pylist()  # type: ignore[no-any-return]

    def _content(self, name: str) -> bytes:
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
        return content


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


def choose_topics(
    tasks: TaskSet, topics: Sequence[str] | int | None, candidates: Sequence[str] | None = None
) -> list[str]:
    """Return the ids of the topics to play or score, in order.

    `topics` are any ids of the corpus; or a number, for the first of `candidates`, by default all
    topics; or None, for all candidates; or comparisons with the profile of the topics, such as
    ``"title>=.2, links>.3"``, for the candidates for which all hold. `FrozenTopics` must be of
    these tasks.
    """
    counted = list(tasks.topics if candidates is None else candidates)
    if topics is None:
        return counted
    if isinstance(topics, str) and is_comparison(topics):
        return where(read_comparisons(topics), tasks.profile(), counted)
    if isinstance(topics, str):
        raise DataError(
            f"topics={clip(topics)} is one string; give a list of ids, or comparisons such as "
            "'title>=.2'."
        )
    if isinstance(topics, int):
        if not 1 <= topics <= len(counted):
            which = "" if candidates is None else " that can be scored"
            raise DataError(
                f"topics={topics}: the corpus has "
                f"{count(len(counted), 'topic')}{which}. Give 1 to "
                f"{len(counted)}."
            )
        return counted[:topics]
    if isinstance(topics, FrozenTopics):
        topics.check(tasks.identity)
    chosen = {tasks.topic(topic_id).id for topic_id in topics}
    if not chosen:
        raise DataError("no topic is named. Give ids, a number, or nothing for all.")
    return sorted(chosen)


def with_text(tasks: TaskSet, prompt: str) -> list[str]:
    """Return the ids of the topics that have a prompt; for arguments and errors see `text_of`."""
    asked = [s for s, topic in tasks.topics.items() if text_of(topic, prompt) is not None]
    if not asked:
        raise NoLabelsError(
            f"prompt={clip(prompt)}: no topic of this corpus has such a prompt. Give 'title', or "
            "another one."
        )
    return asked


def play_order(tasks: TaskSet, topics: Iterable[str]) -> list[str]:
    """Return topics in order of their cutoffs, and of their ids where these are equal.

    What an agent's code keeps from one episode to the next is then of the past.
    """
    return sorted(topics, key=lambda topic_id: (tasks.topic(topic_id).date, topic_id))
