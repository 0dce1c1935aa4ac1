"""Verify a run that anybody sends: play its actions again, and believe nothing that it states."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from arena.corpus import Corpus
from arena.encoders import promises_bits
from arena.envs import EnvConfig
from arena.errors import ArenaError, CorpusError, DataError, clip
from arena.kit.files import json_value, read_json, read_sealed, sha256_file
from arena.kit.terminal import progress
from arena.metrics import mean
from arena.mindmap import identity
from arena.plugins import load
from arena.runs import environment
from arena.runs.checking import EQUAL, alike, refuse_misstated
from arena.runs.directory import OpenedRun
from arena.runs.episodes import seed_of
from arena.runs.replaying import ReplayDifference, replay_episode
from arena.runs.runner import write_results
from arena.runs.submissions import Limits, open_submission
from arena.runs.trajectories import TRAJECTORIES, is_cut_off, plain
from arena.tasks import FrozenTopics, TaskSet
from arena.version import __version__

METRICS = "metrics.json"
CLAIMS = "claims.json"
OPENNESS = ("open_source_open_weights", "open_source_closed_weights", "api", "closed")
"""Classes of agents by what is open, from AstaBench (arXiv:2510.21652); a claim."""
DAMAGED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""Exceptions that code raises at JSON of any shape."""
MOST_UNSEEN = 0.5
"""Share of submitted ids that no result had, from which on a run is flagged."""


class Verification(NamedTuple):
    """The report of verifying a run.

    Attributes:
        episodes: Episodes that were played again.
        steps: Their steps.
        difference: The first difference between an episode and its record, after which nothing is
            played.
        reasons: Sentences on what else is not as the actions give it; empty after a difference.
        remarks: What has changed and is no reason.
        unseen: Mean share of submitted ids that no result of their episode had, or None.
        claims: What nothing can check: agent, model, model_cutoff and openness, see `OPENNESS`.
    """

    episodes: int
    steps: int
    difference: ReplayDifference | None
    reasons: list[str]
    remarks: list[str]
    unseen: float | None
    claims: dict[str, Any]

    @property
    def verified(self) -> bool:
        """Whether all that the run states is what its actions give."""
        return self.difference is None and not self.reasons

    @property
    def reason(self) -> str:
        """Why the run is not verified, in one sentence; "" if it is."""
        return str(self.difference) + "." if self.difference else " ".join(self.reasons[:1])

    @property
    def flagged(self) -> str:
        """The warning for readers of the scores, in one sentence; "" if there is none."""
        if self.unseen is None or self.unseen < MOST_UNSEEN:
            return ""
        return (
            f"{self.unseen:.0%} of the submitted ids were in no result of their episode: they came "
            "from the memory of a model, or from labels."
        )

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        difference = self.difference and self.difference._asdict()
        return {"verified": self.verified, **self._asdict(), "difference": difference}


def verify(
    run: str | Path,
    corpus: Corpus | str | Path,
    tasks: str | Path | None = None,
    *,
    plugins: Sequence[str | Path] = (),
    limits: Limits | None = None,
) -> Verification:
    """Play the actions of a run again in a fresh environment, and compare everything.

    Compares the seed and the observation after the reset; for every step the observation, its
    error, the reward, its terms, and whether and how the episode ended; and at the end what was
    spent, the metrics and the answers. Stops at the first difference. Then compares the definition
    and the settings that the manifest states, the scores, and all files of the finished run, which
    it writes again elsewhere. Different code or another release is a remark. Numbers may differ by
    1e-6 where an encoder does not promise the same bits everywhere.

    No model is asked, and nothing that the run names is executed.

    Args:
        run: Directory of a run, finished or not, or an archive of one, .tar.gz or .zip.
        corpus: The corpus of the run, or its directory.
        tasks: Directory of the task set that the run played, if any.
        plugins: Files of plug-ins to load first, see `arena.plugins`.
        limits: What the run may cost.

    Raises:
        CorpusError: The run is damaged, or of another corpus, task set or index.
        DataError: It is too large, too long, or leads elsewhere.
    """
    load(plugins)
    limits = limits or Limits()
    with open_submission(run, limits) as directory:
        try:
            recorded = OpenedRun(directory)
            limits.refuse_long(recorded.path)
            return _verify(recorded, *recorded.open_corpus(corpus, tasks), limits)
        except TimeoutError:
            raise DataError(
                f"{str(directory)!r} takes more than {limits.seconds / 60:g} minutes to play "
                "again, the most that a run may take. --max-minutes allows more."
            ) from None
        except (ArenaError, OSError):
            raise
        except DAMAGED as error:
            raise CorpusError(
                f"{str(directory)!r} is damaged: {type(error).__name__}: {clip(str(error))}."
            ) from error


