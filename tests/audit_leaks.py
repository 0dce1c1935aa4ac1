"""One leak each: functions that break one thing in the core, or in the files of a corpus."""

from __future__ import annotations

import datetime as dt
import json
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from arena.corpus.view import CorpusView, Hit
from arena.envs import SurveyEnv, SurveyVectorEnv, vector
from arena.envs._episode import ScoredEpisode
from arena.envs._factory import EpisodeFactory
from arena.errors import ArenaError, UnknownPaperError
from arena.retrieval.bm25 import BM25Retriever
from arena.tasks import TaskSet
from arena.testing.report import AuditReport
from arena.testing.stored import StoredCorpus
from arena.tools import tool_schemas
from arena.tools.episode import Episode

# In the core.


def one_day_more(monkeypatch):
    real = CorpusView.__init__
    monkeypatch.setattr(
        CorpusView,
        "__init__",
        lambda self, store, day, *rest: real(self, store, day + 1, *rest),
    )


def surveys_are_papers(monkeypatch):
    monkeypatch.setattr("arena.corpus.store.CorpusStore.is_searchable", lambda self, document: True)


def nothing_is_excluded(monkeypatch):
    real = CorpusView.__init__
    monkeypatch.setattr(
        CorpusView,
        "__init__",
        lambda self, store, day, exclude, *rest: real(self, store, day, (), *rest),
    )


def later_papers_count(monkeypatch):
    def citation_count(self: CorpusView, paper_id: str) -> int:
        return len(self._store.linked(self._document(paper_id), citing=True))

    monkeypatch.setattr(CorpusView, "citation_count", citation_count)


def len_counts_all(monkeypatch):
    monkeypatch.setattr(CorpusView, "__len__", lambda self: int(self._store.searchable_before[-1]))


def links_to_later_papers(monkeypatch):
    def linked(self: CorpusView, paper_id: str, *, citing: bool) -> list[str]:
        linked = self._store.linked(self._document(paper_id), citing=citing)
        return [self._store.ids[d] for d in linked.tolist()]

    monkeypatch.setattr(CorpusView, "_linked", linked)


def references_are_shuffled(monkeypatch):
    real = CorpusView._linked
    monkeypatch.setattr(CorpusView, "_linked", lambda self, *a, **k: real(self, *a, **k)[::-1])


def given_best_first(monkeypatch):
    """The references that an episode begins with, the influential ones first."""
    from arena.answers.ranking import ideal_ranking
    from arena.envs import StartingPapers

    def papers(self: Any, tasks: TaskSet, view: CorpusView, survey_id: str) -> list[str]:
        return [p for p in ideal_ranking(tasks.gold(survey_id).gains) if p in view]

    monkeypatch.setattr(StartingPapers, "papers", papers)


def a_survey_is_read(monkeypatch):
    """The text of the survey comes back as that of a paper."""
    real = CorpusView.paper
    text = "We survey haze clamping."
    monkeypatch.setattr(CorpusView, "paper", lambda self, i: real(self, i)._replace(abstract=text))


def a_page_too_many(monkeypatch):
    monkeypatch.setattr("arena.tools.read.PAGE", 8_001)
    real = CorpusView.sections

    def sections(self: CorpusView, paper_id: str) -> list[Any]:
        return [s._replace(text=s.text + "!") for s in real(self, paper_id)]

    monkeypatch.setattr(CorpusView, "sections", sections)


def a_heading_is_the_survey(monkeypatch, title: str = "HAZE  clamping in Stéep rims — a survey"):
    real = CorpusView.sections

    def sections(self: CorpusView, paper_id: str) -> list[Any]:
        return [s._replace(heading=title) for s in real(self, paper_id)]

    monkeypatch.setattr(CorpusView, "sections", sections)


def change_result(monkeypatch, change: Callable[[ScoredEpisode, dict[str, Any]], Any]) -> None:
    """Let an environment answer with something more, which it may know from the labels."""
    real = ScoredEpisode.complete

    def complete(self: ScoredEpisode, hits: Any = None) -> Any:
        outcome = real(self, hits)
        result = json.loads(self.result)
        change(self, result)
        self.result = json.dumps(result)
        return outcome._replace(observation=outcome.observation | {"result": self.result})

    monkeypatch.setattr(ScoredEpisode, "complete", complete)


