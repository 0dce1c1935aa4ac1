"""One leak each: functions that break one thing in the core, or in the files of a corpus."""

from __future__ import annotations

import datetime as dt
import json
from collections import deque
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from arena.answers.ranking import ideal_ranking
from arena.corpus.view import CorpusView, Hit, ListedView
from arena.envs import ResearchEnv, ResearchVectorEnv, StartingPapers, vector
from arena.envs._episode import ScoredEpisode
from arena.envs._factory import EpisodeFactory
from arena.errors import ArenaError, UnknownPaperError
from arena.retrieval.bm25 import BM25Retriever
from arena.tasks import TaskSet
from arena.tasks.base import RESEARCH
from arena.testing.report import AuditReport
from arena.testing.stored import StoredCorpus
from arena.tools import TOOLS, Tool, tool_schemas
from arena.tools.episode import Episode

Leak = Callable[[Any], None]
"""A function of pytest's `monkeypatch`."""

INJECTED: list[tuple[Leak, set[str]]] = []
OF_DRAFTS: list[tuple[Leak, set[str]]] = []


def found_as(*checks: str, among: list[tuple[Leak, set[str]]] = INJECTED) -> Callable[[Leak], Leak]:
    """Add a leak to those that the audit must find by `checks`."""

    def add(leak: Leak) -> Leak:
        among.append((leak, set(checks)))
        return leak

    return add


def replaces(owner: Any, name: str) -> Callable[[Callable[..., Any]], Leak]:
    """Put a function in the place of a method, which it receives first."""

    def decorate(change: Callable[..., Any]) -> Leak:
        @wraps(change)
        def leak(monkeypatch: Any) -> None:
            real = getattr(owner, name)

            def changed(self: Any, *given: Any, **options: Any) -> Any:
                return change(real, self, *given, **options)

            monkeypatch.setattr(owner, name, changed)

        return leak

    return decorate


def adds(owner: Any, name: str) -> Callable[[Callable[..., Any]], Leak]:
    """Add a function to a class as a property."""

    def decorate(value: Callable[..., Any]) -> Leak:
        @wraps(value)
        def leak(monkeypatch: Any) -> None:
            monkeypatch.setattr(owner, name, property(value), raising=False)

        return leak

    return decorate


def in_results(change: Callable[[ScoredEpisode, dict[str, Any]], Any]) -> Leak:
    """Let an environment answer with something more, which it may know from the labels."""

    @replaces(ScoredEpisode, "finish_step")
    @wraps(change)
    def leak(real: Any, self: ScoredEpisode, hits: Any = None) -> Any:
        outcome = real(self, hits)
        result = json.loads(self.result)
        change(self, result)
        self.result = json.dumps(result)
        return outcome._replace(observation=outcome.observation | {"result": self.result})

    return leak


def in_hits(change: Callable[[list[Hit]], list[Hit]]) -> Leak:
    """Change what is found, in views and in environments of both forms."""

    @in_results
    def answer(play: ScoredEpisode, result: dict[str, Any]) -> None:
        if "hits" in result:
            hits = change([Hit(**hit) for hit in result["hits"]])
            result["hits"] = [hit._asdict() for hit in hits]

    @replaces(CorpusView, "search")
    def search(real: Any, self: CorpusView, query: str, k: int = 10) -> Any:
        return change(real(self, query, k))

    @wraps(change)
    def leak(monkeypatch: Any) -> None:
        answer(monkeypatch)
        search(monkeypatch)

    return leak


def in_infos(change: Callable[[ScoredEpisode, dict[str, Any]], Any]) -> Leak:
    """Change the info of a step."""

    @replaces(ScoredEpisode, "finish_step")
    @wraps(change)
    def leak(real: Any, self: ScoredEpisode, hits: Any = None) -> Any:
        outcome = real(self, hits)
        change(self, outcome.info)
        return outcome

    return leak


def on_vectors(shown: Callable[[list[str]], Any]) -> Leak:
    """Give vectors a public attribute that is made of the ids of gold papers."""

    @adds(ResearchVectorEnv, "shown")
    @wraps(shown)
    def leak(self: Any) -> Any:
        return [shown(list(env._episode._gains)) for env in self.envs]

    return leak


# In the core.


@found_as("leak.paper", "answer.score")
@replaces(CorpusView, "__init__")
def one_day_more(real, self, store, day, *rest):
    real(self, store, day + 1, *rest)


