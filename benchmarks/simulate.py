"""Literature worlds written as the files of a real release, so that importers are exercised."""

from __future__ import annotations

import datetime
import gzip
import hashlib
import io
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cached_property, lru_cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray
from tabulate import tabulate

from arena._internal.files import write_json
from arena._internal.process import cores
from arena._internal.terminal import progress
from arena._internal.workdir import staged_directory
from arena.errors import DataError, clip
from benchmarks.release_records import (
    Record,
    abstract_record,
    bad_line,
    citation_record,
    corpus_id,
    huge_text,
    own_survey,
    paper_record,
    text_record,
)
from benchmarks.report import Results, check_range
from corpus_builder.build import check_place
from corpus_builder.executors import EXECUTORS, Executor
from corpus_builder.world import BLOCK, World, WorldConfig

RELEASE = "release.json"
VERSIONS = {"v1": "s2orc", "v2": "s2orc_v2"}
"""Version of the full texts -> name of their dataset."""

_MOST_SHARDS = 10_000
_CHUNK = 1 << 18
_LEVEL = 1  # of compression; higher ones take longer than all the rest
_DRAWS, _NAMES = 20, 21  # purposes of random numbers; a world uses those below
_LETTERS = "abcdefghijklmnopqrstuvwxyz23456789"
_MOST_UNMATCHED = 5  # references of a paper to papers that the release lacks


class ReleasePlan(NamedTuple):
    """What a simulated release is like; see `measure`."""

    world: WorldConfig
    release: str
    shards: int
    full_text: float
    survey_full_text: float
    text_version: str
    bad: float

    @property
    def datasets(self) -> tuple[str, ...]:
        """The datasets of the release; the last one has the full texts."""
        return ("papers", "abstracts", "citations", VERSIONS[self.text_version])


def measure(
    *,
    world: WorldConfig,
    output: str,
    release: str = "2024-02-06",
    shards: int = 16,
    full_text: float = 0.15,
    survey_full_text: float = 1.0,
    text_version: Literal["v1", "v2"] = "v1",
    bad: float = 0.0,
    workers: int | None = None,
    overwrite: bool = False,
) -> Results:
    """Write a literature world in the format of Semantic Scholar's releases.

    The same knobs and settings give the same bytes, whatever `workers`. Every process keeps the
    world, some 550 bytes a paper, besides what it is writing.

    Args:
        world: The world.
        output (DIR): A new or empty directory; gets a folder a dataset, with gzip JSON lines, and
            ``release.json``, as a download leaves them.
        release (DAY): Name of the release.
        shards: Files of each dataset, 1 to 10,000.
        full_text (SHARE): Share of the papers with full text, surveys aside.
        survey_full_text (SHARE): Share of the survey papers with full text.
        text_version: Version of the full texts.
        bad (SHARE): Bad records for every good one, 0 to 0.5; see docs/simulated-releases.md.
        workers: Processes (default: one a processor).
        overwrite: Replace a release in DIR.

    Returns:
        ``datasets``: shards, lines and bytes of each; ``bad``: bad records by kind.

    Raises:
        DataError: if a setting is out of its range, or the world cannot be.
        CorpusError: if `output` cannot be taken.
        OSError: if the disk is full or not writable; nothing is left behind.
    """
    workers = cores() if workers is None else workers
    check_range(1, float("inf"), workers=workers)
    check_range(1, min(_MOST_SHARDS, world.papers), shards=shards)
    check_range(0, 1, full_text=full_text, survey_full_text=survey_full_text)
    check_range(0, 0.5, bad=bad)
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", release, re.ASCII):
        raise DataError(f"--release {clip(release)}: give a day, YYYY-MM-DD.")
    settings = ReleasePlan(world, release, shards, full_text, survey_full_text, text_version, bad)
    check = partial(_check_output, overwrite=overwrite)
    with staged_directory(Path(output), check, manifest=RELEASE) as directory:
        parts = _parts(settings, directory)
        executor: Executor = EXECUTORS.get("local")(min(workers, len(parts)))
        try:
            tasks = executor.run(_write_part, parts)
            written = list(progress(tasks, total=len(parts), desc="simulate", unit="part"))
        finally:
            executor.close()
        files = [file for part in written for file in part]
        files.sort(key=lambda file: str(file.entry["name"]))
        entries = {
            name: [file.entry for file in files if file.dataset == name]
            for name in settings.datasets
        }
        write_json(directory / RELEASE, {"release": release, "datasets": entries})
    datasets = {
        name: {
            "shards": len(of),
            "lines": sum(file.lines for file in files if file.dataset == name),
            "bytes": sum(entry["bytes"] for entry in of),
        }
        for name, of in entries.items()
    }
    bad_lines = sum((file.bad for file in files), Counter[str]())
    return {"datasets": datasets, "bad": dict(sorted(bad_lines.items()))}


