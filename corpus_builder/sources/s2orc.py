"""Semantic Scholar's dataset files: the source named ``s2orc``."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, ClassVar

from arena.errors import DataError, did_you_mean
from corpus_builder.release import RecordLimits, Release, Shard, Sink
from corpus_builder.release.folder import ReleaseFolder, existing_folder, find_shards, no_shards
from corpus_builder.release.s2orc import parse_abstract, parse_citation, parse_paper, parse_text
from corpus_builder.sources.base import SOURCES

DATASETS = ("papers", "abstracts", "citations", "s2orc", "s2orc_v2")
_TEXTS = ("s2orc", "s2orc_v2")
_WITHOUT = {
    "abstracts": "abstracts come from full texts alone",
    "citations": "references come from bibliographies alone, and the release marks none as "
    "influential",
    "s2orc": "no full text, no in-text mentions",
}


@SOURCES.register("s2orc")
class S2orc(Release):
    """Semantic Scholar's dataset files: papers, abstracts, citations, full texts.

    Args:
        input: Folder of the files, ``<dataset>/*.gz`` or ``<dataset>-*.jsonl``.
        datasets: Datasets to read; None for all in the folder.
        reviews: Count papers of the publication type ``Review`` as surveys.

    Raises:
        DataError: If the directory is none, or a dataset has no such name.
    """

    example: ClassVar[str] = "--input DIR --config configs/s2orc.yaml"

    def __init__(
        self,
        input: str | Path,
        datasets: tuple[str, ...] | None = None,
        reviews: bool = False,
    ) -> None:
        self._path = existing_folder(input)
        self._datasets = DATASETS if datasets is None else datasets
        for name in self._datasets:
            if name not in DATASETS:
                raise DataError(f"no dataset named {name!r}.{did_you_mean(name, DATASETS)}")
        self._chosen = datasets is not None
        self._reviews = reviews

    @property
    def year(self) -> int | None:
        """The year of the release, if ``release.json`` or the file names give it."""
        release = self._find().release or ""
        return int(release[:4]) if release[:4].isascii() and release[:4].isdigit() else None

    def shards(self) -> list[Shard]:
        """Return all shards, ordered by name."""
        return self._find().shards

    def parse(self, dataset: str, record: Any, sink: Sink, limits: RecordLimits) -> None:
        """Turn one record into rows."""
        if dataset == "citations":
            parse_citation(record, sink)
        elif dataset == "papers":
            parse_paper(record, sink, limits, self._reviews)
        elif dataset == "abstracts":
            parse_abstract(record, sink)
        else:
            parse_text(record, sink, limits)

    def describe(self) -> dict[str, Any]:
        """Return the release, the number of shards of each dataset, and what is missing."""
        folder = self._find()
        counts = Counter(shard.dataset for shard in folder.shards)
        if "s2orc_v2" in counts:
            missing = {name: why for name, why in _WITHOUT.items() if name != "s2orc"}
        else:
            missing = _WITHOUT
        return {
            "source": "s2orc",
            "release": folder.release,
            "shards": dict(counts),
            "missing": {name: why for name, why in missing.items() if name not in counts},
            "reviews": self._reviews,
        }

    def _find(self) -> ReleaseFolder:
        folder = find_shards(self._path, self._datasets, "s2orc")
        there = {shard.dataset for shard in folder.shards}
        wanted = [name for name in self._datasets if self._chosen or name == "papers"]
        for name in ["papers", *wanted]:
            if name not in there:
                layouts = f"no file {name}/*.gz or {name}-*.jsonl"
                if name not in self._datasets:
                    layouts = "it is required, but not among the datasets named"
                raise no_shards(self._path, name, layouts)
        if there.issuperset(_TEXTS):
            raise DataError(
                f"{str(self._path)!r} holds the full texts twice, as s2orc and as s2orc_v2. Name "
                "the datasets to read: --datasets papers,abstracts,citations,s2orc_v2"
            )
        return folder
