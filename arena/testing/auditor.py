"""The audit: every tool of every environment and every method of views, against the files."""

from __future__ import annotations

import calendar
import copy
import datetime as dt
import random
import time
from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import gymnasium

from arena._internal.code import code_sha256
from arena._internal.options import whole
from arena._internal.terminal import progress
from arena.corpus import Corpus
from arena.corpus.indexes import read_index
from arena.corpus.view import search_batch
from arena.doors import DoorEnv, SearchDoor, load_door
from arena.errors import DataError, UnknownPaperError
from arena.runs.episodes import PlayedStep
from arena.session import Sessions
from arena.tasks import TASKS, environment_ids, stages_of
from arena.testing.attacks import Attacker, Target, probes, schemas_of
from arena.testing.audited import END, AuditedEpisode, Kind, Shared, check_hits, compare
from arena.testing.contract import Subject, names_of
from arena.testing.exposure import Exposure, check_attributes
from arena.testing.files import NEVER, Facts
from arena.testing.reference import Bm25, PlainView
from arena.testing.report import AuditReport, Reporter
from arena.testing.walk import info_of, unbatched
from arena.tools import TOOLS, tool_schemas

_MOST = 10**8
_EVERY = 150  # actions between two looks at the attributes
_BY_ID = ("paper", "sections", "references", "citations", "citation_count", "in")
_FINAL = {"final_obs", "final_info"}
_TIGHT = {"max_steps": 25, "max_searches": 5, "max_reads": 5, "max_characters": 30_000}


