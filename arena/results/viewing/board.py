"""A leaderboard as static pages: only runs that are verified have rows; docs/board.md."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from arena.corpus import Corpus
from arena.envs import EnvConfig
from arena.errors import AgentError, ArenaError, CorpusError, DataError, clip
from arena.kit.files import atomic_write, read_json, sha256_file, sha256_json, write_json
from arena.kit.workdir import OutputKind, other_files, read_manifest_of, staged_directory
from arena.results.comparison import as_json, compare
from arena.results.comparison import report as reports
from arena.results.comparison.comparing import Comparison
from arena.results.comparison.opening import split_name
from arena.results.viewing import drawing
from arena.results.viewing.page import write_page
from arena.runs import run
from arena.runs.directory import MANIFEST, OpenedRun
from arena.runs.players import baselines
from arena.runs.submissions import Limits, open_submission
from arena.runs.verifying import DAMAGED, Verification, verify
from arena.version import __version__

BOARD = OutputKind("board", "results.json", {"tracks": dict, "apart": dict})
_FREE = ("retriever", "retriever_options", "retrievers", "reward", "reward_options", "tools")
"""Settings in which the entries of a track may differ."""


class _Entry(NamedTuple):
    """A run with a row; `found` is None for a baseline, which was played here."""

    run: OpenedRun
    found: Verification | None = None


Track = tuple[Comparison, dict[str, _Entry]]


def write_board(
    submissions: Sequence[str | Path],
    corpus: Corpus | str | Path,
    output: str | Path,
    *,
    played: Sequence[str] = (),
    topics: Sequence[str] | int | None = None,
    agents: Sequence[str] | None = None,
    limits: Limits | None = None,
) -> dict[str, Any]:
    """Verify submissions and write a site with those that pass, beside baselines played here.

    A track is a task with its settings; engines, rewards and further tools are free. Pages have no
    labels. The same submissions give the same bytes; `output` appears, or replaces another board,
    when it is complete.

    Args:
        submissions: Runs or archives of runs, each alone or as ``NAME=PATH``.
        corpus: The corpus of the board with the task set that is played, or its directory.
        output: Directory of the site.
        played: Tasks that have a track also without a submission.
        topics: Topics that an entry must have played, as `arena.run` takes them; by default all.
        agents: Baselines; by default the agents of the package that ask no model.
        limits: What a submission may cost.

    Returns:
        The content of ``results.json``.
    """
    corpus, output = Corpus.resolve(corpus), Path(output)
    places = _named(submissions)
    configs = {_track(config): config for config in (EnvConfig(task=task) for task in played)}
    entered, apart = {track: dict[str, _Entry]() for track in configs}, dict[str, str]()
    with ExitStack() as stack, staged_directory(output, _check, manifest=BOARD.manifest) as site:
        for name, place in places.items():
            directory = Path(place)
            try:
                directory = stack.enter_context(open_submission(place, limits))
                found = verify(directory, corpus, limits=limits)
                if not found.verified:
                    raise DataError(found.reason)
                entry = _Entry(OpenedRun(directory), found)
                track = _track(config := entry.run.config())
                configs.setdefault(track, config)
                entered.setdefault(track, {})[name] = entry
            except (ArenaError, OSError) as error:
                apart[name] = str(error).replace(str(directory), name)
        folder = Path(stack.enter_context(TemporaryDirectory()))
        tracks = dict[str, Track]()
        for track in sorted(entered):
            try:
                rivals = _play(configs[track], corpus, topics, agents, folder / track)
                tracks[track] = _compared(rivals, entered[track], corpus, apart)
            except ArenaError as error:  # settings that no baseline can play, for example
                if not entered[track]:
                    raise
                apart |= dict.fromkeys(entered[track], f"nothing to compare it with: {error}")
        if not tracks:
            why = "".join(f" {name}: {reason}" for name, reason in apart.items())
            raise DataError(f"no submission has a row; --task names what to show.{why}")
        results = {
            "arena": __version__,
            "corpus": corpus.sha256,
            "tracks": {track: _results(*tracks[track]) for track in tracks},
            "apart": dict(sorted(apart.items())),
        }
        write_json(site / BOARD.manifest, results, sort_keys=False)
        _write_pages(site, results, tracks, corpus)
    return results


def _named(submissions: Sequence[str | Path]) -> dict[str, str | Path]:
    """Return name -> place; a run without a name is called as its file or folder is."""
    places = dict[str, str | Path]()
    for given in submissions:
        name, place = split_name(given)
        name = name or re.sub(r"(\.tar\.gz|\.zip)$", "", Path(place).resolve().name)
        name = name.replace("=", "-").strip()
        if Path(place).resolve() in [Path(each).resolve() for each in places.values()]:
            raise DataError(f"the run {str(place)!r} is given twice. Name each run once.")
        if name in places:
            raise DataError(f"two submissions are called {clip(name)}. Name them: NAME=PATH.")
        places[name] = place
    return places


def _check(output: Path) -> None:
    """Refuse to replace what is no board, or has a file that no board wrote."""
    before = read_manifest_of(output, BOARD)
    own = ("index.html", BOARD.manifest, *before["tracks"]) if before else ()
    if output.exists() and (not output.is_dir() or other_files(output, own)):
        raise CorpusError(
            f"{str(output)!r} exists and is no board, or has other files. Name a new directory."
        )


def _track(config: EnvConfig) -> str:
    """Return the task, with a hash of the settings that are not its usual ones."""
    own, usual = (
        {k: v for k, v in (each.environment | each.limits).items() if k not in _FREE}
        for each in (config, EnvConfig(task=config.task))
    )
    return config.task + (f"-{sha256_json(own)[:8]}" if own != usual else "")


def _play(
    config: EnvConfig,
    corpus: Corpus,
    topics: Sequence[str] | int | None,
    agents: Sequence[str] | None,
    folder: Path,
) -> dict[str, _Entry]:
    """Return the baselines of a track, the best first; those that cannot play it are left out."""
    usual = {name: getattr(EnvConfig(task=config.task), name) for name in _FREE}
    config, played = EnvConfig.from_settings(config, usual), list[_Entry]()
    for agent in agents or baselines():
        with suppress(AgentError):
            run(corpus, config, agent, folder / agent, topics=topics)
            played.append(_Entry(OpenedRun(folder / agent)))
    if not played:
        raise DataError(f"no baseline plays the task {config.task!r} with these settings.")
    played.sort(key=lambda entry: -_headline(entry))
    return {f"{entry.run.directory.name}, {config.retriever}": entry for entry in played}


def _headline(entry: _Entry) -> float:
    """Return the mean by which a run is ranked."""
    mean = read_json(entry.run.directory / "metrics.json")["mean"]
    return mean[entry.run.manifest["definition"]["headline"]] or 0.0


def _compared(
    rivals: Mapping[str, _Entry],
    entries: Mapping[str, _Entry],
    corpus: Corpus,
    apart: dict[str, str],
) -> Track:
    """Compare the entries of a track with its best baseline; set those apart that cannot be."""
    best, shown = next(iter(rivals)), dict(rivals)
    wanted = {*rivals[best].run.manifest["topics"]}
    for name, entry in sorted(entries.items(), key=lambda each: -_headline(each[1])):
        try:
            if lacking := wanted - {*entry.run.manifest["topics"]}:
                raise DataError(f"{len(lacking)} of {len(wanted)} topics were not played.")
            if name in shown:
                raise DataError("it has the name of a baseline. Name it: NAME=PATH.")
            compare([rivals[best].run.directory, entry.run.directory], common=True, corpus=corpus)
            shown[name] = entry
        except (ArenaError, *DAMAGED) as error:
            apart[name] = str(error).replace(str(entry.run.directory), name)
    runs = [f"{name}={entry.run.directory}" for name, entry in shown.items()]
    return compare(runs, best, common=True, corpus=corpus), shown


def _results(comparison: Comparison, entries: Mapping[str, _Entry]) -> dict[str, Any]:
    """Return a track as ``results.json`` has it."""
    made = as_json(comparison)
    for each in comparison.runs:
        found = entries[each.name].found
        made["runs"][each.name] |= {
            "baseline": found is None,
            "manifest": sha256_file(entries[each.name].run.directory / MANIFEST),
            "budget": each.manifest["budget"],
            "floors": each.metrics.get("floors"),
            "claims": found and found.claims,
            "flagged": found and found.flagged,
        }
    for metric in comparison.metrics:
        made["metrics"][metric.metric]["not_scored"] = [
            topic for topic in comparison.topics if topic not in metric.topics
        ]
    return made | {"definition": comparison.runs[0].manifest["definition"]}


def _write_pages(
    site: Path, results: Mapping[str, Any], tracks: Mapping[str, Track], corpus: Corpus
) -> None:
    template = drawing.environment().get_template("board.html")
    values = {
        "results": results, "reports": reports, "mark": drawing.mark, "style": drawing.style(),
        "digest": drawing.digest_of(""), "runs": [], "run_of": {},
    }  # fmt: skip
    atomic_write(site / "index.html", template.render(values, track=None))
    for track, (comparison, entries) in tracks.items():
        (site / track).mkdir()
        write_page(comparison, site / track / "compare.html", labels=False)
        runs = []
        for place, (name, entry) in enumerate(entries.items()):
            runs.append({"name": name, "place": place, "page": f"run-{place}.html#episodes"})
            page = site / track / f"run-{place}.html"
            write_page([f"{name}={entry.run.directory}"], page, corpus, labels=False)
        own = values | {"runs": runs, "run_of": {run["name"]: run for run in runs}}
        for metric in comparison.metrics:
            page = site / track / f"{metric.metric}.html"
            atomic_write(
                page, template.render(own, track=track, comparison=comparison, metric=metric)
            )
