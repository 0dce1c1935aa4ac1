"""All tables and figures of the four papers on a synthetic corpus, in the order of
docs/results/papers.md.

A scripted model stands for every agent and judge, so this says that each is made, and not how good
anything is.
"""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections.abc import Collection
from pathlib import Path

import pytest
from llm_server import LLMServer, last_text
from release_helpers import citation, paper, write_shard

import corpus_builder.cli
from arena.cli import main
from arena_suites.bloom_eval import survey_metrics
from arena_suites.judging import RUBRICS

pytestmark = pytest.mark.slow

FACT = "Graphs are used everywhere."
CRITERION = '<json_output>[{"criterion": "Depth", "explanation": "?", "weight": 1}]</json_output>'


def scripted(body: dict) -> str:
    """Answer in the form that a prompt ends with, always with the same words."""
    text = last_text(body)
    if "image_url" in text:
        return '<typology>{"Reefs": {"Deep": null, "Shallow": null}}</typology>'
    if "shows a taxonomy of the survey's topic" in text:
        return "2-Figure1-1.png"
    if "You write the request" in text:
        return "Tell me of nets published before 1 December 2023."
    if "You sort literature surveys" in text:
        return "Energy and Environmental Sustainability"
    if "missing_core_branches" in text or '"topology"' in text:
        names = ("taxobench-errors", "taxobench")
        rubric = RUBRICS.get(names["missing_core_branches" not in text])
        return json.dumps({name: {"reason": "So.", "score": 1} for name in rubric.dimensions})
    if "json_output" in text:
        return CRITERION
    if "article_1_score" in text:
        row = {"criterion": "Depth", "article_1_score": 6, "article_2_score": 4}
        return json.dumps({re.findall(r'"(\w+)": \[', text)[-1]: [row]})
    if "NOT_FOUND" in text:
        return text.split("<passage>\n")[1].split("\n</passage>")[0]
    if "ought to be checked" in text:  # a claim must stand in the report
        lines = text.split("<report>\n")[1].split("\n</report>")[0].splitlines()
        plain = [line for line in lines if line.endswith(".") and "[" not in line]
        return json.dumps([{"statement": line} for line in plain])
    forms = re.findall(r"^[\[{].*[\]}]$", text, re.MULTILINE)
    said = "of" if "methods_models" in text or "main_name" in text else FACT  # a name in all texts
    return forms[-1].replace("...", said) if forms else "<Queries>\n- graph model\n</Queries>"


@pytest.fixture
def run(synthetic, tmp_path, monkeypatch, capsys):
    """Run a command of either program in a folder with a copy of the synthetic corpus, `C`."""
    shutil.copytree(synthetic, tmp_path / "C")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    with LLMServer(scripted) as server:

        def command(line: str) -> str:
            program, *words = line.split()
            words = [word.replace("URL", f"base_url={server.url}") for word in words]
            start = main if program == "arena" else corpus_builder.cli.main
            assert start(words) == 0, f"{line}\n{capsys.readouterr().err}"
            return capsys.readouterr().out

        yield command


ASK = "--llm-option model=m --llm-option URL"
JUDGE = "--judge-option model=m --judge-option URL"


def made(name: str, tables: set[str], lacking: Collection[str] = ()) -> None:
    """Check the tables of an experiment: every cell but of some rows has a number."""
    found = json.loads(Path(name, "tables.json").read_text())
    assert found["tables"].keys() == tables
    rows = [row for t in found["tables"].values() for block in t["blocks"] for row in block["rows"]]
    assert {row[0] for row in rows if None in row} == {*lacking}, [r for r in rows if None in r]


def test_researcharena(run):
    run("arena-corpus index C --engine dense")
    run(f"arena experiment researcharena --corpus C --output out --topics 2 {ASK}")
    made("out", {"1", "2", "3"}, lacking={"Scout.Both"})  # it has no engine of its own
    tables = json.loads(Path("out/tables.json").read_text())["tables"]
    bge = "static; the paper's BGE, here flag, differs."
    assert all(f"Vectors of Dense: {bge}" in tables[name]["notes"] for name in "123")
    assert f"Vectors of Clustering: {bge}" in tables["3"]["notes"]
    run("arena-corpus card C")
    card = Path("C/card/README.md").read_text()
    assert "## (c) Reference coverage" in card and "## (d) Complexity of the mind-maps" in card
    run("arena judge sample --what selected --corpus C --n 2 --output selected.csv")  # Table 4
    run("arena export examples --corpus C --before 2018 --output examples")  # of Few-Shot


def test_researcharena_from_a_release(run):
    """Section 3: topics, references, and mind-maps from figures, which people judge."""
    topic = paper(2, title="A survey of reefs", abstract="All.", publicationdate="2020-01-01")
    write_shard(Path("R/papers/0.jsonl.gz"), [paper(1), topic])
    write_shard(Path("R/citations/0.jsonl.gz"), [citation("2", "1")])
    Path("figures/2").mkdir(parents=True)
    Path("figures/2/captions.json").write_text('{"2-Figure1-1.png": "A taxonomy of reefs"}')
    Path("figures/2/2-Figure1-1.png").write_bytes(b"\x89PNG\r\n\x1a\n-")
    options = "--set mind_maps.options.model=m --set mind_maps.options.URL"
    told = run(
        "arena-corpus build s2orc --input R --output S --set full_text_only=false "
        f"--set mind_maps.figures=figures {options}"
    )
    assert "1 with a taxonomy, 1 mind-map" in told
    run("arena judge sample --what extracted --corpus S --figures figures --output e.csv")
    page = Path("e.html").read_text()
    assert "Shallow" in page and '<img alt="2-Figure1-1.png"' in page


