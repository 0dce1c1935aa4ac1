"""The dataset card of a built corpus: a page made from the template ``card.md``, and pictures."""

from __future__ import annotations

import functools
import json
import os
import re
import shlex
import tempfile
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from markupsafe import Markup

from arena.corpus import layout
from arena.errors import CorpusError
from arena.kit import terminal
from arena.kit.files import sha256_file
from arena.kit.plots import draw
from arena.kit.process import cores
from arena.kit.workdir import staged_directory
from arena.text.display import count, shown
from corpus_builder.build import check_place
from corpus_builder.card.figures import (
    complexity,
    coverage,
    dates,
    disciplines,
    measure,
    percent,
    taxonomies,
)
from corpus_builder.database import connected, readable_errors
from corpus_builder.manifest import register

MEMORY = 1 << 30
_LABELS = (layout.TOPICS, layout.GOLD, layout.MIND_MAPS, layout.ARTICLES)
_FOLD = " \\\n    "


def write_card(
    directory: str | Path,
    *,
    memory: int = MEMORY,
    threads: int | None = None,
) -> dict[str, Any]:
    """Write the dataset card of a corpus into its folder ``card``, in place of an older one.

    The card is ``README.md`` and pictures: dates, and the paper's figure 4 (section 4, Dataset
    Composition) for this corpus. It appears whole or not at all, and nothing else of the corpus
    changes but ``card`` and ``manifest_sha256`` in its manifest. The same corpus gives the same
    bytes, whatever memory and threads.

    DuckDB may manage so many bytes of `memory`, and use `threads` (all processors if None).

    Returns:
        Name in the corpus -> ``bytes``, ``sha256`` of each file of the card.
    """
    root = Path(os.path.realpath(directory))
    manifest = layout.read_manifest(root)
    files = card_files(root, manifest, memory=memory, threads=threads)
    card = root / layout.CARD
    ours = {*files, *(Path(name).name for name in manifest.get("card", ()))}
    with (
        readable_errors(
            f"cannot write the card into {str(directory)!r}",
            "The corpus is as before; free some disk space, or fix the permissions.",
        ),
        staged_directory(
            card,
            lambda place: check_place(place, "card", ours, overwrite=True),
            manifest="README.md",
            place=functools.partial(register, root, manifest["content_sha256"], "card", card),
        ) as new,
    ):
        for name, content in files.items():
            (new / name).write_bytes(content.encode("utf-8"))
    return dict(layout.read_manifest(root)["card"])


def card_files(
    root: Path,
    manifest: Mapping[str, Any],
    *,
    memory: int = MEMORY,
    threads: int | None = None,
) -> dict[str, str]:
    """Return the files of the card of a corpus by name; for the arguments see `write_card`."""
    for name in _LABELS:  # a run refuses labels that are not those of the manifest, too
        if sha256_file(root / name) != manifest["files"][name]["sha256"]:
            raise CorpusError(
                f"{str(root / name)!r} is not as it was built. Build the corpus again, or copy it "
                "again."
            )
    with (
        readable_errors(
            f"the card of {str(root)!r} cannot be counted",
            "Free some disk space in the folder for temporary files (TMPDIR).",
            "`arena-corpus verify` names what is damaged.",
        ),
        tempfile.TemporaryDirectory(prefix="arena-card-") as scratch,
        connected(Path(scratch), memory, threads or cores()) as connection,
    ):
        return _files(manifest, measure(connection, root))


