"""The hash of code: that of all modules which some roots import, followed through the project."""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import sys
import sysconfig
from collections.abc import Iterable
from contextlib import suppress
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from types import CodeType
from typing import Any

from arena.kit.files import sha256_json

__all__ = [
    "DISTRIBUTION", "GROUP", "code_sha256", "entry_points", "file_sha256", "imported_files",
    "is_ours", "local_files", "own_packages", "source_sha256",
]  # fmt: skip

DISTRIBUTION = "researcharena"
GROUP = "researcharena.plugins"
"""Entry point group of plug-ins, see `arena.plugins`."""
_ROOT = Path(__file__).parents[2]
_SCHEMAS = _ROOT / "arena" / "tools"
"""The one package whose docstrings agents see: they become the schemas of the tools."""


@functools.cache
def entry_points() -> tuple[metadata.EntryPoint, ...]:
    """Return the entry points of plug-ins, by value and name; reading them all takes long."""
    found = metadata.entry_points(group=GROUP)
    return tuple(sorted(found, key=lambda each: (each.value, each.name)))


def is_ours(entry: metadata.EntryPoint) -> bool:
    """Return whether this project's distribution has an entry point."""
    return entry.dist is not None and _name_of_distribution(entry.dist) == DISTRIBUTION


@functools.cache  # reading it takes milliseconds, and all entry points of one share the object
def _name_of_distribution(distribution: metadata.Distribution) -> str:
    return distribution.name


@functools.cache
def own_packages() -> dict[str, Path]:
    """Return each top-level package of this project -> the directory that it lies in.

    Those are the core, the builder and the baselines, and the packages of the plug-ins that its
    distribution brings.
    """
    found = dict.fromkeys(("arena", "baselines", "corpus_builder"), _ROOT)
    for entry in entry_points():
        top = entry.value.partition(".")[0]
        if is_ours(entry) and top not in found:
            spec = find_spec(top)
            if spec is not None and spec.submodule_search_locations:
                found[top] = Path(spec.submodule_search_locations[0]).parent
    return found


def code_sha256(*roots: Any) -> str:
    """Return the hash of the Python code that `roots` import, also inside functions.

    Followed are imports of this project, from file to file. A module counts with the ``__init__``
    of the packages it lies in. What a registry would find counts only if it is a root: a file added
    to a package, or a plug-in installed, changes no hash. What cannot change a result does not
    count either: comments, layout, imports for type checking, and docstrings other than those of
    tools.

    Roots are dotted names of modules of this project; of packages, such as ``"arena.runs"``, which
    stand for all modules in them; and classes or functions, such as an agent. Of those from
    elsewhere, the docstrings count, too, and the files that they import and that are not installed.
    """
    names: list[str] = []
    hashes: dict[str, str] = {}
    for root in map(inspect.unwrap, roots):
        if isinstance(root, str):
            names.append(root)
        elif _is_ours(root.__module__):
            names.append(root.__module__)
        else:
            sha256, imported, place = _parsed_item(root)
            hashes[f"{place}:{root.__qualname__}"] = sha256
            names += [name for name in imported if _is_ours(name)]
            hashes |= local_files(root)
    hashes |= imported_files(*names)
    lines = [f"{name}\0{sha256}\n" for name, sha256 in sorted(hashes.items())]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def local_files(root: Any) -> dict[str, str]:
    """Return name -> hash of each file elsewhere that a class or function imports.

    Installed packages and the standard library do not count: their versions do.
    """
    if _is_ours(inspect.unwrap(root).__module__):
        return {}
    return _imported_locally(_parsed_item(inspect.unwrap(root))[1])


def file_sha256(path: Path) -> str:
    """Return the hash of a file of a plug-in and, see `local_files`, of what it imports."""
    content = path.read_bytes()
    helpers = _imported_locally(_parsed(content, True)[1])
    return sha256_json([source_sha256(content), helpers]) if helpers else source_sha256(content)


def _imported_locally(names: Iterable[str]) -> dict[str, str]:
    hashes: dict[str, str] = {}
    waiting = [*names]
    while waiting:
        name = waiting.pop()
        if (directory := _directory(name.partition(".")[0])) is None:
            continue
        for path in _files(name, directory):
            file = path.relative_to(directory).as_posix()
            if file not in hashes:
                hashes[file], imported = _parsed(path.read_bytes(), True)
                waiting += imported
    return hashes