def change_hits(monkeypatch, change: Callable[[list[Hit]], list[Hit]]) -> None:
    """Change what is found, in views and in environments of both forms."""

    def answer(play: ScoredEpisode, result: dict[str, Any]) -> None:
        if "hits" in result:
            hits = change([Hit(**hit) for hit in result["hits"]])
            result["hits"] = [hit._asdict() for hit in hits]

    def search(self: CorpusView, query: str, k: int = 10, real: Any = CorpusView.search) -> Any:
        return change(real(self, query, k))

    change_result(monkeypatch, answer)
    monkeypatch.setattr(CorpusView, "search", search)


def another_date(monkeypatch):
    change_hits(monkeypatch, lambda hits: [hit._replace(date="1999-12-31") for hit in hits])


def another_title(monkeypatch):
    change_hits(monkeypatch, lambda hits: [hit._replace(title=hit.title.upper()) for hit in hits])


def the_worst_first(monkeypatch):
    change_hits(monkeypatch, lambda hits: hits[::-1])


def twice(monkeypatch):
    change_hits(monkeypatch, lambda hits: [hit for hit in hits[:1] for _ in range(2)])


def the_best_is_kept_back(monkeypatch):
    change_hits(monkeypatch, lambda hits: hits[1:])


def statistics_of_the_future(monkeypatch):
    def opened(cls: Any, directory: Path, real: Any = BM25Retriever.open.__func__) -> Any:
        return real(cls, directory, statistics="corpus")

    monkeypatch.setattr(BM25Retriever, "open", classmethod(opened))


def a_batch_takes_the_first_cutoff(monkeypatch):
    """Searches that are made together, as those of vectors are, share the earliest scope."""

    def batch(self: Any, requests: Any, real: Any = BM25Retriever.search_batch) -> Any:
        scope = min(request.scope for request in requests)
        return real(self, [request._replace(scope=scope) for request in requests])

    monkeypatch.setattr(BM25Retriever, "search_batch", batch)


def offset_by_one(monkeypatch):
    def begin(self: ScoredEpisode, action: Any, real: Any = ScoredEpisode.begin) -> Any:
        self.has_offset = "offset" in str(action)  # type: ignore[attr-defined]
        return real(self, action)

    def change(play: ScoredEpisode, result: dict[str, Any]) -> None:
        if play.has_offset and result.get("hits"):  # type: ignore[attr-defined]
            del result["hits"][0]

    monkeypatch.setattr(ScoredEpisode, "begin", begin)
    change_result(monkeypatch, change)


def hits_tell_gold(monkeypatch):
    def change(play: ScoredEpisode, result: dict[str, Any]) -> None:
        for hit in result.get("hits", ()):
            hit["gain"] = play._gains.get(hit["id"], 0)

    change_result(monkeypatch, change)


def gold_comes_first(monkeypatch):
    def change(play: ScoredEpisode, result: dict[str, Any]) -> None:
        result.get("hits", []).sort(key=lambda hit: -play._gains.get(hit["id"], 0))

    change_result(monkeypatch, change)


def only_gold_is_found(monkeypatch):
    def change(play: ScoredEpisode, result: dict[str, Any]) -> None:
        if hits := [hit for hit in result.get("hits", ()) if hit["id"] in play._gains]:
            result["hits"] = hits

    change_result(monkeypatch, change)


def submitting_tells_how_many_are_right(monkeypatch):
    def change(play: ScoredEpisode, result: dict[str, Any]) -> None:
        if "selected" in result:
            result["selected"] = len(play._gains.keys() & play._state.selected)

    change_result(monkeypatch, change)


def a_refusal_tells_a_date(monkeypatch):
    def change(play: ScoredEpisode, result: dict[str, Any]) -> None:
        if "error" in result:
            result["hint"] = "2030-01-01"

    change_result(monkeypatch, change)


def a_refusal_tells_a_label(monkeypatch):
    def change(play: ScoredEpisode, result: dict[str, Any]) -> None:
        if "error" in result and play._gains:
            result["error"] += f" Did you mean {max(play._gains)!r}?"

    change_result(monkeypatch, change)


def an_instruction_tells_the_number(monkeypatch):
    real: Any = ScoredEpisode.__init__

    def begin(self: ScoredEpisode, *args: Any, **options: Any) -> None:
        real(self, *args, **options)
        result = json.loads(self.result)
        result["message"] += f" There are {len(self._gains)}."
        self.result = json.dumps(result)

    monkeypatch.setattr(ScoredEpisode, "__init__", begin)


