"""Make the digests that an input shows, and add them to a built corpus."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from arena._internal.arrays import StringTableWriter, save_array
from arena._internal.files import sha256_json, write_json
from arena._internal.options import flag, whole
from arena._internal.progress import progress
from arena._internal.workdir import whole_directory
from arena.corpus import Corpus, Section, layout
from arena.errors import ArenaError, CorpusError, DataError, clip
from arena.inputs import INPUTS, Input, Question
from arena.llm import Client, Failed, Fields, Template, ask_many
from arena.registry import check_options
from arena.tasks import TaskSet, choose_surveys
from corpus_builder._index import list_files
from corpus_builder._model import client_of, client_options, shaping, templates_of
from corpus_builder._register import register_digests

FIELDS = Fields(required=("title", "text"))
_BATCH = 64  # papers whose requests are made side by side
_ALWAYS = "9999-12-31"
_SAYS = re.compile(r"\b(introduction|conclusions?|concluding|discussion)\b", re.IGNORECASE)


def make_digests(
    directory: str | Path,
    input_name: str,
    llm: Mapping[str, Any],
    *,
    surveys: Sequence[str] | int | None = None,
    every: bool = False,
    characters: int = 20_000,
    overwrite: bool = False,
) -> dict[str, Any]:
    """Let a language model make the digest of each paper of a corpus, from the paper's text alone.

    The model reads title, abstract and, of a full text, introduction and conclusion, as TaxoBench
    restricts it. The digests appear whole or not at all. The answers are kept in the store of
    `arena.llm`: after a kill the same call asks only for those that are missing.

    Args:
        directory: Directory of a built corpus.
        input_name: Name of an input with questions; see `arena.inputs`.
        llm: ``model``; ``prompts``, a folder with templates that replace those of the same names;
            ``schemas``, whether to send JSON schemas of the answers, which not every server takes;
            and options of `arena.llm.Client`.
        surveys: Digest the references in reach of these surveys, by id or how many of the first;
            by default of all.
        every: Digest all searchable papers.
        characters: Most characters of a paper's text in a request, >= 1; each part is cut alike.
        overwrite: Replace the digests of that input.

    Returns:
        The manifest of the digests. ``counts`` has ``papers``, ``digests`` and ``failed``, those
        for which an answer was refused or could not be read twice; ``failed.jsonl`` lists them.

    Raises:
        UnknownNameError, DataError: An argument is unusable.
        CorpusError: `directory` holds no corpus, or has these digests already.
        LLMError: The model could not be asked; the answers that came are kept.
        ArenaError: No digest could be made.
    """
    name = INPUTS.resolve(input_name)
    kind = INPUTS.get(name)
    if not kind.questions or not layout.INDEX_NAME.fullmatch(name):
        raise DataError(f"the input {clip(name)} has no digests. See `arena list inputs`.")
    whole("characters", characters, 1)
    options = dict(llm)
    model, own = options.pop("model", None), options.pop("prompts", None)
    schemas = flag("schemas", options.pop("schemas", False))
    check_options("client", options, [*client_options(), "model", "prompts", "schemas"])
    wanted = {question.template: FIELDS for question in kind.questions}
    templates = templates_of(wanted, kind.prompts, own)
    root = Path(os.path.realpath(directory))
    corpus = Corpus.open(root)
    ids = _papers(corpus, None if every else surveys, every)
    digests = layout.digest_directory(root, name)
    config = shaping(model, client_options() | options) | {
        "characters": characters,
        "schemas": schemas,
        "prompts": {template: prompt.text for template, prompt in templates.items()},
    }

    def check(_: Path) -> None:
        if not overwrite and name in layout.read_manifest(root).get("digests", {}):
            raise CorpusError(
                f"{str(root)!r} has digests {name!r} already. Pass --overwrite to replace them."
            )

    check(digests)
    client = client_of(model, options)
    client.check()
    place = partial(register_digests, root, corpus.sha256, name)
    with whole_directory(digests, check, manifest=layout.MANIFEST, place=place) as new:
        answers = _ask(client, kind, templates, corpus, ids, characters, schemas)
        counts = _write(new, corpus, ids, answers)
        manifest = {
            "format_version": layout.FORMAT_VERSION,
            "input": name,
            "corpus": corpus.sha256,
            "heading": kind.heading,
            "papers": "all" if every else "references",
            "papers_sha256": sha256_json(ids),
            "config": config,
            "counts": counts,
            "files": list_files(new),
        }
        write_json(new / layout.MANIFEST, manifest)
    return manifest


def _papers(corpus: Corpus, surveys: Sequence[str] | int | None, every: bool) -> list[str]:
    """Return ids in document order: the references of surveys, or all that can be found."""
    if every:
        import pyarrow.parquet as pq

        table = pq.read_table(corpus.directory / layout.PAPERS, columns=["id", "searchable"])
        rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
        return [paper_id for paper_id, searchable in rows if searchable]
    tasks = TaskSet(corpus)
    ids = {paper for s in choose_surveys(tasks, surveys) for paper in tasks.gold(s).gains}
    return sorted(ids, key=lambda paper_id: corpus.document_number(paper_id) or 0)


def _ask(
    client: Client,
    kind: Input,
    templates: Mapping[str, Template],
    corpus: Corpus,
    ids: Sequence[str],
    characters: int,
    schemas: bool,
) -> Iterator[list[str] | Failed]:
    """Yield the lines of each paper's digest, or the failure of one of its questions."""
    view = corpus.at(_ALWAYS)
    starts = range(0, len(ids), _BATCH)
    bar = progress(starts, desc="digest", unit=f"batch of {_BATCH}")
    for start in bar:
        batch = ids[start : start + _BATCH]
        papers = [(view.paper(paper_id), view.sections(paper_id)) for paper_id in batch]
        values = [
            {"title": paper.title, "text": text_of(paper.abstract, sections, characters)}
            for paper, sections in papers
        ]
        answers = [
            ask_many(
                client,
                [templates[question.template].messages(**value) for value in values],
                question.read,
                **({"response_format": _format(question)} if schemas and question.schema else {}),
            )
            for question in kind.questions
        ]
        for parts in zip(*answers, strict=True):
            failed = next((part for part in parts if isinstance(part, Failed)), None)
            yield failed if failed is not None else [line for part in parts for line in part or ()]


