"""Dependencies: what is imported is declared, what is declared is pinned, what lacks is named."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import arena
from arena.kit.lazy import EXTRAS

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "requirements"))
import lock  # noqa: E402

PLUGINS = ("arena_analysis", "arena_engines", "arena_integrations", "arena_suites")
PACKAGES = ("arena", "baselines", "corpus_builder", *PLUGINS)
# Import names of what the core needs, and of what comes with an extra under another name.
CORE = {
    "annotated_types", "filelock", "gymnasium", "jinja2", "json_repair", "llvmlite", "markdown_it",
    "markupsafe", "numba", "numpy", "orjson", "pyarrow", "pydantic", "pydantic_core", "regex",
    "Stemmer", "tabulate", "threadpoolctl", "tqdm", "yaml",
}  # fmt: skip
OWN_EXTRAS = lock.PROJECT["optional-dependencies"]
INSIDE = {"h11", "mcp_types", "researcharena", "urllib3", "verl"}


def test_every_import_is_declared():
    for path in [
        p
        for top in ("arena", "baselines", "corpus_builder", "plugins")
        for p in (ROOT / top).rglob("*.py")
    ]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module]
            for top in {name.partition(".")[0] for name in names}:
                known = {*sys.stdlib_module_names, *PACKAGES, *CORE, *EXTRAS, *INSIDE, *OWN_EXTRAS}
                assert top in known, (
                    f"{path.relative_to(ROOT)} imports {top}, which nothing declares"
                )


def test_every_optional_module_comes_with_its_extra():
    providers = metadata.packages_distributions()
    for module, extra in EXTRAS.items():
        declared = [Requirement(text) for text in lock.PROJECT["optional-dependencies"][extra]]
        wanted = {canonicalize_name(requirement.name) for requirement in declared}
        provided = {canonicalize_name(name) for name in providers.get(module, ())}
        indirect = module in {"httpx2", "huggingface_hub", "transformers"}
        assert indirect or not provided or provided & wanted, (module, extra)


def test_every_file_names_the_version():
    (release, day) = re.search(
        r"^## \[(.+)\] - (\S+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    ).groups()
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert (cited["version"], cited["date-released"]) == (release, day)
    manifest = yaml.safe_load((ROOT / "examples/openenv-server/openenv.yaml").read_text("utf-8"))
    server = json.loads((ROOT / "server.json").read_text("utf-8"))
    versions = {manifest["version"], server["version"], server["packages"][0]["version"]}
    assert {release} == versions == {arena.__version__}


ARENA, CORPUS = "from arena.cli import main", "from corpus_builder.cli import main"
ASKS_FOR = [
    (ARENA, "run --corpus {0} --task organization --agent random --output {1}", "static"),
    (ARENA, "run --corpus {0} --task discovery --agent scout --output {1}", "static"),
    (ARENA, "run --corpus {0} --task organization --agent organizer --output {1}", "static"),
    (ARENA, "run --corpus {0} --task discovery --agent react --agent-option model=m --output {1}",
     "llm"),
    (ARENA, "compare {2} {3} --test student", "mindmap"),
    (CORPUS, "build synthetic --output {1}", "build"),
    (CORPUS, "index {0} --engine dense", "build"),
    (CORPUS, "download s2orc --output {1}", "build"),
    (CORPUS, "card {0}", "build"),
]  # fmt: skip


@pytest.mark.slow
def test_the_core_alone_plays_and_names_what_it_lacks(mini, tmp_path):
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    core = ["-m", "pip", "install", "--quiet", "-r", ROOT / "requirements" / "core.txt"]
    subprocess.run([python, *core], check=True)

    def command(code: str, line: str) -> subprocess.CompletedProcess[str]:
        places = (
            mini,
            tmp_path / "new",
            tmp_path / "discovery-title",
            tmp_path / "discovery-random",
        )
        run = f"{code}; import sys; sys.exit(main())"
        return subprocess.run(
            [python, "-c", run, *line.format(*places).split()],
            env=os.environ | {"PYTHONPATH": str(ROOT)}, cwd=tmp_path,
            capture_output=True, text=True,
        )  # fmt: skip

    plays = (
        ("discovery", "title"),
        ("discovery", "random"),
        ("selection", "title"),
        ("report", "title"),
    )
    for task, agent in plays:
        line = (
            f"run --corpus {{0}} --task {task} --agent {agent} --output {tmp_path / task}-{agent}"
        )
        done = command(ARENA, line)
        assert done.returncode == 0, done.stderr
    for code, line, extra in ASKS_FOR:
        done = command(code, line)
        printed = done.stderr.strip().splitlines()
        assert (done.returncode, len(printed)) == (2, 1), (line, done.stdout, done.stderr)
        assert re.search(rf"pip install 'researcharena\[{extra}\]'$", printed[0]), (line, printed)


CORE_ALONE = f"""
import importlib, pkgutil, sys
sys.modules |= dict.fromkeys({sorted({*EXTRAS, *OWN_EXTRAS, *INSIDE} - sys.stdlib_module_names)!r})
"""


TREE = {"name": "Agents", "subtopics": [{"name": "Tools", "papers": ["ReAct"]}]}
SURVEY = "# Agents\n\n## Tools\n\nText [1].\n\n## References\n\n[1] Yao, S. ReAct. 2022.\n"
CREATED = [{"version": "v1", "created": "Mon, 13 Apr 2020 10:00:00 GMT"}]
RECORD = {"arxiv_id": "1", "title": "Agents", "prompt": "Write.", "versions": CREATED}
FILES = {
    "data.jsonl": json.dumps({"id": 0, "gt": TREE}),
    "made.jsonl": json.dumps({"id": 0, "tree": TREE}),
    "human/a.md": SURVEY, "generated/a.md": SURVEY, "reports/1.md": SURVEY,
    "reportbench/ReportBench_v1.1.jsonl": json.dumps(RECORD),
    **{f"sage/Sage_Short_Form_Questions/{domain}.json": json.dumps(
        [{"complete_query": "Which?", "ground_truth": {"paperId": "1", "title": "ReAct"}}])
        for domain in ("computer_science", "healthcare", "humanities", "natural_science")},
    "sage.jsonl": json.dumps({"id": "sage:short:humanities:0", "answer": "ReAct"}),
    "asked.jsonl": json.dumps({"id": "1", "intent": "scope", "gold": ["1"]}),
    "ranked.jsonl": json.dumps({"id": "1", "ranking": ["1"]}),
    "inferred.jsonl": json.dumps({
        "input_data": {"question": "Which?", "answer": ["ReAct"]}, "inference_results": [],
    }),
    "reportbench/ReportBench_v1.1_GT/1.jsonl": json.dumps({"title": "ReAct", "meta_info": {}}),
}  # fmt: skip
NEEDS = {
    "serve mcp --corpus {synthetic} --before 2015": "serve",
    "serve mcp --corpus {synthetic} --task discovery --http": "serve",
    "serve retrieve --corpus {synthetic} --before 2015": "serve",
    "serve openenv --corpus {synthetic} --task discovery": "openenv",
    "serve ors --corpus {synthetic} --task discovery": "ors",
    "export inspect {run} --corpus {synthetic} --output a.eval": None,
    "export messages {run} --corpus {synthetic} --output a.jsonl": None,
    "export messages {run} --corpus {synthetic} --output a.parquet": None,
    "export results {run} --corpus {synthetic} --format eee --output results": None,
    "export requests --corpus {synthetic} --prompt title --output a.jsonl": None,
    "export examples --corpus {synthetic} --before 2014 --n 1 --output examples": None,
    "export trackio {run} --corpus {synthetic}": "trackio",
    "evaluate taxobench --data data.jsonl --predictions made.jsonl": "mindmap",
    "evaluate taxobench --data data.jsonl --predictions made.jsonl --official": "mindmap",
    "evaluate bloom-eval --human human --generated generated": "static",
    "evaluate bloom-eval --human human --generated generated --encoder minilm": "dense",
    "evaluate bloom-eval --human human --generated generated --llm-option model=m": "llm",
    "evaluate reportbench --data reportbench --reports reports": None,
    "evaluate surge --data surge --generated generated": "surge",
    "evaluate sage --data sage --answers sage.jsonl": None,
    "evaluate scholarquest --data asked.jsonl --results ranked.jsonl": None,
    "evaluate autoresearchbench --results inferred.jsonl": None,
}


def test_every_serve_export_and_evaluate_runs_or_names_its_extra_where_only_the_core_is(
    synthetic, title_run, tmp_path
):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text + "\n")
    lines = [line.format(synthetic=synthetic, run=title_run) for line in NEEDS]
    code = f"""{CORE_ALONE}
import contextlib, io, json
from arena.cli import main
from arena.cli.commands import commands_of
from arena.serving import INTEGRATIONS
from arena.suites import SUITES
groups = {{"serve": INTEGRATIONS.names(), "export": [*commands_of("arena")["export"]]}}
groups["evaluate"] = SUITES.names()
said = []
for line in {lines!r}:
    printed, out = io.StringIO(), io.StringIO()
    with contextlib.redirect_stderr(printed), contextlib.redirect_stdout(out):
        said.append((main(line.split()), printed.getvalue()))
print(json.dumps([[(k, each) for k, group in groups.items() for each in group], said]))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    commands, said = json.loads(done.stdout)
    assert set(map(tuple, commands)) == {tuple(line.split()[:2]) for line in NEEDS}
    for (line, extra), (status, printed) in zip(NEEDS.items(), said, strict=True):
        install = rf"arena: error: [^\n]* Run: pip install 'researcharena\[{extra}\]'\n"
        assert re.fullmatch(install if extra else "", printed), (line, printed)
        assert status == (2 if extra else 0), (line, printed)
