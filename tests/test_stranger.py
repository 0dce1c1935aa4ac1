"""The distribution of a stranger, examples/plugin, installed beside the wheel of this project."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from llm_server import LLMServer

ROOT = Path(__file__).resolve().parent.parent
PIP = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
OFFLINE = ["--no-deps", "--no-index", "--no-build-isolation"]
PLUGIN = "my-arena-plugins"
QUESTION = "2020-05-01\twhat is known of ranking?\tNeural Ranking of Passages\n"

pytestmark = pytest.mark.slow


def install(site: Path, *what: Path) -> Path:
    """Install projects into a folder that was not there, from the files that are here alone."""
    command = [*PIP, "install", *OFFLINE, "--target", str(site), *map(str, what)]
    subprocess.run(command, check=True, capture_output=True)
    return site


def copied(to: Path) -> Path:
    """Copy the example: to build it leaves files beside it."""
    return Path(shutil.copytree(ROOT / "examples" / "plugin", to))


@pytest.fixture(scope="module")
def alone(tmp_path_factory) -> Path:
    """The folder into which the wheel of this project is installed."""
    place = tmp_path_factory.mktemp("wheel")
    left_out = shutil.ignore_patterns(".git", ".venv*", "demo", "site", "build", "tests")
    source = shutil.copytree(ROOT, place / "source", ignore=left_out)
    wheel = [*PIP, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(place), source]
    subprocess.run(wheel, check=True, capture_output=True)
    return install(place / "alone", *place.glob("*.whl"))


@pytest.fixture(scope="module")
def theirs(alone, tmp_path_factory) -> Path:
    """The folder into which the distribution of the stranger is installed."""
    return install(tmp_path_factory.mktemp("theirs") / "site", copied(alone.parent / "plugin"))


class Run:
    """Commands in a folder, with folders of installed packages."""

    def __init__(self, folder: Path, *sites: Path) -> None:
        self.folder, self.path = folder, os.pathsep.join(map(str, sites))

    def __call__(self, command: str, status: int = 0, stdin: str = "") -> tuple[str, str]:
        """Run a command; return what it prints and its errors."""
        program, *words = command.split()
        module = {"arena": "arena", "arena-corpus": "corpus_builder.cli"}.get(program, program)
        done = subprocess.run(
            [sys.executable, "-m", module, *words], cwd=self.folder, input=stdin, text=True,
            env={**os.environ, "PYTHONPATH": self.path, "OPENAI_API_KEY": "sk-none"},
            capture_output=True,
        )  # fmt: skip
        assert done.returncode == status, f"{command}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr
        return done.stdout, done.stderr


@pytest.fixture
def run(alone, theirs, tmp_path, tiny, synthetic) -> Run:
    """Both are installed, and a small corpus, a synthetic corpus and questions are there."""
    shutil.copytree(tiny, tmp_path / "tiny")
    (tmp_path / "synthetic").symlink_to(synthetic)
    (tmp_path / "questions.tsv").write_text(QUESTION)
    return Run(tmp_path, alone, theirs)


PLAY = "arena run --corpus tiny --task discovery --metric noise@5"


def test_its_own_tests_pass(alone, theirs):
    out, _ = Run(alone.parent / "plugin", alone, theirs)("pytest -q -p no:cacheprovider tests")
    assert "3 passed" in out


def test_every_command_uses_it(run):
    listed, _ = run("arena plugins")
    found = re.findall(r"^(\w[\w ]*?) {2,}(\w+) +my-arena-plugins 1\.0 +1\.0", listed, re.M)
    assert found == [
        ("agent", "words"), ("integration", "lines"), ("metric", "noise"),
        ("question format", "tabbed"), ("reader", "endnote"), ("retriever", "overlap"),
        ("reward", "new_words"), ("rubric", "teaching"), ("sampler", "worst"),
        ("task", "shortlist"),
    ]  # fmt: skip
    for kind, name in found:
        assert f" {name} " in run(f"arena list {kind.replace(' ', '-')}s")[0]
    run("arena-corpus index tiny --engine overlap")
    run(f"{PLAY} --agent title --retriever overlap --reward gain+noise@5 --output a")
    run(f"{PLAY} --agent random --retriever overlap --output b")
    run(f"{PLAY} --agent random --jobs 2 --output c")
    compared, _ = run("arena compare a b --metric noise@5 --html compared.html")
    assert "lower is better" in compared
    assert "Verified" in run("arena verify a --corpus tiny")[0]
    run("arena rescore b --corpus tiny --metric noise")
    run("arena view a b --corpus tiny --output view.html")
    run("arena show a --corpus tiny")
    run("arena audit --corpus tiny --retriever overlap --actions 60 arena/Discovery-v0")
    run("arena-corpus tasks tiny --questions tabbed=questions.tsv --output tasks")
    assert "--topk" in run("arena serve lines --help")[0]
    served, _ = run("arena serve lines --corpus tiny --before 2030", stdin="ranking\n")
    assert json.loads(served)[0].keys() == {"id", "title", "date", "score"}
    run("arena run --corpus synthetic --task organization --agent clustering --topics 2 --output m")
    scores = {name: {"score": 3, "reason": "Fair."} for name in ("order", "clarity")}
    with LLMServer(lambda body: json.dumps(scores)) as server:
        options = f"--llm-option model=scripted --llm-option base_url={server.url}"
        run(f"arena judge run m --corpus synthetic --rubric teaching {options}")


def test_where_it_is_absent(run, alone):
    run("arena-corpus index tiny --engine overlap")
    run(f"{PLAY} --agent title --output a")
    run(f"{PLAY} --agent title --retriever overlap --output b")
    bare = Run(run.folder, alone)
    for command in ("arena verify a --corpus tiny", "arena compare a", "arena view a --corpus tiny",
                    "arena rescore a --corpus tiny", "arena show a --corpus tiny"):  # fmt: skip
        _, error = bare(command, status=2)
        assert error == (
            f"arena: error: 'a' was run with the metric 'noise' of {PLUGIN} 1.0, which is not "
            f"loaded. Install it: pip install '{PLUGIN}==1.0'.\n"
        )
    _, error = bare("arena verify b --corpus tiny", status=2)
    assert "overlap" in error
    assert len(error.splitlines()) == 1


def test_another_version(run, alone, tmp_path):
    run(f"{PLAY} --agent title --output a")
    project = copied(tmp_path / "newer")
    for file, old, new in (
        ("pyproject.toml", 'version = "1.0"', 'version = "1.1"'),
        ("my_arena_plugins/metrics.py", "else 1.0", "else 0.0"),
    ):
        text = (project / file).read_text()
        assert old in text
        (project / file).write_text(text.replace(old, new))
    newer = Run(run.folder, alone, install(tmp_path / "site", project))
    _, error = newer("arena verify a --corpus tiny", status=1)
    assert error == (
        f"arena verify: The plug-in {PLUGIN} 1.1 (1.0 then) has changed since the run "
        "(metric noise).\n"
    )
    _, error = newer(f"{PLAY} --agent title --output a", status=2)
    assert "contains another run" in error


def test_one_that_does_not_import(run, alone, tmp_path):
    project = copied(tmp_path / "broken")
    (project / "my_arena_plugins" / "metrics.py").write_text("import no_such_package\n")
    broken = Run(run.folder, alone, install(tmp_path / "site", project))
    out, error = broken("arena plugins")
    assert re.search(r"my-arena-plugins 1\.0 +1\.0 +ModuleNotFoundError: .*no_such_package", out)
    assert error == (
        f"arena: warning: the plug-in {PLUGIN} 1.0 does not import and is left out: "
        "ModuleNotFoundError: No module named 'no_such_package'\n"
    )
    broken("arena run --corpus tiny --task discovery --agent title --output a")
    _, error = broken("arena rescore a --corpus tiny --metric noise", status=2)
    assert "no metric named 'noise'" in error