def audit(
    corpus: str | Path,
    actions: int = 10_000,
    seed: int = 0,
    retrievers: Sequence[str] = ("bm25",),
    environments: Sequence[str] | None = None,
    tools: Sequence[str] = (),
    tasks: str | Path | None = None,
    door: str | None = None,
) -> AuditReport:
    """Attack every tool of every environment over a corpus, and compare each answer with the files.

    A tenth as many views are opened besides, at random cutoffs and without random papers.

    Args:
        corpus: Directory of a built corpus. It is only read; all its papers are held in memory.
        actions: Number of actions to send to environments, from 1 to 100,000,000.
        seed: Seed of all randomness, from 0 to 100,000,000. The same corpus, code and arguments
            give the same report, except for the duration.
        retrievers: Engines to search with; the first is the environments' own.
        environments: Gymnasium ids, ``module:id`` for those of other distributions; by default
            the environments of all registered tasks.
        tools: Further tools that the environments offer, such as ``FILE.py:NAME``.
        tasks: Directory that ``arena-corpus tasks`` wrote: its papers are played in place of the
            corpus' surveys.
        door: Door of `arena.doors` through which every action goes; None for none. A vector
            environment has no door. Through a door without episodes go searches of views alone, a
            quarter as many requests as `actions`, each of two queries at two cutoffs.

    Returns:
        All findings and how much was checked. The audit does not stop at a finding.

    Raises:
        CorpusError: If the corpus cannot be opened.
        UnknownNameError: If an engine, environment, tool or door does not exist.
        DataError: If another argument is out of range, or the door's packages are missing.
    """
    begun = time.perf_counter()
    whole("actions", actions, 1, _MOST)
    whole("seed", seed, 0, _MOST)
    engines = tuple(names_of("retrievers", retrievers))
    ids = environment_ids() if environments is None else names_of("environments", environments)
    if not engines or not ids:
        raise DataError(f"retrievers={engines}, environments={ids}: name at least one of each.")
    further = [TOOLS.resolve(name) for name in names_of("tools", tools)]
    for name in further:
        TOOLS.get(name)
    opens = None if door is None else load_door(door)
    searching = opens if opens is not None and issubclass(opens, SearchDoor) else None
    opened = Corpus.open(corpus, tasks=tasks)
    for name in engines:
        opened.retriever(name)
    facts, log = Facts(opened.directory, tasks), AuditReport()
    audited = [] if searching else kinds(ids, str(opened.directory), facts)
    if opens is not None:
        audited = [kind for kind in audited if not kind.vector]
    for check, file, what in facts.broken_rules():
        log.add(check, file, "", what)
    log.counts["dates derived again"] = len(facts.papers) + len(facts.surveys)
    log.counts["links derived again"] = len(facts.links)
    log.counts["labels derived again"] = sum(len(s.references) for s in facts.surveys.values())
    scorers = _scorers(opened, facts, engines)
    # From late to early, so that what one episode leaves behind is out of the next one's reach.
    surveys = cycle(sorted(facts.surveys, key=lambda s: (facts.surveys[s].day, s), reverse=True))
    views, unproven = max(1, actions // (10 if searching is None else 4)), set[str]()
    with progress(total=actions * bool(audited) + views, desc="audit", unit="action") as bar:
        shared = Shared(facts, engines, scorers, log, Exposure(facts), surveys, bar.update)
        made: dict[str, Any] = {
            "corpus": str(opened.directory),
            **({"tasks": str(tasks)} if tasks else {}),
        }
        made |= {"tools": further} if further else {}
        for number, kind in enumerate(audited):
            share = actions * (number + 1) // len(audited) - actions * number // len(audited)
            rng = random.Random(f"{seed} {kind.name}")
            driver = _Driver(kind, made, shared, rng, opens)
            unproven |= set(driver.target.unproven)
            driver.play(share)
        attacked = _Views(opened, shared, random.Random(f"{seed} views"), searching)
        for _ in range(views):
            attacked.ask()
            bar.update(1)
    for check, tool, what in shared.exposure.over_many_calls():
        log.add(check, "all episodes", tool, what)
    log.counts["surveys"], log.counts["cutoffs"] = len(log.surveys), len(log.cutoffs)
    indexes = {f"index {name}": opened.index_sha256(name) for name in engines}
    code = code_sha256("arena.testing")
    tasks_sha256 = str(opened.task_files[1]["tasks_sha256"])
    log.hashes = {"corpus": opened.sha256, "tasks": tasks_sha256, **indexes, "code": code}
    log.settings = {
        "actions": actions,
        "seed": seed,
        **({} if door is None else {"door": door}),
        "retrievers": list(engines),
        "scores_not_compared": [name for name in engines if name not in scorers],
        "tools_without_oracle": sorted(unproven),
    }
    log.seconds = time.perf_counter() - begun
    return log


def kinds(env_ids: Sequence[str], corpus: str, facts: Facts | None = None) -> list[Kind]:
    """Return the environments to audit: every id alone, with small budgets, and as vectors.

    An environment can show each input that the files of the corpus have digests of.
    """
    alone, tight, vectors = [], [], []
    for env_id in env_ids:
        subject = Subject(env_id, corpus, {"surveys": 1})
        plain = Kind(subject.spec.id, subject.task)
        given, stages = plain.starts_with_references, stages_of(plain.task)
        own = [plain]
        if TASKS.get(plain.task).references:
            own.append(plain._replace(arguments={"references": "found" if given else "oracle"}))
        own += [
            plain._replace(arguments={"show": name})
            for name, digests in (facts.digests.items() if facts else ())
            if digests.complete or given
        ]
        alone += own
        writes = any(stage.answer == "report" for _, stage in stages)
        tight.append(plain._replace(arguments=_TIGHT | ({"max_written": 2_000} if writes else {})))
        if subject.spec.vector_entry_point is not None:
            vectors += [kind._replace(vector=4) for kind in own]
            if len(stages) > 1:
                again = {"autoreset_mode": "SameStep", "max_steps": 25}
                vectors.append(plain._replace(vector=4, arguments=again))
    return [*alone, *tight, *vectors]


class _Driver:
    """Plays one kind of environment; `made` are the arguments that all of this audit share."""

    def __init__(
        self, kind: Kind, made: Mapping[str, Any], shared: Shared, rng: random.Random, door: Any
    ) -> None:
        self._kind, self._shared, self._rng = kind, shared, rng
        self._acted, self._looked = 0, -_EVERY
        texts = (text for survey in shared.facts.surveys.values() for text in survey.headings)
        self._headings = {t for t in texts if len(t) > 12 and t not in shared.facts.by_id}
        arguments = {
            **made,
            "retriever": shared.retrievers[0],
            "retrievers": shared.retrievers[1:],
            "surveys": list(shared.facts.surveys),
            "render_mode": "ansi",
            "max_k": 100,
            **kind.arguments,
        }
        if kind.vector:
            self._env: Any = gymnasium.make_vec(kind.id, kind.vector, **arguments)
        else:
            self._env = gymnasium.make(kind.id, **arguments)
        if door is not None:
            self._env = DoorEnv(door(Sessions(self._env)))
        self._given = copy.deepcopy(tool_schemas(self._env))
        schemas = copy.deepcopy(schemas_of(self._env))
        space = self._env.single_action_space if kind.vector else self._env.action_space
        accepts = Target().accepts if door is None else self._env.accepts
        odd = [probe.action for probe in probes(schemas) if not probe.allowed]
        malformed = [action for action in odd if accepts(action)]
        self.target = Target(dict(space.tools), schemas, malformed, accepts)

    def play(self, actions: int) -> None:
        """Act `actions` times, in one episode after the other."""
        while self._acted < actions and self._play_on(actions):
            pass
        self._shared.advance(max(0, actions - self._acted))
        self._env.close()

    def _play_on(self, actions: int) -> bool:
        """Play until `actions` are done or something raises; return whether to go on."""
        begun, episodes = self._acted, list[AuditedEpisode]()
        try:
            while self._acted < actions:
                if not episodes or (episodes[0].over and not self._kind.vector):
                    episodes = self._reset()
                acting = sum(not episode.over for episode in episodes)
                self._acted += acting
                self._shared.advance(acting)
                episodes = (self._step_vector if self._kind.vector else self._step)(episodes)
                if self._acted - self._looked >= _EVERY:
                    self._look(episodes[0])
            self._look(episodes[0])
        except Exception as error:
            for episode in episodes or [self._episode(next(self._shared.surveys))]:
                episode.crash(error)
        return self._acted > begun

    def _reset(self) -> list[AuditedEpisode]:
        """Begin an episode of the next survey, or one in every environment of a vector."""
        seed = self._rng.randrange(2**31)
        if not self._kind.vector:
            survey = {"survey": next(self._shared.surveys)}
            return [self._started(*self._env.reset(seed=seed, options=survey))]
        observations, infos = self._env.reset(seed=seed)
        places = range(self._kind.vector)
        return [self._started(*_place_of(observations, infos, i)) for i in places]

    def _step(self, episodes: list[AuditedEpisode]) -> list[AuditedEpisode]:
        (episode,) = episodes
        action = episode.act()
        step = PlayedStep(action, *self._env.step(action))
        episode.take(step)
        if self._acted % 10 == 0:
            episode.check_render(self._env.render(), step.observation)
        return episodes

    def _step_vector(self, episodes: list[AuditedEpisode]) -> list[AuditedEpisode]:
        """Step in all environments of a vector, which reset themselves."""
        sent = [episode.act() for episode in episodes]
        observations, rewards, terminations, truncations, infos = self._env.step(sent)
        # The keys of the infos, also those that a mask hides.
        allowed = END | _FINAL if self._kind.same_step else END
        if more := {name.removeprefix("_") for name in infos} - allowed:
            episodes[0].reporter("step()")("info", f"infos has the keys {sorted(more)}")
        after = []
        for i, episode in enumerate(episodes):
            over = bool(terminations[i]), bool(truncations[i])
            anew = any(over) and self._kind.same_step
            shown = _place_of(observations, infos, i)
            if episode.over:  # the action was ignored, and a new episode began
                anew = True
            else:
                ends = (infos["final_obs"][i], info_of(infos["final_info"], i)) if anew else shown
                episode.take(PlayedStep(sent[i], ends[0], float(rewards[i]), *over, ends[1]))
            after.append(self._started(*shown) if anew else episode)
        return after

    def _started(self, observation: Mapping[str, Any], info: Mapping[str, Any]) -> AuditedEpisode:
        surveys = self._shared.facts.surveys
        episode = self._episode(info["survey"] if info.get("survey") in surveys else min(surveys))
        episode.begin(observation, info)
        return episode

    def _episode(self, survey_id: str) -> AuditedEpisode:
        """Begin an episode with fresh schemas, which the agent then edits."""
        episode = AuditedEpisode(self._kind, self.target, survey_id, self._shared, self._rng)
        schemas = tool_schemas(self._env)
        if schemas != self._given:
            what = "the tool schemas show what an agent wrote into those of an earlier episode"
            episode.reporter("tool_schemas()")("isolation", what)
        _edit(schemas)
        return episode

    def _look(self, episode: AuditedEpisode) -> None:
        self._looked = self._acted
        report = episode.reporter("public attributes")
        count = check_attributes(self._env, self._shared.facts, self._headings, report)
        self._shared.log.counts["attributes looked at"] += count


def _place_of(
    observations: Mapping[str, Any], infos: Mapping[str, Any], place: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return observation and info of one environment of a vector, without those of an end."""
    info = {name: value for name, value in info_of(infos, place).items() if name not in _FINAL}
    return unbatched(observations, place), info


def _edit(value: Any) -> None:
    """Write into every dict of a value of JSON."""
    for item in list(value.values() if isinstance(value, dict) else value):
        if isinstance(item, dict | list):
            _edit(item)
    if isinstance(value, dict):
        value["x-edited"] = "by an agent"


def _scorers(corpus: Corpus, facts: Facts, names: tuple[str, ...]) -> dict[str, Bm25]:
    """Return a second BM25 for each index that is one."""
    single = [name for name in names if "(" not in name]  # no combination
    manifests = {n: read_index(corpus.directory, n, corpus.sha256) for n in single}
    return {
        name: Bm25(facts, tuple(manifest["fields"]))
        for name, manifest in manifests.items()
        if manifest["engine"] == "bm25"
    }


class _Views:
    """Asks views of a corpus for papers, and compares the answers with those of the reference.

    With a door there are searches alone, and they go through it.
    """

    def __init__(
        self, corpus: Corpus, shared: Shared, rng: random.Random, door: type[SearchDoor] | None
    ) -> None:
        self._doors = {name: door(corpus, name) for name in shared.retrievers} if door else {}
        self._corpus, self._shared, self._rng = corpus, shared, rng
        self._facts, self._log = shared.facts, shared.log
        dated = self._facts.days[self._facts.days < NEVER]
        self._days = dated if len(dated) else [dt.date(2000, 1, 1).toordinal()]

    def ask(self) -> None:
        """Open a view at a random cutoff and call all its methods, one search with another view."""
        rng, engine = self._rng, self._rng.choice(self._shared.retrievers)
        (plain, cutoff), (other, later) = self._reference(engine), self._reference(engine)
        where = f"Corpus.at({cutoff!r}, exclude={sorted(plain.excluded)!r}, retriever={engine!r})"
        self._log.cutoffs.add(plain.cutoff)
        attacker = Attacker(plain, rng)
        try:
            if self._doors:
                texts = [attacker.text(), attacker.text()]
                for each, written in ((plain, cutoff), (other, later)):
                    self._search(self._doors[engine], each, str(written), texts, where)
                return
            view, second = (
                self._corpus.at(written, exclude=list(each.excluded), retriever=engine)
                for written, each in ((cutoff, plain), (later, other))
            )
            expected = {"len": len(plain), "cutoff": plain.cutoff}
            report = self._reporter(where, "len()")
            compare({"len": len(view), "cutoff": view.cutoff}, expected, report)
            query, k = attacker.text(), rng.choice((1, 10, 100))
            one = view.search(query, k)
            both = search_batch([(view, query, k), (second, query, k)])
            for name, each, hits in (
                (f"search({query!r:.200}, {k})", plain, one),
                (f"search_batch({query!r:.200}, {k}) with one at {later!r}", plain, both[0]),
                (f"search_batch({query!r:.200}, {k}) after one at {cutoff!r}", other, both[1]),
            ):
                found, report = [hit._asdict() for hit in hits], self._reporter(where, name)
                check_hits((each, query, k, 0), found, self._shared, report)
            for _ in range(3):
                name, paper_id = rng.choice(_BY_ID), attacker.paper_id()
                wanted, got = (_asked(each, name, paper_id) for each in (plain, view))
                compare(got, wanted, self._reporter(where, f"{name}({paper_id!r})"))
                if paper_id in plain:
                    self._log.counts["papers returned"] += 1
                    self._log.counts["texts compared"] += name in ("paper", "sections")
                else:
                    self._log.counts["ids refused"] += 1
                    self._log.refused[plain.why_not(paper_id)[0]] += 1
        except Exception as error:
            self._log.add("crash", where, "", f"{type(error).__name__}: {error}")

    def _search(
        self, door: SearchDoor, view: PlainView, before: str, queries: list[str], where: str
    ) -> None:
        """Search through a door, and check what its client reads."""
        k = self._rng.choice((1, 10, 100))
        found = door.search(before, sorted(view.excluded), queries, k)
        for query, hits in zip(queries, found, strict=True):
            report, rows = self._reporter(where, f"door({query!r:.200}, {k}) at {before}"), []
            for paper_id, text, score in hits:
                row = view.row(paper_id)
                rows.append({"id": paper_id, "title": "", "date": "", "score": score})
                if row is not None:
                    rows[-1] |= {"title": row.title, "date": row.date}
                    compare({"text": text}, {"text": f'"{row.title}"\n{row.abstract}'}, report)
            check_hits((view, query, k, 0), rows, self._shared, report)

    def _reference(self, engine: str) -> tuple[PlainView, Any]:
        """Return what exists before a random day, and one way to write the day."""
        rng, papers = self._rng, self._facts.papers
        near = rng.choice((0, 0, 1, 1, -1, 400, rng.randint(-500, 500)))
        day = int(rng.choice(self._days)) + near
        date = dt.date.fromordinal(max(dt.date(1000, 1, 1).toordinal(), day))
        written: Any = rng.choice((date, date.isoformat(), date.isoformat()))
        if rng.random() < 0.15:
            date, written = dt.date(date.year, 12, 31), str(date.year)
        elif rng.random() < 0.15:
            last = calendar.monthrange(date.year, date.month)[1]
            date, written = date.replace(day=last), date.isoformat()[:7]
        before = papers[: int((self._facts.days < date.toordinal()).sum())] or papers
        ids = [rng.choice(pool).id for pool in (before, before, before, papers) if pool]
        named = [*ids, "nowhere", *self._facts.surveys][:6]
        excluded = rng.sample(named, min(len(named), rng.choice((0, 1, 2, 3))))
        return PlainView(self._facts, date.isoformat(), excluded, engine), written

    def _reporter(self, where: str, action: str) -> Reporter:
        self._log.doors[action.partition("(")[0]] += 1
        return lambda check, what: self._log.add(check, where, action, what)


def _asked(view: Any, name: str, paper_id: str) -> dict[str, Any]:
    """Return the answer of a method of a view, or the error of a refusal."""
    if name == "in":
        return {name: True} if paper_id in view else {"error": f"no paper {paper_id!r} here"}
    try:
        return {name: getattr(view, name)(paper_id)}
    except UnknownPaperError as error:
        return {"error": str(error)}