@found_as("leak.paper")
def surveys_are_papers(monkeypatch):
    monkeypatch.setattr("arena.corpus.store.CorpusStore.is_searchable", lambda self, document: True)


@found_as("leak.paper", "answer.count", "answer.score")
@replaces(CorpusView, "__init__")
def nothing_is_excluded(real, self, store, day, exclude, *rest):
    real(self, store, day, (), *rest)


@found_as("answer.count")
@replaces(CorpusView, "citation_count")
def later_papers_count(real, self, paper_id):
    return len(self._store.linked(self._document(paper_id), citing=True))


@found_as("answer.count")
@replaces(CorpusView, "__len__")
def len_counts_all(real, self):
    return int(self._store.searchable_before[-1])


@found_as("answer.list")
@replaces(CorpusView, "_linked")
def links_to_later_papers(real, self, paper_id, *, citing):
    linked = self._store.linked(self._document(paper_id), citing=citing)
    return [self._store.ids[d] for d in linked.tolist()]


@found_as("answer.list")
@replaces(CorpusView, "_linked")
def references_are_shuffled(real, self, paper_id, *, citing):
    return real(self, paper_id, citing=citing)[::-1]


@found_as("answer.list")
@replaces(StartingPapers, "papers")
def given_best_first(real, self, tasks, view, topic_id):
    """The references that an episode begins with, the influential ones first."""
    return [p for p in ideal_ranking(tasks.gold(topic_id).gains) if p in view]


@replaces(TaskSet, "expert_papers")
def one_paper_too_many(real, self, topic_id):
    """The experts' papers, and one that nobody filed."""
    known = set(real(self, topic_id))
    return [*known, next(i for i in self._store.ids if i not in known)]


@replaces(ListedView, "_visible")
def a_list_without_end(real, self, paper_id):
    return self._store.document(paper_id)


@found_as("answer.text")
@replaces(CorpusView, "paper")
def a_survey_is_read(real, self, paper_id):
    """The text of the topic comes back as that of a paper."""
    return real(self, paper_id)._replace(abstract="We topic haze clamping.")


@replaces(CorpusView, "sections")
def longer_sections(real, self, paper_id):
    return [section._replace(text=section.text + "!") for section in real(self, paper_id)]


@found_as("answer.text", "answer.count")
def a_page_too_many(monkeypatch):
    monkeypatch.setattr("arena.tools.read.PAGE", 8_001)
    longer_sections(monkeypatch)


@found_as("leak.survey-title", "answer.text", "answer.list")
@replaces(CorpusView, "sections")
def a_heading_is_the_survey(real, self, paper_id):
    title = "HAZE  clamping in Stéep rims — a survey"
    return [section._replace(heading=title) for section in real(self, paper_id)]


@found_as("leak.date")
@in_hits
def another_date(hits):
    return [hit._replace(date="1999-12-31") for hit in hits]


@found_as("answer.title")
@in_hits
def another_title(hits):
    return [hit._replace(title=hit.title.upper()) for hit in hits]


@found_as("answer.order")
@in_hits
def the_worst_first(hits):
    return hits[::-1]


@found_as("answer.order", "answer.score")
@in_hits
def twice(hits):
    return [hit for hit in hits[:1] for _ in range(2)]


@found_as("answer.score")
@in_hits
def the_best_is_kept_back(hits):
    return hits[1:]


@found_as("answer.score")
def statistics_of_the_future(monkeypatch):
    def opened(cls: Any, directory: Path, real: Any = BM25Retriever.open.__func__) -> Any:
        return real(cls, directory, statistics="corpus")

    monkeypatch.setattr(BM25Retriever, "open", classmethod(opened))


@found_as("answer.score")
@replaces(BM25Retriever, "search_batch")
def a_batch_takes_the_first_cutoff(real, self, requests):
    """Searches that are made together, as those of vectors are, share the earliest scope."""
    scope = min(request.scope for request in requests)
    return real(self, [request._replace(scope=scope) for request in requests])


@replaces(ScoredEpisode, "start_step")
def noting_offsets(real, self, action):
    self.has_offset = "offset" in str(action)
    return real(self, action)


@in_results
def without_the_first_of_a_page(play, result):
    if play.has_offset and result.get("hits"):
        del result["hits"][0]