def _verify(recorded: OpenedRun, corpus: Corpus, task_set: TaskSet, limits: Limits) -> Verification:
    manifest = recorded.manifest
    topics, repeats = manifest["topics"], recorded.repeats
    given = manifest["environment"].get("encoder")
    total = len(topics) * repeats
    deadline = time.monotonic() + limits.seconds
    reasons, remarks, unseen = list[str](), list[str](), list[float | None]()
    with closing(recorded.environment(corpus, topics)) as env:
        hashes = environment.hashes(env, corpus, task_set, given)
        code = hashes.pop("environment")
        recorded.refuse_other(hashes)
        config: EnvConfig = env.unwrapped.config  # type: ignore[attr-defined]
        encoder = environment.encoder_of(config, recorded.besides)
        exact = encoder is None or promises_bits(identity(encoder))
        exact = exact and environment.exact(config, corpus)
        tolerance = 0.0 if exact else EQUAL
        episodes = steps = 0
        difference = None
        records = progress(
            recorded.episodes(every=True), total=total, desc="verify",
            unit="topic" if repeats == 1 else "episode",
        )  # fmt: skip
        for record in records:
            place = topics.index(record["topic_id"]) * repeats + record.get("repeat", 0)
            seed = seed_of(manifest["seed"], topics, repeats, place)
            difference, played = replay_episode(env, record, seed, deadline, tolerance)
            episodes, steps = episodes + 1, steps + max(len(played) - 1, 0)
            unseen.append(record.get("unseen"))
            if difference is not None:
                break
        if difference is None:
            reasons += recorded.changed_plugins()
            reasons += _other_settings(recorded, config, encoder, corpus, task_set)
    if difference is None:
        complete = episodes == total and not is_cut_off(recorded.path)
        if complete and recorded.files is not None:
            reasons += _edited(recorded, corpus, task_set, tolerance)
        else:
            reasons += recorded.remarks(episodes) or ["The run is not finished."]
    if manifest["arena"] != __version__:
        remarks.append(f"The run was made by release {manifest['arena']}, this is {__version__}.")
    if manifest["sha256"].get("environment") != code:
        remarks.append("The code of the environment has changed since the run.")
    if manifest.get("encoder") != (given and plain(identity(given))):
        remarks.append("The encoder of headings, or a library that it uses, has changed.")
    share = None if difference else mean(unseen)
    return Verification(episodes, steps, difference, reasons, remarks, share, _claims(recorded))


def _other_settings(
    recorded: OpenedRun, config: EnvConfig, encoder: str | None, corpus: Corpus, tasks: TaskSet
) -> Iterator[str]:
    """Yield a sentence on each part of the manifest that the task and its settings do not give."""
    true = {
        "definition": recorded.task.on(tasks).definition(),
        "environment": environment.recorded(config, encoder),
        "budget": config.limits,
        "retriever": config.retriever,
    }
    if frozen := recorded.manifest.get("task_set"):
        known = TaskSet(corpus)
        days = {topic: known.topic(topic).date for topic in recorded.manifest["topics"]}
        true["task_set"] = FrozenTopics.freeze(frozen["name"], known.identity, days).identity
    for name, value in plain(true).items():
        if (stated := recorded.manifest.get(name)) != value:
            yield f"The manifest states {name} {clip(stated, 200)}, and it is {clip(value, 200)}."


def _edited(recorded: OpenedRun, corpus: Corpus, tasks: TaskSet, tolerance: float) -> Iterator[str]:
    """Yield sentences on scores that the answers do not get, and on files that differ."""
    try:
        refuse_misstated(recorded, read_json(recorded.directory / METRICS), corpus)
    except CorpusError as error:
        yield str(error)
    changed = [*_changed_files(recorded, tasks, tolerance), *_changed_verdicts(recorded.directory)]
    if changed:
        yield (
            f"Edited since the run: {', '.join(changed)}. The recorded episodes, or the verdicts "
            "of the judge, give something else; the same command, for a run with --overwrite, "
            "writes them again."
        )


def _changed_files(recorded: OpenedRun, tasks: TaskSet, tolerance: float) -> list[str]:
    """Return the files that are not what the episodes give, or not what the manifest has.

    How a picture is drawn may change with the code, so its hash in the manifest counts.
    """
    stated = recorded.files or {}
    with tempfile.TemporaryDirectory() as directory:
        again = Path(directory)
        (again / TRAJECTORIES).symlink_to(recorded.path.resolve())
        task = recorded.task.on(tasks)
        _, names = write_results(again, recorded.manifest, task, recorded.besides, tasks)
        changed = sorted({*stated} ^ {*names})
        for name in names:
            path = recorded.directory / name
            found = sha256_file(path) if path.is_file() else None
            true = found if name.endswith(".svg") else sha256_file(again / name)
            if name == METRICS and tolerance and found == stated.get(name):
                true = found if alike(read_json(path), read_json(again / name)) else true
            if None in (found, stated.get(name)) or not found == true == stated[name]:
                changed.append(name)
    return [*dict.fromkeys(changed)]


def _changed_verdicts(directory: Path) -> list[str]:
    changed = []
    for path in sorted(directory.glob("judgements/*.json")):
        try:
            read_sealed(path)
        except DataError:
            changed.append(f"judgements/{path.name}")
    return changed


def _claims(recorded: OpenedRun) -> dict[str, Any]:
    """Return what the run says of its agent: options of the agent, and ``claims.json``, if any."""
    options, path = recorded.manifest["agent_options"], recorded.directory / CLAIMS
    own = json_value(path.read_bytes()) if path.is_file() else {}
    if not isinstance(own, dict) or own.get("openness", OPENNESS[0]) not in OPENNESS:
        raise DataError(
            f"{str(path)!r}: give a JSON object, with an openness of {', '.join(OPENNESS)}."
        )
    stated = {"agent": recorded.manifest["agent"], **options, **own}
    return {name: stated.get(name) for name in ("agent", "model", "model_cutoff", "openness")}
