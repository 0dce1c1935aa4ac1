"""The audit: the contract of every environment, and every tool and view against the files."""

from __future__ import annotations

import datetime as dt
import random
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Annotated, Any

import gymnasium
from annotated_types import Ge, Len

from arena.corpus import Corpus
from arena.corpus.indexes import read_index
from arena.corpus.view import search_batch
from arena.errors import DataError, NoLabelsError, UnknownPaperError
from arena.kit.code import code_sha256
from arena.kit.lazy import require
from arena.kit.options import checked
from arena.kit.terminal import progress
from arena.runs.episodes import PlayedStep
from arena.tasks import EXPERT, TASKS, environment_ids, open_task
from arena.testing.attacks import Attacker
from arena.testing.audited import (
    AuditedEnv,
    AuditedEpisode,
    AuditState,
    Target,
    check_hits,
    compare,
)
from arena.testing.checked import CheckedEnv
from arena.testing.contract import check_contract
from arena.testing.exposure import Exposure
from arena.testing.reference import Bm25, PlainView
from arena.testing.report import AuditReport, Reporter
from arena.testing.stored import NEVER, StoredCorpus
from arena.tools import TOOLS

_BY_ID = ("paper", "sections", "references", "citations", "citation_count", "in")
_TIGHT = {"max_steps": 25, "max_searches": 5, "max_reads": 5, "max_characters": 30_000}
_Names = Annotated[Sequence[str], Len(1)]
_OWN = ("corpus", "tasks", "topics", "retriever", "retrievers", "tools")


@checked
def audit(
    corpus: str | Path,
    actions: Annotated[int, Ge(0)] = 10_000,
    seed: Annotated[int, Ge(0)] = 0,
    retrievers: _Names = ("bm25",),
    environments: _Names | None = None,
    tools: Annotated[Sequence[str], Len(0)] = (),
    tasks: str | Path | None = None,
    options: Mapping[str, Any] | None = None,
) -> AuditReport:
    """Check the contract of environments, attack all their tools, and compare with the files.

    A tenth as many views are opened, too, at random cutoffs and without random papers. The corpus
    is only read; all its papers are kept in memory. The options are those of ``arena audit
    --help``, and the same corpus, code and options give the same report, without its duration.
    """
    begun = time.perf_counter()
    require("the audit", "jsonschema")
    engines = tuple(dict.fromkeys(retrievers))
    ids = environment_ids() if environments is None else list(dict.fromkeys(environments))
    options = dict(options or {})
    if own := sorted(options.keys() & set(_OWN)):
        raise DataError(f"{own[0]} cannot be an option here: the audit itself sets it.")
    state = open_audit(corpus, engines, tasks)
    made: dict[str, Any] = {"corpus": str(state.corpus.directory), "retriever": engines[0]}
    made |= {"tasks": str(tasks)} if tasks else {}
    made |= {"tools": [TOOLS.resolve(name) for name in tools]} if tools else {}
    audited = audited_envs(ids, made | {"topics": 1}, state.stored, options)
    _check_files(state)
    left_out = _check_contracts(ids, made | options, seed, state.log)
    _attack(audited, made, state, actions, seed)
    state.log.settings = {
        "actions": actions,
        "seed": seed,
        "options": options,
        "retrievers": list(engines),
        "scores_not_compared": [name for name in engines if name not in state.scorers],
        "left_out": left_out,
    }
    opened = state.corpus
    state.log.hashes = {"corpus": opened.sha256, "tasks": str(opened.task_files[1]["tasks_sha256"])}
    state.log.hashes |= {f"index {name}": opened.index_sha256(name) for name in engines}
    state.log.hashes["code"] = code_sha256("arena.testing")
    state.log.seconds = time.perf_counter() - begun
    return state.log


def open_audit(
    corpus: str | Path, retrievers: tuple[str, ...], tasks: str | Path | None = None
) -> AuditState:
    """Open a corpus, and read its files a second time."""
    opened = Corpus.open(corpus, tasks=tasks)
    for name in retrievers:
        opened.retriever(name)
    stored = StoredCorpus(opened.directory, tasks)
    # From late to early, so that what one episode leaves behind is out of the next one's reach.
    topics = cycle(sorted(stored.topics, key=lambda s: (stored.topics[s].day, s), reverse=True))
    scorers = {}
    for name in retrievers:
        if "(" not in name:  # else it is a combination
            manifest = read_index(opened.directory, name, opened.sha256)
            if manifest["engine"] == "bm25":
                scorers[name] = Bm25(stored, tuple(manifest["fields"]))
    log, exposure = AuditReport(), Exposure(stored)
    return AuditState(opened, stored, retrievers, scorers, log, exposure, topics)


def _check_files(state: AuditState) -> None:
    stored, log = state.stored, state.log
    for check, file, what in stored.broken_rules():
        log.add(check, file, "", what)
    log.counts["dates derived again"] = len(stored.papers) + len(stored.topics)
    log.counts["links derived again"] = len(stored.links)
    log.counts["labels derived again"] = sum(len(s.references) for s in stored.topics.values())