def show(results: Results) -> str:
    """Return a table of what `measure` returned."""
    rows = [
        (name, of["shards"], f"{of['lines']:,}", f"{of['bytes'] / 1e6:,.1f}")
        for name, of in results["datasets"].items()
    ]
    bad = [f"bad   {kind}: {count:,}" for kind, count in results["bad"].items()]
    return "\n".join([tabulate(rows, headers=("dataset", "shards", "lines", "MB")), *bad])


def _check_output(output: Path, overwrite: bool) -> None:
    """Raise `CorpusError` if an output holds anything but a release that may be replaced."""
    ours = (RELEASE, "papers", "abstracts", "citations", *VERSIONS.values())
    check_place(output, "release", ours if (output / RELEASE).is_file() else (), overwrite)


class _Part(NamedTuple):
    """A shard of some datasets: the release, number of the shard, and its files by dataset."""

    release: ReleasePlan
    number: int
    files: dict[str, Path]


class _Written(NamedTuple):
    """A written file: what ``release.json`` says of it, its lines, and bad ones by kind."""

    dataset: str
    entry: dict[str, Any]
    lines: int
    bad: Counter[str]


def _parts(settings: ReleasePlan, directory: Path) -> list[_Part]:
    """Return the parts: papers with their texts, and citations, apart."""
    rng, shards = settings.world.rng(_NAMES), settings.shards
    clock = datetime.timedelta(seconds=int(rng.integers(0, 24 * 60 * 60)))
    begin = f"{settings.release}_{clock!s:0>8}".replace("-", "").replace(":", "")
    files: dict[str, list[Path]] = {}
    for dataset in settings.datasets:
        letters = rng.integers(0, len(_LETTERS), (shards, 5)).tolist()
        names = [f"{n:05d}_{''.join(_LETTERS[k] for k in row)}" for n, row in enumerate(letters)]
        # No paper stands in files of the same number, as in a real release.
        turned = np.roll(np.arange(shards), len(files)).tolist()
        files[dataset] = [directory / dataset / f"{begin}_{names[k]}.gz" for k in turned]
    of_papers = [name for name in files if name != "citations"]
    return [
        _Part(settings, number, {dataset: files[dataset][number] for dataset in some})
        for some in (of_papers, ["citations"])
        for number in range(shards)
    ]


def _write_part(part: _Part) -> list[_Written]:
    plan = _plan(part.release.world)
    with ExitStack() as stack:
        outputs = {
            dataset: stack.enter_context(_Output(path, dataset, part))
            for dataset, path in part.files.items()
        }
        write = _write_citations if "citations" in outputs else _write_papers
        write(plan, part, outputs)
    return [out.written() for out in outputs.values()]