@found_as("answer.page", "answer.score")
def offset_by_one(monkeypatch):
    noting_offsets(monkeypatch)
    without_the_first_of_a_page(monkeypatch)


@replaces(ScoredEpisode, "start_step")
def noting_queries(real, self, action):
    self.has_queries = '"queries"' in json.dumps(action, default=str).replace("'", '"')
    return real(self, action)


@in_results
def without_the_first_of_several(play, result):
    if play.has_queries and result.get("hits"):
        del result["hits"][0]


@in_results
def without_the_first_of_a_list(play, result):
    for each in result.get("lists", ()):
        del each["hits"][:1]


@found_as("answer.fusion")
def fused_hits_lose_the_first(monkeypatch):
    noting_queries(monkeypatch)
    without_the_first_of_several(monkeypatch)


@found_as("answer.page", "answer.score")
def lists_lose_the_first(monkeypatch):
    without_the_first_of_a_list(monkeypatch)


@found_as("answer.result")
@in_results
def hits_tell_gold(play, result):
    for hit in result.get("hits", ()):
        hit["gain"] = play._gains.get(hit["id"], 0)


@found_as("answer.order")
@in_results
def gold_comes_first(play, result):
    result.get("hits", []).sort(key=lambda hit: -play._gains.get(hit["id"], 0))


@found_as("answer.score")
@in_results
def only_gold_is_found(play, result):
    if hits := [hit for hit in result.get("hits", ()) if hit["id"] in play._gains]:
        result["hits"] = hits


@found_as("answer.count")
@in_results
def submitting_tells_how_many_are_right(play, result):
    if "selected" in result:
        result["selected"] = len(play._gains.keys() & play._state.selected)


@found_as("leak.refusal")
@in_results
def a_refusal_tells_a_date(play, result):
    if "error" in result:
        result["hint"] = "2030-01-01"


@found_as("leak.refusal")
@in_results
def a_refusal_tells_a_label(play, result):
    if "error" in result and play._gains:
        result["error"] += f" Did you mean {max(play._gains)!r}?"


@found_as("leak.refusal")
@in_results
def a_malformed_call_is_taken(play, result):
    result.pop("error", None)


@found_as("answer.instruction")
@replaces(ScoredEpisode, "__init__")
def an_instruction_tells_the_number(real, self, *given, **options):
    real(self, *given, **options)
    result = json.loads(self.result)
    result["message"] += f" There are {len(self._gains)}."
    self.result = json.dumps(result)


@replaces(ScoredEpisode, "observation")
def gains_in_observations(real, self):
    return real(self) | {"gains": list(self._gains.values())}


@found_as("answer.observation")
def observations_hold_gains(monkeypatch):
    gains_in_observations(monkeypatch)
    batched = vector._batched

    def with_gains(space: Any, parts: Any) -> Any:
        gains = [part["gains"] for part in parts if isinstance(part, dict) and "gains" in part]
        whole = batched(space, parts)
        return whole | {"gains": tuple(gains)} if gains else whole

    monkeypatch.setattr(vector, "_batched", with_gains)


@found_as("answer.observation")
@replaces(ScoredEpisode, "observation")
def the_topic_is_the_id(real, self):
    return real(self) | {"topic": self.topic.id}


@found_as("leak.decoy")
@replaces(CorpusView, "_document")
def a_known_id_is_told_apart(real, self, paper_id):
    try:
        return real(self, paper_id)
    except UnknownPaperError as error:
        if self._store.document(paper_id) is None:
            raise
        raise UnknownPaperError(str(error).replace("here", "yet")) from None


@found_as("leak.decoy")
@replaces(Episode, "papers")
def a_list_tells_apart(real, self, paper_ids):
    """Only selecting, submitting and mind-maps do it."""
    try:
        return real(self, paper_ids)
    except ArenaError as error:
        if all(self.view._store.document(paper_id) is None for paper_id in paper_ids[-1:]):
            raise
        raise type(error)(f"{error} Later perhaps.") from None


def mentions_a_paper(play: ScoredEpisode, action: Any) -> bool:
    store = play._state.view._store
    return any(store.ids[document] in str(action) for document in range(len(store.days)))


@found_as("leak.decoy")
@replaces(ScoredEpisode, "start_step")
def a_known_id_costs_a_read(real, self, action):
    found = real(self, action)
    if "error" in self._shown and mentions_a_paper(self, action):
        self._state.budget["reads"] -= 1
    return found


