"""One way to plug in everything that has a name: metrics, retrievers, agents, task sets.

A plug-in is one public module in one of the registry's packages that registers itself with the
decorator, an object that an installed distribution declares as an entry point, or an object of any
file, named ``FILE.py:NAME``. A plain name is also looked for in the files that were loaded so, and
in those that the environment variable ``ARENA_PLUGINS`` lists (separated as in ``PATH``).
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import pkgutil
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, TypeVar

from arena._internal.options import check_options
from arena.errors import CorpusError, DataError, UnknownNameError, clip, did_you_mean

T = TypeVar("T")


class Registry(Generic[T]):
    """Named plug-ins of one kind, found when the first name is asked for.

    Nothing is imported at construction, so that a registry costs nothing until it is used and a
    plug-in may import the module that has it. At the first `get`, `names` or `describe` every
    public module (no leading underscore) of `packages` is imported, then the entry points of the
    group `entry_points` are listed; the object of an entry point is loaded only when it is asked
    for.

    Args:
        kind: What the plug-ins are, in the singular, for messages: ``"metric"``.
        packages: Dotted names of packages with plug-ins in their public modules; ``a.*.b`` names
            the package ``b`` of every package in ``a``. One that is not installed is skipped; an
            error raised inside one surfaces at the first use.
        entry_points: Entry point group of plug-ins from other distributions, or None for none.
        base: Class of which the plug-ins are instances or subclasses; None for functions.

    Example:
        >>> colours: Registry[type] = Registry("colour")
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
        entry_points: str | None = None,
        base: type | None = None,
    ) -> None:
        self.kind = kind
        self._packages = tuple(packages)
        self._group, self._base = entry_points, base
        self._items: dict[str, T] = {}
        self._from_files: set[str] = set()
        self._installed: dict[str, list[metadata.EntryPoint]] = {}
        self._discovered = self._discovering = False
        # Two locks: a module imported by another thread during discovery must be able to register.
        self._items_lock = threading.Lock()
        self._discovery_lock = threading.RLock()

    def register(self, name: str) -> Callable[[T], T]:
        """Return a decorator that registers its object as `name` and returns it unchanged.

        Executing the same top-level definition again (a reloaded module, a notebook cell)
        replaces the object.
        """
        if not isinstance(name, str) or name.split() != [name]:
            raise DataError(
                f"{clip(name)} cannot name a {self.kind}: use a non-empty string, no white space."
            )

        def decorate(item: T) -> T:
            with self._items_lock:
                known = self._items.get(name, item)
                if known is not item and not _same_definition(known, item):
                    raise self._duplicate(name, known, item)
                self._items[name] = item
            return item

        return decorate

    def get(self, name: str) -> T:
        """Return the plug-in registered as `name`, or the one that ``FILE.py:NAME`` names."""
        self._discover()
        if isinstance(name, str):
            name = self.resolve(name)
            self._load(name)
            if name not in self._items:
                self._look_in_files(name)
            if name in self._items:
                return self._items[name]
        raise UnknownNameError(
            f"no {self.kind} named {clip(name)}.{did_you_mean(name, self.names())}"
        )

    def resolve(self, name: str) -> str:
        """Return the name of a plug-in that ``FILE.py:NAME`` names; any other text as it is.

        The object has the name by which the file registers it, else its name in the file.
        """
        file, _, inside = name.rpartition(":")
        if name.endswith(".py"):
            raise DataError(f"{self.kind} {name!r}: name the object in it, too: {name}:NAME.")
        if not file.endswith(".py"):
            return name
        module = load_file(file)
        fitting = {key: item for key, item in vars(module).items() if self._fits(item, module)}
        if inside not in fitting:
            raise DataError(
                f"no {self.kind} {inside!r} in {file!r}.{did_you_mean(inside, fitting)}"
            )
        for registered, item in list(self._items.items()):
            if item is fitting[inside]:
                return registered
        if inside in self._from_files:  # a changed file, or another one
            del self._items[inside]
        self.register(inside)(fitting[inside])
        self._from_files.add(inside)
        return inside

    def _look_in_files(self, name: str) -> None:
        """Register what a plug-in file has by this name."""
        named = filter(None, os.environ.get("ARENA_PLUGINS", "").split(os.pathsep))
        for file in dict.fromkeys([*map(os.path.abspath, named), *loaded_files()]):
            module = load_file(file)
            if name not in self._items and self._fits(vars(module).get(name), module):
                self.resolve(f"{file}:{name}")

    def _fits(self, item: object, module: ModuleType) -> bool:
        if self._base is None:
            return callable(item) and getattr(item, "__module__", None) == module.__name__
        is_class = isinstance(item, type) and issubclass(item, self._base)
        return (is_class and item is not self._base) or isinstance(item, self._base)

    def names(self) -> list[str]:
        """Return all names but those of files, sorted by code point."""
        self._discover()
        with self._items_lock:
            return sorted((self._items.keys() | self._installed.keys()) - self._from_files)

    def describe(self) -> dict[str, str]:
        """Return the first docstring line of every plug-in (empty if none), in name order.

        Loads all entry points of the group.
        """
        lines = {}
        for name in self.names():
            text = (inspect.getdoc(self.get(name)) or "").strip()
            lines[name] = text.splitlines()[0] if text else ""
        return lines

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
                    _import_modules(package)
                installed: dict[str, list[metadata.EntryPoint]] = {}
                if self._group is not None:
                    for entry in metadata.entry_points(group=self._group):
                        installed.setdefault(entry.name, []).append(entry)
                self._installed, self._discovered = installed, True
            finally:
                self._discovering = False

    def _load(self, name: str) -> None:
        if name not in self._installed:
            return
        with self._discovery_lock:
            for entry in self._installed.get(name, []):
                item = entry.load()
                with self._items_lock:
                    # The entry's module may have registered the same object by the decorator.
                    known = self._items.setdefault(name, item)
                if known is not item:
                    raise self._duplicate(name, known, item)
            with self._items_lock:
                self._installed.pop(name, None)

    def _duplicate(self, name: str, first: object, second: object) -> DataError:
        return DataError(
            f"{self.kind} {name!r} is registered twice, as {_where(first)} and as "
            f"{_where(second)}; rename or remove one of them."
        )


