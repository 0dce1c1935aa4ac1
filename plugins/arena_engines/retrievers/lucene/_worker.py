"""Write a Lucene index, or search one, in the process of a `JavaProcess`.

A written index has one segment, its documents in the order in which they came.
"""

from __future__ import annotations

import itertools
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from arena.kit.process import cores
from arena_engines.retrievers.lucene import _java

FIELD = "text"
_SEGMENT_TOKENS = 16_000_000  # terms that are gathered in memory
_MEMORY_MB = 256.0
_LONGEST_TERM = 1024  # of 255 characters, each up to two of Java's
_SCOPES, _TERMS = 64, 1024  # how many scopes keep their terms, and how many terms each


def write(
    texts: Iterable[str], directory: Path, segment_tokens: int = _SEGMENT_TOKENS
) -> dict[str, int]:
    """Write an index of texts, terms with blanks between; return counts of terms and postings."""
    java = _java.start()
    lucene = java.lucene
    directory.mkdir(parents=True, exist_ok=True)
    path = java("java.nio.file.Paths").get(str(directory))
    store = lucene("store.MMapDirectory")(path)
    writer = lucene("index.IndexWriter")(store, _configuration(java))
    field, document = _document(java)
    set_text, add, tokens = field.setStringValue, writer.addDocument, 0
    for text in texts:
        set_text(text)
        add(document)
        tokens += text.count(" ") + 1
        # By what the documents are and not by the memory they take: the same segments each time.
        if tokens >= segment_tokens:
            writer.flush()
            tokens = 0
    writer.forceMerge(1)
    writer.commit()
    writer.close()
    counts = _strip_and_count(java, store)
    store.close()
    (directory / "write.lock").unlink(missing_ok=True)
    return counts


def _configuration(java: _java.Java) -> Any:
    lucene = java.lucene
    analyzer = lucene("analysis.core.WhitespaceAnalyzer")(_LONGEST_TERM)
    configuration = lucene("index.IndexWriterConfig")(analyzer)
    configuration.setOpenMode(lucene("index.IndexWriterConfig$OpenMode").CREATE)
    configuration.setRAMBufferSizeMB(_MEMORY_MB)
    configuration.setUseCompoundFile(False)
    # Merges neighbours only, in this thread: documents keep their order.
    policy = lucene("index.LogDocMergePolicy")()
    policy.setNoCFSRatio(0.0)
    policy.setMergeFactor(50)
    configuration.setMergePolicy(policy)
    configuration.setMergeScheduler(lucene("index.SerialMergeScheduler")())
    return configuration


def _document(java: _java.Java) -> tuple[Any, Any]:
    lucene = java.lucene
    kind = lucene("document.FieldType")()
    kind.setIndexOptions(lucene("index.IndexOptions").DOCS_AND_FREQS)
    kind.setTokenized(True)
    kind.freeze()
    field = lucene("document.Field")(
        FIELD,
        java.cast("java.lang.CharSequence", java("java.lang.String")("")),
        java.cast("org.apache.lucene.index.IndexableFieldType", kind),
    )
    document = lucene("document.Document")()
    document.add(field)
    return field, document


def _strip_and_count(java: _java.Java, store: Any) -> dict[str, int]:
    """Take clock and machine out of the segment's description; count its terms and postings."""
    lucene = java.lucene
    infos = lucene("index.SegmentInfos").readLatestCommit(store)
    counts = {"terms": 0, "postings": 0}
    if infos.size():
        old = infos.info(0).info
        new = lucene("index.SegmentInfo")(
            old.dir, old.getVersion(), old.getMinVersion(), old.name, old.maxDoc(),
            old.getUseCompoundFile(), old.getHasBlocks(), old.getCodec(),
            java("java.util.HashMap")(), old.getId(), old.getAttributes(), None,
        )  # fmt: skip
        name = f"{old.name}.si"
        files = java("java.util.HashSet")(old.files())
        files.remove(name)
        new.setFiles(files)
        store.deleteFile(name)
        context = lucene("store.IOContext").DEFAULT
        old.getCodec().segmentInfoFormat().write(store, new, context)
        reader = lucene("index.DirectoryReader").open(store)
        terms = reader.leaves().get(0).reader().terms(FIELD)
        if terms is not None:
            counts = {"terms": terms.size(), "postings": terms.getSumDocFreq()}
        reader.close()
    return counts


