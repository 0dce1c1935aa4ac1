"""Expected numbers: made again, compared, and the same as those that pages show."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.cli import main
from arena_analysis.reproducing import read_expected

ROOT = Path(__file__).resolve().parents[2]
EXPECTED = ROOT / "benchmarks" / "expected"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
MARK = re.compile(r"(?<!`)<!-- expected: (\S+)(?: (\S+))? -->")


def reproduced(capsys, *arguments: object) -> tuple[int, list[dict]]:
    status = 0
    try:
        status = main(["reproduce", "--json", *map(str, arguments)])
    except SystemExit as left:
        status = left.code
    out = capsys.readouterr().out
    return status, json.loads(out) if out else []


def test_the_small_ones_are_equal(capsys):
    status, rows = reproduced(capsys, "synthetic", "tiny", "--expected", EXPECTED)
    assert status == 0
    assert {row["outcome"] for row in rows} == {"equal"}
    assert len(rows) == 10


@pytest.fixture
def changed(tmp_path):
    """The file of nine papers, written with other words in place of some."""

    def write(old: str, new: str) -> Path:
        text = (EXPECTED / "tiny.yaml").read_text(encoding="utf-8")
        assert old in text
        (tmp_path / "tiny.yaml").write_text(text.replace(old, new), encoding="utf-8")
        return tmp_path

    return write


def test_a_number_that_differs(changed, capsys):
    folder = changed("recall@10: 0.666667", "recall@10: 0.5")
    status, rows = reproduced(capsys, "tiny.title", "--expected", folder)
    assert status == 1
    assert [row["outcome"] for row in rows] == ["differs by +0.166667", "equal"]
    assert main(["reproduce", "tiny.oracle", "--expected", str(folder)]) == 0
    assert "2 of 2 expectations equal." in capsys.readouterr().out


def test_another_corpus(changed, capsys):
    status, (row,) = reproduced(capsys, "--expected", changed("sha256: 5b44", "sha256: 0000"))
    assert status == 1
    assert row["outcome"].startswith("this corpus is another one: 5b44")
    assert row["found"] is None


def test_data_that_is_not_at_hand(changed, capsys, tmp_path):
    folder = changed("needs: []", "needs: [surveys.jsonl]")
    for data in ([], ["--data", tmp_path]):
        status, (row,) = reproduced(capsys, "--expected", folder, *data)
        assert status == 2
        assert row["outcome"].startswith("not at hand: surveys.jsonl in the folder of --data")
    (tmp_path / "surveys.jsonl").touch()
    assert reproduced(capsys, "--expected", folder, "--data", tmp_path)[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tinny"], "no expectation is called 'tinny'. Did you mean 'tiny'"),
        (["--expected", "nowhere"], "'nowhere' has no expectations"),
    ],
)
def test_what_is_not_there(arguments, message, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert main(["reproduce", *arguments]) == 2
    assert message in capsys.readouterr().err


def marked(page: Path) -> Iterator[tuple[str, str, str]]:
    """Yield the run, the metric and the number of each mark of a page.

    A mark with a metric stands behind its number; one without marks the row of its table, whose
    columns are named after metrics (@50 is short for recall@50).
    """
    header: list[str] = []
    for line in page.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line[:1] == "|" else []
        header = (header or cells) if cells else []
        for mark in MARK.finditer(line):
            run, metric = mark.groups()
            if metric:
                yield run, metric, re.search(r"([\d.]+)\**\s*$", line[: mark.start()])[1]
                continue
            names = [name.lower().replace("recall@", "@") for name in header]
            found = 0
            for metric in expectations()[run]:
                place = metric.replace("recall@", "@")
                if place in names:
                    found += 1
                    yield run, metric, cells[names.index(place)]
            assert found, f"{page.name}: no column of {run} has a metric's name"


def expectations() -> dict[str, dict[str, float]]:
    """Return ``CORPUS.RUN`` -> metric -> value."""
    return {
        f"{name}.{run}": about["expected"]
        for name, content in read_expected(EXPECTED).items()
        for run, about in content["runs"].items()
    }


def test_marked_numbers_are_the_expected_ones():
    count = 0
    for page in PAGES:
        for run, metric, number in marked(page):
            count += 1
            decimals = len(number.partition(".")[2])
            expected = expectations()[run][metric]
            assert abs(float(number) - expected) <= 0.5 * 10**-decimals + 1e-6, (
                f"{page.name}: {run} has a {metric} of {expected}, and not of {number}"
            )
    assert count > 100


def test_the_gallery_has_every_expectation(monkeypatch):
    """Every number stands in the row of its run, in the column of its metric."""
    monkeypatch.syspath_prepend(ROOT / "docs")
    import gallery

    lines = gallery.lists()["Agents and benchmarks"].splitlines()
    head, found = [], {}
    for line in lines:
        cells = [cell.strip(" `") for cell in line.strip("|").split("|")]
        if cells[0] == "expectation":
            head = cells
        elif cells[0] in expectations():
            found[cells[0]] = {m: c for m, c in zip(head[2:], cells[2:], strict=True) if c}
    shown = {run: {m: f"{v:.4f}" for m, v in told.items()} for run, told in expectations().items()}
    assert found == shown