def _check_contracts(
    env_ids: Sequence[str], arguments: Mapping[str, Any], seed: int, log: AuditReport
) -> dict[str, str]:
    """Check the contract of environments; return those that the corpus cannot score, and why."""
    left_out = {}
    for env_id in env_ids:
        try:
            check_contract(CheckedEnv(env_id, arguments, seed), log)
        except NoLabelsError as error:
            left_out[env_id] = str(error)
    return left_out


def audited_envs(
    env_ids: Sequence[str],
    made: Mapping[str, Any],
    stored: StoredCorpus,
    options: Mapping[str, Any] | None = None,
) -> list[AuditedEnv]:
    """Return the environments to audit: every id alone, with small budgets, and as vectors.

    An environment can show each input that the files of the corpus have digests of.
    """
    alone, tight, vectors = [], [], []
    for env_id in env_ids:
        checked = CheckedEnv(env_id, {**made, **(options or {})})
        plain = AuditedEnv(checked.spec.id, checked.task, dict(options or {}))
        given = plain.references in ("oracle", EXPERT)
        own = [plain]
        if TASKS.get(plain.task).references and "references" not in plain.arguments:
            own.append(plain.but(references="run" if given else "oracle"))
            if not made.get("tools") and any(s.mind_map for s in stored.topics.values()):
                own.append(plain.but(references=EXPERT))
        own += [
            plain.but(paper_text=name)
            for name, digests in stored.digests.items()
            if digests.complete or given
        ]
        if checked.may_pool and "observation" not in plain.arguments:
            own.append(plain.but(observation="pool", max_result_characters=3_000))
        alone += own
        writes = open_task(plain.task).writes
        tight.append(plain.but(**_TIGHT | ({"max_written": 2_000} if writes else {})))
        if checked.spec.vector_entry_point is not None:
            vectors += [each._replace(vector=4) for each in own]
    return [*alone, *tight, *vectors]


