"""Export a corpus as a data set: Parquet, a README, Croissant; the labels apart."""

from __future__ import annotations

import os
import re
import shutil
import uuid
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from markupsafe import Markup

from arena.corpus import layout
from arena.corpus.integrity import require_intact
from arena.errors import DataError, clip
from arena.kit.files import sha256_file, write_json
from arena.kit.terminal import progress
from arena.kit.workdir import staged_directory
from corpus_builder.build import check_place
from corpus_builder.card.page import card_files, render
from corpus_builder.collections import collections
from corpus_builder.database import connected, execute, literal, readable_errors, scalar, target
from corpus_builder.manifest import list_files

ABOUT = "dataset.json"
"""The file that says which corpus a data set is of, and lists all other files."""

SPLIT = "full"
"""The one split of each configuration; `datasets` keeps the name ``all`` to itself."""

TABLES = {
    "papers": "SELECT * EXCLUDE file_row_number FROM papers ORDER BY file_row_number",
    "citations": """SELECT a.id AS citing, b.id AS cited, influential FROM "references" r
        JOIN papers a ON a.file_row_number = r.document
        JOIN papers b ON b.file_row_number = r.cited
        ORDER BY r.document, r.cited""",
    "topics": """SELECT * EXCLUDE prompts, prompts.sentence AS prompt_sentence,
        prompts.paragraph AS prompt_paragraph, prompts.detailed AS prompt_detailed
        FROM topics ORDER BY id""",
    "qrels": """SELECT topic_id, reference AS paper_id, influential, status, CASE
        WHEN status <> 'gold' THEN 0 WHEN influential THEN 2 ELSE 1 END::TINYINT AS relevance,
        '{canary}' AS canary FROM gold ORDER BY topic_id, document NULLS LAST, reference""",
    "mindmaps": """SELECT m.*, outline, CASE WHEN {texts} THEN article END AS article,
        '{canary}' AS canary FROM mind_maps m JOIN articles USING (topic_id) ORDER BY topic_id""",
    "full_texts": """SELECT id AS paper_id, position, heading, text FROM sections s
        JOIN papers ON file_row_number = s.document WHERE {texts} ORDER BY s.document, position""",
}
"""Name of a configuration -> its rows, docs/building.md; those with a canary are labels."""

_COPY = """COPY ({query}) TO {path} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 4096,
KV_METADATA {{{metadata}}})"""
_MEMORY = 1_000_000_000

_TEMPLATES = Path(__file__).with_name("templates")
_SHARED = re.compile(r"apache-2\.0|cc0-1\.0|cc-by(-nc)?(-sa)?-[234]\.[05]|mit|odc-by|pddl")


def canary_of(corpus: str) -> str:
    """Return the canary of the label files of a corpus with that content hash.

    >>> canary_of("0" * 64)
    '423f8113-94a2-5ec1-a2d7-4804b4fbbe5c'
    """
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"sha256:{corpus}"))


def licence_id(text: str | None) -> str | None:
    """Return the hub's id of a licence under which texts may be shared; None for any other text.

    >>> licence_id("CC BY-NC 4.0"), licence_id("CC BY-ND 4.0"), licence_id("see its card")
    ('cc-by-nc-4.0', None, None)
    """
    name = "-".join((text or "").lower().split())
    return name if _SHARED.fullmatch(name) else None


