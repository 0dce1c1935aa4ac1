"""A built corpus, opened. Papers are reached only through a view of it at a cutoff."""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena._internal.files import sha256_file, sha256_json
from arena.corpus import indexes, layout
from arena.corpus.store import Store
from arena.corpus.view import CorpusView
from arena.dates import parse_date
from arena.errors import CorpusError, DataError, UnknownNameError, clip, did_you_mean

if TYPE_CHECKING:
    from arena.retrieval import Retriever
    from arena.retrieval._names import Name


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
        self._opening = threading.RLock()

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
            cutoff: the first day that is out of reach. A year stands for its 31 December, a
                month for its last day.
            exclude: ids of papers that shall not exist in the view. An id that the corpus does
                not know is passed over, since a survey need not be among the papers.
            retriever: the engine behind ``search``: a name as `retriever()` takes it, or what
                `retriever()` of this corpus returned.

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

    def retriever(self, name: str = "bm25", /, **options: Any) -> Retriever:
        """Open (once) the engine `name` over this corpus.

        Args:
            name: an index of this corpus, which by default is called like its engine, or a
                combination such as ``"hybrid(bm25,dense)"``.
            options: the engine's own, such as ``statistics="corpus"`` for ``bm25``. A combination
                takes those of a part as a mapping under the part's name.

        Raises:
            UnknownNameError: if no index and no engine has that name.
            DataError: if the name is malformed, or an option is unknown or out of its range.
            CorpusError: if the index is missing, damaged or was built for another corpus; the
                message names the command that builds it.
        """
        from arena.retrieval._names import parse_name

        if not isinstance(name, str):
            raise self._unknown(name)
        with self._opening:
            return self._open(parse_name(name), options)

    def index_sha256(self, name: str) -> str:
        """Return the hash of the index `name`: of its manifest, which names its files.

        Of a combination it is the hash of its canonical name and the hashes of its parts.

        Raises:
            UnknownNameError, DataError, CorpusError: as `retriever`.
        """
        from arena.retrieval._names import parse_name

        return self._index_sha256(parse_name(name))

    def _index_sha256(self, name: Name) -> str:
        if name.parts:
            return sha256_json([str(name), [self._index_sha256(part) for part in name.parts]])
        self._checked_index(name.name)
        return sha256_file(layout.index_directory(self.directory, name.name) / layout.MANIFEST)

    def _open(self, name: Name, options: dict[str, Any]) -> Retriever:
        from arena.retrieval._names import combine

        try:
            key = f"{name} {sha256_json(options)}"
        except TypeError as error:
            raise DataError(f"the options of {name} must be what JSON can hold: {error}.") from None
        if key not in self._retrievers:
            if name.parts:
                engine = combine(name, options, self._open)
            else:
                engine = self._open_index(name.name, options)
            self._retrievers[key] = engine
        return self._retrievers[key]

    def _open_index(self, name: str, options: dict[str, Any]) -> Retriever:
        from arena.retrieval import RETRIEVERS

        made_by = self._checked_index(name)["engine"]
        if "directory" in options:  # the one name that `open` takes already
            raise DataError(f"{made_by} has no option 'directory'.")
        directory = layout.index_directory(self.directory, name)
        try:
            return RETRIEVERS.get(made_by).open(directory, **options)
        except FileNotFoundError as error:
            if not Path(str(error.filename)).is_relative_to(directory):
                raise
            raise CorpusError(
                f"{str(error.filename)!r} is missing: another release wrote this index. "
                f"Build it again with `{indexes.rebuild_command(self.directory, name)}`."
            ) from None
        except CorpusError as error:
            if "`arena-corpus index" in str(error):
                raise
            command = indexes.rebuild_command(self.directory, name)
            raise CorpusError(f"{error} For this index alone: `{command}`.") from None

    def _document_number(self, paper_id: str) -> int | None:
        """Return a document number whatever the date, to break ties in foreign runs."""
        return self._store.document(paper_id)

    def _checked_index(self, name: str) -> dict[str, Any]:
        """Return the manifest of an index of this corpus, or say why there is none."""
        from arena.retrieval import RETRIEVERS
        from arena.retrieval._names import Combiner, refuse_alone
        from arena.text.analyzer import NAME as ANALYZER

        if indexes.has_index(self.directory, name):
            manifest = indexes.read_index(self.directory, name, self.sha256)
            if manifest.get("analyzer", ANALYZER) != ANALYZER:
                raise CorpusError(
                    f"the index {name!r} of {str(self.directory)!r} was made by the analyzer "
                    f"{clip(manifest['analyzer'])}, this release has {ANALYZER!r}. Build it again "
                    f"with `{indexes.rebuild_command(self.directory, name)}`."
                )
            if manifest["engine"] in RETRIEVERS.names():
                return manifest
            raise CorpusError(
                f"the index {name!r} of {str(self.directory)!r} was made by the engine "
                f"{clip(manifest['engine'])}, which is not installed."
                f"{did_you_mean(manifest['engine'], RETRIEVERS.names())}"
            )
        if name not in RETRIEVERS.names():
            raise self._unknown(name)
        kind = RETRIEVERS.get(name)
        if issubclass(kind, Combiner):
            refuse_alone(kind)
        raise CorpusError(
            f"{str(self.directory)!r} has no index {name!r}. Build it with "
            f"`{indexes.build_command(self.directory, name)}`."
        )

    def _unknown(self, name: object) -> UnknownNameError:
        from arena.retrieval import RETRIEVERS

        known = {*RETRIEVERS.names(), *indexes.index_names(self.directory)}
        return UnknownNameError(f"no retriever named {clip(name)}.{did_you_mean(name, known)}")

    def __reduce__(self) -> tuple[type[Corpus], tuple[str]]:
        return type(self), (str(self.directory),)

    def __repr__(self) -> str:
        return f"Corpus({str(self.directory)!r})"
