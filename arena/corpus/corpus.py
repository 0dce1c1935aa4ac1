"""A built corpus, opened. Papers are reached only through a view of it at a cutoff."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.corpus import layout
from arena.corpus.digests import Digests
from arena.corpus.indexes import Engines
from arena.corpus.integrity import require_intact
from arena.corpus.schemes import resolve_directory
from arena.corpus.store import CorpusStore
from arena.corpus.view import CorpusView, ListedView
from arena.dates import format_day, parse_cutoff
from arena.errors import CorpusError, DataError, clip
from arena.retrieval import parse_name

if TYPE_CHECKING:
    from arena.retrieval import Retriever


class Corpus:
    """A built corpus directory, memory-mapped.

    Any number of threads and processes may share it. The object, its forks and its pickles keep to
    one corpus: where another one takes its place they continue with the old files, or raise
    `CorpusError`.

    >>> corpus = Corpus.open("demo/synthetic")                              # doctest: +SKIP
    >>> [hit.title for hit in corpus.at("2015-06-01").search("lattice", k=3)]  # doctest: +SKIP
    """

    def __init__(
        self,
        directory: str | Path,
        *,
        check: bool = True,
        sha256: str | None = None,
        tasks: str | Path | None = None,
    ) -> None:
        """Open the corpus in `directory`.

        Args:
            directory: Directory that ``arena-corpus build`` wrote; or a text that a corpus scheme
                knows, such as ``synthetic:seed=7,papers=1000``.
            check: Compare every file with its hash when it is first opened on this machine. The
                small arrays that decide dates are compared at every opening in any case.
            sha256: Content hash that the corpus must have.
            tasks: Directory that ``arena-corpus tasks`` wrote, whose tasks take the place of the
                corpus' surveys.
        """
        if not isinstance(directory, str | Path):
            raise DataError(f"corpus={clip(directory)}: give a built corpus, or its directory.")
        self.directory = resolve_directory(directory).resolve()
        self.manifest = layout.read_manifest(self.directory)
        if sha256 not in (None, self.sha256):
            raise self._replaced()
        files, small = self.manifest["files"], layout.DECIDE_DATES
        names = None if check else small
        require_intact(self.directory, files, names=names, always=small)
        self._store = CorpusStore(self.directory)
        if layout.read_manifest(self.directory)["files"] != files:  # replaced in the meantime
            raise self._replaced()
        self._check = check
        self._tasks = None if tasks is None else self._open_tasks(tasks)
        self.engines = Engines(self.directory, self.sha256, check)

    def _replaced(self) -> CorpusError:
        return CorpusError(
            f"{str(self.directory)!r} was built again since it was opened. Open the corpus again."
        )

    def _open_tasks(self, tasks: str | Path) -> tuple[Path, dict[str, Any]]:
        place = Path(tasks).resolve()
        manifest = layout.read_manifest(place, layout.TASK_SET)
        if manifest["corpus"] != self.sha256:
            raise CorpusError(
                f"{str(tasks)!r} contains tasks of corpus {clip(manifest['corpus'])}, this is "
                f"{self.sha256!r}. Name its corpus, or make tasks of this one."
            )
        return place, manifest

    @classmethod
    def open(
        cls, directory: str | Path, *, check: bool = True, tasks: str | Path | None = None
    ) -> Corpus:
        """Open the corpus in `directory`; for the arguments see `__init__`."""
        return cls(directory, check=check, tasks=tasks)

    @classmethod
    def resolve(cls, corpus: Corpus | str | Path, tasks: str | Path | None = None) -> Corpus:
        """Return `corpus` itself if it is open already and needs no other tasks, else open it."""
        if not isinstance(corpus, cls):
            return cls(corpus, tasks=tasks)  # type: ignore[arg-type]
        if tasks is None:
            return corpus
        return cls(corpus.directory, check=corpus._check, sha256=corpus.sha256, tasks=tasks)

    @property
    def task_files(self) -> tuple[Path, dict[str, Any]]:
        """Where the tasks lie and their manifest: those of the corpus, or of a task set."""
        return self._tasks or (self.directory, self.manifest)

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
            cutoff: First day that is out of reach. A year stands for its 1 January, a month for its
                first day.
            exclude: Ids of papers that do not exist in the view. An id that the corpus does not
                know is ignored, since a survey need not be among the papers.
            retriever: Engine behind ``search``: a name as `retriever()` takes it, or what
                `retriever()` of this corpus returned.
        """
        by = (retriever, {}) if isinstance(retriever, str) else self.engines.name_of(retriever)
        day = parse_cutoff(cutoff).day

        def again(ids: list[str]) -> tuple[Any, ...]:
            return _view_of, (self, format_day(day), ids, *by)

        return CorpusView(self._store, day, exclude, retriever, self.retriever, again)

    def listed(self, cutoff: str | dt.date, papers: Iterable[str]) -> ListedView:
        """Return a view of these papers alone, whatever their dates; `at` says what a cutoff is.

        It is for labels whose papers are given to an agent, see ``references="expert"``.
        """
        day = parse_cutoff(cutoff).day
        return ListedView(
            self._store, day, papers, lambda ids: (Corpus.listed, (self, format_day(day), ids))
        )

    def retriever(self, name: str = "bm25", /, **options: Any) -> Retriever:
        """Open (once) an index of this corpus, or a combination such as ``"hybrid(bm25,dense)"``.

        Options are those of the engine, such as ``statistics="corpus"`` for ``bm25``; a combination
        takes those of a part as a mapping under the part's name.
        """
        return self.engines.open(parse_name(name), options)

    def index_sha256(self, name: str) -> str:
        """Return the hash of the index `name`: of its manifest, which names its files.

        The hash of a combination covers its canonical name and the hashes of its parts.
        """
        return self.engines.sha256_of(parse_name(name))

    def digests(self, name: str) -> Digests:
        """Open the digests of the input `name`; see `Digests`."""
        return Digests(self.directory, name, self.sha256, self._store.document, self._check)

    def document_number(self, paper_id: str) -> int | None:
        """Return the number of a document whatever its date, to break ties in other runs."""
        return self._store.document(paper_id)

    def __reduce__(self) -> tuple[Any, ...]:
        again = partial(type(self), check=self._check, sha256=self.sha256)
        return again, (str(self.directory),), (self.engines.hashes, self._tasks)

    def __setstate__(self, state: tuple[dict[str, str], Any]) -> None:
        self.engines.hashes, self._tasks = dict(state[0]), state[1]

    def __repr__(self) -> str:
        return f"Corpus({str(self.directory)!r})"


def _view_of(
    corpus: Corpus, cutoff: str, exclude: list[str], name: str, options: dict[str, Any]
) -> CorpusView:
    return corpus.at(cutoff, exclude, corpus.retriever(name, **options) if options else name)
