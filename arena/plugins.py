"""Plug-ins: objects by kind and name, and the one way in which they come.

A plug-in registers an object with the decorator of its kind, such as ``@metric("name", "ranking")``
or ``@agent("name")``. It is

- a public module of one of the packages of this project that a registry names;
- a public module of an installed distribution: an entry point of the group
  ``researcharena.plugins`` names its package (or a single module). One that is named after a kind,
  ``retriever.NAME`` (a dash stands for a blank), is imported when somebody asks for that kind;
  others, at once. What this project itself brings beside its core comes in that way;
- a file: of the option ``--plugin FILE``, of the environment variable `VARIABLE` (separated as in
  ``PATH``), of an argument ``plugins=[...]``, or of a name ``FILE.py:NAME``. The latter also
  registers a class or function without a decorator, under its own name.

`load` loads them, `kinds` has the registries, `loaded` says what came from where.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import os
import pkgutil
import re
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, TypeVar

from arena.errors import CorpusError, DataError, UnknownNameError, clip, did_you_mean
from arena.kit.code import (
    entry_points,
    file_sha256,
    is_ours,
    own_packages,
    source_sha256,
)
from arena.kit.options import check_options, read_docstring

T = TypeVar("T")
D = TypeVar("D")

VARIABLE = "ARENA_PLUGINS"
"""Environment variable that lists files."""
_HOMES = (
    "arena.agents", "arena.answers", "arena.cli.commands", "arena.corpus.schemes", "arena.credit",
    "arena.encoders", "arena.executors", "arena.metrics", "arena.mindmap.extractors",
    "arena.paper_texts", "arena.results.comparison.opening", "arena.retrieval", "arena.rewards",
    "arena.samplers", "arena.serving", "arena.suites", "arena.tasks", "arena.tools",
    "corpus_builder.judges", "corpus_builder.questions", "corpus_builder.readers.base",
    "corpus_builder.sources.base",
)  # fmt: skip
"""Modules that define the kinds of the core and of the builder."""

_kinds: dict[str, Registry[Any]] = {}


class Registry(Generic[T]):
    """Objects of one kind by name.

    Nothing is imported at construction: the first `get`, `names` or `describe` imports every public
    module (no leading underscore) of `packages`, and then calls `load`.

    Args:
        kind: What the objects are, in the singular, for messages and lists: ``"metric"``.
        packages: Dotted names of packages with plug-ins in their public modules; one that is
            not installed is skipped; an error raised inside one surfaces at the first use.
        base: Class of which the objects are instances or subclasses; None for functions.
        make: Makes the object to register, from its name and from what was decorated; by default
            that is the object. It returns a finished object as it is.
        optional: Whether modules whose own packages are missing are skipped.
        listed: Whether `kinds` lists it.

    Example:
        >>> colours: Registry[type] = Registry("colour", listed=False)
        >>> @colours.register("red")
        ... class Red:
        ...     '''Warm.'''
        >>> colours.get("red").__name__, colours.names(), colours.describe()
        ('Red', ['red'], {'red': 'Warm.'})
        >>> colours.get("rde")
        Traceback (most recent call last):
        arena.errors.UnknownNameError: no colour named 'rde'. Did you mean 'red'?
    """

    def __init__(
        self,
        kind: str,
        packages: Sequence[str] = (),
        base: type | None = None,
        make: Callable[[str, Any], T] | None = None,
        optional: bool = False,
        listed: bool = True,
    ) -> None:
        self.kind = kind
        self._packages, self._base, self._make = tuple(packages), base, make
        self._optional, self._items = optional, dict[str, T]()
        self._discovered = self._discovering = False
        # Two locks: a module imported by another thread during discovery must be able to register.
        self._items_lock = threading.Lock()
        self._discovery_lock = threading.RLock()
        if listed:
            _kinds.setdefault(kind, self)

    def register(self, name: str) -> Callable[[D], D]:
        """Return a decorator that registers its object as `name` and returns it unchanged.

        Executing the same top-level definition again (a reloaded file, a notebook cell) replaces
        the object. It changes nothing that was made of the old one.
        """
        if not isinstance(name, str) or name.split() != [name]:
            raise DataError(
                f"{clip(name)} cannot name a {self.kind}: use a non-empty string, no white space."
            )

        def decorate(item: D) -> D:
            if not _is_own(item):
                self._discover()  # so that a name of the project's own is refused here
            if lacking := getattr(item, "__abstractmethods__", None):
                undefined = ", ".join(sorted(lacking))
                raise DataError(f"the {self.kind} {name!r} does not define {undefined}.")
            made: Any = item if self._make is None else self._make(name, item)
            with self._items_lock:
                known = self._items.get(name, made)
                if known is not made and not _same_definition(known, made):
                    raise DuplicateNameError(
                        f"{self.kind} {name!r} is registered twice, as {_where(known)} and as "
                        f"{_where(made)}; rename or remove one of them."
                    )
                self._items[name] = made
            return item

        return decorate

    def get(self, name: str) -> T:
        """Return the object registered as `name`. No name loads a file here; see `find`."""
        if not self._discovered:
            self._discover()
        if isinstance(name, str):
            if name not in self._items:
                load()
                self._look_in_files(name)
            if name in self._items:
                return self._items[name]
        if ".py:" in str(name):
            raise UnknownNameError(
                f"{self.kind} {clip(name)}: no file is loaded here. Load it with --plugin or "
                "arena.plugins.load, and give NAME alone."
            )
        hint = did_you_mean(name, self.names())
        if "Did you mean" not in hint:
            hint += " One of your own is in a file: name that with --plugin FILE.py."
        raise UnknownNameError(f"no {self.kind} named {clip(name)}.{hint}")

    def find(self, name: str) -> T:
        """Return what a user names: ``NAME``, or ``FILE.py:NAME``, which loads the file."""
        return self.get(self.resolve(name) if isinstance(name, str) else name)

    def resolve(self, name: str) -> str:
        """Return the plain name of ``FILE.py:NAME``, after loading the file; others as they are.

        NAME is one under which the file registers an object, or that of a class or function in it.
        """
        file, _, inside = name.rpartition(":")
        if name.endswith(".py"):
            raise DataError(f"{self.kind} {name!r}: name the object in it, too: {name}:NAME.")
        if not file.endswith(".py"):
            return name
        self._discover()
        module, path = load_file(file), Path(file).resolve()
        known = {key: item for key, item in self._items.items() if _file_of(item) == path}
        item = vars(module).get(inside)
        if inside in known and not self._is_stale(known[inside], item, module):
            return inside
        for registered, other in self._items.items():
            if item is not None and any(
                item is each for each in (other, getattr(other, "__wrapped__", None), type(other))
            ):
                return registered
        fitting = {key for key, each in vars(module).items() if self._fits(each, module)}
        if inside not in fitting:
            lacks = " It needs its decorator there, or is of another kind." if item else ""
            hint = lacks or did_you_mean(inside, {*known, *fitting})
            raise DataError(f"no {self.kind} {inside!r} in {file!r}.{hint}")
        if isinstance(item, self._base or ()) and _is_own(item):
            vars(item).update(__module__=module.__name__, __qualname__=inside)  # made in that file
        self.register(inside)(item)
        return inside

    def _is_stale(self, known: Any, item: Any, module: ModuleType) -> bool:
        """Return whether a changed file has another object without a decorator by this name."""
        same = (known, getattr(known, "__wrapped__", None), type(known))
        return self._fits(item, module) and not any(item is each for each in same)

    def _look_in_files(self, name: str) -> None:
        """Register what a loaded file has by this name without a decorator."""
        for path in [*_files] if name.isidentifier() and name not in self._items else ():
            if self._fits(vars(_files[path].module).get(name), _files[path].module):
                self.resolve(f"{path}:{name}")

    def _fits(self, item: object, module: ModuleType) -> bool:
        if self._base is None or (self._make is not None and inspect.isfunction(item)):
            return callable(item) and getattr(item, "__module__", None) == module.__name__
        is_class = isinstance(item, type) and issubclass(item, self._base)
        return (is_class and item is not self._base) or isinstance(item, self._base)

    def names(self) -> list[str]:
        """Return all names, sorted by code point."""
        self._discover()
        load()
        with self._items_lock:
            return sorted(self._items)

    def describe(self) -> dict[str, str]:
        """Return the first docstring line of every object (empty if none), in name order."""
        return {name: read_docstring(self.get(name)).summary for name in self.names()}

    def own_names(self) -> list[str]:
        """Return the names that this project itself registers; loads no plug-in."""
        self._discover()
        return sorted(name for name, item in self._items.items() if _is_own(item))

    def _discover(self) -> None:
        if self._discovered:
            return
        with self._discovery_lock:
            # A plug-in that looks up another one while it is imported sees those found so far.
            if self._discovered or self._discovering:
                return
            self._discovering = True
            try:
                for package in self._packages:
                    _import_modules(package, optional=self._optional)
                for entry in entry_points():
                    if _kind_of(entry) == self.kind.replace(" ", "-"):
                        _import_entry(entry, self._optional)
                self._discovered = True
            finally:
                self._discovering = False


class DuplicateNameError(DataError):
    """Two plug-ins of one kind have one name."""


def kinds() -> dict[str, Registry[Any]]:
    """Return kind -> registry, of this project and of loaded plug-ins, in order of the kinds."""
    for home in _HOMES:
        importlib.import_module(home)
    known = {kind.replace(" ", "-") for kind in _kinds}
    for entry in entry_points():
        if _kind_of(entry) and _kind_of(entry) not in known:  # a kind that a plug-in defines
            _import_entry(entry)
    return dict(sorted(_kinds.items()))


@dataclass(frozen=True)
class Plugin:
    """Where registered objects come from.

    Attributes:
        file: Path of a file, or empty.
        distribution: Name of an installed distribution, or empty.
        version: Version of the distribution, or empty.
        sha256: Hash of the code of the file as it was executed, or of all modules of the
            distribution's package, without comments and layout; empty for a definition without a
            file, as in a notebook.
        error: Why it does not import, or empty.
    """

    file: str = ""
    distribution: str = ""
    version: str = ""
    sha256: str = ""
    error: str = ""

    def __str__(self) -> str:
        if self.distribution:
            return f"{self.distribution} {self.version}".strip()
        return Path(self.file).name if self.file else "this process"

    def to_json(self) -> dict[str, str]:
        """Return what identifies it on every machine: the name of a file stands for its path."""
        named = {"file": Path(self.file).name} if self.file else {}
        parts = {"distribution": self.distribution, "version": self.version, "sha256": self.sha256}
        return named | {key: value for key, value in parts.items() if value}


@dataclass
class _File:
    module: ModuleType
    changed: int
    sha256: str


_lock = threading.RLock()
_loading = False
_files: dict[Path, _File] = {}
_folders: list[Path] = []  # of loaded files, which import their neighbours
_installed: dict[str, Plugin] | None = None  # top-level package -> distribution
_warned: set[Plugin] = set()
_broken: dict[str, Plugin] = {}  # files of `VARIABLE`, while `listing`
listing = False
"""Whether files of `VARIABLE` that do not import are listed, as ``arena plugins`` does."""


def load(files: Iterable[str | Path] = ()) -> None:
    """Load all installed distributions, the files of `VARIABLE`, and these files.

    Each is executed once in a process, unless its file changes. A distribution that does not import
    is one warning and is left out; `loaded` lists it. A file that does not import is a DataError.
    """
    _load_all()
    for file in files:
        load_file(file)
    for each in loaded():
        if each.error and each not in _warned:
            _warned.add(each)
            text = f"the plug-in {each} does not import and is left out: {each.error}"
            warnings.warn(text, stacklevel=2)


def load_quietly() -> None:
    """Load what `load` loads by itself; whoever asks for a name gets the errors and the warnings.

    ``import arena`` does so, that Gymnasium knows the environments of plug-ins.
    """
    with suppress(DataError):
        _load_all()


def _load_all() -> None:
    global _loading
    with _lock:
        if _loading:  # a plug-in may ask a registry while it is imported
            return
        _loading = True
        try:
            _load_installed()
            for named in filter(None, os.environ.get(VARIABLE, "").split(os.pathsep)):
                try:
                    load_file(named)
                except DataError as error:
                    if not listing:
                        raise DataError(
                            f"{VARIABLE} names a plug-in that fails: {error}"
                        ) from error
                    _broken[named] = Plugin(named, error=str(error))
        finally:
            _loading = False


def loaded() -> list[Plugin]:
    """Return the distributions, then the files, that were loaded or tried in this process."""
    found = [] if _installed is None else [*dict.fromkeys(_installed.values())]
    return [*found, *map(_plugin_of_file, _files), *_broken.values()]


def loaded_files() -> list[str]:
    """Return the paths of the loaded files, for another process to `load`."""
    return [str(path) for path in _files]


def load_file(file: str | Path) -> ModuleType:
    """Return the module in a file, which is executed once unless it changes."""
    path = Path(file).resolve()
    if path.suffix != ".py" and path.is_file():
        raise DataError(f"{str(file)!r} is no Python file: the name of one ends with .py.")
    if not path.is_file():
        near = [each.name for each in path.parent.glob("*.py")]
        hint = did_you_mean(path.name, near) if near else ""
        raise DataError(f"there is no file {str(file)!r}.{hint}")
    with _lock:
        changed, before = path.stat().st_mtime_ns, _files.get(path)
        if before is not None and before.changed == changed:
            return before.module
        module = None if before is not None else _imported_from(path)
        if module is None:
            module = _execute(path, file)
        _files[path] = _File(module, changed, file_sha256(path))
        return module


def _execute(path: Path, file: str | Path) -> ModuleType:
    if path.parent not in _folders:
        _folders.append(path.parent)
        sys.path.append(str(path.parent))
    for other in (*path.parent.glob("*.py"), *path.parent.glob("*/__init__.py")):
        module_name = other.parent.name if other.stem == "__init__" else other.stem
        taken = Path(getattr(sys.modules.get(module_name), "__file__", None) or other).resolve()
        if taken not in (other, path) and any(folder in taken.parents for folder in _folders):
            if other == path:
                continue  # it gets another name
            raise DataError(
                f"{str(other)!r} cannot be imported: {str(taken)!r} is loaded by that name. "
                "Rename one of them, or load them in two processes."
            )
    name = _module_name(path)
    specification = importlib.util.spec_from_file_location(name, path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    before = sys.modules.get(name)
    sys.modules[name] = module  # so that the source of its classes is found
    try:
        specification.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if before is not None:
            sys.modules[name] = before
        if isinstance(error, KeyboardInterrupt | DuplicateNameError):
            raise
        raise DataError(
            f"{str(file)!r} does not import: {type(error).__name__}: {str(error).rstrip('.')}."
        ) from error
    return module


def _module_name(path: Path) -> str:
    """Return the name by which other files import it, if that is free, or else one of its own.

    A file json.py must not take the place of the library.
    """
    name = path.stem
    for _ in range(1000):
        known = sys.modules.get(name)
        if known is not None:
            origin = getattr(known, "__file__", None)
        else:
            specification = importlib.util.find_spec(name) if "." not in name else None
            origin = specification.origin if specification else str(path)
        if origin is not None and Path(origin).resolve() == path:
            break
        name = f"plugin_{path.stem}" if name == path.stem else f"{name}+"
    return name


def _imported_from(path: Path) -> ModuleType | None:
    """Return the module that was imported by name from a file, if any."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if (
            file
            and name != "__main__"
            and file.endswith(path.name)
            and Path(file).resolve() == path
        ):
            return module
    return None


