"""Let a language model score texts on a rubric, and compare mind-maps of a run with the experts'.

A rubric says what is scored, on which scale, by which prompt, and how the answer is read. An answer
that cannot be read counts as missing.
"""

from __future__ import annotations

import inspect
import re
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from arena.answers import AnswerKind
from arena.corpus import Corpus
from arena.errors import DataError
from arena.kit.code import code_sha256
from arena.kit.files import read_sealed, sealed, sha256_json, write_json
from arena.kit.lazy import load
from arena.llm import Client, Failure, Fields, ModelSession, ParseError, Question, Template, as_json
from arena.llm.prompts import read_template
from arena.metrics import ScoreContext
from arena.plugins import Registry, mirror
from arena.runs.directory import OpenedRun
from arena.runs.trajectories import TRAJECTORIES, answers_of
from arena.tasks import TaskSet
from arena.text.display import shown

if TYPE_CHECKING:
    from arena.mindmap import MindMap

MAP, REPORT = "map", "report"
"""Kinds of the metrics that score mind-maps, and reports by themselves."""


@dataclass(frozen=True)
class Rubric:
    r"""Dimensions, a scale and a prompt.

    Args:
        name: Name in results.
        title: One line for lists.
        dimensions: Names of what is scored, in lower case.
        fields: Names of the texts that are judged; each is a field ``$name`` of the prompt.
        prompt: Template, see `arena.llm.Template`. It asks for a JSON object with a ``score`` and a
            ``reason`` for each dimension.
        scale: Lowest and highest score, whole numbers.
        empty_is_lowest: Whether an item without anything to judge earns the lowest scores; else it
            has none.

    Example:
        >>> prompt = "Does <a>$passage</a> support <b>$statement</b>? {\"support\": {\"score\": ..."
        >>> rubric = Rubric("r", "Title.", ("support",), ("passage", "statement"), prompt, (0, 1))
        >>> rubric.read('{"Support": {"reason": "It says so.", "score": "1"}}')
        {'support': (1, 'It says so.')}
    """

    name: str
    title: str
    dimensions: tuple[str, ...]
    fields: tuple[str, ...]
    prompt: str
    scale: tuple[int, int] = (1, 5)
    empty_is_lowest: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "__doc__", self.title)  # Registry.describe reads it

    def template(self, file: str | Path | None = None) -> Template:
        """Return the template of the prompt, or that of a user's file."""
        fields = Fields(self.fields)
        if file is not None:
            return read_template(file, fields)
        return Template(self.prompt, fields, f"the prompt of {self.name!r}")

    def read(self, text: str) -> dict[str, tuple[int, str]]:
        """Return dimension -> score and reason, which may be empty, in a model's answer.

        Names of dimensions may differ in case, blanks and hyphens, all may lie in one outer object,
        and a score may be a text ("4", "4/5", "4 (good)") with or without a reason.
        """
        found = _plain_keys(as_json(text))
        if len(found) == 1 and not found.keys() & set(map(_plain, self.dimensions)):
            found = _plain_keys(next(iter(found.values())))
        return {name: self._score(name, found.get(_plain(name))) for name in self.dimensions}

    def _score(self, name: str, value: Any) -> tuple[int, str]:
        reason, low, high = "", *self.scale
        if isinstance(value, dict):
            parts = _plain_keys(value)
            value = next((parts.pop(key) for key in ("score", "rating") if key in parts), None)
            reason = " ".join(
                " ".join(part for part in parts.values() if type(part) is str).split()
            )
        if isinstance(value, str):
            pattern = rf"\s*(-?\d{{1,9}})(\.0+)?\s*((/|out of)\s*{high})?\D*"
            match = re.fullmatch(pattern, value[:200])
            value = int(match[1]) if match else value
        if type(value) not in (int, float) or value != int(value) or not low <= value <= high:
            raise ParseError(f"{name} has no score that is a whole number from {low} to {high}.")
        return int(value), reason


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "_", name.strip().lower())