def _format(question: Question) -> dict[str, Any]:
    schema = {"name": question.template, "schema": question.schema}
    return {"type": "json_schema", "json_schema": schema}


def text_of(abstract: str, sections: Iterable[Section], characters: int) -> str:
    r"""Return the parts of a paper in which its authors say what it does, each cut alike.

    >>> text_of("We sort.", [Section("1 Introduction", "Sorting."), Section("Data", "X")], 100)
    'Abstract: We sort.\n\n1 Introduction: Sorting.'
    """
    parts = [("Abstract", abstract), *(part for part in sections if _SAYS.search(part.heading))]
    parts = [part for part in parts if part[1].strip()] or [("Abstract", "(none)")]
    share = characters // len(parts)
    return "\n\n".join(f"{heading}: {text.strip()}"[:share] for heading, text in parts)


def _write(
    new: Path, corpus: Corpus, ids: Sequence[str], answers: Iterable[list[str] | Failed]
) -> dict[str, int]:
    documents, failures = [], []
    with StringTableWriter(new / "texts") as texts:
        for paper_id, answer in zip(ids, answers, strict=True):
            if isinstance(answer, Failed):
                failures.append({"id": paper_id, "reason": answer.reason})
            else:
                documents.append(corpus.document_number(paper_id))
                texts.add("\n".join(answer).encode("utf-8", "replace"))
    if not documents:
        why = f" {failures[0]['id']}: {failures[0]['reason']}" if failures else ""
        raise ArenaError(
            f"no digest was made of {len(ids)} papers.{why} Name another model, or give longer "
            "answers (`max_tokens`)."
        )
    save_array(new / "documents.npy", np.array(documents, np.uint32))
    (new / "failed.jsonl").write_text("".join(json.dumps(row) + "\n" for row in failures))
    return {"papers": len(ids), "digests": len(documents), "failed": len(failures)}