def _load_installed() -> None:
    global _installed
    if _installed is not None:
        return
    _installed = {}
    try:
        for entry in entry_points():
            if not _kind_of(entry):
                _import_entry(entry)
            elif not is_ours(entry):
                _installed.setdefault(_top(entry), _plugin_of_entry(entry))
    except DuplicateNameError:
        _installed = None
        raise


def _kind_of(entry: metadata.EntryPoint) -> str:
    """Return the kind that an entry point is named after, with dashes, or an empty text."""
    kind, dot, _ = entry.name.partition(".")
    return kind if dot else ""


def _top(entry: metadata.EntryPoint) -> str:
    return re.split("[.:]", entry.value)[0]


def _import_entry(entry: metadata.EntryPoint, optional: bool = False) -> None:
    """Import the public modules of an entry point; `loaded` has the error of a stranger's."""
    package, error = entry.value.partition(":")[0], ""
    if is_ours(entry):  # absent where the core is installed alone
        _import_modules(package, optional=optional)
        return
    try:
        _import_modules(package, required=True, optional=optional)
    except DuplicateNameError:
        raise
    except Exception as failed:  # whatever the code of a stranger raises
        error = f"{type(failed).__name__}: {failed}"
    if _installed is not None:
        _installed[_top(entry)] = _plugin_of_entry(entry, error)