def _files(manifest: Mapping[str, Any], facts: Mapping[str, Any]) -> dict[str, str]:
    """Return the files of a card by name; it names no indexes, which may be added at any time."""
    counts, source = manifest["counts"], manifest["source"]
    figures = {
        "dates": dates(facts["years"]),
        "disciplines": disciplines("disciplines.svg", facts["papers"], "papers"),
        "surveys": disciplines("surveys.svg", facts["surveys"], "survey tasks"),
        "domains": disciplines("domains.svg", facts["domains"], "survey tasks", "domain"),
        "coverage": coverage(facts["coverage"]),
        "maps": complexity(facts["maps"]),
    }
    drawn = find_spec("matplotlib") is not None
    page = render(
        Path(__file__).with_name("card.md"),
        manifest=manifest,
        counts=counts,
        source=source,
        facts=facts,
        licence=layout.stated_licence(manifest),
        listed=sum(n for key, n in counts.items() if key.startswith("survey_references_")),
        command=command(manifest),
        drawn=drawn,
        taxonomies=taxonomies(facts) if facts["maps"] else [],
        **figures,
    )  # fmt: skip
    pictures = {
        f["file"]: draw(f["paint"])["svg"].decode() for f in figures.values() if drawn and f["rows"]
    }
    return {"README.md": page, **pictures}


def render(template: Path, **values: Any) -> str:
    """Return a page made from a template; what it prints is escaped for Markdown."""
    page = _environment(template.parent).get_template(template.name).render(values)
    return str(page)


@functools.cache
def _environment(folder: Path) -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(folder),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=True,
        finalize=markdown,
    )
    environment.filters |= {"json": lambda value: Markup(json.dumps(value)), "fenced": fenced}
    environment.globals |= {"count": count, "table": table, "percent": percent}
    return environment


def command(manifest: Mapping[str, Any]) -> str:
    """Return the command that builds the corpus again; what the manifest lacks is in capitals."""
    source = manifest["source"]
    config, files = source.get("config"), source.get("files")
    options = {}
    if source.get("source") == "synthetic" and isinstance(config, Mapping):
        options = {key.replace("_", "-"): config[key] for key in sorted(config)}
    elif source.get("source") == "jsonl" and isinstance(files, Mapping):
        options = {
            key: [each.get("name") for each in on]
            for key, on in sorted(files.items())
            if on and isinstance(on, list)
        }
    if "stages" in source:
        words = ["--input DIR", "--config FILE"]
    else:  # asking the source itself would make the card depend on what is installed
        configuration = manifest["configuration"]
        words = [] if options else ["OPTIONS"]
        options |= {
            key: ",".join(map(str, configuration[key]))
            for key in ("engines", "fields")
            if configuration.get(key)
        }
    words += [
        f"--{key} {' '.join(map(_quoted, value if isinstance(value, list) else [value]))}"
        for key, value in options.items()
    ]
    build = f"arena-corpus build {_quoted(source.get('source'))}"
    return _FOLD.join([build, *words, "--output DIR"])


def _quoted(value: object) -> str:
    return shlex.quote(shown(str(value)))


_LONGEST = 200
_ROWS = 100
# What GitHub makes a link or a formula of without any brackets.
_BARE = re.compile(r"(?i)(?<=\bwww)\.|:(?=//)|\$|@")


def markdown(value: object) -> Markup:
    """Return a number with its thousands apart, or a text in which nothing acts in Markdown."""
    if isinstance(value, Markup):
        return value
    text = _cell(value) or ""
    return Markup(text if isinstance(value, int) else _bare(terminal.escape_markdown(text)))


def table(header: Sequence[str], rows: Sequence[Sequence[Any]], align: str) -> Markup:
    """Return a table in Markdown; of many rows the first."""
    cells = [[_cell(value) for value in row] for row in rows[:_ROWS]]
    left = f"\n\nand {len(rows) - _ROWS:,} more." if len(rows) > _ROWS else ""
    return Markup(_bare(terminal.Table(header, cells, align).markdown()) + left)


def fenced(code: str) -> Markup:
    """Return a block of shell code that ends where it ends, whatever `code` contains."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", code)), default=0))
    return Markup(f"{fence}sh\n{code}\n{fence}")


def _cell(value: Any) -> str | None:
    if value is None:
        return None
    return f"{value:,}" if isinstance(value, int) else shown(value, _LONGEST)


def _bare(text: str) -> str:
    return _BARE.sub(lambda match: "\\" + match[0], text)