_loaded: dict[Path, tuple[int, ModuleType]] = {}
_folders: list[Path] = []  # of loaded files, which import their neighbours


def load_file(file: str | Path) -> ModuleType:
    """Return the module in a file, which is executed once unless it changes."""
    path = Path(file).resolve()
    if not path.is_file():
        raise DataError(f"there is no file {str(file)!r}.")
    changed = path.stat().st_mtime_ns
    if path in _loaded and _loaded[path][0] == changed:
        return _loaded[path][1]
    # A name of its own: a file json.py must not take the place of the library.
    name = f"plugin_{path.stem}"
    while name in sys.modules and sys.modules[name].__file__ != str(path):
        name += "+"  # left out of the hash of code
    if path.parent not in _folders:
        _folders.append(path.parent)
        sys.path.append(str(path.parent))
    for other in (*path.parent.glob("*.py"), *path.parent.glob("*/__init__.py")):
        module_name = other.parent.name if other.stem == "__init__" else other.stem
        taken = Path(getattr(sys.modules.get(module_name), "__file__", None) or other).resolve()
        if taken != other and any(folder in taken.parents for folder in _folders):
            raise DataError(
                f"{str(other)!r} cannot be imported: {str(taken)!r} is loaded by that name. "
                "Rename one of them, or load them in two processes."
            )
    specification = importlib.util.spec_from_file_location(name, path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module  # so that the source of its classes is found
    _loaded[path] = changed, module
    try:
        specification.loader.exec_module(module)
    except BaseException as error:
        del _loaded[path], sys.modules[name]
        if isinstance(error, KeyboardInterrupt):
            raise
        raise DataError(
            f"{str(file)!r} does not import: {type(error).__name__}: {error}."
        ) from error
    return module


def loaded_files() -> list[str]:
    """Return the paths of the files that `load_file` loaded, for another process to load."""
    return [str(path) for path in _loaded]


def recorded_name(name: str, where: Path) -> str:
    """Return a name that a file records, which must not be one of another file.

    To open a corpus or a run from elsewhere must never execute a file that it names.
    """
    if ".py:" in name:
        raise CorpusError(
            f"{str(where)!r} names the plug-in {clip(name)}, and no file that is opened loads "
            "another one. If you trust that file, list it in ARENA_PLUGINS and record NAME alone."
        )
    return name


def make(
    registry: Registry[Callable[..., T]] | Registry[type[T]], name: str, options: Mapping[str, Any]
) -> T:
    """Call the factory registered as `name` with `options` and return what it makes."""
    factory: Callable[..., T] = registry.get(name)
    return factory(**check_options(f"{registry.kind} {name}", factory, options))


def _import_modules(package: str) -> None:
    parent, star, rest = package.partition(".*")
    if star:  # the packages of this name in every package below
        found = pkgutil.iter_modules(importlib.import_module(parent).__path__, f"{parent}.")
        for name in sorted(info.name for info in found if info.ispkg):
            _import_modules(name + rest)
        return
    try:
        module = importlib.import_module(package)
    except ModuleNotFoundError as error:
        # Absent is the package or a parent of it; a missing dependency of it is an error.
        if error.name is not None and f"{package}.".startswith(f"{error.name}."):
            return
        raise
    for name in sorted(info.name for info in pkgutil.iter_modules(getattr(module, "__path__", ()))):
        if not name.startswith("_"):
            importlib.import_module(f"{package}.{name}")


def _same_definition(first: object, second: object) -> bool:
    names = [
        (getattr(item, "__module__", None), getattr(item, "__qualname__", None))
        for item in (first, second)
    ]
    qualified = names[0][1]
    # Lambdas and local definitions ("f.<locals>.g") may share a name without being the same.
    return names[0] == names[1] and qualified is not None and "<" not in qualified


def _where(item: object) -> str:
    module = getattr(item, "__module__", type(item).__module__)
    return f"{module}.{getattr(item, '__qualname__', type(item).__qualname__)}"