def observations_hold_gains(monkeypatch):
    real = ScoredEpisode.observation
    monkeypatch.setattr(
        ScoredEpisode,
        "observation",
        lambda self: real(self) | {"gains": list(self._gains.values())},
    )
    batched = vector._batched

    def with_gains(space: Any, parts: Any) -> Any:
        gains = [part["gains"] for part in parts if isinstance(part, dict) and "gains" in part]
        whole = batched(space, parts)
        return whole | {"gains": tuple(gains)} if gains else whole

    monkeypatch.setattr(vector, "_batched", with_gains)


def the_topic_is_the_id(monkeypatch):
    real = ScoredEpisode.observation
    monkeypatch.setattr(
        ScoredEpisode, "observation", lambda self: real(self) | {"topic": self.survey.id}
    )


def a_known_id_is_told_apart(monkeypatch):
    real = CorpusView._document

    def document(self: CorpusView, paper_id: str) -> int:
        try:
            return real(self, paper_id)
        except UnknownPaperError as error:
            if self._store.document(paper_id) is None:
                raise
            raise UnknownPaperError(str(error).replace("here", "yet")) from None

    monkeypatch.setattr(CorpusView, "_document", document)


def a_list_tells_apart(monkeypatch):
    """Only selecting, submitting and mind-maps do it."""
    real = Episode.papers

    def papers(self: Episode, paper_ids: list[str]) -> list[str]:
        try:
            return real(self, paper_ids)
        except ArenaError as error:
            if all(self.view._store.document(paper_id) is None for paper_id in paper_ids[-1:]):
                raise
            raise type(error)(f"{error} Later perhaps.") from None

    monkeypatch.setattr(Episode, "papers", papers)


def a_draft_tells_later_papers(monkeypatch):
    real = Episode.cite

    def cite(self: Episode, paper_ids: list[str]) -> dict[str, int]:
        store = getattr(self.view, "_store", None)
        later = store and [i for i in paper_ids if store.document(i) is not None]
        counts = real(self, paper_ids)
        return counts | ({"unknown": len(paper_ids) - len(later)} if later else {})

    monkeypatch.setattr(Episode, "cite", cite)


def a_later_paper_is_cheaper_to_cite(monkeypatch):
    real = ScoredEpisode.begin

    def begin(self: ScoredEpisode, action: Any) -> Any:
        found = real(self, action)
        text, store = str(action), self._state.view._store
        if "'write'" in text and any(store.ids[d] in text for d in range(len(store.days))):
            self._state.budget["written"] += 1
        return found

    monkeypatch.setattr(ScoredEpisode, "begin", begin)


def a_known_id_costs_a_read(monkeypatch):
    real = ScoredEpisode.begin

    def begin(self: ScoredEpisode, action: Any) -> Any:
        found = real(self, action)
        text, store = str(action), self._state.view._store
        if "error" in self._shown and any(store.ids[d] in text for d in range(len(store.days))):
            self._state.budget["reads"] -= 1
        return found

    monkeypatch.setattr(ScoredEpisode, "begin", begin)


def change_info(monkeypatch, change: Callable[[ScoredEpisode, dict[str, Any]], Any]) -> None:
    real = ScoredEpisode.complete

    def complete(self: ScoredEpisode, hits: Any = None) -> Any:
        outcome = real(self, hits)
        change(self, outcome.info)
        return outcome

    monkeypatch.setattr(ScoredEpisode, "complete", complete)


def info_holds_the_labels(monkeypatch):
    change_info(monkeypatch, lambda play, info: info.update(gold_ids=sorted(play._gains)))


def metrics_before_the_end(monkeypatch):
    change_info(monkeypatch, lambda play, info: info.setdefault("metrics", {"recall": 0.5}))


def answers_hold_the_labels(monkeypatch):
    def change(play: ScoredEpisode, info: dict[str, Any]) -> None:
        for answer in info.get("answers", {}).values():
            if isinstance(answer, list):
                answer += play._gains
            elif isinstance(answer, dict):
                answer["papers"] += play._gains

    change_info(monkeypatch, change)


def reset_tells_the_labels(monkeypatch):
    def reset(self: Any, real: Any = SurveyEnv.reset, **given: Any) -> Any:
        observation, info = real(self, **given)
        return observation, info | {"gold": len(self._episode._gains)}

    monkeypatch.setattr(SurveyEnv, "reset", reset)


def an_environment_shows_its_tasks(monkeypatch):
    monkeypatch.setattr(
        SurveyEnv, "tasks", property(lambda self: self._factory.tasks), raising=False
    )


def a_vector_shows_its_gold(monkeypatch):
    monkeypatch.setattr(
        SurveyVectorEnv,
        "state",
        property(lambda self: [{"seen": list(env._episode._gains)} for env in self.envs]),
        raising=False,
    )