def _plugin_of_entry(entry: metadata.EntryPoint, error: str = "") -> Plugin:
    top = _top(entry)
    name, version = (entry.dist.name, entry.dist.version) if entry.dist else (top, "")
    return Plugin("", name, version, _hash_of_package(top), error)


def _hash_of_package(name: str) -> str:
    """Return the hash of all Python files of a top-level package or module."""
    specification = importlib.util.find_spec(name)
    if specification is None or specification.origin is None:
        return ""
    origin = Path(specification.origin)
    root = origin.parent if specification.submodule_search_locations else origin
    files = sorted(root.rglob("*.py")) if root.is_dir() else [root]
    lines = [
        f"{path.relative_to(root.parent).as_posix()}\0{source_sha256(path.read_bytes())}"
        for path in files
    ]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _plugin_of_file(path: Path) -> Plugin:
    known = _files.get(path)
    content = known.sha256 if known else source_sha256(path.read_bytes())
    return Plugin(str(path), sha256=content)


def origin_of(item: object) -> Plugin | None:
    """Return the plug-in that defines a class, function or object; None for this project's own."""
    if _is_own(item):
        return None
    package, file = _package_of(item), _file_of(item)
    if file is not None and file in _files:
        return _plugin_of_file(file)
    if _installed and package in _installed:
        return _installed[package]
    return Plugin() if file is None else _plugin_of_file(file)


