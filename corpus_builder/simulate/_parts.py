"""Writes the files of a release, each part in any process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray

from corpus_builder.simulate._bad import Bad, huge_text, own_survey
from corpus_builder.simulate._files import LineFile
from corpus_builder.simulate._full_text import text_record
from corpus_builder.simulate._records import Record, abstract_record, corpus_id, paper_record
from corpus_builder.simulate._settings import Settings
from corpus_builder.world import BLOCK, World, WorldConfig

_PURPOSE = 20  # of random numbers; a world uses those below
_MOST_UNMATCHED = 5  # references of a paper to papers that the release lacks
_CONTEXTS = 0.37  # share of the citations that tell a sentence, as in the official sample


class Part(NamedTuple):
    """One part of a release: a shard of some of its datasets.

    Attributes:
        config: of the world.
        settings: of the release.
        number: of the shard.
        files: what it writes, by dataset.
    """

    config: WorldConfig
    settings: Settings
    number: int
    files: dict[str, Path]


class Written(NamedTuple):
    """What a part has written.

    Attributes:
        files: by dataset, what ``release.json`` says of its file, and the number of lines.
        bad: lines by kind.
    """

    files: dict[str, tuple[dict[str, Any], int]]
    bad: dict[str, int]


def write_part(part: Part) -> Written:
    """Write a part of a release."""
    plan = _plan(part.config)
    with ExitStack() as stack:
        outputs = {
            dataset: _Output(stack.enter_context(LineFile(path)), dataset, part)
            for dataset, path in part.files.items()
        }
        write = _write_citations if "citations" in outputs else _write_papers
        write(plan, part, outputs)
    bad = {kind: n for output in outputs.values() for kind, n in output.bad.counts.items()}
    files = {name: (output.file.entry(), output.file.lines) for name, output in outputs.items()}
    return Written(files, bad)


def forget() -> None:
    """Let go of the world that the last parts written in this process were of."""
    _plan.cache_clear()


class _Output:
    def __init__(self, file: LineFile, dataset: str, part: Part) -> None:
        self.file = file
        self.bad = Bad(dataset, part.number, part.settings.bad)

    def write(self, line: bytes) -> None:
        self.file.write(line)
        for bad in self.bad.after(line):
            self.file.write(bad)

    def add(self, kind: str, line: bytes) -> None:
        self.bad.count(kind)
        self.file.write(line)


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


def _write_papers(plan: _Plan, part: Part, outputs: dict[str, _Output]) -> None:
    settings, count = part.settings, part.config.papers
    cited, influential = plan.cited
    start, stop = (count * (part.number + k) // settings.shards for k in (0, 1))
    for place, paper, draws in plan.papers(start, stop):
        release, references = settings.release, len(paper["references"])
        unmatched = plan.unmatched(paper["id"], references, draws[0])
        record = paper_record(
            paper,
            references + unmatched,
            int(cited[place]),
            int(influential[place]),
            draws[1],
            release,
        )
        outputs["papers"].write(orjson.dumps(record) + b"\n")
        outputs["abstracts"].write(orjson.dumps(abstract_record(paper, release)) + b"\n")
        share = settings.survey_full_text if paper["is_survey"] else settings.full_text
        has_text = draws[2] < share * (1 << 32)
        special = settings.bad and place == 0
        if has_text or special:
            text = text_record(paper, unmatched, draws[1], settings.text_version, release)
            if has_text:
                outputs[settings.texts].write(orjson.dumps(text) + b"\n")
            if special:
                outputs[settings.texts].add("50 MB of text", huge_text(text))
                outputs["papers"].add("a survey that cites itself", own_survey(record)[0])


def _write_citations(plan: _Plan, part: Part, outputs: dict[str, _Output]) -> None:
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
    part: Part,
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
    told, intents = "null", "null"
    if draw % 100 < 100 * _CONTEXTS and contexts:
        wanted = 1 + draw // 100 % 3
        first = draw // 300 % len(contexts)
        told = f"[{','.join(contexts[first : first + wanted])}]"
        intents = '["background","methodology"]' if mark else '["background"]'
    return (
        f'{{"citingcorpusid":"{citing}","citedcorpusid":{cited},'
        f'"isinfluential":{"true" if mark else "false"},"contexts":{told},"intents":{intents},'
        f'"updated":"{updated}"}}\n'
    ).encode()


def _mix(citing: NDArray[np.int64], cited: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a number below 2**62 for each pair, spread evenly."""
    mixed = citing.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= cited.astype(np.uint64) * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return ((mixed ^ (mixed >> np.uint64(32))) >> np.uint64(2)).astype(np.int64)