@found_as("leak.info", among=OF_DRAFTS)
@found_as("leak.info")
@in_infos
def info_holds_the_labels(play, info):
    info.update(gold_ids=sorted(play._gains))


@found_as("leak.info")
@in_infos
def metrics_before_the_end(play, info):
    info.setdefault("metrics", {"recall": 0.5})


@found_as("leak.info")
@in_infos
def answers_hold_the_labels(play, info):
    for answer in info.get("answers", {}).values():
        if isinstance(answer, list):
            answer += play._gains
        elif isinstance(answer, dict):
            answer["papers"] += play._gains


@found_as("leak.info")
@replaces(ResearchEnv, "reset")
def reset_tells_the_labels(real, self, **given):
    observation, info = real(self, **given)
    return observation, info | {"gold": len(self._episode._gains)}


@found_as("contract.no-gold")
@adds(ResearchEnv, "tasks")
def an_environment_shows_its_tasks(self):
    return self._factory.tasks


@found_as("contract.no-gold")
@on_vectors
def a_vector_shows_its_gold(ids):
    return {"seen": ids}


@found_as("contract.no-gold")
def a_corpus_leads_to_the_tasks(monkeypatch):
    corpus = property(lambda self: self._factory.corpus)
    monkeypatch.setattr(ResearchEnv, "corpus", corpus, raising=False)
    tasks = property(lambda self: TaskSet(self.directory))
    monkeypatch.setattr("arena.corpus.Corpus.tasks", tasks, raising=False)


@found_as("contract.no-gold")
@on_vectors
def an_array_shows_gold(ids):
    return np.array(ids)


@found_as("contract.no-gold")
@on_vectors
def a_deque_shows_gold(ids):
    return deque(ids)


def nested(value: Any, depth: int) -> Any:
    for _ in range(depth):
        value = [value]
    return value


@found_as("contract.no-gold")
@on_vectors
def depth_hides_gold(ids):
    return nested(ids, 30)


@found_as("contract.no-gold")
@on_vectors
def gold_lies_too_deep_to_look(ids):
    return nested(ids, 200)


@found_as("contract.no-gold")
@replaces(ResearchEnv, "reset")
def a_mapping_has_an_attribute(real, self, **given):
    """The space of observations is a mapping, and has attributes, too."""
    found = real(self, **given)
    self.observation_space.hint = list(self._episode._gains)
    return found


def headings(tasks: TaskSet, topic: str) -> list[str]:
    return [node.label for node in tasks.mind_map(topic).nodes()]


@found_as("contract.no-gold")
@replaces(EpisodeFactory, "__init__")
def a_space_knows_the_headings(real, self, *given, **options):
    real(self, *given, **options)
    self.action_space.headings = [headings(self.tasks, topic) for topic in self.tasks.topics]


LABELS: dict[str, list[str]] = {}


def outline(episode: Episode) -> dict[str, Any]:
    """Show the outline of the topic."""
    return {"outline": LABELS[episode.view.cutoff]}


@replaces(EpisodeFactory, "__init__")
def learning_the_headings(real, self, *given, **options):
    real(self, *given, **options)
    for topic, task in self.tasks.topics.items():
        LABELS[task.date] = headings(self.tasks, topic)


@found_as("contract.no-gold")
def an_added_tool_tells_the_headings(monkeypatch):
    TOOLS.names()
    monkeypatch.setattr(TOOLS, "_items", dict(TOOLS._items))
    TOOLS.register("outline")(Tool.from_function(outline))
    monkeypatch.setattr("arena.tasks.base.RESEARCH", (*RESEARCH, "outline"))
    learning_the_headings(monkeypatch)


@found_as("contract.isolation")
def schemas_are_shared(monkeypatch):
    """Schemas keep what an agent wrote into them, and the next episode shows it."""
    known: dict[str, Any] = {}
    monkeypatch.setattr(
        "arena.tools.tool_schemas",
        lambda env, real=tool_schemas: known.setdefault(env.spec.id, real(env)),
    )


@found_as("contract.no-gold")
@replaces(ScoredEpisode, "render")
def rendering_shows_gold(real, self):
    return f"{real(self)} {' '.join(self._gains)}"


@found_as("answer.crash")
@replaces(CorpusView, "citations")
def a_tool_fails(real, self, paper_id):
    raise ZeroDivisionError("an engine of someone else")