class _Scope:
    """The state that all searches of one scope share.

    `ranges` are those [low, high) of Lucene's documents that exist, `hidden` the others, if it is
    quicker to count those. `all_count` says whether document frequencies are of the whole index.
    """

    def __init__(
        self, index: Index, end: int, excluded: tuple[int, ...], of_scope: bool, *counted: int
    ) -> None:
        self.searcher, whole = index.searcher(*counted), index.shape[0]
        edges = [-1, *excluded, end]
        self.ranges = [(low + 1, high) for low, high in itertools.pairwise(edges) if low + 1 < high]
        self.hidden = None
        if end > whole // 2:
            self.hidden = [*((d, d + 1) for d in excluded), (end, whole)]
        self.all_count = not of_scope or self.ranges == [(0, whole)]
        self.query = lru_cache(_TERMS)(partial(index.query, self))


class Index:
    """An opened index; several threads may search. `shape`: its documents and segments.

    pyjnius keeps the object of a call in one place for all threads until the call begins. So every
    call takes a lock, except static methods without an overload: `score` of `_java.SIMILARITY`.
    """

    def __init__(self, directory: Path, k1: float, b: float) -> None:
        java = _java.start()
        self._lucene, self._lock = java.lucene, threading.Lock()
        self._similarity = partial(java(_java.SIMILARITY), k1, b)
        self._score = java(_java.SIMILARITY).score
        # One call for all hits: as objects of pyjnius they take ten times as long.
        self._json = java("com.fasterxml.jackson.databind.ObjectMapper")()
        path = java("java.nio.file.Paths").get(str(directory))
        store = self._lucene("store.MMapDirectory")(path)
        reader = self._lucene("index.DirectoryReader").open(store)
        self._reader = java.cast("org.apache.lucene.index.IndexReader", reader)
        leaves = reader.leaves()
        self.shape = [reader.maxDoc(), leaves.size()]
        self._leaf = leaves.get(0) if leaves.size() else None
        self._scope = lru_cache(_SCOPES)(partial(_Scope, self))

    def search(
        self,
        terms: list[tuple[str, int]],
        k: int,
        end: int,
        excluded: list[int],
        statistics: list[Any],
    ) -> str:
        """Return Lucene's ``TopDocs`` of the `k` >= 1 best documents as JSON, best first.

        `terms` are distinct, with their frequencies in the query. Documents below `end` exist,
        except the `excluded`, ascending. `statistics` say whether document frequencies count the
        scope alone, how many documents count, and how many terms they have.
        """
        scope = self._scope(end, tuple(excluded), *statistics)
        found = [(scope.query(term), times) for term, times in terms]
        boost = self._lucene("search.BoostQuery")
        should = self._lucene("search.BooleanClause$Occur").SHOULD
        with self._lock:
            builder = self._lucene("search.BooleanQuery$Builder")()
            for query, times in found:
                if query is not None:
                    builder.add(query if times == 1 else boost(query, float(times)), should)
            whole = builder.build()
            collector = self._lucene("search.TopScoreDocCollector").create(k, 0)
        self._collect(scope, whole, "TOP_SCORES", collector, scope.ranges)
        with self._lock:
            return str(self._json.writeValueAsString(collector.topDocs()))

    def searcher(self, documents: int, length: int) -> Any:
        """Return Lucene's searcher with the statistics of so many documents and terms."""
        with self._lock:
            similarity = self._similarity()
            similarity.documents = documents
            similarity.average = length / max(documents, 1)
            searcher = self._lucene("search.IndexSearcher")(self._reader)
            searcher.setSimilarity(similarity)
            searcher.setQueryCache(None)
            return searcher

    def query(self, scope: _Scope, term: str) -> Any:
        """Return the query for a term with its document frequency; None if it has none."""
        term_query = self._lucene("search.TermQuery")
        with self._lock:
            java_term = self._lucene("index.Term")(FIELD, term)
            states = self._lucene("index.TermStates").build(scope.searcher, java_term, True)
            frequency = states.docFreq()
            query = term_query(java_term, states) if frequency else None
        if query is None or scope.all_count:
            return query
        with self._lock:
            counter = self._lucene("search.TotalHitCountCollector")()
        self._collect(scope, query, "COMPLETE_NO_SCORES", counter, scope.hidden or scope.ranges)
        with self._lock:
            counted = counter.getTotalHits()
            frequency = frequency - counted if scope.hidden else counted
            state = states.get(self._leaf)
            states = self._lucene("index.TermStates")(scope.searcher.getTopReaderContext())
            states.register(state, 0, frequency, frequency)
            return term_query(java_term, states) if frequency else None

    def _collect(
        self, scope: _Scope, query: Any, mode: str, collector: Any, ranges: list[tuple[int, int]]
    ) -> None:
        """Run `query` over the documents of `ranges`, and over no other."""
        mode = getattr(self._lucene("search.ScoreMode"), mode)
        with self._lock:
            scorer = scope.searcher.createWeight(query, mode, 1.0).bulkScorer(self._leaf)
            leaf_collector = collector.getLeafCollector(self._leaf)
        for low, high in () if scorer is None else ranges:
            self._score(scorer, leaf_collector, low, high)


