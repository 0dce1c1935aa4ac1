"""A built corpus, opened. Papers are reached only through a view of it at a cutoff."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena import layout
from arena._files import sha256_file, sha256_json
from arena._store import Store
from arena.dates import parse_date
from arena.errors import CorpusError
from arena.view import CorpusView

if TYPE_CHECKING:
    from arena.retrieval import Retriever


class Corpus:
    """A built corpus directory, memory-mapped.

    Any number of threads and processes may share it; pickling passes the path on.

    >>> corpus = Corpus.open("demo/world")                              # doctest: +SKIP
    >>> [hit.title for hit in corpus.at("2015-06-01").search("lattice", k=3)]  # doctest: +SKIP
    """

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory).resolve()
        self.manifest = layout.read_manifest(self.directory)
        self._store = Store(self.directory)
        self._retrievers: dict[str, Retriever] = {}

    @classmethod
    def open(cls, directory: str | Path) -> Corpus:
        """Open the corpus in `directory`.

        Raises:
            CorpusError: if there is none, or it is damaged or of another format version.
        """
        return cls(directory)

    @property
    def sha256(self) -> str:
        """The hash of the papers and tasks, independent of file formats and input order."""
        return str(self.manifest["content_sha256"])

    def at(
        self,
        cutoff: str | dt.date,
        exclude: Iterable[str] | None = (),
        retriever: str | Retriever = "bm25",
    ) -> CorpusView:
        """Return the corpus as it was before `cutoff`.

        Args:
            cutoff: the first day that is out of reach. A year stands for its 31 December, a
                month for its last day.
            exclude: ids of papers that shall not exist in the view. An id that the corpus does
                not know is passed over, since a survey need not be among the papers.
            retriever: the engine behind ``search``, by name or opened by `retriever()` of this
                corpus.

        Raises:
            DataError: if `cutoff` is no date or `exclude` no list of ids.
            CorpusError: if another corpus opened the retriever. What `retriever()` raises for a
                name comes with the first search, which opens it.
        """
        if not isinstance(retriever, str) and retriever not in self._retrievers.values():
            raise CorpusError(
                f"the retriever {type(retriever).__name__} was not opened by this corpus. "
                "Pass corpus.retriever(name)."
            )
        return CorpusView(self._store, parse_date(cutoff).day, exclude, retriever, self.retriever)

    def retriever(self, name: str = "bm25", **options: Any) -> Retriever:
        """Open (once) the engine `name` over this corpus.

        Args:
            name: a registered retriever.
            options: the engine's own, such as ``statistics="corpus"`` for ``bm25``.

        Raises:
            UnknownNameError: if no engine has that name.
            CorpusError: if its index is missing, damaged or was built for another corpus.
        """
        from arena.retrieval import RETRIEVERS

        key = f"{name} {sha256_json(options)}"
        if key not in self._retrievers:
            engine = RETRIEVERS.get(name)
            self._retrievers[key] = engine.open(self._checked_index(name), **options)
        return self._retrievers[key]

    def index_sha256(self, name: str) -> str:
        """Return the hash of the index of engine `name`: of its manifest, which names its files.

        Raises:
            CorpusError: if its index is missing, damaged or was built for another corpus.
        """
        return sha256_file(self._checked_index(name) / layout.MANIFEST)

    def _document_number(self, paper_id: str) -> int | None:
        """Return a document number whatever the date, to break ties in foreign runs."""
        return self._store.document(paper_id)

    def _checked_index(self, name: str) -> Path:
        directory = layout.index_directory(self.directory, name)
        if not directory.exists():
            raise CorpusError(
                f"{str(self.directory)!r} has no index {name!r}. Build the corpus again."
            )
        manifest = layout.read_manifest(directory, f"{name} index")
        if manifest["corpus"] != self.sha256:
            raise CorpusError(
                f"the index in {str(directory)!r} was built for corpus {manifest['corpus'][:12]}, "
                f"this is {self.sha256[:12]}. Build the corpus again."
            )
        return directory

    def __reduce__(self) -> tuple[type[Corpus], tuple[str]]:
        return type(self), (str(self.directory),)

    def __repr__(self) -> str:
        return f"Corpus({str(self.directory)!r})"
