"""A built corpus, opened. Papers are reached only through a view of it at a cutoff."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.corpus import layout
from arena.corpus.engines import Engines
from arena.corpus.store import CorpusStore
from arena.corpus.view import CorpusView
from arena.dates import parse_date
from arena.errors import CorpusError, DataError, clip

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
        self.engines = Engines(self.directory, self.sha256)
        self._store = CorpusStore(self.directory)

    @classmethod
    def open(cls, directory: str | Path) -> Corpus:
        """Open the corpus in `directory`.

        Raises:
            CorpusError: if there is none, or it is damaged or of another format version.
        """
        return cls(directory)

    @classmethod
    def of(cls, corpus: Corpus | str | Path) -> Corpus:
        """Return `corpus` itself if it is open already, else open the directory.

        Raises:
            CorpusError: The directory holds no built corpus.
            DataError: `corpus` is neither a corpus nor a directory.
        """
        if isinstance(corpus, cls):
            return corpus
        if not isinstance(corpus, str | Path):
            raise DataError(f"corpus={clip(corpus)}: give a built corpus, or its directory.")
        return cls.open(corpus)

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
            cutoff: First day that is out of reach. A year stands for its 31 December, a month for
                its last day.
            exclude: Ids of papers that do not exist in the view. An id that the corpus does not
                know is ignored, since a survey need not be among the papers.
            retriever: Engine behind ``search``: a name as `retriever()` takes it, or what
                `retriever()` of this corpus returned.

        Raises:
            DataError: if `cutoff` is no date or `exclude` no list of ids.
            CorpusError: if another corpus opened the retriever. The first search opens an engine
                that is given by name, and raises what `retriever()` raises.
        """
        if not isinstance(retriever, str) and retriever not in self.engines.opened.values():
            raise CorpusError(
                f"the retriever {type(retriever).__name__} was not opened by this corpus. "
                "Pass corpus.retriever(name)."
            )
        return CorpusView(self._store, parse_date(cutoff).day, exclude, retriever, self.retriever)

    def retriever(self, name: str = "bm25", /, **options: Any) -> Retriever:
        """Open (once) the engine `name` over this corpus.

        Args:
            name: An index of this corpus, which by default is called like its engine, or a
                combination such as ``"hybrid(bm25,dense)"``.
            options: Options of the engine, such as ``statistics="corpus"`` for ``bm25``. A
                combination takes those of a part as a mapping under the part's name.

        Raises:
            UnknownNameError: if no index and no engine has that name.
            DataError: if the name is malformed, or an option is unknown or out of its range.
            CorpusError: if the index is missing, damaged or was built for another corpus; the
                message names the command that builds it.
        """
        return self.engines.open(name, options)

    def index_sha256(self, name: str) -> str:
        """Return the hash of the index `name`: of its manifest, which names its files.

        The hash of a combination covers its canonical name and the hashes of its parts.

        Raises:
            UnknownNameError, DataError, CorpusError: as `retriever`.
        """
        return self.engines.index_sha256(name)

    def document_number(self, paper_id: str) -> int | None:
        """Return the number of a document whatever its date, to break ties in other runs."""
        return self._store.document(paper_id)

    def __reduce__(self) -> tuple[type[Corpus], tuple[str]]:
        return type(self), (str(self.directory),)

    def __repr__(self) -> str:
        return f"Corpus({str(self.directory)!r})"
