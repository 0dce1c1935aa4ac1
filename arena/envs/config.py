"""All settings of an environment in one object, checked once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated, Any, Literal

import gymnasium
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    StrictBool,
    StrictInt,
    ValidationError,
)

from arena.corpus import Corpus
from arena.corpus.digests import TITLE_ABSTRACT
from arena.dates import parse_cutoff
from arena.encoders import ENCODERS
from arena.envs._results import MIN_POOL_CHARACTERS
from arena.errors import DataError, clip, did_you_mean
from arena.kit.files import sha256_json
from arena.kit.options import describe
from arena.metrics import ENCODER
from arena.paper_texts import PAPER_TEXTS
from arena.papers import LARGEST_READ, MAX_LISTED
from arena.plugins import Registry, make
from arena.retrieval import parse_name
from arena.rewards import Reward, make_rewards, plain_name
from arena.samplers import SAMPLERS, Sampler
from arena.tasks import EXPERT, TASKS, Task
from arena.tools import TOOLS

MAX_WRITTEN = 200_000
"""Default of ``max_written`` where a report is due."""

_OF_EXPERT = {
    "max_searches": 0,
    "max_reads": MAX_LISTED,
    "max_steps": MAX_LISTED + 100,
    "max_characters": MAX_LISTED * LARGEST_READ,
}
"""Default budget of ``references="expert"``: it lasts to read every paper."""


def _known(registry: Registry[Any]) -> Callable[[str], str]:
    """Return a validator of names in a registry; it shortens ``FILE.py:NAME`` to ``NAME``."""

    def resolve(name: str) -> str:
        name = registry.resolve(name)
        registry.get(name)
        return name

    return resolve


def _list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


_Engine = Annotated[str, AfterValidator(lambda name: str(parse_name(name)))]
_Tool = Annotated[str, AfterValidator(_known(TOOLS))]


class EnvConfig(BaseModel):
    """The settings of an environment, which are the keyword arguments of `ResearchEnv`.

    An argument that is None has its default.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    task: str = "discovery"
    """Name of the task; with `gymnasium.make` the environment's id says it."""
    retriever: _Engine = "bm25"
    """Engine behind `search`: an index of the corpus, or a combination such as
    hybrid(bm25,dense)."""
    retriever_options: dict[str, Any] = {}
    """Options of that engine, such as {"statistics": "corpus"}."""
    retrievers: Annotated[tuple[_Engine, ...], BeforeValidator(_list)] = ()
    """Further engines that a search may name."""
    reward: Annotated[str, AfterValidator(plain_name)] = ""
    """A reward, a metric, or a sum such as gain+ari; by default the task's. In Python also an
    object, or a list of names and objects that add up; runs, which are replayed, take names."""
    reward_options: dict[str, dict[str, Any]] = {}
    """Name of a reward -> its options, such as {"cost": {"per_search": 0.1}}."""
    encoder: Annotated[str, AfterValidator(_known(ENCODERS))] = ENCODER
    """Encoder by which headings and titles are compared."""
    references: Literal["oracle", "run", "expert"] | None = None
    """Organization: oracle begins an episode with the survey's own references in reach (the
    default), run with those of the run `start_from`, or with none, and expert with all papers that
    the survey's own mind-map files, whatever their dates, and with no other paper to be found."""
    start_from: Any = None
    """Organization: a run (run.trec, or the directory of a run) whose papers an episode begins
    with, or topic ids -> paper ids, best first; implies references=run."""
    paper_text: Annotated[str, AfterValidator(PAPER_TEXTS.resolve)] = TITLE_ABSTRACT
    """The text that `read` shows as the abstract of a paper: an input (`arena list paper_texts`)
    whose digests the corpus has."""
    tools: Annotated[tuple[_Tool, ...], BeforeValidator(_list)] = ()
    """Further tools that an episode offers."""
    prompt: Literal["title", "sentence", "paragraph", "detailed", "any"] | None = None
    """Report: what the topic says, the survey's title in lower case (the default), its prompt of a
    level, or its most detailed one (any). Topics without it are not drawn."""
    observation: Literal["result", "pool"] | None = None
    """The content of `result`: the last result (result, the default), or in place of its lists all
    papers found so far, best first, and the past actions (pool), in `max_result_characters`."""
    empty_gold: StrictBool | None = None
    """Whether topics without gold in reach are drawn, too. An answer without papers is then paid 1,
    any other 0, whatever the reward; tasks whose answers are lists of papers take it."""
    since: Annotated[str, BeforeValidator(lambda day: str(parse_cutoff(day)))] | None = None
    """Day from which on papers are wanted, such as 2020-05-01: what is older is known, and no gold.
    Tasks whose answers are lists of papers take it."""
    sampler: Annotated[str, AfterValidator(_known(SAMPLERS))] | None = None
    """The sampler that draws topics where `reset` names none (default: uniform)."""
    sampler_options: dict[str, Any] | None = None
    """Options of that sampler, such as {"state": "frontier.json"}."""
    max_steps: StrictInt = Field(100, ge=1, le=10**6)
    """Actions after which an episode is truncated."""
    max_searches: StrictInt = Field(50, ge=0, le=10**6)
    """Searches of an episode; one more truncates it."""
    max_reads: StrictInt = Field(100, ge=0, le=10**6)
    """Calls of `read`, `references` and `citations` of an episode; one more truncates it."""
    max_characters: StrictInt = Field(2_000_000, ge=0, le=10**9)
    """Characters of the results that show papers; a result that exceeds them truncates the
    episode."""
    max_result_characters: StrictInt | None = Field(None, ge=200, le=10**9)
    """Characters of one result that shows papers: a longer one is cut at its end, before it is
    paid. With observation=pool at least 2000, by default 8000."""
    max_k: StrictInt = Field(100, ge=1, le=1000)
    """Most hits of one search."""
    max_written: StrictInt | None = Field(None, ge=0, le=10**7)
    """Report: characters that an episode writes (200000 by default); a call that writes more is
    refused."""
    max_refused: StrictInt | None = Field(None, ge=1, le=10**6)
    """Off by default, and in no observation: calls refused in a row that truncate an episode."""

    _reward_objects: dict[str, Reward] = PrivateAttr()

    def __init__(self, **settings: Any) -> None:
        for name in settings:
            if name not in SETTINGS:
                raise DataError(
                    f"an environment takes no argument {clip(name)}.{did_you_mean(name, SETTINGS)}"
                )
        given = {name: value for name, value in settings.items() if value is not None}
        task = given["task"] = _known(TASKS)(given.get("task", "discovery"))
        resolved = TASKS.get(task)()
        reward = given.get("reward", resolved.reward)
        parts = reward if isinstance(reward, list | tuple) else [reward]
        objects = {type(part).__name__: part for part in parts if isinstance(part, Reward)}
        if all(isinstance(part, str | Reward) for part in parts):
            names = [part if isinstance(part, str) else type(part).__name__ for part in parts]
            given["reward"] = "+".join(names)
        else:
            raise DataError(
                f"reward={clip(reward)}: give names such as 'gain+cost', an object of a Reward "
                "(not its class), or a list of these."
            )
        if not resolved.references:
            _refuse(given, resolved, "its episodes start without papers", "references", "run")
        elif "start_from" in given:
            given.setdefault("references", "run")
        if resolved.references and given.get("observation") == "pool":
            _refuse(given, resolved, "its episodes start with papers", "observation")
        if given.get("references") == EXPERT:
            if given.get("tools"):
                _refuse(given, resolved, "references='expert' offers no other tools", "tools")
            given = _OF_EXPERT | given
        if not all(kind.has_order for kind in resolved.kinds):
            _refuse(given, resolved, "it asks for more than papers", "empty_gold", "since")
        if resolved.writes:
            given.setdefault("max_written", MAX_WRITTEN)
        else:
            _refuse(given, resolved, "it asks for no report", "prompt", "max_written")
        try:
            super().__init__(**given)
        except ValidationError as error:
            raise _refusal(error) from None
        if (
            self.observation == "pool"
            and (self.max_result_characters or MIN_POOL_CHARACTERS) < MIN_POOL_CHARACTERS
        ):
            most = self.max_result_characters
            raise DataError(
                f"max_result_characters={most}: a pool needs at least {MIN_POOL_CHARACTERS}."
            )
        self._reward_objects = objects
        if any(each.reads_results for each in self.rewards) and self.observation == "pool":
            raise DataError(
                f"reward={self.reward!r} reads lists of papers, which observation='pool' does not "
                "show. Give another reward, or observation='result'."
            )

    @classmethod
    def from_settings(cls, task: EnvConfig | str, settings: Mapping[str, Any]) -> EnvConfig:
        """Return the settings of a task, or of a configuration, with `settings` in their place."""
        if not isinstance(task, EnvConfig):
            return cls(**{"task": task, **settings})
        if not settings:
            return task
        return cls(**{**task._given, **settings})

    def make(
        self,
        corpus: Corpus | str | Path | Sequence[Corpus | str | Path],
        topics: Sequence[str] | int | None = None,
        **arguments: Any,
    ) -> gymnasium.Env[Any, Any]:
        """Return the environment that plays `topics` of a corpus or several, see `ResearchEnv`."""
        kind = self.resolved_task.environment_id
        return gymnasium.make(kind, corpus=corpus, topics=topics, task=self, **arguments)

    @cached_property
    def resolved_task(self) -> Task:
        """The task, with the objects that its names stand for."""
        return TASKS.get(self.task)()

    @cached_property
    def rewards(self) -> tuple[Reward, ...]:
        """The rewards that add up to `reward`; they keep no state."""
        return tuple(make_rewards(self.reward, self.reward_options, self._reward_objects))

    @property
    def reward_objects(self) -> dict[str, Reward]:
        """The rewards that were given as objects, by the name of their class."""
        return self._reward_objects

    @property
    def _given(self) -> dict[str, Any]:
        """The settings that were given, from which an equal configuration is made."""
        given = {name: getattr(self, name) for name in self.model_fields_set}
        if self._reward_objects:
            parts = self.reward.split("+")
            given["reward"] = [self._reward_objects.get(part, part) for part in parts]
        return given

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the settings; the names are resolved again."""
        return partial(EnvConfig, **self._given), ()

    def make_sampler(self, **options: Any) -> Sampler:
        """Return a new sampler; `options` are those that are no setting."""
        return make(SAMPLERS, self.sampler or "uniform", (self.sampler_options or {}) | options)

    @property
    def limits(self) -> dict[str, int]:
        """The budget: name of each ``max_...`` that the task has -> its value."""
        values = {name: getattr(self, name) for name in LIMITS}
        return {name: value for name, value in values.items() if value is not None}

    @property
    def environment(self) -> dict[str, Any]:
        """All other settings but the task and `OF_DRAWS`, as JSON values; None is left out."""
        without = {"task", *LIMITS, *OF_DRAWS}
        return self.model_dump(mode="json", exclude=without, exclude_none=True)

    @property
    def sha256(self) -> str:
        """Hash of all settings but `OF_DRAWS` and those that are None, as new ones are."""
        return sha256_json(self.model_dump(mode="json", exclude={*OF_DRAWS}, exclude_none=True))


SETTINGS = tuple(EnvConfig.model_fields)
"""Names of the settings."""
LIMITS = tuple(name for name in SETTINGS if name.startswith("max_"))
"""Names of the settings that are a budget."""
OF_DRAWS = ("sampler", "sampler_options")
"""Names of the settings that no episode depends on."""


def merged(options: Mapping[str, Any], settings: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the settings that a command line gives as options of its own and by ``--env-option``.

    Options without a value are left out. Raise DataError for one that is given twice, differently.
    """
    given = {name: value for name, value in options.items() if value not in (None, "", {})}
    for name, value in (settings or {}).items():
        if name in given and given[name] != value:
            option = f"--{name.removesuffix('s').replace('_', '-')}"
            raise DataError(
                f"{option} {given[name]} and --env-option {name}={value} say different things. "
                "Give one of them."
            )
    return given | dict(settings or {})


