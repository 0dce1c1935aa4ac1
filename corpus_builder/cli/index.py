"""``arena-corpus index``."""

from __future__ import annotations

import time
from contextlib import closing
from typing import Any

from arena.cli.app import print_json
from arena.errors import DataError


def index(
    directory: str,
    *,
    engine: str,
    name: str | None = None,
    fields: tuple[str, ...] | None = None,
    encoder: str | None = None,
    option: dict[str, Any] | None = None,
    executor: str = "local",
    workers: int | None = None,
    overwrite: bool = False,
    json: bool = False,
) -> None:
    """Add an index to a built corpus; the index appears whole or not at all.

    Args:
        directory (DIR): A built corpus.
        engine (NAME): Engine of the index; see `arena list retrievers`.
        name (NAME): Name of the index (default: that of its engine).
        fields (NAMES): Indexed fields, of title,abstract,fulltext (default: as the corpus was
            built).
        encoder (NAME): Short for --option encoder=NAME; see `arena list encoders`.
        option: Option of the engine for building.
        executor (NAME): Executor that encodes vectors: local or ray.
        workers: Processes that encode (default: 1; with ray one a processor of the cluster).
        overwrite: Replace an index of that name once this one is built.
        json: Print JSON instead of text.

    Example:
        arena-corpus index demo/world --engine bm25 --name titles --fields title
    """
    from arena.corpus import indexes
    from corpus_builder.executors import make_executor
    from corpus_builder.index import build_index

    started = time.monotonic()
    options = option or {}
    if encoder is not None and options.setdefault("encoder", encoder) != encoder:
        raise DataError("--encoder and --option encoder=... differ. Give one of them.")
    with closing(make_executor(executor, workers)) as pool:
        manifest = build_index(
            directory,
            engine,
            name=name,
            fields=fields,
            options=options,
            overwrite=overwrite,
            executor=pool,
        )
    if json:
        print_json(manifest)
        return
    size = sum(entry["bytes"] for entry in manifest["files"].values())
    print(f"index   {indexes.describe_index(manifest['name'], manifest)}")
    print(f"size    {size / 1e6:,.1f} MB")
    print(f"built in {time.monotonic() - started:.1f} s")