def test_taxobench(run):
    for digest in ("summary", "contributions"):
        run(f"arena-corpus digest C --input {digest} --surveys 2 {ASK}")
    run(f"arena experiment taxobench --corpus C --output out --topics 2 {ASK} {JUDGE}")
    made("out", {"deep-research", "bottom-up", "judge", "inputs"})
    page = Path(__file__).parents[2] / "docs/taxobench.md"  # Table 2 with models as rows
    Path("models.yaml").write_text(page.read_text().split("```yaml\n")[1].split("```")[0])
    run("arena experiment models.yaml --corpus C --output models --topics 2 --llm-option URL")
    made("models", {"bottom-up"})
    maps = "out/runs/organization/organizer/bm25"
    for rubric in ("taxobench", "taxobench-errors"):  # Tables 4 and 6, Figure 6
        assert "2 of 2 judged" in run(f"arena judge run {maps} --corpus C --rubric {rubric} {ASK}")
    whole = "--what mind-maps --rubric taxobench --per-run 10"
    run(f"arena judge sample {maps} {whole} --corpus C --output s.csv")
    with Path("s.csv").open() as file:
        rows = [*csv.reader(file)]
    with Path("anna.csv").open("w") as file:
        csv.writer(file).writerows([rows[0], *([*row[:-1], "1"] for row in rows[1:])])
    assert "8 " in run("arena judge agreement s.key.json --human anna.csv")  # Table 5


def test_reportbench(run):
    run(f"arena experiment reportbench --corpus C --output out --topics 2 {ASK} {JUDGE}")
    # Of their reports each sentence cites, or none is written: there are no claims to vote on.
    without = {
        "Decomposer",
        "ReAct",
        "ReAct, 5 calls",
        "STORM",
        "Title",
        "Ceiling",
    }
    made("out", {"1", "forbidden"}, lacking=without)
    report = "out/runs/report/digest/bm25"
    assert "mismatch" in run(f"arena judge statements {report} --corpus C {ASK}")  # section 4


def test_reportbench_from_metadata(run):
    """Section 2.1: selection, references, prompts, domains, and what a system is asked for."""
    record = {
        "id": "2312.00001", "title": "A survey of nets", "abstract": "We survey nets.",
        "comments": "Accepted", "categories": "cs.CV", "license": "licenses/by/4.0/",
        "versions": [{"version": "v1", "created": "Fri, 8 Dec 2023 06:31:19 GMT"}],
    }  # fmt: skip
    Path("arxiv.jsonl").write_text(json.dumps(record) + "\n")
    Path("tex/2312.00001").mkdir(parents=True)
    body = r"\begin{document}Nets~\cite{lee} work.\bibliography{a}\end{document}"
    Path("tex/2312.00001/a.tex").write_text(body)
    Path("tex/2312.00001/a.bib").write_text("@misc{lee, title={Flat nets}}")
    Path("papers.jsonl").write_text('{"id": "x", "title": "Flat nets", "date": "2020"}\n')
    select = "arena-corpus select arxiv.jsonl --sources tex --output selected"
    run(select)
    run(f"arena-corpus prompts selected/ReportBench_selected.jsonl --output prompts.jsonl {ASK}")
    run(f"{select} --prompts prompts.jsonl")
    run("arena-corpus build reportbench --input selected --papers papers.jsonl --output own")
    run("arena-corpus card own")
    card = Path("own/card/README.md").read_text()
    assert re.search(r"\| Energy and Environmental Sustainability +\| +1 ", card)
    run("arena judge sample --what domains --corpus own --output domains.csv")
    run("arena export requests --corpus own --output requests.jsonl")
    asked = Path("requests.jsonl").read_text()
    assert "Tell me of nets published before 1 December 2023." in asked


def test_bloom_eval(run):
    for name, agent in {"human": "oracle", "made": "digest"}.items():
        timed = "--timed" if name == "made" else ""  # Table 9
        play = f"arena run --corpus C --task report --agent {agent} --topics 2 {timed}"
        run(f"{play} --output {name}")
    sides = "--human human --generated made --corpus C --matcher judge"
    for judge in ("a", "b"):
        out = run(f"arena evaluate bloom-eval {sides} --page {judge}.html {ASK} --json")
        Path(f"{judge}.json").write_text(out)
    found = json.loads(out)
    assert {name for m in survey_metrics().values() for name in m.names()} == found["mean"].keys()
    assert [name for name, mean in found["mean"].items() if mean is None] == []
    assert any("s a survey" in sentence for sentence in found["problems"])
    assert found["details"] and {"mean", "columns"} <= found["tiers"]["creation"].keys()
    assert "a and b" in run("arena judge compare a=a.json b=b.json --metric fap")
    run("arena judge sample a.json --what matches --output m.csv")
    with Path("m.csv").open() as file:
        rows = [*csv.reader(file)]
    with Path("anna.csv").open("w") as file:  # who rejects all but the first pair
        csv.writer(file).writerows([rows[0], *([*r[:-1], int(r[0] == "1")] for r in rows[1:])])
    assert "recall" in run("arena judge agreement m.key.json --human anna.csv")  # Table 10
