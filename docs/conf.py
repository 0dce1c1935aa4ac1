"""Sphinx builds the site from these pages: ``make docs``. README.md says their order.

Beside its HTML stands each page as Markdown, and ``llms.txt`` lists them for language models.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import io
import json
import linecache
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from docutils import nodes
from furo.navigation import get_navigation_tree
from latex2mathml.converter import convert

import arena

HERE = Path(__file__).parent
sys.path.append(str(HERE))
import differences  # noqa: E402
import gallery  # noqa: E402
import reference  # noqa: E402

project = "ResearchArena"
author = "the authors of ResearchArena"
release = version = arena.__version__
extensions = [
    "myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon",
]  # fmt: skip
html_math_renderer = "mathml"  # no script from elsewhere: the site works offline
root_doc = "README"
source_suffix = {".md": "markdown", ".ipynb": "markdown"}
include_patterns = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/**"]
exclude_patterns = ["docs/example", "docs/style"]
html_theme = "furo"
html_title = f"ResearchArena {release}"
html_copy_source = False
html_static_path = ["style"]
html_css_files = ["site.css"]
html_logo = "style/logo.svg"
html_favicon = "style/logo.svg"
html_search_scorer = str(HERE / "style/search.js")
html_show_copyright = False
smartquotes = False  # in the text of an option, -- is part of its name
# Of each group in the order of what a search finds.
WEIGHTS = {
    "Start": 4,
    "Guides": 4,
    "Reference": 1,
    "Contribute": 0.9,
    "Results": 0.8,
}  # in a search

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]  # a page may skip a level

autodoc_default_options = {"members": True}
autosummary_generate = False
autodoc_member_order = "bysource"
autodoc_typehints = "description"
default_role = "code"  # `name` in docstrings
napoleon_use_ivar = True


class Entry(NamedTuple):
    """A line of docs/README.md: a page, and what stands below it.

    Attributes:
        title: What the navigation calls it.
        page: Its name, from the root of the repository, without an ending.
        below: The entries of the lines that are indented below it.
    """

    title: str
    page: str
    below: list[Entry]


def navigation() -> dict[str, list[Entry]]:
    """Return the groups of docs/README.md, each with its entries."""
    found: dict[str, list[Entry]] = {}
    for line in (HERE / "README.md").read_text("utf-8").splitlines():
        if heading := re.fullmatch(r"\*\*(.+)\*\*", line):
            entries = found[heading[1]] = []
        elif link := re.match(r"( *)- \[(.+?)\]\((.+?)\.(?:md|ipynb)\)", line):
            page = f"docs/{link[3]}".replace("docs/../", "")
            (entries[-1].below if link[1] else entries).append(Entry(link[2], page, []))
    return found


def contents(entries: list[Entry], caption: str = "") -> str:
    """Return a hidden table of contents."""
    lines = "".join(f"{entry.title} </{entry.page}>\n" for entry in entries)
    head = f":caption: {caption}\n" if caption else ""
    return f"\n\n```{{toctree}}\n:hidden:\n{head}\n{lines}```\n" if entries else ""


def prepare(app: Any, page: str, source: list[str]) -> None:
    """Add tables of contents to a page, links to what git does not have, and linked examples."""
    text = re.sub(r"\[([^]]+)\]\([^)]+/\)", r"\1", markdown_of(page, source[0]))
    shown = "```{literalinclude} /\\1\n:language: python\n```"  # a link that stands alone
    text = re.sub(r"^\[(examples/\S+\.py)\]\(\S+\)$", shown, text, flags=re.MULTILINE)
    for group, entries in navigation().items():
        if page == root_doc:
            text += contents(entries, group)
        for entry in entries:
            if entry.page == page:
                text += contents(entry.below)
    if page == "docs/api":
        text = re.sub(r"^- `([\w.]+)`", r"- [`\1`](api/\1.md)", text, flags=re.MULTILINE)
        text += contents([Entry(module, f"docs/api/{module}", []) for module in api()])
    source[0] = text


def api() -> dict[str, dict[str, bool]]:
    """Return module of docs/api.md -> its public names -> whether no earlier one has them."""
    found: dict[str, dict[str, bool]] = {}
    seen: set[int] = set()
    for name in re.findall(r"^- `([\w.]+)`", (HERE / "api.md").read_text("utf-8"), re.MULTILINE):
        module = importlib.import_module(name)
        own = [key for key, value in vars(module).items() if _module_of(value) == name]
        public = {key: getattr(module, key) for key in getattr(module, "__all__", own)}
        named = {key: value for key, value in public.items() if key[0] != "_" and _module_of(value)}
        found[name] = {key: id(value) not in seen for key, value in named.items()}
        seen.update(map(id, named.values()))
    return found


def _module_of(value: Any) -> str | None:
    """Return the module of a class or function; None of anything else."""
    return value.__module__ if inspect.isclass(value) or inspect.isroutine(value) else None


def write_api(app: Any) -> None:
    """Write a page for each module into docs/api, which git ignores: its names, then their text."""
    (HERE / "api").mkdir(exist_ok=True)
    for module, names in api().items():
        page = [f"# {module}", "", "```{eval-rst}", f".. py:currentmodule:: {module}"]
        page += [".. autosummary::", "", *(f"   {name}" for name in names), ""]
        page += [f".. automodule:: {module}", "   :exclude-members: "]
        page[-1] += ", ".join(name for name, first in names.items() if not first)
        page += ["```", ""]
        (HERE / "api" / f"{module}.md").write_text("\n".join(page), "utf-8")


def link_pages(app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Make links of the pages that a docstring names."""
    lines[:] = [re.sub(r"`*docs/([\w-]+)\.md`*", r":doc:`/docs/\1`", line) for line in lines]


