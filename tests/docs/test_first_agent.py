"""The notebook docs/first-agent.ipynb: it runs offline, and is kept without outputs."""

from __future__ import annotations

import json
import linecache
import re
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).parents[2] / "docs" / "first-agent.ipynb"


@pytest.fixture(scope="module")
def cells():
    return json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]


def test_it_is_kept_without_outputs(cells):
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    assert len({cell["id"] for cell in cells}) == len(cells)
    links = re.findall(r"\]\(([^)#]+)", "".join("".join(cell["source"]) for cell in cells))
    assert links and all((NOTEBOOK.parent / link).is_file() for link in links)


def test_it_runs(cells, tmp_path, monkeypatch, capsys):
    """Executes its cells in order, as a kernel does, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "__main__"}
    for number, cell in enumerate(cells):
        if cell["cell_type"] == "code":
            source, name = "".join(cell["source"]), f"<cell {number}>"
            linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
            exec(compile(source, name, "exec"), namespace)
    printed = capsys.readouterr().out
    address = printed.strip().splitlines()[-1]
    assert address.startswith((tmp_path / "first-agent" / "view.html").as_uri() + "#e/Cited,")
    means = [entry.mean for entry in namespace["compared"].metrics[1].means.values()]
    assert means[0] < means[1]  # recall@100 of Topic and of Cited
    assert "only Cited" in printed