def _write_sent(directory: Path, answer: Callable[[str], None]) -> None:
    """Write an index of the texts that come in; the last line is ``null``."""

    def texts() -> Iterator[str]:
        for line in sys.stdin.buffer:
            if (text := json.loads(line)) is None:
                # The process that waits keeps the pipe open.
                threading.Thread(target=_end_with_input, daemon=True).start()
                return
            yield text
        os._exit(1)  # whoever wanted the index is gone

    answer(json.dumps(write(texts(), directory)))


def _end_with_input() -> None:
    os.read(0, 1)  # past the buffer, whose lock would outlive this thread
    os._exit(1)


def answer_batch(index: Index, pool: ThreadPoolExecutor, batch: list[Any]) -> str:
    """Return the answer to some searches, each of them arguments of `Index.search`."""
    try:
        several = pool.map if len(batch) > 1 else map
        hits = list(several(lambda arguments: index.search(*arguments), batch))
    except Exception as error:
        return failure(error, "")
    return f'{{"hits": [{",".join(hits)}]}}'


def failure(error: Exception, of_files: str) -> str:
    """Return the answer in place of one that failed; names of errors in files begin `of_files`."""
    java = str(getattr(error, "classname", None) or "")
    name = java.rpartition(".")[2]
    why = f"{name}: {getattr(error, 'innermessage', None) or error}" if java else str(error)
    kind = "other"
    if name == "OutOfMemoryError":
        kind = "memory"
    elif isinstance(error, OSError) or (java and java.startswith(of_files)):
        kind = "files"
    return json.dumps({"failure": kind, "why": why.splitlines()[0] if why else repr(error)})


def main(task: str, directory: str, k1: str = "0", b: str = "0") -> None:
    """Write what comes in, or search, until the input ends; answers go to standard output."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that asks
    output = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever else prints does not get between

    def answer(text: str) -> None:
        output.write(text + "\n")
        output.flush()

    try:
        java = _java.start()
        answer(json.dumps({"lucene": java.lucene_version, "java": java.version}))
        if task == "write":
            _write_sent(Path(directory), answer)
        else:
            index = Index(Path(directory), float(k1), float(b))
            answer(json.dumps({"shape": index.shape}))
            with ThreadPoolExecutor(cores()) as pool:
                for line in sys.stdin.buffer:
                    answer(answer_batch(index, pool, json.loads(line)))
    except Exception as error:
        answer(failure(error, "java.io." if task == "write" else ""))
    finally:
        os._exit(0)  # Java has nothing to lose


if __name__ == "__main__":
    main(*sys.argv[1:])