def a_vector_shows(monkeypatch, shown: Callable[[list[str]], Any]) -> None:
    """Give vectors a public attribute that is made of the ids of gold papers."""
    monkeypatch.setattr(
        SurveyVectorEnv,
        "shown",
        property(lambda self: [shown(list(env._episode._gains)) for env in self.envs]),
        raising=False,
    )


def a_corpus_leads_to_the_tasks(monkeypatch):
    corpus = property(lambda self: self._factory.corpus)
    monkeypatch.setattr(SurveyEnv, "corpus", corpus, raising=False)
    tasks = property(lambda self: TaskSet(self.directory))
    monkeypatch.setattr("arena.corpus.Corpus.tasks", tasks, raising=False)


def an_array_shows_gold(monkeypatch):
    a_vector_shows(monkeypatch, np.array)


def a_deque_shows_gold(monkeypatch):
    a_vector_shows(monkeypatch, deque)


def depth_hides_gold(monkeypatch, depth: int = 30):
    def nested(ids: list[str]) -> Any:
        for _ in range(depth):
            ids = [ids]  # type: ignore[list-item]
        return ids

    a_vector_shows(monkeypatch, nested)


def gold_lies_too_deep_to_look(monkeypatch):
    depth_hides_gold(monkeypatch, 200)


def a_mapping_has_an_attribute(monkeypatch):
    """The space of observations is a mapping, and has attributes besides."""
    real = SurveyEnv.reset

    def reset(self: Any, **given: Any) -> Any:
        found = real(self, **given)
        self.observation_space.hint = list(self._episode._gains)
        return found

    monkeypatch.setattr(SurveyEnv, "reset", reset)


def a_space_knows_the_headings(monkeypatch):
    real = EpisodeFactory.__init__

    def init(self: EpisodeFactory, *given: Any, **options: Any) -> None:
        real(self, *given, **options)
        for survey in self.tasks.surveys:
            self.action_space.headings = [
                node.label for node in self.tasks.mind_map(survey).nodes()
            ]  # type: ignore[attr-defined]

    monkeypatch.setattr(EpisodeFactory, "__init__", init)


def rendering_shows_gold(monkeypatch):
    real = ScoredEpisode.render
    monkeypatch.setattr(
        ScoredEpisode, "render", lambda self: f"{real(self)} {' '.join(self._gains)}"
    )


def a_tool_fails(monkeypatch):
    def citations(self: CorpusView, paper_id: str) -> list[str]:
        raise ZeroDivisionError("an engine of someone else")

    monkeypatch.setattr(CorpusView, "citations", citations)


def an_engine_leaves_its_scope(monkeypatch):
    def batch(self: Any, requests: Any, real: Any = BM25Retriever.search_batch) -> Any:
        scopes = [request.scope._replace(end=request.scope.end + 1) for request in requests]
        changed = [r._replace(scope=scope) for r, scope in zip(requests, scopes, strict=True)]
        return real(self, changed)

    monkeypatch.setattr(BM25Retriever, "search_batch", batch)


def every_third_paper_is_lost(monkeypatch):
    real = CorpusView._visible

    def visible(self: CorpusView, paper_id: str) -> int | None:
        document = real(self, paper_id)
        return None if document is not None and document % 3 == 0 else document

    monkeypatch.setattr(CorpusView, "_visible", visible)


def a_malformed_call_is_taken(monkeypatch):
    change_result(monkeypatch, lambda play, result: result.pop("error", None))


def an_added_tool_tells_the_headings(monkeypatch):
    from arena.tools import TOOLS, Tool

    def outline(episode: Episode) -> dict[str, Any]:
        """Show the outline of the survey."""
        return {"outline": labels[episode.view.cutoff]}

    real, labels = EpisodeFactory.__init__, {}

    def init(self: EpisodeFactory, *given: Any, **options: Any) -> None:
        real(self, *given, **options)
        for survey, task in self.tasks.surveys.items():
            labels[task.date] = [node.label for node in self.tasks.mind_map(survey).nodes()]

    TOOLS.names()
    monkeypatch.setattr(TOOLS, "_items", dict(TOOLS._items))
    tasks = ("discovery", "selection", "organization")
    TOOLS.register("outline")(Tool.of(outline, tasks=tasks))
    monkeypatch.setattr(EpisodeFactory, "__init__", init)