@found_as("answer.crash")
@replaces(BM25Retriever, "search_batch")
def an_engine_leaves_its_scope(real, self, requests):
    scopes = [request.scope._replace(end=request.scope.end + 1) for request in requests]
    return real(self, [r._replace(scope=s) for r, s in zip(requests, scopes, strict=True)])


@found_as("answer.missing")
@replaces(CorpusView, "_visible")
def every_third_paper_is_lost(real, self, paper_id):
    document = real(self, paper_id)
    return None if document is not None and document % 3 == 0 else document


@found_as("answer.count", "leak.decoy", among=OF_DRAFTS)
@replaces(Episode, "cite")
def a_draft_tells_later_papers(real, self, paper_ids):
    store = getattr(self.view, "_store", None)
    later = store and [i for i in paper_ids if store.document(i) is not None]
    counts = real(self, paper_ids)
    return counts | ({"unknown": len(paper_ids) - len(later)} if later else {})


@found_as("leak.decoy", among=OF_DRAFTS)
@replaces(ScoredEpisode, "start_step")
def a_later_paper_is_cheaper_to_cite(real, self, action):
    found = real(self, action)
    if "'write'" in str(action) and mentions_a_paper(self, action):
        self._state.budget["written"] += 1
    return found


# In the files.


def rewritten(
    corpus: Path, name: str, change: Callable[[list[dict[str, Any]]], Any]
) -> AuditReport:
    """Change the rows of one file of a corpus; return what the audit of the files says."""
    schema = pq.read_schema(corpus / name)
    rows = pq.read_table(corpus / name).to_pylist()
    change(rows)
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), corpus / name)
    log = AuditReport()
    for check, file, what in StoredCorpus(corpus).broken_rules():
        log.add(check, file, "", what)
    return log


def a_month_of_fifteen_days(rows):
    row = next(row for row in rows if row["date_precision"] == "month")
    row["date"] = row["date"].replace(day=15)


def a_year_of_six_months(rows):
    row = next(row for row in rows if row["date_precision"] == "year")
    row["date"] = dt.date(row["date"].year, 6, 30)


def an_odd_precision(rows):
    rows[2]["date_precision"] = "decade"


def out_of_order(rows):
    rows[2], rows[3] = rows[3], rows[2]


def unflagged(rows):
    row = next(row for row in rows if row["id"] == "p:twin")  # topic by the title of sv:2
    row["is_survey"], row["searchable"] = False, True


def unflagged_with_markup(rows):
    unflagged(rows)
    row = next(row for row in rows if row["id"] == "p:twin")
    row["title"] = r"<i>Sparse</i> mod&amp;eacute;ls\textit{: a} <span x=y>review</span>"


def with_text(rows):
    next(row for row in rows if row["is_survey"])["abstract"] = "Zirconium."


def undated_and_searchable(rows):
    next(row for row in rows if row["date"] is None)["searchable"] = True


def survey_of_a_half_month(rows):
    row = next(row for row in rows if row["date_precision"] == "year")
    row["date"] = row["date"].replace(day=15)


def cites_a_survey(rows):
    rows[0]["cited"] = 1


def repeated(rows):
    rows.append(dict(rows[0]))


def text_of_nothing(rows):
    rows[0]["document"] = 400


def too_late_and_gold(rows):
    next(row for row in rows if row["status"] == "not_before")["status"] = "gold"


def another_document(rows):
    next(row for row in rows if row["status"] == "gold")["document"] += 1


FILES = [
    ("papers.parquet", a_month_of_fifteen_days, "files.dates"),
    ("papers.parquet", a_year_of_six_months, "files.dates"),
    ("papers.parquet", an_odd_precision, "files.dates"),
    ("tasks/topics.parquet", survey_of_a_half_month, "files.dates"),
    ("papers.parquet", out_of_order, "files.order"),
    ("papers.parquet", unflagged, "files.surveys"),
    ("papers.parquet", unflagged_with_markup, "files.surveys"),
    ("papers.parquet", with_text, "files.surveys"),
    ("papers.parquet", undated_and_searchable, "files.surveys"),
    ("references.parquet", cites_a_survey, "files.links"),
    ("references.parquet", repeated, "files.links"),
    ("sections.parquet", text_of_nothing, "files.links"),
    ("tasks/gold.parquet", too_late_and_gold, "files.gold"),
    ("tasks/gold.parquet", another_document, "files.gold"),
]