def export_dataset(
    directory: str | Path,
    output: str | Path,
    full_text: str | None = None,
) -> dict[str, Any]:
    """Write a corpus as Parquet with a README, ``croissant.json`` and ``environment.yaml``.

    The folder appears whole or not at all, and the same corpus gives the same bytes. DuckDB copies
    the tables with a gigabyte of memory.

    Args:
        directory: A built corpus.
        output: A new directory.
        full_text: Licence of the texts of papers and topics, which are exported only if one is
            named that lets others share them.

    Returns:
        The content of `ABOUT`.

    Raises:
        DataError: The licence of full texts is not such a one.
        CorpusError: The corpus is damaged, or `output` is not empty.
    """
    root, output = Path(os.path.realpath(directory)), Path(output)
    texts = licence_id(full_text)
    if full_text is not None and texts is None:
        raise DataError(
            f"--full-text {clip(full_text)}: texts are exported under a licence that lets others "
            "share them. Name theirs: cc0-1.0, cc-by-4.0, cc-by-sa-4.0, cc-by-nc-4.0 or odc-by."
        )
    manifest = layout.read_manifest(root)
    require_intact(root, manifest["files"])
    canary = canary_of(manifest["content_sha256"])
    check = partial(check_place, what="data set", ours=(), overwrite=False)
    with (
        readable_errors(f"cannot write {str(output)!r}", "Nothing half-written is left behind."),
        staged_directory(output, check, manifest=ABOUT) as new,
    ):
        pages = card_files(root, manifest)
        tables = {
            name: {
                "file": file,
                "rows": pq.read_metadata(new / file).num_rows,
                "sha256": sha256_file(new / file),
                "columns": {each.name: str(each.type) for each in pq.read_schema(new / file)},
            }
            for name, file in _write_tables(root, new, canary, texts is not None).items()
        }
        pages |= _pages(manifest, pages["README.md"], tables, canary, texts)
        for name, page in pages.items():
            (new / name).write_bytes(page.encode())
        hashes = {f"{name}_sha256": manifest[f"{name}_sha256"] for name in ("content", "tasks")}
        about = {"version": 1, **hashes, "canary": canary}
        about |= {"tables": tables, "files": list_files(new)}
        write_json(new / ABOUT, about)
    return about


def _write_tables(corpus: Path, output: Path, canary: str, texts: bool) -> dict[str, str]:
    """Write the tables that have rows, since `datasets` loads no other; return name -> file."""
    files = {}
    with connected(output / "spill", _MEMORY, 1) as connection:
        for name in (layout.PAPERS, layout.SECTIONS, layout.REFERENCES, layout.TOPICS, layout.GOLD,
                     layout.MIND_MAPS, layout.ARTICLES):  # fmt: skip
            numbers = ", file_row_number = true" if name == layout.PAPERS else ""
            read = f"read_parquet({literal(corpus / name)}{numbers})"
            execute(connection, f'CREATE VIEW "{Path(name).stem}" AS FROM {read}')
        for name, rows in progress([*TABLES.items()], desc="export", unit="table"):
            labels, query = "{canary}" in rows, rows.format(canary=canary, texts=texts)
            if not scalar(connection, f"SELECT count(*) FROM ({query})"):
                continue
            files[name] = f"{'labels/' * labels}{name}.parquet"
            path, metadata = output / files[name], f"canary: '{canary}'" if labels else ""
            path.parent.mkdir(exist_ok=True)
            copy = _COPY.format(query=query, path=target(path), metadata=metadata)
            execute(connection, copy)
    shutil.rmtree(output / "spill", ignore_errors=True)
    return files


def _pages(
    manifest: Mapping[str, Any],
    card: str,
    tables: Mapping[str, Any],
    canary: str,
    texts: str | None,
) -> dict[str, str]:
    """Return the files that describe the tables, by name."""
    collection = collections().get(manifest["source"]["source"], {})
    licence = layout.stated_licence(manifest) or collection.get("licence")
    head, heading, rest = card.split("---\n", 2)[2].strip().partition("## Counts")
    values = {
        "manifest": manifest,
        "tables": tables,
        "split": SPLIT,
        "canary": canary,
        "texts": texts,
        "licence": licence,
        "licence_id": licence_id(licence),
        "home": collection.get("home"),
        "head": Markup(head.strip()),
        "card": Markup(heading + rest),
    }
    names = ["README.md", "croissant.json", "environment.yaml"]
    if not manifest["counts"]["surveys"]:
        names.pop()  # nothing can be played
    return {name: render(_TEMPLATES / name, **values) for name in names}
