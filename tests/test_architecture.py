"""Private modules stay in their package, imports point to the core, and there is no circle."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CORE, PLUGINS = "arena", ("arena_analysis", "arena_engines", "arena_integrations", "arena_suites")
PACKAGES = (CORE, "baselines", "corpus_builder", *PLUGINS)


@cache
def modules() -> dict[str, Path]:
    """Return the dotted name of each module -> its file."""
    names = {}
    for package in PACKAGES:
        root = ROOT / "plugins" if package in PLUGINS else ROOT
        for path in sorted((root / package).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            names[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return names


def imported(path: Path) -> set[str]:
    """Return the dotted names that a file imports, inside functions and for type checking too."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


@cache
def repeated(package: str) -> dict[str, str]:
    """Return what the ``__init__`` of a package imports: name -> where it is from."""
    path = modules()[package]
    if path.name != "__init__.py":
        return {}
    return {name.rpartition(".")[2]: name for name in imported(path)}


def origin(name: str) -> str:
    """Return the module that a dotted name is from, followed through the ``__init__`` files."""
    module = home(name)
    rest = name.removeprefix(f"{module}.").split(".")[0] if module and name != module else ""
    return origin(repeated(module)[rest]) if module and rest in repeated(module) else module


def home(name: str) -> str:
    """Return the longest part of a dotted name that is a module of the project, or nothing."""
    while name and name not in modules():
        name = name.rpartition(".")[0]
    return name


def package_of(module: str) -> str:
    is_package = modules()[module].name == "__init__.py"
    return module if is_package else module.rpartition(".")[0]


def test_private_modules_and_names_stay_in_their_package() -> None:
    for module, path in modules().items():
        for name in imported(path):
            parts = name.split(".")
            private = next((i for i, part in enumerate(parts) if part.startswith("_")), None)
            if private is None or parts[private].startswith("__") or not home(name):
                continue
            owner = package_of(home(".".join(parts[:private])))
            inside = package_of(module)
            assert inside == owner or inside.startswith(f"{owner}."), f"{module} imports {name}"


def circles(needs: dict[str, set[str]]) -> set[str]:
    """Return the nodes of a graph that reach themselves.

    >>> sorted(circles({"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set()}))
    ['b', 'c']
    """
    found = set()
    for start in needs:
        waiting, reached = list(needs[start]), set[str]()
        while waiting:
            node = waiting.pop()
            if node not in reached:
                reached.add(node)
                waiting += needs.get(node, ())
        if start in reached:
            found.add(start)
    return found


def room(module: str) -> str:
    """Return the folder in a package, or the file beside it, that a module belongs to."""
    return ".".join(module.split(".")[:2])


def graph(group: Callable[[str], str]) -> dict[str, set[str]]:
    """Return which groups of modules need which others, by any import.

    An ``__init__`` may name the modules below it: it repeats or registers what they have.
    """
    needs: dict[str, set[str]] = {group(module): set() for module in modules()}
    for module, path in modules().items():
        for other in set(map(origin, imported(path))) - {""}:
            if not other.startswith(f"{module}.") and group(other) != group(module):
                needs[group(module)].add(group(other))
    return needs


@pytest.mark.parametrize("group", [str, room], ids=["files", "rooms"])
def test_no_circle(group: Callable[[str], str]) -> None:
    needs = graph(group)
    found = circles(needs)
    assert not found, {node: sorted(needs[node] & found) for node in sorted(found)}


SUITE = re.compile("bloom|taxo[-_ ]?bench|report[-_ ]?bench", re.IGNORECASE)