def recorded_name(name: str, where: Path) -> str:
    """Return a name that a file records, which must not be one of another file.

    To open a corpus or a run from elsewhere must never execute a file that it names.
    """
    if ".py:" in name:
        raise CorpusError(
            f"{str(where)!r} names the plug-in {clip(name)}, and no file that is opened loads "
            "another one. If you trust that file, give it with --plugin and record NAME alone."
        )
    return name


def make(
    registry: Registry[Callable[..., T]] | Registry[type[T]], name: str, options: Mapping[str, Any]
) -> T:
    """Call the factory registered as `name` with `options` and return what it makes."""
    factory: Callable[..., T] = registry.find(name)
    return factory(**check_options(f"{registry.kind} {name}", factory, options))


def _import_modules(package: str, required: bool = False, optional: bool = False) -> None:
    try:
        module = importlib.import_module(package)
    except ModuleNotFoundError as error:
        # Absent is the package or a parent of it; a missing dependency of it is an error.
        absent = error.name is not None and f"{package}.".startswith(f"{error.name}.")
        if absent and not required:
            return
        raise
    for name in sorted(info.name for info in pkgutil.iter_modules(getattr(module, "__path__", ()))):
        if not name.startswith("_"):
            with suppress(*((ImportError, DataError) if optional else ())):
                importlib.import_module(f"{package}.{name}")