def show_plain_types(app: Any, domain: str, kind: str, content: Any) -> None:
    """Leave out of the types of arguments how pydantic checks them: `Annotated[int, ...]`."""
    for types in app.env.current_document.autodoc_annotations.values():
        types.update({name: plain_type(written) for name, written in types.items()})


def plain_type(written: str) -> str:
    """Return a written type without what its innermost `Annotated` and those around it add."""
    *outer, rest = re.split(r"(?:~typing\.)?Annotated\[", written)
    while outer:
        depth = [0]  # of brackets, after each character
        for character in rest:
            depth.append(depth[-1] + (character in "[(") - (character in ")]"))
        end = depth.index(-1) - 1
        comma = next(at for at in range(end) if rest[at] == "," and depth[at] == 0)
        rest = outer.pop() + rest[:comma] + rest[end + 1 :]
    return rest


def fold_navigation(app: Any, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Show in the navigation what stands below the current entry alone."""
    if "toctree" in context:
        entries = context["toctree"](collapse=True, titles_only=True, includehidden=True)
        context["furo_navigation_tree"] = get_navigation_tree(entries)


def markdown_of(page: str, text: str) -> str:
    """Return a page as Markdown: a notebook's cells, each with its output; lists of the code."""
    if text.startswith("{"):
        parts = []
        outputs = iter(executed(text))
        for cell in json.loads(text)["cells"]:
            source = "".join(cell["source"])
            is_code = cell["cell_type"] == "code"
            parts.append(f"```python\n{source}\n```" if is_code else source)
            if is_code and (printed := next(outputs)):
                parts.append(f"```text\n{printed}```")
        return "\n\n".join(parts) + "\n"
    lists = {"docs/reference": reference.lists, "docs/gallery": gallery.lists}.get(page, dict)
    for heading, listed in lists().items():
        before, title, rest = text.partition(f"## {heading}\n")
        here, next_title, after = rest.partition("\n## ")
        text = f"{before}{title}{here}\n{listed}\n{next_title}{after}"
    name = page.removeprefix("docs/") + ".md"
    if name in differences.pages():
        text = text.replace(differences.MARK, differences.table(name))
    return text


@functools.cache
def executed(notebook: str) -> list[str]:
    """Return what each code cell of a notebook prints, run in order in an empty folder."""
    found = []
    names: dict[str, Any] = {"__name__": "__main__"}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for number, cell in enumerate(json.loads(notebook)["cells"]):
            if cell["cell_type"] == "code":
                source, name = "".join(cell["source"]), f"<cell {number}>"
                linecache.cache[name] = (len(source), None, source.splitlines(True), name)
                with contextlib.redirect_stdout(io.StringIO()) as printed:
                    exec(compile(source, name, "exec"), names)
                found.append(printed.getvalue().replace(str(Path(folder).resolve()), "/..."))
    return found


def write_markdown(app: Any, error: Exception | None) -> None:
    """Write each page as Markdown, and ``llms.txt`` with a line of docs/README.md for each."""
    if error is not None or app.builder.name != "html":
        return
    for page in app.env.found_docs:
        text = markdown_of(page, Path(app.env.doc2path(page)).read_text("utf-8"))
        Path(app.outdir, f"{page}.md").write_text(text, "utf-8")
    index = (HERE / "README.md").read_text("utf-8")
    lines = re.sub(r"\]\((?!\.\./|http)", "](docs/", index).replace("](../", "](")
    summary = (HERE.parent / "README.md").read_text("utf-8").split("\n\n")[1].replace("\n", " ")
    body = lines.split("\n\n", 1)[1]
    text = f"# {project}\n\n> {summary}\n\n{body}"
    Path(app.outdir, "llms.txt").write_text(text, "utf-8")
    shutil.copy(Path(app.outdir, f"{root_doc}.html"), Path(app.outdir, "index.html"))


def write_excerpts(app: Any, error: Exception | None) -> None:
    """Add to the index of the search the weight and the text of each page but those of Python."""
    if error is not None or app.builder.name != "html":
        return
    found: dict[str, tuple[float, str]] = {}
    for group, entries in navigation().items():
        for entry in [each for top in entries for each in (top, *top.below)]:
            text = app.env.get_doctree(entry.page).astext()
            found[entry.page] = WEIGHTS[group], " ".join(text.split())
    index = Path(app.outdir, "searchindex.js")
    index.write_text(f"const PAGES = {json.dumps(found)};\n{index.read_text('utf-8')}", "utf-8")


def write_math(display: str) -> Any:
    """Return the functions that write a formula as MathML."""

    def visit(translator: Any, node: Any) -> None:
        translator.body.append(convert(node.astext(), display=display))
        raise nodes.SkipNode

    return visit, None


def setup(app: Any) -> None:
    """Register what is above."""
    app.connect("builder-inited", write_api)
    app.connect("source-read", prepare)
    app.connect("autodoc-process-docstring", link_pages)
    app.connect("object-description-transform", show_plain_types, priority=400)  # before autodoc
    app.connect("html-page-context", fold_navigation, priority=900)
    app.connect("build-finished", write_markdown)
    app.connect("build-finished", write_excerpts)
    app.add_html_math_renderer("mathml", write_math("inline"), write_math("block"))