class _Output:
    """A new file of gzip JSON lines, without name or time in its header."""

    def __init__(self, path: Path, dataset: str, part: _Part) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path, self._dataset, self._part = path, dataset, part.number
        self._raw, self._lines, self._bad = path.open("xb"), 0, Counter[str]()
        self._gzip = gzip.GzipFile("", "wb", _LEVEL, self._raw, mtime=0)
        self._file = io.BufferedWriter(self._gzip, _CHUNK)
        self._good, self._step = 0, round(1 / part.release.bad) if part.release.bad else 0

    def write(self, record: Record) -> None:
        """Write a good line, and the bad one that may follow."""
        line = orjson.dumps(record) + b"\n"
        self._file.write(line)
        self._good += 1
        self._lines += 1
        if self._step and self._good % self._step == 0:
            self.add(*bad_line(self._dataset, self._part, self._good // self._step, line))

    def add(self, kind: str, line: bytes) -> None:
        """Write a bad line."""
        self._bad[f"{self._dataset}: {kind}"] += 1
        self._file.write(line)
        self._lines += 1

    def written(self) -> _Written:
        """Return what is known of the file, once it is closed."""
        data = self._path.read_bytes()
        md5, sha256 = hashlib.md5(data, usedforsecurity=False), hashlib.sha256(data)
        entry = {"name": self._path.name, "bytes": len(data), "md5": md5.hexdigest(),
                 "sha256": sha256.hexdigest()}  # fmt: skip
        return _Written(self._dataset, entry, self._lines, self._bad)

    def __enter__(self) -> _Output:
        return self

    def __exit__(self, *_: object) -> None:
        with self._raw:
            self._file.close()


class _Plan:
    """A world, and what is known of its papers before their texts."""

    def __init__(self, config: WorldConfig) -> None:
        self.world, self._config = World(config), config
        self._totals = {
            corpus_id(survey["id"]): survey["n_references_total"] for survey in self.world.surveys()
        }

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
        """Sentences in which papers may be cited."""
        texts = (s["text"] for p in self.world.papers(range(1)) for s in p["sections"])
        pairs = (pair for text in texts for pair in pairwise(text.split(". ")))
        return [f"{one} [1]. {other.removesuffix('.')}." for one, other in pairs]

    def draws(self, block: int) -> NDArray[np.uint32]:
        """Return three random numbers for each paper of a block."""
        return self._config.rng(_DRAWS, block).integers(0, 1 << 32, (BLOCK, 3), dtype=np.uint32)

    def unmatched(self, number: int, references: int, draw: int) -> int:
        """Return how many references of a paper lead to papers that the release lacks."""
        total = self._totals.get(number)
        return draw % (_MOST_UNMATCHED + 1) if total is None else total - references

    def papers(self, start: int, stop: int) -> Iterator[tuple[int, Record, list[int]]]:
        """Yield place, record and random numbers of the papers from `start` to `stop`."""
        for block in range(start // BLOCK, -(-stop // BLOCK)):
            draws = self.draws(block).tolist()
            for row, paper in enumerate(self.world.papers(range(block, block + 1))):
                if start <= block * BLOCK + row < stop:
                    yield block * BLOCK + row, paper, draws[row]


_plan = lru_cache(maxsize=1)(_Plan)


def _write_papers(plan: _Plan, part: _Part, outputs: dict[str, _Output]) -> None:
    settings, count = part.release, part.release.world.papers
    cited, influential = plan.cited
    texts = outputs[VERSIONS[settings.text_version]]
    start, stop = (count * (part.number + k) // settings.shards for k in (0, 1))
    for place, paper, draws in plan.papers(start, stop):
        references = len(paper["references"])
        unmatched = plan.unmatched(corpus_id(paper["id"]), references, draws[0])
        counts = references + unmatched, int(cited[place]), int(influential[place])
        record = paper_record(paper, *counts, draws[1], settings.release)
        outputs["papers"].write(record)
        outputs["abstracts"].write(abstract_record(paper, settings.release))
        text = partial(
            text_record, paper, unmatched, draws[1], settings.text_version, settings.release
        )
        share = settings.survey_full_text if paper["is_survey"] else settings.full_text
        if draws[2] < share * (1 << 32):
            texts.write(text())
        if settings.bad and place == 0:
            texts.add("50 MB of text", huge_text(text()))
            outputs["papers"].add("a survey that cites itself", own_survey(record)[0])


def _write_citations(plan: _Plan, part: _Part, outputs: dict[str, _Output]) -> None:
    output, shards, release = outputs["citations"], part.release.shards, part.release.release
    numbers = (plan.world.numbers + 1).tolist()
    if part.release.bad and part.number == 0:
        output.add("a survey that cites itself", own_survey({})[1])
    for block, (citing, cited, marks) in enumerate(plan.world.links()):
        # Spread over the files, as in a real release: no file has all citations of a paper.
        mixed = _mix(citing, cited)
        own = np.flatnonzero(mixed % shards == part.number)
        columns = (column[own].tolist() for column in (citing, cited, marks, mixed >> 20))
        for who, whom, mark, draw in zip(*columns, strict=True):
            link = numbers[who], numbers[whom], mark
            output.write(citation_record(*link, draw, plan.contexts, release))
        # The citations to papers that the release lacks.
        listed = np.bincount(citing - block * BLOCK, minlength=BLOCK).tolist()
        draws = plan.draws(block)[:, 0].tolist()
        for row, number in enumerate(numbers[block * BLOCK : (block + 1) * BLOCK]):
            for k in range(plan.unmatched(number, listed[row], draws[row])):
                if (draws[row] // 7 + k) % shards == part.number:
                    link = number, None, False
                    output.write(citation_record(*link, draws[row] + k, plan.contexts, release))


def _mix(citing: NDArray[np.int64], cited: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a number below 2**62 for each pair, spread evenly."""
    mixed = citing.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= cited.astype(np.uint64) * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return ((mixed ^ (mixed >> np.uint64(32))) >> np.uint64(2)).astype(np.int64)
