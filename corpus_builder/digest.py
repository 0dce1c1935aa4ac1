"""Make the digests that an input shows, and add them to a built corpus."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge

from arena.corpus import Corpus, Section, layout
from arena.errors import ArenaError, CorpusError, DataError, clip
from arena.kit.arrays import StringTableWriter, save_array
from arena.kit.files import sha256_json, write_json
from arena.kit.options import checked
from arena.kit.workdir import staged_directory
from arena.llm import Failure, Fields, Question
from arena.paper_texts import PAPER_TEXTS
from arena.tasks import TaskSet, choose_topics
from arena.text.display import count
from corpus_builder.asking import ask_records, open_model
from corpus_builder.files import read_rows
from corpus_builder.manifest import list_files, register

_BATCH = 64  # papers whose requests are made side by side
_SAYS = re.compile(r"\b(introduction|conclusions?|concluding|discussion)\b", re.IGNORECASE)


@checked
def make_digests(
    directory: str | Path,
    input: str,
    llm_option: dict[str, Any] | None = None,
    *,
    surveys: Sequence[str] | int | None = None,
    all: bool = False,
    characters: Annotated[int, Ge(1)] = 20_000,
    overwrite: bool = False,
) -> dict[str, Any]:
    """Let a language model make the digest of each paper of a corpus, from the paper's text alone.

    The digests appear whole or not at all. The answers are kept in the store of `arena.llm`: after
    a kill the same call asks only for those that are missing. What the `surveys` have are the
    references in reach, and the papers of mind-maps.

    Args:
        directory (DIR): A built corpus.
        input (NAME): Input to make (`arena list paper_texts`).
        llm_option: Option of the model's client (docs/llm.md), or prompts=DIR with own templates.
        surveys (IDS|N): Only references of these surveys, ids with commas or the first N.
        all: Digest every paper that can be found, for episodes that search.
        characters: Most characters of a paper in a request.
        overwrite: Replace the digests of that input once the new ones are made.

    Example:
        arena-corpus digest demo/synthetic --input summary --llm-option model=gpt-4o

    Returns:
        The manifest of the digests, whose ``counts`` has ``papers``, ``digests`` and ``failed``,
        papers for which the answer was refused or could not be read twice; ``failed.jsonl`` lists
        them.
    """
    name = PAPER_TEXTS.resolve(input)
    kind = PAPER_TEXTS.get(name)
    if kind.prompts is None or not layout.INDEX_NAME.fullmatch(name):
        raise DataError(f"the input {clip(name)} has no digests. See `arena list paper_texts`.")
    client, templates, config = open_model(
        llm_option or {}, {name: Fields(("title", "text"))}, kind.prompts
    )
    question = Question(templates[name], kind.read)
    root = Path(os.path.realpath(directory))
    corpus = Corpus.open(root)
    config |= {"characters": characters, "prompt": templates[name].text}

    def check(_: Path) -> None:
        if not overwrite and name in layout.read_manifest(root).get("digests", {}):
            raise CorpusError(
                f"{str(root)!r} has digests {name!r} already. Pass --overwrite to replace them."
            )

    ids = _chosen(corpus, surveys, all)
    wanted: dict[str, Any] = {
        "format_version": layout.PART_VERSION,
        "input": name,
        "corpus": corpus.sha256,
        "heading": kind.heading,
        "papers": "all" if all else "references",
        "config": config,
        "papers_sha256": sha256_json(ids),
    }
    output = layout.digest_directory(root, name)
    check(root)
    client.check()
    view = corpus.listed("9999-12-31", ids)

    def ask(some: list[str]) -> list[list[str] | Failure]:
        return question.ask(client, [
            {"title": p.title, "text": text_of(p.abstract, view.sections(p.id), characters)}
            for p in map(view.paper, some)
        ])  # fmt: skip

    digests = ask_records(ids, ask, _BATCH, total=len(ids), desc="digest")
    place = partial(register, root, corpus.sha256, "digests", output)
    with staged_directory(output, check, manifest=layout.MANIFEST, place=place) as new:
        manifest = wanted | {"counts": _write(new, corpus, digests)}
        manifest["files"] = list_files(new)
        write_json(new / layout.MANIFEST, manifest)
    return manifest


def _chosen(corpus: Corpus, surveys: Sequence[str] | int | None, every: bool) -> list[str]:
    """Return the ids of the papers to digest, in document order."""
    if every:
        papers = read_rows(corpus.directory / layout.PAPERS, ("id", "searchable"))
        return [paper for paper, searchable in papers if searchable]
    tasks = TaskSet(corpus)
    chosen = choose_topics(tasks, surveys)
    cited = {paper for s in chosen for paper in (*tasks.gold(s).gains, *tasks.expert_papers(s))}
    return sorted(cited, key=lambda paper: corpus.document_number(paper) or 0)


def text_of(abstract: str, sections: Iterable[Section], characters: int) -> str:
    r"""Return abstract, introduction and conclusion (TaxoBench, figure 11), each cut alike.

    >>> text_of("We sort.", [Section("1 Introduction", "Sort."), Section("Data", "X")], 100)
    'Abstract: We sort.\n\n1 Introduction: Sort.'
    """
    parts = [("Abstract", abstract), *(part for part in sections if _SAYS.search(part.heading))]
    parts = [part for part in parts if part[1].strip()] or [("Abstract", "(none)")]
    share = characters // len(parts)
    return "\n\n".join(f"{heading}: {text.strip()}"[:share] for heading, text in parts)


def _write(
    new: Path, corpus: Corpus, digests: Iterable[tuple[str, list[str] | Failure]]
) -> dict[str, int]:
    documents, failures = [], []
    with StringTableWriter(new / "texts") as texts:
        for paper_id, digest in digests:
            if isinstance(digest, Failure):
                failures.append({"id": paper_id, "reason": digest.reason})
            else:
                documents.append(corpus.document_number(paper_id))
                texts.add("\n".join(digest).encode("utf-8", "replace"))
    papers = len(documents) + len(failures)
    if not documents:
        why = f" {failures[0]['id']}: {failures[0]['reason']}" if failures else ""
        raise ArenaError(f"no digest was made of {count(papers, 'paper')}.{why} Try another model.")
    save_array(new / "documents.npy", np.array(documents, np.uint32))
    (new / "failed.jsonl").write_text("".join(json.dumps(row) + "\n" for row in failures))
    return {"papers": papers, "digests": len(documents), "failed": len(failures)}
