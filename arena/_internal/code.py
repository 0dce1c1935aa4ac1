"""The hash of the code that makes a result."""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import sys
from collections.abc import Collection
from pathlib import Path
from types import CodeType
from typing import Any

_ROOT = Path(__file__).parents[1]
ELSEWHERE = ("cli", "judging", "results", "suites", "testing")
"""Rooms of `arena` that no run, replay or score imports, so that they cannot change its result."""

_SCHEMAS = _ROOT / "tools"
"""The one package whose docstrings agents see: they become the schemas of the tools."""


def code_sha256(*extra: Any, rooms: Collection[str] = ()) -> str:
    """Return the hash of the packages `arena` and `baselines`, and of the modules of `extra`.

    What cannot change a result is left out: the rooms `ELSEWHERE`, comments, layout, and
    docstrings other than those of tools. Of files that are not Python, such as templates of
    prompts, every byte counts.

    Of `extra`, such as a user's own agent, the docstrings count, too. `rooms` are rooms of
    `ELSEWHERE` whose code makes this result and therefore counts.
    """
    digests, left_out = {}, {*ELSEWHERE}.difference(rooms)
    for package in (_ROOT, _ROOT.parent / "baselines"):
        for path in package.rglob("*"):
            parts = path.relative_to(package).parts
            if "__pycache__" in parts or (package == _ROOT and parts[0] in left_out):
                continue
            if path.is_file():
                name = path.relative_to(_ROOT.parent).as_posix()
                digests[name] = _digest(path.read_bytes(), path.suffix, _SCHEMAS in path.parents)
    for item in map(inspect.unwrap, extra):
        if item.__module__.partition(".")[0] not in ("arena", "baselines"):
            digests[f"{item.__module__.rstrip('+')}:{item.__qualname__}"] = _digest_of(item)
    lines = [f"{name}\0{digest}\n" for name, digest in sorted(digests.items())]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


@functools.lru_cache(maxsize=2048)
def _digest(content: bytes, suffix: str, docstrings: bool) -> str:
    """Return the hash of a file; of Python code, the hash of its syntax tree."""
    tree = _parse(content) if suffix == ".py" else None
    if tree is not None:
        if not docstrings:
            _remove_docstrings(tree)
        content = _dump(tree).encode("utf-8", "surrogatepass")
    return hashlib.sha256(content).hexdigest()


def _parse(content: bytes) -> ast.Module | None:
    """Return a syntax tree, or None for a file that is not valid Python, such as a draft."""
    try:
        return ast.parse(content)
    except (SyntaxError, ValueError):
        return None


def _remove_docstrings(tree: ast.Module) -> None:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [
                statement
                for statement in node.body
                if not (
                    isinstance(statement, ast.Expr)
                    and isinstance(statement.value, ast.Constant)
                    and isinstance(statement.value.value, str)
                )
            ]


def _dump(tree: ast.Module) -> str:
    """Return a tree as text that is the same in all versions of Python from 3.11."""
    if sys.version_info >= (3, 13):
        return ast.dump(tree, show_empty=True).replace(", type_params=[]", "")
    return ast.dump(tree).replace(", type_params=[]", "")


def _digest_of(item: Any) -> str:
    """Return the hash of the module that defines `item`; of its bytecode if it has no file."""
    try:
        path = inspect.getsourcefile(item)
    except (OSError, TypeError):  # a class of a notebook, for example
        path = None
    if path and Path(path).is_file():
        return _digest(Path(path).read_bytes(), Path(path).suffix, True)
    functions = vars(item) if inspect.isclass(item) else {item.__name__: item}
    code = [
        (name, _bytecode(function.__code__))
        for name, function in sorted(functions.items())
        if inspect.isfunction(function)
    ]
    return hashlib.sha256(repr(code).encode()).hexdigest()


def _bytecode(code: CodeType) -> list[str]:
    constants = []
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            constants += _bytecode(constant)
        else:  # the order of a set differs from process to process
            constants.append(
                repr(sorted(map(repr, constant)) if isinstance(constant, frozenset) else constant)
            )
    return [code.co_code.hex(), repr(code.co_names), *constants]
