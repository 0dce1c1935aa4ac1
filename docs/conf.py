"""Sphinx builds the site from these pages: ``make docs``. README.md says their order.

Beside its HTML stands each page as Markdown, and ``llms.txt`` lists them for language models.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert

import arena

HERE = Path(__file__).parent

project = "ResearchArena"
author = "the authors of ResearchArena"
release = version = arena.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_math_renderer = "mathml"  # no script from elsewhere: the site works offline
root_doc = "README"
source_suffix = {".md": "markdown", ".ipynb": "markdown"}
include_patterns = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/**"]
exclude_patterns = ["docs/_build", "docs/example"]
html_theme = "furo"
html_title = f"ResearchArena {release}"
html_copy_source = False

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]  # a page may skip a level

autodoc_default_options = {"members": True}
autodoc_member_order = "bysource"
autodoc_typehints = "description"
default_role = "code"  # `name` in docstrings
napoleon_use_ivar = True


def sections() -> list[tuple[str, list[str]]]:
    """Return the sections of docs/README.md, each with the pages that it links."""
    found: list[tuple[str, list[str]]] = []
    for line in (HERE / "README.md").read_text("utf-8").splitlines():
        if heading := re.match(r"\*\*(.+?)\*\*", line):
            found.append((heading[1], []))
        if found:
            found[-1][1].extend(re.findall(r"\]\(((?:results/)?[\w-]+)\.(?:md|ipynb)\)", line))
    return found


def prepare(app: Any, page: str, source: list[str]) -> None:
    """Give the first page a table of contents; leave out links to folders of the repository."""
    source[0] = markdown_of(source[0])
    source[0] = re.sub(r"\[([^]]+)\]\([^)]+/\)", r"\1", source[0])
    if page == root_doc:
        contents = [(name, [f"docs/{page}" for page in pages]) for name, pages in sections()]
        contents.append(("Project", ["docs/README", "CONTRIBUTING", "CHANGELOG"]))
        for name, pages in contents:
            source[0] += f"\n\n```{{toctree}}\n:hidden:\n:caption: {name}\n\n"
            source[0] += "".join(f"{page}\n" for page in pages) + "```\n"


def markdown_of(text: str) -> str:
    """Return a page as Markdown; a notebook's cells one after the other."""
    if not text.startswith("{"):
        return text
    fences = {"markdown": "{}", "code": "```python\n{}\n```"}
    cells = json.loads(text)["cells"]
    return "\n\n".join(fences[c["cell_type"]].format("".join(c["source"])) for c in cells) + "\n"


def write_markdown(app: Any, error: Exception | None) -> None:
    """Write each page as Markdown, and ``llms.txt`` with a line of docs/README.md for each."""
    if error is not None or app.builder.name != "html":
        return
    for page in app.env.found_docs:
        text = markdown_of(Path(app.env.doc2path(page)).read_text("utf-8"))
        Path(app.outdir, f"{page}.md").write_text(text, "utf-8")
    index = (HERE / "README.md").read_text("utf-8")
    lines = re.sub(r"\]\((?!\.\./|http)", "](docs/", index).replace("](../", "](")
    summary = (HERE.parent / "README.md").read_text("utf-8").split("\n\n")[1].replace("\n", " ")
    body = lines.split("\n\n", 1)[1]
    text = f"# {project}\n\n> {summary}\n\n{body}"
    Path(app.outdir, "llms.txt").write_text(text, "utf-8")


def write_math(display: str) -> Any:
    """Return the functions that write a formula as MathML."""

    def visit(translator: Any, node: Any) -> None:
        translator.body.append(convert(node.astext(), display=display))
        raise nodes.SkipNode

    return visit, None


def setup(app: Any) -> None:
    """Register what is above."""
    app.connect("source-read", prepare)
    app.connect("build-finished", write_markdown)
    app.add_html_math_renderer("mathml", write_math("inline"), write_math("block"))
