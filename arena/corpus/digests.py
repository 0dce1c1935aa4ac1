"""Digests of papers: what a language model made of each paper's own text, next to the corpus."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import NamedTuple

import numpy as np

from arena.corpus import layout
from arena.corpus.integrity import require_intact
from arena.errors import CorpusError, clip
from arena.kit.arrays import StringTable, load_array
from arena.kit.files import sha256_file

TITLE_ABSTRACT = "title_abstract"
"""The input without a digest: title and abstract."""


class ShownDigests(NamedTuple):
    """The digests that an episode shows: a heading, and the digest of a paper or an empty text."""

    heading: str
    text: Callable[[str], str]


class Digests:
    """The digests of one input, opened by `Corpus.digests`; see `arena.paper_texts`.

    It has texts of all dates: only who reached a paper through a view may ask for its digest.
    `complete` says whether every searchable paper was digested, not only references of surveys.
    """

    def __init__(
        self,
        corpus: Path,
        name: str,
        content: str,
        number: Callable[[str], int | None],
        check: bool = True,
    ) -> None:
        registered = layout.read_manifest(corpus, check_files=False).get("digests", {})
        directory = layout.digest_directory(corpus, name)
        if name not in registered:
            raise CorpusError(
                f"{str(corpus)!r} has no digests {clip(name)}. Make them first.", directory
            )
        manifest = layout.read_manifest(directory, "digest")
        self.sha256 = sha256_file(directory / layout.MANIFEST)
        if self.sha256 != registered[name] or manifest["corpus"] != content:
            raise CorpusError(
                f"{str(directory)!r} is damaged or of another corpus. Make it again.", directory
            )
        require_intact(directory, manifest["files"], names=None if check else ())
        self.heading, self.complete = str(manifest["heading"]), manifest["papers"] == "all"
        self._documents = load_array(directory / "documents.npy", np.uint32)
        self._texts = StringTable(directory / "texts", len(self._documents))
        self._number = number

    def shown(self, given: Collection[str]) -> ShownDigests:
        """Return the digests that an episode may show.

        If only references of surveys have one, a digest would reveal that a survey cites the
        paper: then those of the papers in `given`, with which the episode begins, and no others.
        """
        if self.complete:
            return ShownDigests(self.heading, self.text)
        known = frozenset(given)
        return ShownDigests(self.heading, lambda paper: self.text(paper) if paper in known else "")

    def text(self, paper_id: str) -> str:
        """Return the digest of a paper; empty if it has none."""
        document = self._number(paper_id)
        if document is None:
            return ""
        place = int(np.searchsorted(self._documents, document))
        found = place < len(self._documents) and self._documents[place] == document
        return self._texts[place] if found else ""
