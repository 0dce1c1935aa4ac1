"""Made-up worlds that the examples build once and open again."""

from __future__ import annotations

import time
from pathlib import Path

from arena.corpus import Corpus
from arena.errors import CorpusError
from corpus_builder.build import build
from corpus_builder.sources.world import WorldSource
from corpus_builder.world import WorldConfig


def open_or_build(
    config: WorldConfig, directory: Path, engines: tuple[str, ...] = ("bm25",)
) -> Corpus:
    """Return a world, built if it is not in `directory` or was made with other knobs."""
    try:
        corpus = Corpus.open(directory)
        made = corpus.manifest["source"].get("config")
        if made == config.to_dict() and set(engines) <= set(corpus.manifest["indexes"]):
            print(f"The made-up world in {directory} is there already.")
            return corpus
    except CorpusError:
        pass  # not there yet, or of an older format
    print(f"Building a made-up world of {config.papers} papers and {config.surveys} surveys ...")
    started = time.monotonic()
    build(WorldSource(config), directory, engines=engines, overwrite=True)
    print(f"Built {directory} in {time.monotonic() - started:.1f} s.", flush=True)
    return Corpus.open(directory)
