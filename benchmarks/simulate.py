"""Literature worlds written as the files of a real release, so that importers are exercised."""

from __future__ import annotations

import datetime
import gzip
import hashlib
import io
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray

from arena._internal.cores import cores
from arena._internal.files import write_json
from arena._internal.progress import progress
from arena._internal.workdir import whole_directory
from arena.errors import CorpusError, DataError, clip, did_you_mean
from benchmarks.release_records import (
    BadLines,
    Record,
    abstract_record,
    corpus_id,
    huge_text,
    own_survey,
    paper_record,
    text_record,
)
from benchmarks.report import check_range
from corpus_builder.executors import EXECUTORS, Executor
from corpus_builder.world import BLOCK, World, WorldConfig

MOST_SHARDS = 10_000
VERSIONS = {"v1": "s2orc", "v2": "s2orc_v2"}
"""Version of the full texts -> name of their dataset."""


class ReleaseSettings(NamedTuple):
    """What a simulated release is like.

    Attributes:
        release: Name of the release, a day.
        shards: Number of files of each dataset, 1 to 10,000.
        full_text: Share of the papers with full text, survey papers aside.
        survey_full_text: Share of the survey papers with full text.
        text_version: Version of the full texts, ``v1`` or ``v2``.
        bad: Bad records for every good one, 0 to 0.5; see docs/simulated-releases.md.
    """

    release: str = "2024-02-06"
    shards: int = 16
    full_text: float = 0.15
    survey_full_text: float = 1.0
    text_version: str = "v1"
    bad: float = 0.0

    @property
    def datasets(self) -> tuple[str, ...]:
        """The datasets of the release; the last one has the full texts."""
        return ("papers", "abstracts", "citations", VERSIONS[self.text_version])

    def check(self, world: WorldConfig) -> None:
        """Raise DataError, which names the setting, if one is out of its range."""
        try:
            day = datetime.date.fromisoformat(self.release).isoformat()
        except (TypeError, ValueError):
            day = ""
        if day != self.release:
            raise DataError(f"release={clip(self.release)}: give a day, YYYY-MM-DD.")
        check_range(1, min(MOST_SHARDS, world.papers), shards=self.shards)
        check_range(0, 1, full_text=self.full_text, survey_full_text=self.survey_full_text)
        check_range(0, 0.5, bad=self.bad)
        if self.text_version not in VERSIONS:
            raise DataError(
                f"text_version={clip(self.text_version)} is unknown."
                f"{did_you_mean(self.text_version, VERSIONS)}"
            )


_CHUNK = 1 << 18
_LEVEL = 1  # of compression; higher ones take longer than all the rest


_PURPOSE = 20  # of random numbers; a world uses those below
_MOST_UNMATCHED = 5  # references of a paper to papers that the release lacks
_CONTEXTS = 0.37  # share of the citations that have a sentence, as in the official sample


class ReleasePart(NamedTuple):
    """A shard of some datasets: world, release, number of the shard, and its files by dataset."""

    config: WorldConfig
    settings: ReleaseSettings
    number: int
    files: dict[str, Path]


Written = dict[str, tuple[dict[str, Any], int, dict[str, int]]]
"""By dataset: what ``release.json`` says of its file, the number of lines, and bad ones by kind."""


def write_part(part: ReleasePart) -> Written:
    """Write a part of a release."""
    plan = _plan(part.config)
    with ExitStack() as stack:
        outputs = {
            dataset: stack.enter_context(_Output(path, dataset, part))
            for dataset, path in part.files.items()
        }
        write = _write_citations if "citations" in outputs else _write_papers
        write(plan, part, outputs)
    return {name: (out.entry(), out.lines, out.bad.counts) for name, out in outputs.items()}


def forget() -> None:
    """Let go of the world that the last parts written in this process were of."""
    _plan.cache_clear()