def said(path: Path) -> Iterator[str]:
    """Yield the names and texts in the code of a file, without docstrings and comments."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    bodies = (node.body for node in ast.walk(tree) if isinstance(getattr(node, "body", 0), list))
    documentation = {
        statement.value for body in bodies for statement in body if isinstance(statement, ast.Expr)
    }
    for node in ast.walk(tree):
        if node not in documentation:
            yield from (value for _, value in ast.iter_fields(node) if isinstance(value, str))


def test_imports_point_to_the_core() -> None:
    """Plug-ins, the builder and the baselines import the core, plug-ins also the builder."""
    allowed = {CORE: {CORE}, "corpus_builder": {CORE, "corpus_builder"}}
    allowed |= {"baselines": {CORE, "baselines"}}
    allowed |= {package: {CORE, "corpus_builder", package} for package in PLUGINS}
    for module, path in modules().items():
        package = module.partition(".")[0]
        for name in imported(path) if package in allowed else ():
            other = name.partition(".")[0]
            assert other in allowed[package] or other not in PACKAGES, f"{module} imports {name}"


def test_the_core_imports_no_name_of_its_package() -> None:
    """Its ``__init__`` imports what users want; a module takes names from where they are."""
    for module, path in modules().items():
        for name in imported(path) if module.startswith(f"{CORE}.") else ():
            own = name.startswith(f"{CORE}.") or name == CORE
            assert not own or name in modules() or home(name) != CORE, f"{module} imports {name}"


def test_the_core_names_no_suite() -> None:
    for path in (ROOT / CORE).rglob("*.py"):
        assert not [text for text in said(path) if SUITE.search(text)], path


def test_what_others_need_of_the_toolkit_is_listed() -> None:
    """The modules of `arena.kit` list what they offer, and each of these has a docstring."""
    for module, path in modules().items():
        if module.startswith("arena.kit."):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            defined = {
                node.name: ast.get_docstring(node)
                for node in tree.body
                if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name[0] != "_"
            }
            listed = set(import_module(module).__all__)
            assert defined.keys() <= listed, module
            assert all(defined.values()), module


# Where names come in. Below it, objects are handed on; a registry's own module may ask it, too.
EDGES = (
    "arena",  # the names of environments in its docstring
    "arena.cli", "corpus_builder.cli",  # the command line
    "arena.plugins",
    # Settings become a task, rewards and texts of papers, once.
    "arena.envs.config", "arena.envs._factory", "arena.tasks.base", "arena.rewards.base",
    "arena.runs.directory",  # opened runs
    "arena.runs.players", "arena.runs.runner",  # the agent and the executor of a run
    "arena.runs.scoring", "arena.runs.environment",  # the encoder and the extractor of scores
    "arena.corpus.indexes", "arena.retrieval.dense",  # what an index is recorded with
    "arena.serving",  # which names its own tools
    *PLUGINS,  # which name their own parts
    "arena.testing",  # audits whatever is registered
    "corpus_builder.digest", "corpus_builder.index",
    "corpus_builder.question_tasks",
    "corpus_builder.selection", "corpus_builder.stages.base",  # arguments of a build
)  # fmt: skip
ASKED = {"describe", "find", "get", "names", "own_names", "resolve"}


def registries() -> dict[str, set[str]]:
    """Return the name of each registry -> the packages of the modules that define it."""
    found: dict[str, set[str]] = {}
    for module, path in modules().items():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.AnnAssign | ast.Assign) and isinstance(node.value, ast.Call):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if "Registry" in ast.unparse(node.value.func):
                    for target in targets:
                        found.setdefault(ast.unparse(target), set()).add(package_of(module))
    return found


def look_ups(tree: ast.AST, known: dict[str, set[str]]) -> Iterator[tuple[str, int]]:
    """Yield (registry, line) of each question to a registry."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in ASKED:
            asked = ast.unparse(node.value)
            if asked in known:
                yield asked, node.lineno


def test_names_are_looked_up_at_the_edge_alone() -> None:
    known, edges = registries(), set()
    assert {"METRICS", "TASKS", "TOOLS", "ANSWERS", "RETRIEVERS", "AGENTS"} <= known.keys()
    for module, path in modules().items():
        for name, line in look_ups(ast.parse(path.read_text(encoding="utf-8")), known):
            edge = next((e for e in EDGES if f"{module}.".startswith(f"{e}.") and e != "arena"), "")
            if module == "arena":
                edge = module
            own = any(f"{module}.".startswith(f"{package}.") for package in known[name])
            assert edge or own, f"{module}:{line} asks {name}: take the object where the name comes"
            edges |= {edge} - {""}
    assert edges == {edge for edge in EDGES if edge != "arena.plugins"}  # none is a leftover


def kinds_tested(tree: ast.AST) -> Iterator[int]:
    """Yield the lines that compare the name or the class of a kind of answer."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            texts = {n.value for n in sides if isinstance(n, ast.Constant)}
            kinds = [s for s in sides if re.search(r"\b(answer|kind)(\.name)?$", ast.unparse(s))]
            if texts & {"ranking", "map", "report"} and kinds:
                yield node.lineno
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance":
            words = set(re.findall(r"\w+", ast.unparse(node.args[1])))
            about = ast.unparse(node.args[0]).rpartition(".")[2]
            if words & {"Map", "Ranking"} or (about == "answer" and words & {"dict", "list"}):
                yield node.lineno


def test_what_differs_by_kind_of_answer_is_with_the_kind() -> None:
    # Suites and inputs read answers of models; audits read answers by themselves.
    others = ("arena.answers", "arena.paper_texts", "arena.testing")
    for module, path in modules().items():
        if module.startswith(("arena.", "baselines.")) and not module.startswith(others):
            found = [*kinds_tested(ast.parse(path.read_text(encoding="utf-8")))]
            assert not found, f"{module}:{found}: make it a method of arena.answers.AnswerKind"