def describe_settings() -> dict[str, str]:
    """Return name of each setting -> its description, with range and default."""
    described = {}
    for name, field in EnvConfig.model_fields.items():
        text = " ".join((field.description or "").split()).rstrip(".")
        if name in LIMITS:
            text += f", {describe(_form(name)).removeprefix('an integer ')}"
        if field.default not in (None, "", (), {}):
            text += f" (default: {field.default})"
        described[name] = text
    return described


def _form(name: str) -> dict[str, Any]:
    """Return the JSON schema of a setting, without null."""
    schema = EnvConfig.model_json_schema()["properties"][name]
    return next(form for form in schema.get("anyOf", [schema]) if form.get("type") != "null")


def _refuse(given: Mapping[str, Any], task: Task, why: str, *names: str) -> None:
    """Refuse settings of other tasks."""
    for name in names:
        if name in given:
            raise DataError(
                f"the environment {task.environment_id} takes no argument {name!r}: {why}."
            )


def _refusal(error: ValidationError) -> DataError:
    """Return the first error of pydantic as a sentence that says what to give."""
    first = error.errors(include_url=False)[0]
    cause, name, value = first.get("ctx", {}).get("error"), str(first["loc"][0]), first["input"]
    if isinstance(cause, DataError):  # of a validator
        return cause
    if choices := _form(name).get("enum"):
        return DataError(f"{name}={clip(value)}.{did_you_mean(value, choices)}")
    where = name + "".join(f"[{part!r}]" for part in first["loc"][1:])
    wanted = "give" if where == name else f"{name} is"
    return DataError(f"{where}={clip(value)}: {wanted} {describe(_form(name))}.")