class _Output:
    """A new file of gzip JSON lines, without name or time in its header."""

    def __init__(self, path: Path, dataset: str, part: ReleasePart) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path, self._raw, self.lines = path, path.open("xb"), 0
        self._gzip = gzip.GzipFile("", "wb", _LEVEL, self._raw, mtime=0)
        self._file = io.BufferedWriter(self._gzip, _CHUNK)
        self.bad = BadLines(dataset, part.number, part.settings.bad)

    def write(self, line: bytes) -> None:
        """Write a good line, and the bad one that may follow."""
        for each in (line, *self.bad.after(line)):
            self._file.write(each)
            self.lines += 1

    def add(self, kind: str, line: bytes) -> None:
        """Write a bad line."""
        self.bad.count(kind)
        self._file.write(line)
        self.lines += 1

    def entry(self) -> dict[str, Any]:
        """Return what ``release.json`` says of the file; to be called once it is closed."""
        data = self._path.read_bytes()
        md5, sha256 = hashlib.md5(data, usedforsecurity=False), hashlib.sha256(data)
        return {"name": self._path.name, "bytes": len(data), "md5": md5.hexdigest(),
                "sha256": sha256.hexdigest()}  # fmt: skip

    def __enter__(self) -> _Output:
        return self

    def __exit__(self, *_: object) -> None:
        with self._raw:
            self._file.close()