def _attack(
    audited: Sequence[AuditedEnv],
    made: Mapping[str, Any],
    state: AuditState,
    actions: int,
    seed: int,
) -> None:
    """Share the actions out among environments, and question a tenth as many views."""
    for number, each in enumerate(progress(audited, desc="attacks", unit="environment")):
        share = actions * (number + 1) // len(audited) - actions * number // len(audited)
        if share:
            attack_environment(each, made, state, random.Random(f"{seed} {each.name}"), share)
    attacked = Views(state, random.Random(f"{seed} views"))
    for _ in progress(range(-(-actions // 10)), desc="views", unit="view"):
        attacked.ask()
    counts = state.log.counts
    counts["topics"], counts["cutoffs"] = len(state.log.topics), len(state.log.cutoffs)


def attack_environment(
    audited: AuditedEnv,
    made: Mapping[str, Any],
    state: AuditState,
    rng: random.Random,
    actions: int,
    behind: Callable[[gymnasium.Env[Any, Any]], Any] = lambda env: env,
) -> None:
    """Act in one environment, in one episode after the other, and check all that comes back.

    All environments of an audit share the arguments `made`. `behind` wraps the environment; what it
    returns may have ``accepts(action)``, which says whether an action can be sent.
    """
    arguments = {
        **made,
        "retrievers": state.retrievers[1:],
        "topics": list(state.stored.topics),
        "max_k": 100,
        **audited.arguments,
    }
    if audited.vector:
        env: Any = gymnasium.make_vec(audited.id, audited.vector, **arguments)
    else:
        env = behind(gymnasium.make(audited.id, **arguments))
    target, acted = Target.make(audited, env, state, rng), 0
    while acted < actions:
        played = _play(target, actions - acted)
        if not played:
            break  # it cannot even begin
        acted += played
    env.close()


def _play(target: Target, actions: int) -> int:
    """Act until `actions` are done or something raises; return how many were done."""
    acted, episodes = 0, list[AuditedEpisode]()
    try:
        while acted < actions:
            if not episodes or (episodes[0].over and not target.audited.vector):
                episodes = _begun(target)
            acted += sum(not episode.over for episode in episodes)
            sent = [episode.act() for episode in episodes]
            for place, values in enumerate(_stepped(target, sent)):
                if episodes[place].over:  # the action was ignored, and a new episode began
                    episodes[place] = _started(target, values[0], values[-1])
                else:
                    episodes[place].take(PlayedStep(sent[place], *values))
    except Exception as error:
        for episode in episodes or [AuditedEpisode(target, next(target.state.topics))]:
            episode.crash(error)
    return acted


def _begun(target: Target) -> list[AuditedEpisode]:
    """Begin an episode of the next topic, or one in every environment of a vector."""
    seed, count = target.rng.randrange(2**31), target.audited.vector
    if not count:
        topic = {"topic_id": next(target.state.topics)}
        return [_started(target, *target.env.reset(seed=seed, options=topic))]
    batches = target.env.reset(seed=seed)
    return [_started(target, *(_at(batch, place) for batch in batches)) for place in range(count)]


def _stepped(target: Target, actions: list[Any]) -> list[Any]:
    """Step; return the five values of the environment, or of each environment of a vector."""
    if not target.audited.vector:
        return [target.env.step(actions[0])]
    batches = target.env.step(actions)
    return [[_at(batch, place) for batch in batches] for place in range(len(actions))]


def _at(batch: Any, place: int) -> Any:
    """Return one environment's part of a batch; Gymnasium masks each key of infos by ``_key``."""
    if not isinstance(batch, Mapping):
        return batch[place]
    return {
        key: _at(value, place)
        for key, value in batch.items()
        if not (key.startswith("_") and key[1:] in batch)
        and (f"_{key}" not in batch or batch[f"_{key}"][place])
    }


def _started(target: Target, observation: Any, info: Any) -> AuditedEpisode:
    topics = target.state.stored.topics
    topic = info["topic_id"] if info.get("topic_id") in topics else min(topics)
    episode = AuditedEpisode(target, topic)
    episode.begin(observation, info)
    return episode


class Views:
    """Asks views of a corpus for papers, and compares the answers with those of the reference."""

    def __init__(self, state: AuditState, rng: random.Random) -> None:
        self._state, self._rng, self._stored = state, rng, state.stored
        dated = self._stored.days[self._stored.days < NEVER]
        self._days = dated if len(dated) else [dt.date(2000, 1, 1).toordinal()]

    def ask(self) -> None:
        """Open a view at a random cutoff and call all its methods, one search with another view."""
        rng, counts = self._rng, self._state.log.counts
        engine = rng.choice(self._state.retrievers)
        (plain, cutoff), (other, later) = self.reference(engine), self.reference(engine)
        where = f"Corpus.at({cutoff!r}, exclude={sorted(plain.excluded)!r}, retriever={engine!r})"
        self._state.log.cutoffs.add(plain.cutoff)
        attacker = Attacker(plain, rng)
        try:
            view, second = (
                self._state.corpus.at(written, exclude=list(each.excluded), retriever=engine)
                for written, each in ((cutoff, plain), (later, other))
            )
            expected = {"len": len(plain), "cutoff": plain.cutoff}
            report = self.reporter(where, "len()")
            compare({"len": len(view), "cutoff": view.cutoff}, expected, report)
            query, k = attacker.text(), rng.choice((1, 10, 100))
            both = search_batch([(view, query, k), (second, query, k)])
            for name, each, hits in (
                (f"search({query!r:.200}, {k})", plain, view.search(query, k)),
                (f"search_batch({query!r:.200}, {k}) with one at {later!r}", plain, both[0]),
                (f"search_batch({query!r:.200}, {k}) after one at {cutoff!r}", other, both[1]),
            ):
                found, report = [hit._asdict() for hit in hits], self.reporter(where, name)
                check_hits((each, (query,), k, 0), found, self._state, report)
            for _ in range(3):
                name, paper_id = rng.choice(_BY_ID), attacker.paper_id()
                wanted, got = (_asked(each, name, paper_id) for each in (plain, view))
                compare(got, wanted, self.reporter(where, f"{name}({paper_id!r})"))
                counts["papers returned" if paper_id in plain else "ids refused"] += 1
        except Exception as error:
            self.reporter(where, "")("answer.crash", f"{type(error).__name__}: {error}")

    def reference(self, engine: str) -> tuple[PlainView, Any]:
        """Return what exists before a random day, and one way to write the day."""
        rng, papers = self._rng, self._stored.papers
        near = rng.choice((0, 0, 1, 1, -1, 400, rng.randint(-500, 500)))
        day = int(rng.choice(self._days)) + near
        date = dt.date.fromordinal(max(dt.date(1000, 1, 1).toordinal(), day))
        written: Any = rng.choice((date, date.isoformat(), date.isoformat()))
        if rng.random() < 0.15:
            date, written = dt.date(date.year, 1, 1), str(date.year)
        elif rng.random() < 0.15:
            date, written = date.replace(day=1), date.isoformat()[:7]
        before = papers[: int((self._stored.days < date.toordinal()).sum())] or papers
        ids = [rng.choice(pool).id for pool in (before, before, before, papers) if pool]
        named = [*ids, "nowhere", *self._stored.topics][:6]
        excluded = rng.sample(named, min(len(named), rng.choice((0, 1, 2, 3))))
        return self._state.plain_view(date.isoformat(), excluded, engine), written

    def reporter(self, where: str, action: str) -> Reporter:
        """Return a function that takes findings of one question."""
        return lambda check, what: self._state.log.add(check, where, action, what)


def _asked(view: Any, name: str, paper_id: str) -> dict[str, Any]:
    """Return the answer of a method of a view, or the error of a refusal."""
    if name == "in":
        return {name: True} if paper_id in view else {"error": f"no paper {paper_id!r} here"}
    try:
        return {name: getattr(view, name)(paper_id)}
    except UnknownPaperError as error:
        return {"error": str(error)}
