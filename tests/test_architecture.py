"""Private modules stay in their package, and no two files need each other."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("arena", "baselines", "benchmarks", "corpus_builder")
SHARED = "arena._internal"  # what the rooms of the project share, and no user imports


@cache
def modules() -> dict[str, Path]:
    """Return the dotted name of each module -> its file."""
    names = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            names[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return names


def imported(path: Path, at_import: bool = False) -> set[str]:
    """Return the dotted names that a file imports.

    Args:
        path: The file.
        at_import: Leave out imports inside functions and for type checking.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = tree.body if at_import else list(ast.walk(tree))
    names = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


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
            parts = name.removeprefix(f"{SHARED}.").split(".")
            private = next((i for i, part in enumerate(parts) if part.startswith("_")), None)
            if private is None or parts[private].startswith("__") or not home(name):
                continue
            if name.startswith(f"{SHARED}.") or name == SHARED:
                continue
            owner = package_of(home(".".join(parts[:private])))
            inside = package_of(module)
            assert inside == owner or inside.startswith(f"{owner}."), f"{module} imports {name}"


def test_no_files_need_each_other_to_be_imported() -> None:
    needs = {
        module: {home(name) for name in imported(path, at_import=True)} - {"", module}
        for module, path in modules().items()
    }
    left = dict(needs)
    while ready := [module for module, names in left.items() if not names & left.keys()]:
        for module in ready:
            del left[module]
    # A package and its own modules may name each other: `__init__` only repeats their names.
    tangled = {m: sorted(n for n in left[m] & left.keys() if not _kin(m, n)) for m in left}
    assert not any(tangled.values()), {m: names for m, names in tangled.items() if names}


def _kin(module: str, other: str) -> bool:
    return module.startswith(f"{other}.") or other.startswith(f"{module}.")