def schemas_are_shared(monkeypatch, real: Any = tool_schemas):
    """What an agent writes into its schemas shows in the next episode."""
    known: dict[str, Any] = {}
    monkeypatch.setattr(
        "arena.tools.tool_schemas", lambda env: known.setdefault(env.spec.id, real(env))
    )


INJECTED: list[tuple[Callable[..., Any], set[str]]] = [
    (one_day_more, {"leak.paper", "answer.score"}),
    (surveys_are_papers, {"leak.paper"}),
    (nothing_is_excluded, {"leak.paper", "answer.count", "answer.score"}),
    (later_papers_count, {"answer.count"}),
    (len_counts_all, {"answer.count"}),
    (links_to_later_papers, {"answer.list"}),
    (references_are_shuffled, {"answer.list"}),
    (given_best_first, {"answer.list"}),
    (a_survey_is_read, {"answer.text"}),
    (a_page_too_many, {"answer.text", "answer.count"}),
    (a_heading_is_the_survey, {"leak.survey-title", "answer.text", "answer.list"}),
    (another_date, {"leak.date"}),
    (another_title, {"answer.title"}),
    (the_worst_first, {"answer.order"}),
    (twice, {"answer.order", "answer.score"}),
    (the_best_is_kept_back, {"answer.score"}),
    (statistics_of_the_future, {"answer.score"}),
    (a_batch_takes_the_first_cutoff, {"answer.score"}),
    (offset_by_one, {"answer.page", "answer.score"}),
    (hits_tell_gold, {"answer.result"}),
    (gold_comes_first, {"answer.order"}),
    (only_gold_is_found, {"answer.score"}),
    (submitting_tells_how_many_are_right, {"answer.count"}),
    (a_refusal_tells_a_date, {"leak.refusal"}),
    (a_refusal_tells_a_label, {"leak.refusal"}),
    (a_malformed_call_is_taken, {"leak.refusal"}),
    (an_instruction_tells_the_number, {"answer.instruction"}),
    (observations_hold_gains, {"answer.observation"}),
    (the_topic_is_the_id, {"answer.observation"}),
    (a_known_id_is_told_apart, {"leak.decoy"}),
    (a_list_tells_apart, {"leak.decoy"}),
    (a_known_id_costs_a_read, {"leak.decoy"}),
    (info_holds_the_labels, {"leak.info"}),
    (metrics_before_the_end, {"leak.info"}),
    (answers_hold_the_labels, {"leak.info"}),
    (reset_tells_the_labels, {"leak.info"}),
    (an_environment_shows_its_tasks, {"contract.no-gold"}),
    (a_vector_shows_its_gold, {"contract.no-gold"}),
    (a_corpus_leads_to_the_tasks, {"contract.no-gold"}),
    (an_array_shows_gold, {"contract.no-gold"}),
    (a_deque_shows_gold, {"contract.no-gold"}),
    (depth_hides_gold, {"contract.no-gold"}),
    (gold_lies_too_deep_to_look, {"contract.no-gold"}),
    (a_mapping_has_an_attribute, {"contract.no-gold"}),
    (a_space_knows_the_headings, {"contract.no-gold"}),
    (an_added_tool_tells_the_headings, {"contract.no-gold"}),
    (schemas_are_shared, {"contract.isolation"}),
    (rendering_shows_gold, {"contract.no-gold"}),
    (a_tool_fails, {"answer.crash"}),
    (an_engine_leaves_its_scope, {"answer.crash"}),
    (every_third_paper_is_lost, {"answer.missing"}),
]

OF_DRAFTS: list[tuple[Callable[..., None], set[str]]] = [
    (a_draft_tells_later_papers, {"answer.count", "leak.decoy"}),
    (a_later_paper_is_cheaper_to_cite, {"leak.decoy"}),
    (info_holds_the_labels, {"leak.info"}),
]


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
    row = next(row for row in rows if row["id"] == "p:twin")  # survey by the title of sv:2
    row["is_survey"], row["searchable"] = False, True


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
    ("tasks/surveys.parquet", survey_of_a_half_month, "files.dates"),
    ("papers.parquet", out_of_order, "files.order"),
    ("papers.parquet", unflagged, "files.surveys"),
    ("papers.parquet", with_text, "files.surveys"),
    ("papers.parquet", undated_and_searchable, "files.surveys"),
    ("references.parquet", cites_a_survey, "files.links"),
    ("references.parquet", repeated, "files.links"),
    ("sections.parquet", text_of_nothing, "files.links"),
    ("tasks/gold.parquet", too_late_and_gold, "files.gold"),
    ("tasks/gold.parquet", another_document, "files.gold"),
]
