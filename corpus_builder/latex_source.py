"""A paper's LaTeX source: the works that it cites."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from arena.errors import DataError
from arena.report.latex import CITE
from arena.report.model import Reference
from arena.report.reading import read_report

_KINDS = (".tex", ".bib", ".bbl")
_MOST = 50_000_000  # bytes of a file: a longer one is data
_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%[^\n]*")
_INPUT = re.compile(r"\\(?:input|include|subfile)\b\s*(?:\{([^{}]{1,300})\}|([^\s{}\\%]{1,300}))")
_LISTS = re.compile(
    r"\\(?:bibliography|addbibresource)\b\s*(?:\[[^\[\]]*\])?\s*\{([^{}]{1,2000})\}"
)
_OWN_LIST = re.compile(r"\\begin\{thebibliography\}.*?(?:\\end\{thebibliography\}|\Z)", re.DOTALL)
_BLANKS = re.compile(r"\n\s*\n")
_NO_CITATION = re.compile(r"\\nocite\s*\{[^{}]*\}")
_BRACED = r"\{(?:[^{}]|\{[^{}]*\})*\}"
_ENTRY = re.compile(
    rf"\\bibitem\s*(?:\[(?:[^\[\]{{}}]|{_BRACED})*\])?\s*\{{(?P<item>[^{{}}]+)\}}"
    r"|\\entry\{(?P<entry>[^{}]+)\}"
    r"|@(?!comment|string|preamble)[a-z]{2,20}\s*[{(]\s*(?P<record>[^\s,{}]+)\s*,"
    r"|@(?:comment|string|preamble)\b|\\end\{thebibliography\}",
    re.IGNORECASE,
)
_FIELD = re.compile(
    rf"\\field\{{(title|year|doi|eprint)\}}({_BRACED})|\\(verb)\{{doi\}}\s*\\verb ([^\n]+)"
)


class LatexSource(NamedTuple):
    """The text of a paper, as LaTeX, and the works that it cites, in order of first citation.

    `article` is the text with its citations and the list of these works, as a report has them.
    """

    text: str
    references: tuple[Reference, ...]
    article: str


def read_source(path: str | Path) -> LatexSource:
    r"""Read the LaTeX source of a paper.

    The text is the file with ``\begin{document}`` that cites most, with what it reads by
    ``\input``, ``\include`` and ``\subfile``; comments and ``\nocite`` do not count. An entry is
    that of the ``.bib`` files that the text names, else of a ``.bbl`` (by BibTeX or biblatex), else
    of ``thebibliography``. A key without an entry is left out. ReportBench, section 2.1.1. What is
    returned as text has neither preamble nor citations nor bibliography.

    Args:
        path: A folder, or an archive ``.tar`` or ``.tar.gz`` as arXiv has it.

    Raises:
        DataError: If there is no such text.
    """
    files = dict(sorted(_files(Path(path))))
    mains = [name for name, text in files.items() if "\\begin{document}" in text]
    texts = {name: _expanded(files, name) for name in mains if name.endswith(".tex")}
    if not texts:
        raise DataError(f"{str(path)!r} has no .tex file with \\begin{{document}}.")
    main = max(texts, key=lambda name: len(CITE.findall(texts[name])))
    text = _NO_CITATION.sub("", texts[main])
    keys = dict.fromkeys(
        key.strip() for match in CITE.finditer(text) for key in match[1].split(",") if key.strip()
    )
    named = [name.strip() for match in _LISTS.finditer(text) for name in match[1].split(",")]
    lists = [_place(files, name, ".bib") for name in named]
    lists += [main.removesuffix(".tex") + ".bbl", *(n for n in files if n.endswith(".bbl"))]
    entries: dict[str, str] = {}
    for listed in (*(files.get(name or "", "") for name in lists), text):
        for key, entry in _entries(listed):
            entries.setdefault(key, entry)
    # Keys of LaTeX may have characters that no mark of a report has, so they are numbered
    known = [key for key in keys if key in entries]
    lines = [f"Cited \\cite{{k{number}}}.\n\n" for number in range(len(known))]
    lines += [entries[key].replace("\0", f"k{n}", 1) + "\n\n" for n, key in enumerate(known)]
    read = {reference.key: reference for reference in read_report("".join(lines)).references}
    found = ((key, read.get(f"^k{number}")) for number, key in enumerate(known))
    works = tuple(reference._replace(key=key) for key, reference in found if reference)
    body = text.partition("\\begin{document}")[2].partition("\\end{document}")[0]
    body = _LISTS.sub("", _OWN_LIST.sub("", body))
    numbers = {key: f"k{number}" for number, key in enumerate(known)}

    def cited(match: re.Match[str]) -> str:
        named = [numbers[key.strip()] for key in match[1].split(",") if key.strip() in numbers]
        return f" \\cite{{{','.join(named)}}}" if named else ""

    article = "\n\n".join([CITE.sub(cited, body).strip(), *lines[len(known) :]])
    return LatexSource(
        _BLANKS.sub("\n\n", CITE.sub("", body)).strip(), works, _BLANKS.sub("\n\n", article)
    )


def _files(path: Path) -> Iterator[tuple[str, str]]:
    """Yield name and text of every file that may matter."""
    if path.is_dir():
        for file in path.rglob("*"):
            if file.suffix in _KINDS and file.is_file() and file.stat().st_size <= _MOST:
                yield file.relative_to(path).as_posix(), _decoded(file.read_bytes())
        return
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                name = PurePosixPath(member.name)
                wanted = name.suffix in _KINDS and member.isfile() and member.size <= _MOST
                if wanted and (opened := archive.extractfile(member)):
                    yield str(name), _decoded(opened.read())
    except (tarfile.TarError, EOFError, OSError) as error:
        raise DataError(f"{str(path)!r} is neither a folder nor an archive: {error}") from None


def _decoded(data: bytes) -> str:
    try:
        return data.decode().replace("\0", "")
    except UnicodeDecodeError:
        return data.decode("latin-1").replace("\0", "")


def _place(files: dict[str, str], name: str, suffix: str) -> str | None:
    """Return the file that a command names, with or without its suffix."""
    plain = str(PurePosixPath(name.strip('"')))
    return next((each for each in (plain, plain + suffix) if each in files), None)


def _expanded(files: dict[str, str], name: str, done: set[str] | None = None) -> str:
    """Return a file's text without comments, with the files that it reads, each at its first place.

    Files that read one another twice would double the text at every level.
    """
    done = {name} if done is None else done

    def read(match: re.Match[str]) -> str:
        found = _place(files, match[1] or match[2], ".tex")
        if found is None or found in done:
            return ""
        done.add(found)
        return _expanded(files, found, done)

    return _INPUT.sub(read, _COMMENT.sub(r"\1", files[name]))


def _entries(text: str) -> Iterator[tuple[str, str]]:
    r"""Yield key and entry; in the entry the key is ``\0``."""
    found = list(_ENTRY.finditer(text))
    ends = [*(match.start() for match in found[1:]), len(text)]
    for match, end in zip(found, ends, strict=False):  # none: one end
        inside = text[match.end() : end]
        if match["item"]:
            yield match["item"].strip(), f"\\bibitem{{\0}}{inside}"
        elif match["entry"]:
            fields = [
                f"{name} = {value}" if name else f"doi = {{{doi}}}"
                for name, value, _, doi in _FIELD.findall(inside)
            ]
            yield match["entry"].strip(), f"@misc{{\0,\n{', '.join(fields)}\n}}"
        elif match["record"]:
            yield match["record"], f"@misc{{\0,{inside}"
