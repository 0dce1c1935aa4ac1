"""The documentation: links, commands with their output, sessions, and the extensions it shows."""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import arena.cli
import corpus_builder.cli

ROOT = Path(__file__).resolve().parent.parent
DOCS = sorted(page for folder in ("docs", "docs/results") for page in (ROOT / folder).glob("*.md"))
PAGES = [page for page in [ROOT / "README.md", *DOCS] if page.is_file()]
BLOCK = re.compile(r"^```([\w{}-]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMANDS = {"arena": arena.cli.main, "arena-corpus": corpus_builder.cli.main}
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[tuple[str, str]]:
    """Return (language, content) of the fenced blocks."""
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub gives the headings."""
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", h.lower()).strip().replace(" ", "-") for h in headings}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page):
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    for words, target in re.findall(r"\[([^]]*)\]\(([^)\s]+)\)", text):
        if "://" in target:
            continue
        assert not words.endswith((".md", ".ipynb")), f"{name(page)}: say {words} in words"
        file, _, anchor = target.partition("#")
        path = page.parent / file if file else page
        assert path.exists(), f"{name(page)} links to {target}"
        if anchor:
            assert anchor in anchors(path), f"{name(page)} links to {target}"


def test_every_page_is_in_the_index():
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    for page in DOCS:
        place = page.relative_to(ROOT / "docs").as_posix()
        assert place == "README.md" or f"]({place})" in index


def commands(text: str) -> list[tuple[str, str]]:
    """Return (command, output) of a console block; a command may begin with a prompt."""
    found: list[tuple[str, str]] = []
    for line in re.sub(r"\\\n\s*", "", text).splitlines(keepends=True):
        if line.startswith("$ ") or line.split(" ")[0] in COMMANDS:
            found.append((line.removeprefix("$ ").strip(), ""))
        elif found:
            found[-1] = (found[-1][0], found[-1][1] + line)
    return found


def of_ours(page: Path) -> list[str]:
    return [
        command
        for language, text in blocks(page)
        if language == "console"
        for command, _ in commands(text)
        if command.split()[0] in COMMANDS
    ]


@pytest.mark.parametrize(
    ("page", "command"), [(p, c) for p in PAGES for c in of_ours(p)], ids=lambda x: str(x)[-60:]
)
def test_commands_parse(page, command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path, text in written(page).items():
        Path(path).write_text(text, encoding="utf-8")
    program, *arguments = shlex.split(command, comments=True)
    parsed = []
    monkeypatch.setattr(
        "arena.cli.app.run_command",
        lambda parser, argv: parsed.append(parser.parse_args(argv)),
    )
    COMMANDS[program](arguments)
    assert parsed


def written(page: Path) -> dict[str, str]:
    """Return the files of a page: blocks whose first line is `# NAME.py`."""
    found = [text for language, text in blocks(page) if language == "python"]
    return {m[1]: text for text in found if (m := re.match(r"# (\w+\.py)\n", text))}


def call(command: str) -> str:
    """Run a command line in this process, where everything is imported; return what it prints."""
    program, *arguments = shlex.split(command)
    if program not in COMMANDS:
        assert program in ("cat", "head")
        return subprocess.run([program, *arguments], capture_output=True, text=True).stdout
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        COMMANDS[program](arguments)
    return output.getvalue()


@pytest.fixture(scope="session")
def demo(tmp_path_factory):
    """The corpus of `make demo`."""
    folder = tmp_path_factory.mktemp("demo") / "synthetic"
    assert not corpus_builder.cli.main(["build", "synthetic", "--output", str(folder)])
    return folder


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_sessions(page, tiny, tmp_path, monkeypatch, request):
    """Commands after a prompt and Python after a prompt do what the page says, in its order."""
    monkeypatch.chdir(tmp_path)
    for path, text in written(page).items():
        Path(path).write_text(text, encoding="utf-8")
    for folder in ("docs", "configs", "examples", "benchmarks"):
        Path(folder).symlink_to(ROOT / folder)
    Path("demo").mkdir()
    if re.search(r"^\$ .*demo/synthetic", page.read_text(encoding="utf-8"), re.MULTILINE):
        shutil.copytree(request.getfixturevalue("demo"), "demo/synthetic")
    if not re.search(r"^\$ .*--output demo/tiny", page.read_text(encoding="utf-8"), re.M):
        shutil.copytree(tiny, "demo/tiny")
    checker, names = doctest.OutputChecker(), {}
    for language, text in blocks(page):
        if language == "console" and text.startswith("$ "):
            for command, expected in commands(text):
                got = call(command)
                assert not expected or checker.check_output(expected, got, FLAGS), (
                    f"{command}\nexpected:\n{expected}\ngot:\n{got}"
                )
        elif language == "python" and text.startswith(">>> "):
            test = doctest.DocTestParser().get_doctest(text, names, page.name, name(page), 0)
            test.globs = names  # get_doctest copies them; later blocks use earlier names
            told = io.StringIO()
            failed = doctest.DocTestRunner().run(test, out=told.write, clear_globs=False).failed
            assert not failed, told.getvalue()


@pytest.fixture(scope="module")
def files() -> dict[str, str]:
    """The files that docs/extending.md links, by path; the tool is that of docs/first-plugin.md."""
    page = ROOT / "docs" / "extending.md"
    linked = re.findall(r"^\[.*\]\(\.\./examples/plugin/(.*\.py)\)$", page.read_text("utf-8"), re.M)
    found = {path: (ROOT / "examples" / "plugin" / path).read_text("utf-8") for path in linked}
    assert len(found) == 8
    guide = written(ROOT / "docs" / "first-plugin.md")
    found["my_arena_plugins/tools.py"] = guide["cocited.py"]
    return found


def test_guides_are_short_and_executed():
    """Guides have sessions after a prompt, which tests run; the notebook has a test of its own."""
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    guides = index.split("**Guides**")[1].split("**Reference**")[0]
    for page in re.findall(r"\]\(([\w-]+\.md)\)", guides):
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        assert len(text.splitlines()) <= 120, page
        assert re.search(r"^(\$|>>>) ", text, re.MULTILINE), page


def test_the_navigation_is_short():
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    assert len(re.findall(r"^- \[", index, re.MULTILINE)) <= 25
    assert len(re.findall(r"^\*\*", index, re.MULTILINE)) == 5


@pytest.mark.slow
def test_the_extensions_work(files, tmp_path):
    """As files that are loaded, with a test of each."""
    (tmp_path / "my_arena_plugins").mkdir()
    for name in ("conftest.py", "helpers.py"):
        shutil.copy(ROOT / "tests" / name, tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    for path, text in files.items():
        (tmp_path / path).write_text(text, encoding="utf-8")
    shutil.copy(ROOT / "tests" / "docs" / "extending.py", tmp_path / "test_extending.py")
    plugins = [str(tmp_path / path) for path in files]
    environment = {
        **os.environ, "PYTHONPATH": str(ROOT), "ARENA_PLUGINS": os.pathsep.join(plugins)
    }  # fmt: skip

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments], cwd=tmp_path, env=environment, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout
        return done.stdout

    assert "9 passed" in run("-m", "pytest", "-q", "-p", "no:cacheprovider")
    listed = run("-m", "arena", "list")
    for line in (r"agents +words ", r"metrics +noise ", r"retrievers +overlap ",
                 r"readers +endnote ", r"tasks +shortlist +ndcg@10, precision@10",
                 r"environments +arena/Shortlist-v0 ",
                 r"tools +cocited ", r"rewards +new_words ",
                 r"samplers +worst "):  # fmt: skip
        assert re.search(line, listed), listed