class _Plan:
    """A world, and what is known of its papers before their texts."""

    def __init__(self, config: WorldConfig) -> None:
        self.world = World(config)
        self._config = config
        self.totals = {s["id"]: s["n_references_total"] for s in self.world.surveys()}

    @cached_property
    def cited(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """How often each paper is cited, and how often influentially."""
        count = self._config.papers
        all_, influential = np.zeros((2, count), dtype=np.int64)
        for _, cited, marks in self.world.links():
            np.add.at(all_, cited, 1)
            np.add.at(influential, cited[marks], 1)
        return all_, influential

    @cached_property
    def contexts(self) -> list[str]:
        """Sentences, as JSON, in which papers may be cited."""
        texts = (s["text"] for p in self.world.papers(range(1)) for s in p["sections"])
        pairs = (pair for text in texts for pair in pairwise(text.split(". ")))
        return [orjson.dumps(f"{a} [1]. {b.removesuffix('.')}.").decode() for a, b in pairs]

    def draws(self, block: int) -> NDArray[np.uint32]:
        """Return three random numbers for each paper of a block."""
        rng = self._config.rng(_PURPOSE, block)
        return rng.integers(0, 1 << 32, (BLOCK, 3), dtype=np.uint32)

    def unmatched(self, paper: str, references: int, draw: int) -> int:
        """Return how many references of a paper lead to papers that the release lacks."""
        total = self.totals.get(paper)
        return draw % (_MOST_UNMATCHED + 1) if total is None else total - references

    def papers(self, start: int, stop: int) -> Iterator[tuple[int, Record, list[int]]]:
        """Yield place, record and random numbers of the papers from `start` to `stop`."""
        for block in range(start // BLOCK, -(-stop // BLOCK)):
            draws = self.draws(block).tolist()
            for row, paper in enumerate(self.world.papers(range(block, block + 1))):
                if start <= block * BLOCK + row < stop:
                    yield block * BLOCK + row, paper, draws[row]


@lru_cache(maxsize=1)
def _plan(config: WorldConfig) -> _Plan:
    return _Plan(config)


def _write_papers(plan: _Plan, part: ReleasePart, outputs: dict[str, _Output]) -> None:
    settings, count = part.settings, part.config.papers
    cited, influential = plan.cited
    start, stop = (count * (part.number + k) // settings.shards for k in (0, 1))
    for place, paper, draws in plan.papers(start, stop):
        release, references = settings.release, len(paper["references"])
        unmatched = plan.unmatched(paper["id"], references, draws[0])
        counts = references + unmatched, int(cited[place]), int(influential[place])
        record = paper_record(paper, *counts, draws[1], release)
        outputs["papers"].write(orjson.dumps(record) + b"\n")
        outputs["abstracts"].write(orjson.dumps(abstract_record(paper, release)) + b"\n")
        share = settings.survey_full_text if paper["is_survey"] else settings.full_text
        has_text = draws[2] < share * (1 << 32)
        special = settings.bad and place == 0
        if has_text or special:
            text = text_record(paper, unmatched, draws[1], settings.text_version, release)
            if has_text:
                outputs[settings.datasets[-1]].write(orjson.dumps(text) + b"\n")
            if special:
                outputs[settings.datasets[-1]].add("50 MB of text", huge_text(text))
                outputs["papers"].add("a survey that cites itself", own_survey(record)[0])


def _write_citations(plan: _Plan, part: ReleasePart, outputs: dict[str, _Output]) -> None:
    output, shards = outputs["citations"], part.settings.shards
    numbers, updated = plan.world.numbers + 1, f"{part.settings.release}T15:59:00.392Z"
    contexts = plan.contexts
    totals = {corpus_id(paper): total for paper, total in plan.totals.items()}
    if part.settings.bad and part.number == 0:
        output.add("a survey that cites itself", own_survey({})[1])
    for block, (citing, cited, marks) in enumerate(plan.world.links()):
        # Spread over the files, as in a real release: no file has all citations of a paper.
        mix = _mix(citing, cited)
        who = np.flatnonzero(mix % shards == part.number)
        rows = zip(
            numbers[citing[who]].tolist(),
            map('"{}"'.format, numbers[cited[who]].tolist()),
            marks[who].tolist(),
            (mix[who] >> 20).tolist(),
            strict=True,
        )
        for row in (*rows, *_lacking(plan, block, citing, numbers, totals, part)):
            output.write(_citation(*row, contexts, updated))


def _lacking(
    plan: _Plan,
    block: int,
    citing: NDArray[np.int64],
    numbers: NDArray[np.int64],
    totals: dict[int, int],
    part: ReleasePart,
) -> Iterator[tuple[int, str, bool, int]]:
    """Yield the citations to papers that the release lacks."""
    listed = np.bincount(citing - block * BLOCK, minlength=BLOCK).tolist()
    draws = plan.draws(block)[:, 0].tolist()
    first = block * BLOCK
    for row, number in enumerate(numbers[first : first + BLOCK].tolist()):
        total = totals.get(number)
        count = draws[row] % (_MOST_UNMATCHED + 1) if total is None else total - listed[row]
        for k in range(count):
            if (draws[row] // 7 + k) % part.settings.shards == part.number:
                yield number, "null", False, draws[row] + k


def _citation(
    citing: int, cited: str, mark: bool, draw: int, contexts: list[str], updated: str
) -> bytes:
    sentences, intents = "null", "null"
    if draw % 100 < 100 * _CONTEXTS and contexts:
        wanted = 1 + draw // 100 % 3
        first = draw // 300 % len(contexts)
        sentences = f"[{','.join(contexts[first : first + wanted])}]"
        intents = '["background","methodology"]' if mark else '["background"]'
    return (
        f'{{"citingcorpusid":"{citing}","citedcorpusid":{cited},'
        f'"isinfluential":{"true" if mark else "false"},"contexts":{sentences},"intents":{intents},'
        f'"updated":"{updated}"}}\n'
    ).encode()


def _mix(citing: NDArray[np.int64], cited: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a number below 2**62 for each pair, spread evenly."""
    mixed = citing.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= cited.astype(np.uint64) * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return ((mixed ^ (mixed >> np.uint64(32))) >> np.uint64(2)).astype(np.int64)


RELEASE = "release.json"

_NAMES_PURPOSE = 21  # of the names of files
_LETTERS = "abcdefghijklmnopqrstuvwxyz23456789"


def simulate(
    config: WorldConfig,
    output: str | Path,
    settings: ReleaseSettings | None = None,
    *,
    workers: int | None = None,
    overwrite: bool = False,
) -> dict[str, Any]:
    """Write a world in the format of Semantic Scholar's releases.

    The same knobs and settings give the same bytes, whatever `workers`. Every process keeps the
    world, some 550 bytes a paper, besides what it is writing.

    Args:
        config: Configuration of the world.
        output: A new or empty directory; gets a folder a dataset, with gzip JSON lines, and
            ``release.json``, as a download leaves them.
        settings: Settings of the release.
        workers: Number of processes; by default one a processor.
        overwrite: Replace a release in `output`.

    Returns:
        ``release``; ``datasets``: shards, lines and bytes of each; ``bad``: bad records by kind.

    Raises:
        DataError: if a setting is out of its range, or the world cannot be.
        CorpusError: if `output` cannot be taken.
        OSError: if the disk is full or not writable; nothing is left behind.
    """
    settings = settings or ReleaseSettings()
    settings.check(config)
    workers = cores() if workers is None else workers
    check_range(1, float("inf"), workers=workers)
    with whole_directory(
        Path(output), lambda path: _check(path, overwrite), manifest=RELEASE, suffix=".simulating"
    ) as directory:
        parts = _parts(config, settings, directory)
        executor: Executor = EXECUTORS.get("local")(min(workers, len(parts)))
        try:
            tasks = executor.run(write_part, parts)
            written = list(progress(tasks, total=len(parts), desc="simulate", unit="part"))
        finally:
            executor.close()
            forget()
        report, entries = _report(settings, written)
        write_json(directory / RELEASE, {"release": settings.release, "datasets": entries})
    return report


def _parts(config: WorldConfig, settings: ReleaseSettings, directory: Path) -> list[ReleasePart]:
    """Return the parts: papers with their texts, and citations, apart."""
    rng, shards = config.rng(_NAMES_PURPOSE), range(settings.shards)
    second = int(rng.integers(0, 24 * 60 * 60))
    clock = f"{second // 3600:02d}{second // 60 % 60:02d}{second % 60:02d}"
    files: dict[str, list[Path]] = {}
    for dataset in settings.datasets:
        names = [
            f"{settings.release.replace('-', '')}_{clock}_{number:05d}_"
            f"{''.join(_LETTERS[k] for k in row)}.gz"
            for number, row in enumerate(rng.integers(0, len(_LETTERS), (settings.shards, 5)))
        ]
        # No paper stands in files of the same number, as in a real release.
        turned = np.roll(np.arange(settings.shards), len(files)).tolist()
        files[dataset] = [directory / dataset / names[k] for k in turned]
    apart = [["citations"], [dataset for dataset in files if dataset != "citations"]]
    return [
        ReleasePart(config, settings, number, {dataset: files[dataset][number] for dataset in some})
        for some in reversed(apart)
        for number in shards
    ]


def _report(
    settings: ReleaseSettings, written: list[Written]
) -> tuple[dict[str, Any], dict[str, list[dict[str, Any]]]]:
    """Return the report and the content of ``release.json``."""
    files = {name: [part[name] for part in written if name in part] for name in settings.datasets}
    entries = {
        name: sorted((entry for entry, _, _ in of), key=lambda entry: str(entry["name"]))
        for name, of in files.items()
    }
    datasets = {
        name: {
            "shards": len(of),
            "lines": sum(lines for _, lines, _ in of),
            "bytes": sum(entry["bytes"] for entry, _, _ in of),
        }
        for name, of in files.items()
    }
    bad = sum((Counter(counts) for of in files.values() for _, _, counts in of), Counter())
    return {
        "release": settings.release,
        "datasets": datasets,
        "bad": dict(sorted(bad.items())),
    }, entries


def _check(output: Path, overwrite: bool) -> None:
    """Raise CorpusError if an output holds anything but a release that may be replaced."""
    if output.exists() and not output.is_dir():
        raise CorpusError(f"{str(output)!r} is a file. Name a new directory.")
    names = {path.name for path in output.iterdir()} if output.exists() else set()
    known = {RELEASE, "papers", "abstracts", "citations", *VERSIONS.values()}
    if others := sorted(names - known if RELEASE in names else names):
        raise CorpusError(
            f"{str(output)!r} holds other files, {clip(others[0])} for one. "
            "Name a new or empty directory."
        )
    if names and not overwrite:
        raise CorpusError(
            f"{str(output)!r} already holds a release. Pass --overwrite to replace it."
        )
