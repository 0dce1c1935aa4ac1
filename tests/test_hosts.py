"""Files for public hosts: workflows, the image of a server, how to cite."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from arena import cli

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
SCHEMAS = {
    "github-workflows": WORKFLOWS,
    "compose-spec": [ROOT / "compose.yaml"],
    "citation-file-format": [ROOT / "CITATION.cff"],
}


def check(program: str, *words: object) -> None:
    """Run a checker of the extra dev; fail with what it prints."""
    if not (BIN / program).exists():
        pytest.skip(f"{program}, of the extra dev, is not installed")
    done = subprocess.run([BIN / program, *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("schema", SCHEMAS)
def test_files_have_their_schemas(schema):
    check("check-jsonschema", "--builtin-schema", f"vendor.{schema}", *SCHEMAS[schema])


def test_a_linter_finds_nothing_in_workflows():
    check("zizmor", "--offline", "--no-progress", *WORKFLOWS)


def test_a_linter_finds_nothing_in_the_dockerfile():
    check("hadolint", ROOT / "Dockerfile")


def test_workflows_use_what_the_project_has():
    jobs = [job for path in WORKFLOWS for job in yaml.safe_load(path.read_text())["jobs"].values()]
    assert all(job["timeout-minutes"] <= 120 for job in jobs)
    targets = next(job for job in jobs if "make" in job["name"])["strategy"]["matrix"]["target"]
    makefile = (ROOT / "Makefile").read_text()
    assert all(f"\n{target}:" in makefile for target in targets)
    assert all(f"make {target}\n" in (ROOT / ".ci" / "run").read_text() for target in targets)
    for line in "\n".join(path.read_text() for path in WORKFLOWS).split("uses: ")[1:]:
        assert len(line.split()[0].partition("@")[2]) == 40, line


def test_the_server_of_the_dockerfile_is_one_of_the_command_line(capsys):
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    words = {line.split(maxsplit=1)[0]: line.split(maxsplit=1)[1] for line in lines if "[" in line}
    called = yaml.safe_load(words["ENTRYPOINT"]) + yaml.safe_load(words["CMD"])
    assert called[0] == "arena"
    assert cli.main(called[1:]) == 2
    assert "there is no directory '/corpus'" in capsys.readouterr().err
    assert "USER 10001" in lines