def _directory(module: str) -> Path | None:
    """Return the directory that a module lies in, unless it is of this project or installed."""
    spec = None
    with suppress(ImportError, ValueError):
        spec = None if _is_ours(module) else find_spec(module)
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return None
    path = Path(spec.origin).resolve()
    if any(Path(place).resolve() in path.parents for place in sysconfig.get_paths().values()):
        return None
    return path.parents[1] if spec.submodule_search_locations else path.parent


def imported_files(*names: str) -> dict[str, str]:
    """Return name -> hash of each file of this project that modules import, see `code_sha256`."""
    waiting: list[Path] = []
    for name in dict.fromkeys(names):
        root = own_packages()[name.partition(".")[0]]
        place = root.joinpath(*name.split("."))
        waiting += sorted(place.rglob("*.py")) if place.is_dir() else ()
        waiting += _files(name, root)
    hashes: dict[Path, str] = {}
    while waiting:
        path = waiting.pop()
        if path not in hashes:
            stat = path.stat()
            hashes[path], imported = _read(path, stat.st_mtime_ns, stat.st_size)
            waiting += imported
    return {_name_of(path): sha256 for path, sha256 in hashes.items()}


@functools.lru_cache(maxsize=4096)
def _name_of(path: Path) -> str:
    """Return the path of a file of this project from the directory of its package."""
    roots = {*own_packages().values()}
    root = max((each for each in roots if each in path.parents), key=lambda each: len(each.parts))
    return path.relative_to(root).as_posix()


@functools.lru_cache(maxsize=4096)
def _read(path: Path, changed: int, size: int) -> tuple[str, tuple[Path, ...]]:
    """Return the hash of a file of this project, and the files of it that it imports."""
    sha256, names = _parsed(path.read_bytes(), _SCHEMAS in path.parents)
    found: dict[Path, None] = {}
    for name in names:
        if (root := own_packages().get(name.partition(".")[0])) is not None:
            found |= dict.fromkeys(_files(name, root))
    return sha256, tuple(found)


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] in own_packages()


@functools.lru_cache(maxsize=16384)
def _files(name: str, root: Path) -> tuple[Path, ...]:
    """Return the files below `root` that an import of a dotted name executes."""
    parts = name.split(".")
    found: list[Path] = []
    while parts and not found:
        place = root.joinpath(*parts)
        if place.with_suffix(".py").is_file():
            found = [place.with_suffix(".py")]
        elif (place / "__init__.py").is_file():
            found = [place / "__init__.py"]
        parts.pop()
    return (
        *found,
        *(root.joinpath(*parts[:end], "__init__.py") for end in range(1, len(parts) + 1)),
    )


def source_sha256(content: bytes) -> str:
    """Return the hash of a Python file's code: comments and layout do not count."""
    return _parsed(content, True)[0]


@functools.lru_cache(maxsize=4096)
def _parsed(content: bytes, docstrings: bool) -> tuple[str, tuple[str, ...]]:
    """Return the hash of a Python file, that of its syntax tree, and the names that it imports."""
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):  # not valid Python, such as a draft
        return hashlib.sha256(content).hexdigest(), ()
    names: list[str] = []
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [f"{node.module}.{alias.name}" for alias in node.names]
        elif not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            waiting += ast.iter_child_nodes(node)
    if not docstrings:
        _remove_docstrings(tree)
    text = _dump(tree).encode("utf-8", "surrogatepass")
    return hashlib.sha256(text).hexdigest(), tuple(dict.fromkeys(names))


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


def _parsed_item(item: Any) -> tuple[str, tuple[str, ...], str]:
    """Return hash and imports of the module that defines `item`, and the name of its file.

    Without a file the hash is that of its bytecode, and the name that of its module.
    """
    path = None
    with suppress(OSError, TypeError):  # a class of a notebook, for example
        path = inspect.getsourcefile(item)
    if path and Path(path).is_file():
        return *_parsed(Path(path).read_bytes(), True), Path(path).name
    functions = vars(item) if inspect.isclass(item) else {item.__name__: item}
    code = [
        (name, _bytecode(function.__code__))
        for name, function in sorted(functions.items())
        if inspect.isfunction(function)
    ]
    return hashlib.sha256(repr(code).encode()).hexdigest(), (), item.__module__


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