def _plain_keys(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ParseError("It is not a JSON object with the dimensions as its keys.")
    return {_plain(str(key)): part for key, part in value.items()}


RUBRICS: Registry[Rubric] = Registry("rubric", base=Rubric)


def rubric(
    name: str,
    *,
    dimensions: tuple[str, ...],
    fields: tuple[str, ...],
    scale: tuple[int, int] = (1, 5),
    empty_is_lowest: bool = True,
) -> Callable[[Callable[[], str]], Rubric]:
    """Return a decorator that makes a registered `Rubric` of a function that returns its prompt.

    The first line of the function's docstring is the title.
    """

    def register(prompt: Callable[[], str]) -> Rubric:
        title = (inspect.getdoc(prompt) or "").partition("\n")[0]
        made = Rubric(name, title, dimensions, fields, prompt(), scale, empty_is_lowest)
        mirror(made, prompt)
        return RUBRICS.register(name)(made)

    return register


@dataclass(frozen=True)
class Judgements:
    """Scores by a judge.

    Attributes:
        rubric: Name of the rubric.
        dimensions: Their names, in the rubric's order.
        scale: Lowest and highest score.
        mean: Mean score of each dimension and their ``average``, over the items that have scores;
            None without any.
        counts: ``items``; of these ``judged`` by the model, ``empty`` (nothing to judge, no
            request; lowest scores or none, as the rubric says) and ``missing`` (no readable
            answer, no scores).
        items: Id -> ``scores`` and ``reasons`` by dimension; or ``empty``, with or without
            ``scores``; or ``failed``, why the judgement is missing.
        judge: Fields of every request, the model's name among them; ``prompt_sha256``; ``total`` of
            calls, tokens and dollars.
        sha256: Hashes of the corpus, the task set and the run that were judged, and of the code.
            A file also has ``content``, the hash of all the rest.
    """

    rubric: str
    dimensions: Sequence[str]
    scale: tuple[int, int]
    mean: Mapping[str, float | None]
    counts: Mapping[str, int]
    items: Mapping[str, dict[str, Any]]
    judge: Mapping[str, Any] = field(default_factory=dict)
    sha256: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return plain dicts and lists under the names of the attributes."""
        return sealed(asdict(self))

    def interval(self, dimension: str) -> tuple[float, float] | None:
        """Return Wilson's interval (1927, 95 %) of the share of items with the score 1, of 0 or 1.

        None for another dimension, such as ``average``, and without a score.
        """
        rows = [row["scores"] for row in self.items.values() if "scores" in row]
        if dimension not in self.dimensions or not rows:
            return None
        found = sum(scores[dimension] for scores in rows)
        return wilson(found, len(rows))


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """Return Wilson's interval (1927) of a share at 95 %."""
    test = load("scipy.stats", "an interval of shares").binomtest(successes, trials)
    low, high = test.proportion_ci(method="wilson")
    return float(low), float(high)


def read_judgements(path: str | Path) -> Judgements:
    """Return the judgements in a JSON file of `Judgements.to_json`."""
    try:
        return Judgements(**read_sealed(Path(path)))
    except TypeError:
        raise DataError(f"{str(path)!r} contains verdicts of another kind.") from None


def judge(
    rubric: Rubric | str,
    items: Mapping[str, Mapping[str, str] | None],
    client: Client,
    prompt: str | Path | None = None,
) -> Judgements:
    """Let a model score items on a rubric.

    A readable answer has a whole score in range for every dimension. After any other answer the
    model is asked once more; if that fails too, or the server refuses the request, the item counts
    as missing. Answers are kept in the store of `client`, so the same call continues after a break.

    Args:
        rubric: A rubric, or the name of a registered one.
        items: Id -> text of each field of the rubric; None where there is nothing to judge, which
            earns the lowest score.
        client: The model; its temperature is 0 by default.
        prompt: File with a template that replaces the rubric's.
    """
    rubric = RUBRICS.find(rubric) if isinstance(rubric, str) else rubric
    template, session = rubric.template(prompt), ModelSession(client)
    asked = {name: values for name, values in items.items() if values is not None}
    found = Question(template, rubric.read).ask(session, asked.values())
    answers = dict(zip(asked, found, strict=True))
    rows: dict[str, dict[str, Any]] = {}
    for name in items:
        answer = answers.get(name)
        if answer is None:
            lowest = {"scores": dict.fromkeys(rubric.dimensions, rubric.scale[0])}
            rows[name] = (lowest if rubric.empty_is_lowest else {}) | {"empty": True}
        elif isinstance(answer, Failure):
            rows[name] = {"failed": answer.reason}
        else:
            scores, reasons = ({d: pair[i] for d, pair in answer.items()} for i in (0, 1))
            rows[name] = {"scores": scores, "reasons": reasons}
    scored = [row["scores"] for row in rows.values() if "scores" in row]
    columns = {name: [scores[name] for scores in scored] for name in rubric.dimensions}
    columns["average"] = [score for scores in scored for score in scores.values()]
    judged = sum("reasons" in row for row in rows.values())
    counts = {"items": len(rows), "judged": judged, "empty": len(rows) - len(asked)}
    counts["missing"] = len(asked) - judged
    made_by = client.fields | {"prompt_sha256": sha256_json(template.text)}
    made_by["total"] = session.meter.totals()
    mean = {name: statistics.fmean(column) if column else None for name, column in columns.items()}
    return Judgements(rubric.name, rubric.dimensions, rubric.scale, mean, counts, rows, made_by)


class FinishedRun(NamedTuple):
    """The run as a judge reads it: the answer to each topic, or None; its kind; and hashes."""

    corpus: Corpus
    tasks: TaskSet
    answers: dict[str, Any]
    answer: AnswerKind
    sha256: dict[str, str]

    def maps(self, topic_id: str) -> tuple[MindMap, MindMap | None]:
        """Return the mind-map of an answer, empty for none, and the survey's own."""
        context = ScoreContext(tasks=self.tasks, topic_id=topic_id)
        made, gold = self.answer.compare(self.answers[topic_id], MAP, context)
        return made, gold


def open_finished(run: str | Path, corpus: Corpus | str | Path, kind: str) -> FinishedRun:
    """Open a run, played on `corpus`, for a judge of what metrics of a kind score, as a report."""
    recorded = OpenedRun(run)
    stage = next((each for each in recorded.task.stages if kind in each.answer.scored), None)
    if stage is None:
        raise DataError(
            f"{str(run)!r} is a run of the task {recorded.task.name!r}, which submits no {kind}."
        )
    opened, tasks = recorded.open_corpus(corpus)
    files = recorded.finished_files()
    recorded.refuse_changed(TRAJECTORIES)
    episodes = recorded.episodes()
    found = {each["topic_id"]: answers_of(each, recorded.task) for each in episodes}
    answers = {topic_id: found[topic_id].get(stage.name) for topic_id in sorted(found)}
    hashes = {
        "corpus": opened.sha256,
        "tasks": tasks.sha256,
        TRAJECTORIES: files[TRAJECTORIES],
        "code": code_sha256("arena_suites.judging"),
    }
    return FinishedRun(opened, tasks, answers, stage.answer, hashes)


def judge_pairs(
    rubric: Rubric | str,
    pairs: Mapping[str, tuple[MindMap, MindMap | None]],
    client: Client,
    prompt: str | Path | None = None,
) -> Judgements:
    """Let a model compare mind-maps with those of experts; it reads headings, and no papers.

    `rubric` has the fields ``expert`` and ``generated``. `pairs` maps an id to the expert's map and
    the one to judge; None and a map without headings earn the lowest score. The rest is as in
    `judge`.
    """
    from arena.mindmap import MindMap

    items: dict[str, dict[str, str] | None] = {}
    for name, (expert, generated) in pairs.items():
        trees = {"expert": expert, "generated": generated or MindMap("")}
        texts = {side: _as_text(tree) for side, tree in trees.items()}
        items[name] = texts if trees["generated"].size else None
    return judge(rubric, items, client, prompt)


def _as_text(tree: MindMap) -> str:
    """Return the headings of a map as they are, without the marks that Markdown would need."""
    nodes = islice(tree.levels(), 1, None)
    lines = [f"{'  ' * (level - 1)}- {shown(node.label)}\n" for level, node in nodes]
    return "".join([f"{shown(tree.label)}\n" * bool(tree.label), *lines])


def rubric_of_maps() -> Rubric:
    """Return the first rubric of this project that compares a mind-map with the experts'."""
    rubrics = map(RUBRICS.get, RUBRICS.own_names())
    return next(each for each in rubrics if {*each.fields} == {"expert", "generated"})


def record_maps(
    rubric: Rubric,
    run: str | Path,
    corpus: Corpus | str | Path,
    options: Mapping[str, Any],
    option: str,
) -> Judgements:
    """Judge the maps of a finished run by a rubric and write the scores into its folder.

    `options` are those of the judge's `Client`; a command line calls them `option`.
    """
    found = judge_run(rubric, run, corpus, Client.from_options(options, option))
    write_json(verdicts_file(run, rubric.name), found.to_json())
    return found


def verdicts_file(run: str | Path, name: str) -> Path:
    """Return a file in a folder that the hashes of the run do not cover; make the folder."""
    path = Path(run, "judgements", f"{name}.json")
    path.parent.mkdir(exist_ok=True)
    return path


def judge_run(
    rubric: Rubric | str,
    run: str | Path,
    corpus: Corpus | str | Path,
    client: Client,
    prompt: str | Path | None = None,
) -> Judgements:
    """Let a model compare the mind-maps of a finished run with the topics'; see `judge_pairs`.

    Topics without a mind-map of their own are left out.
    """
    played = open_finished(run, corpus, MAP)
    maps = {topic_id: played.maps(topic_id) for topic_id in played.answers}
    pairs = {topic: (gold, made) for topic, (made, gold) in maps.items() if gold is not None}
    if not pairs:
        raise DataError(f"no topic of {str(run)!r} has a mind-map of its own to compare with.")
    return replace(judge_pairs(rubric, pairs, client, prompt), sha256=played.sha256)
