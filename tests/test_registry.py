"""Registration, discovery and errors of plug-in registries."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from arena.errors import DataError, UnknownNameError
from arena.registry import Registry

Write = Callable[[str, str], None]

HUB = "from arena.registry import Registry\nTHINGS = Registry('thing', packages=['{0}'])\n"


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Return a function that writes a module below a directory on sys.path."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)

    def module(path: str, text: str) -> None:
        target = tmp_path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    yield module
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_get_names_describe() -> None:
    things: Registry[object] = Registry("thing")

    @things.register("b")
    def second() -> None:
        """Do the second.

        At length.
        """

    @things.register("a")
    class First:
        pass

    assert things.get("b") is second
    assert things.get("a") is First
    assert things.names() == ["a", "b"]
    assert things.describe() == {"a": "", "b": "Do the second."}


@pytest.mark.parametrize("name", ["bm52", "", None, ["bm25"], 3])
def test_unknown_name(name: object) -> None:
    things: Registry[object] = Registry("retriever")
    things.register("bm25")(object())
    with pytest.raises(UnknownNameError) as caught:
        things.get(name)  # type: ignore[arg-type]
    assert str(caught.value).startswith(f"no retriever named {name!r}.")
    assert "bm25" in str(caught.value)


def test_unknown_name_suggests() -> None:
    things: Registry[object] = Registry("retriever")
    things.register("bm25")(object())
    things.register("dense")(object())
    with pytest.raises(UnknownNameError, match=r"named 'bm52'\. Did you mean 'bm25'\?$"):
        things.get("bm52")


def test_duplicate_name() -> None:
    things: Registry[object] = Registry("thing")
    things.register("a")(test_get_names_describe)
    with pytest.raises(DataError, match=r"'a' is registered twice, as .*describe and as .*suggest"):
        things.register("a")(test_unknown_name_suggests)
    with pytest.raises(DataError, match="registered twice"):
        things.register("a")(object())
    assert things.get("a") is test_get_names_describe


def test_duplicate_local_definitions() -> None:
    things: Registry[object] = Registry("thing")
    things.register("a")(lambda: 1)
    with pytest.raises(DataError, match="registered twice"):
        things.register("a")(lambda: 2)


def test_discovers_public_modules_lazily(write: Write) -> None:
    write("hub_a.py", HUB.format("plug_a"))
    write("plug_a/__init__.py", "")
    write("plug_a/one.py", "from hub_a import THINGS\n@THINGS.register('one')\ndef one(): 'One.'\n")
    write("plug_a/_hidden.py", "raise RuntimeError('private modules are not imported')\n")
    things = __import__("hub_a").THINGS
    assert "plug_a" not in sys.modules
    assert things.names() == ["one"]
    assert things.describe() == {"one": "One."}
    assert things.get("one") is sys.modules["plug_a.one"].one


def test_a_new_file_is_a_new_plug_in(write: Write) -> None:
    write("hub_b.py", HUB.format("plug_b"))
    for name in ("x", "y"):
        write(f"plug_b/{name}.py", f"from hub_b import THINGS\nTHINGS.register('{name}')({name!r})")
    assert __import__("hub_b").THINGS.names() == ["x", "y"]


def test_absent_packages_are_skipped() -> None:
    things: Registry[object] = Registry("thing", ["no_such_package", "no_such_package.below"])
    assert things.names() == []


def test_missing_dependency_surfaces_every_time(write: Write) -> None:
    write("hub_c.py", HUB.format("plug_c"))
    write("plug_c/__init__.py", "")
    write("plug_c/a.py", "from hub_c import THINGS\n@THINGS.register('a')\ndef a(): ...\n")
    write(
        "plug_c/b.py",
        "from hub_c import THINGS\n@THINGS.register('b')\ndef b(): ...\n"
        "import no_such_dependency\n",
    )
    things = __import__("hub_c").THINGS
    for _ in range(2):  # the second try runs b.py again, which is no duplicate of itself
        with pytest.raises(ModuleNotFoundError, match="no_such_dependency"):
            things.get("a")


def test_lookup_during_discovery(write: Write) -> None:
    write("hub_e.py", HUB.format("plug_e"))
    write("plug_e/a.py", "from hub_e import THINGS\nTHINGS.register('a')('A')\n")
    write("plug_e/b.py", "from hub_e import THINGS\nTHINGS.register('b')(THINGS.get('a') + 'B')\n")
    write("plug_e/c.py", "from hub_e import THINGS\nTHINGS.register('c')('C')\n")
    write("plug_e/bb.py", "from hub_e import THINGS\nSEEN = THINGS.names()\n")
    assert __import__("hub_e").THINGS.get("b") == "AB"
    assert sys.modules["plug_e.bb"].SEEN == ["a", "b"]  # c is imported later


def entry_points(write: Write, dist: str, lines: str) -> None:
    write(f"{dist}-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {dist}\nVersion: 1.0\n")
    write(f"{dist}-1.0.dist-info/entry_points.txt", f"[arena.test]\n{lines}\n")


def test_entry_points_are_loaded_lazily(write: Write) -> None:
    entry_points(write, "dist_f", "good = plug_f:good\nbroken = no_such_plug_f:thing")
    write("plug_f.py", "def good():\n    'Good.'\n")
    things: Registry[Callable[[], None]] = Registry("thing", entry_points="arena.test")
    assert things.names() == ["broken", "good"]
    assert "plug_f" not in sys.modules
    assert things.get("good") is sys.modules["plug_f"].good
    assert things.names() == ["broken", "good"]
    with pytest.raises(ModuleNotFoundError, match="no_such_plug_f"):
        things.get("broken")


def test_entry_point_that_registers_itself(write: Write) -> None:
    write("hub_g.py", HUB.format("absent_g").replace("])", "], entry_points='arena.test')"))
    entry_points(write, "dist_g", "own = plug_g:own")
    write("plug_g.py", "from hub_g import THINGS\n@THINGS.register('own')\ndef own(): 'Own.'\n")
    things = __import__("hub_g").THINGS
    assert things.describe() == {"own": "Own."}


def test_entry_point_must_not_shadow(write: Write) -> None:
    entry_points(write, "dist_h", "taken = plug_h:other")
    write("plug_h.py", "def other(): ...\n")
    things: Registry[object] = Registry("thing", entry_points="arena.test")
    things.register("taken")(object())
    things.register("free")(marker := object())
    assert things.get("free") is marker
    for _ in range(2):
        with pytest.raises(DataError, match="'taken' is registered twice"):
            things.get("taken")


def test_many_threads_ask_first(write: Write) -> None:
    write("hub_k.py", HUB.format("plug_k"))
    for name in "abcdef":
        write(f"plug_k/{name}.py", f"from hub_k import THINGS\nTHINGS.register('{name}')('{name}')")
    things = __import__("hub_k").THINGS
    seen: list[list[str]] = []
    threads = [threading.Thread(target=lambda: seen.append(things.names())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert seen == [list("abcdef")] * 8