def _module_of(item: object) -> str:
    return str(getattr(item, "__module__", None) or type(item).__module__)


def _package_of(item: object) -> str:
    return _module_of(item).partition(".")[0]


def _is_own(item: object) -> bool:
    """Return whether this project defines an object, which then is no plug-in of somebody else."""
    return _package_of(item) in own_packages()


def _file_of(item: object) -> Path | None:
    file = getattr(sys.modules.get(_module_of(item)), "__file__", None)
    # A script that is read from standard input has the file "<stdin>".
    return Path(file).resolve() if file and not file.startswith("<") else None


def _same_definition(first: object, second: object) -> bool:
    places = [(_file_of(item) or _module_of(item), _qualified(item)) for item in (first, second)]
    # Lambdas and local definitions ("f.<locals>.g") may share a name without being the same.
    return places[0] == places[1] and "builtins" not in places[0] and "<" not in places[0][1]


def _qualified(item: object) -> str:
    return str(getattr(item, "__qualname__", None) or type(item).__qualname__)


def _where(item: object) -> str:
    origin = origin_of(item)
    if origin is None or not (origin.file or origin.distribution):
        return f"{_module_of(item)}.{_qualified(item)}"
    return f"{_qualified(item)} of {origin.file or origin}"


def mirror(record: object, function: object) -> None:
    """Let a record describe, compare and hash itself as the function that it was made of."""
    names = ("__doc__", "__module__", "__qualname__")
    vars(record).update({name: getattr(function, name, None) for name in names})
    vars(record)["__wrapped__"] = function
