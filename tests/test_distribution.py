"""The built distribution: its files, its metadata, and the wheel alone, also without plugins/."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

import arena

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = (
    "arena", "arena_analysis", "arena_engines", "arena_integrations", "arena_suites",
    "arena_verifiers", "baselines", "corpus_builder", "researcharena.py",
)  # fmt: skip
BUILD = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
NO_INDEX = ["--no-deps", "--no-index", "--no-build-isolation"]
BIB = """@article{lee, title={Neural Ranking of Passages}, author={Lee, Ann}, date={2019-03-05},
  abstract={We rank passages.}}
@article{wu, title={Sparse Retrieval Revisited}, author={Wu, Bo}, date={2018-01-02}}"""
ASK = """
import sys
import anyio
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

async def ask():
    command = ["-m", "arena", "serve", "mcp", "--corpus", sys.argv[1], "--before", "2019-01-01"]
    server = StdioServerParameters(command=sys.executable, args=command)
    async with Client(server) as client:
        return await client.call_tool("search", {"query": "retrieval"})

print(anyio.run(ask).content[0].text)
"""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with this wheel and what the tests' one has installed."""
    place = tmp_path_factory.mktemp("alone")
    left_out = shutil.ignore_patterns(
        ".git", ".venv*", "demo", "site", "build", "tests", "plugins", "*.egg-info"
    )
    source = shutil.copytree(ROOT, place / "source", ignore=left_out)
    wheel = [*BUILD, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", place, source]
    subprocess.run(wheel, check=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place / "venv"], check=True)
    (site,) = (place / "venv").glob("lib/python*/site-packages")
    install = [*BUILD, "install", *NO_INDEX, "--target", site, *place.glob("*.whl")]
    subprocess.run(install, check=True)
    # A line of a .pth file adds a folder and none of the .pth files in it: no editable install.
    (site / "others.pth").write_text(sysconfig.get_path("purelib"))
    return place / "venv" / "bin" / "python"


def run(python: Path, folder: Path, *words: object) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [python, *map(str, words)], cwd=folder, env=environment, text=True, capture_output=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def builds_a_library_and_serves_it(python: Path, folder: Path) -> None:
    (folder / "mine.bib").write_text(BIB)
    corpus = [python, folder, "-m", "corpus_builder.cli"]
    run(*corpus, "build", "library", "--papers", "mine.bib", "--output", "mine")
    found = run(python, folder, "-m", "arena", "search", "--query", "retrieval", "--corpus",
                "mine", "--before", "2019-01-01", "--json")  # fmt: skip
    assert "Sparse Retrieval Revisited" in json.dumps(json.loads(found))
    answer = run(python, folder, "-c", ASK, "mine")
    assert "Sparse Retrieval Revisited" in answer and "Neural Ranking" not in answer


def test_the_core_alone_plays_the_demo(python, tmp_path):
    assert "arena_suites" not in run(python, tmp_path, "-m", "arena", "plugins")
    assert run(python, tmp_path, "-m", "arena", "list", "suites").count("\n") < 3
    printed = run(python, tmp_path, ROOT / "examples" / "demo.py", "--output", "demo")
    assert "organization" in printed and "oracle" in printed


def test_the_core_alone_builds_a_library_and_serves_it(python, tmp_path):
    builds_a_library_and_serves_it(python, tmp_path)


@pytest.fixture(scope="module")
def sources(tmp_path_factory) -> Path:
    """A clone with the files of today; a build leaves folders where it runs."""
    place = tmp_path_factory.mktemp("clone")
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(lambda name: (ROOT / name).is_file(), done.stdout.splitlines()):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, place / name)
    return place


def built(sources: Path) -> tuple[Path, Path]:
    """Build the sdist, and the wheel of that; return their paths."""
    build = [sys.executable, "-m", "build", "--no-isolation", sources]
    subprocess.run(build, check=True, capture_output=True)
    (sdist,) = (sources / "dist").glob("*.tar.gz")
    (wheel,) = (sources / "dist").glob("*.whl")
    return sdist, wheel


@pytest.fixture(scope="module")
def dist(sources) -> tuple[Path, Path]:
    """The sdist and the wheel."""
    return built(sources)


def metadata_of(wheel: Path):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return message_from_bytes(archive.read(name))


def test_its_checkers_find_nothing(dist):
    for words in (["twine", "check", "--strict", *dist], ["check_wheel_contents", dist[1]]):
        done = subprocess.run(
            [sys.executable, "-m", *words], cwd=ROOT, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_a_wheel_has_every_file_of_the_packages_and_every_page(dist, sources):
    assert dist[1].name == f"researcharena-{arena.__version__}-py3-none-any.whl"
    archived = zipfile.ZipFile(dist[1]).namelist()
    names = {re.sub(r"^\S*\.data/data/", "", name) for name in archived}
    files = (path.relative_to(sources).as_posix() for path in sources.rglob("*") if path.is_file())
    ours = {name.removeprefix("plugins/") for name in files if "egg-info" not in name}
    assert {name for name in ours if name.split("/")[0] in PACKAGES} <= names
    pages = {path.name for path in (ROOT / "docs").glob("*.md")}
    assert {f"share/doc/researcharena/{page}" for page in pages} <= names


def test_a_release_has_the_links_of_its_host(sources, tmp_path):
    clone = Path(
        shutil.copytree(sources, tmp_path / "clone", ignore=shutil.ignore_patterns("dist"))
    )
    links = [sys.executable, clone / "requirements/links.py", "https://host.example/us/gym", "v1"]
    subprocess.run(links, check=True)
    said = metadata_of(built(clone)[1])
    assert "Source, https://host.example/us/gym" in said.get_all("Project-URL")
    text = said.get_payload()
    assert "](https://host.example/us/gym/blob/v1/docs/README.md)" in text
    assert "](https://host.example/us/gym/raw/v1/docs/comparison.png)" in text
    assert not re.findall(r"\]\((?!https?:)[^)]*\)", text)


def interpreter(version: str) -> str | None:
    """The path of a Python of this version that starts, also one of pyenv; else None."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    found = [shutil.which(f"python{version}"), *pyenv.glob(f"versions/{version}.*/bin/python")]
    for path in filter(None, found):  # a shim of pyenv may know no such version
        if subprocess.run([path, "-c", ""], capture_output=True).returncode == 0:
            return str(path)
    return None


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_the_wheel_alone_plays_on(version, dist, tmp_path):
    if (base := interpreter(version)) is None:
        pytest.skip(f"there is no Python {version}")
    subprocess.run([base, "-m", "venv", tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    wanted = f"{dist[1]}[demo,library,serve]"
    run(python, tmp_path, "-m", "pip", "install", "--quiet", "--no-compile", wanted)
    run(python, tmp_path, "-m", "pip", "check")
    assert "/venv/" in run(python, tmp_path, "-c", "import arena; print(arena.__file__)")
    arena_command = python.with_name("arena")
    assert run(arena_command, tmp_path, "--version") == f"arena {arena.__version__}\n"
    # Each task and each baseline, with the outputs of every other version of Python.
    assert run(python, tmp_path, "-I", ROOT / "tests" / "frozen.py") == "all equal\n"
    builds_a_library_and_serves_it(python, tmp_path)
