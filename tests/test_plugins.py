"""Registration, discovery and errors of plug-in registries."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from arena import plugins
from arena.errors import DataError, UnknownNameError
from arena.plugins import Registry
from arena.rewards import REWARDS

Write = Callable[[str, str], None]

HUB = (
    "from arena.plugins import Registry\n"
    "THINGS = Registry('thing', listed=False, packages=['{0}'])\n"
)


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
    things: Registry[object] = Registry("thing", listed=False)

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
    things: Registry[object] = Registry("retriever", listed=False)
    things.register("bm25")(object())
    with pytest.raises(UnknownNameError) as caught:
        things.get(name)  # type: ignore[arg-type]
    assert str(caught.value).startswith(f"no retriever named {name!r}.")
    assert "bm25" in str(caught.value)


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


def install(write: Write, dist: str, package: str, version: str = "1.0") -> None:
    """Write the metadata of a distribution whose package has plug-ins."""
    about = f"Metadata-Version: 2.1\nName: {dist}\nVersion: {version}\n"
    write(f"{dist}-{version}.dist-info/METADATA", about)
    write(
        f"{dist}-{version}.dist-info/entry_points.txt",
        f"[researcharena.plugins]\n{package} = {package}\n",
    )


REWARD = """from arena.rewards import Reward, reward

@reward("{0}")
class Paid(Reward):
    '''Pays.'''
    def terms(self, progress):
        return {{"{0}": 1.0}}
"""


@pytest.fixture
def fresh() -> None:
    """Distributions are looked for again."""
    REWARDS.names()
    plugins._installed = None
    plugins.entry_points.cache_clear()


@pytest.mark.usefixtures("fresh")
def test_public_modules_of_an_installed_package_register(write: Write) -> None:
    install(write, "dist_f", "plug_f")
    write("plug_f/__init__.py", "")
    write("plug_f/pays.py", REWARD.format("pays_f"))
    write("plug_f/_not.py", "raise RuntimeError\n")
    assert REWARDS.describe()["pays_f"] == "Pays."
    origin = plugins.origin_of(REWARDS.get("pays_f"))
    assert origin is not None
    assert (origin.distribution, origin.version, len(origin.sha256)) == ("dist_f", "1.0", 64)
    assert plugins.origin_of(REWARDS.get("gain")) is None


@pytest.mark.usefixtures("fresh")
def test_a_distribution_that_does_not_import_is_one_warning(write: Write) -> None:
    install(write, "dist_g", "plug_g")
    write("plug_g/__init__.py", "import no_such_module_g\n")
    with pytest.warns(UserWarning, match="dist_g 1.0 does not import and is left out") as caught:
        assert "gain" in REWARDS.names()
        assert "gain" in REWARDS.names()
    assert len(caught) == 1
    (broken,) = plugins.loaded()
    assert (str(broken), "no_such_module_g" in broken.error) == ("dist_g 1.0", True)


@pytest.mark.usefixtures("fresh")
def test_two_plug_ins_of_one_name_are_an_error_that_names_both(write: Write, tmp_path) -> None:
    install(write, "dist_h", "plug_h")
    write("plug_h/__init__.py", REWARD.format("pays_h"))
    (tmp_path / "also.py").write_text(REWARD.format("pays_h"))
    assert "pays_h" in REWARDS.names()
    with pytest.raises(DataError, match=r"'pays_h' is registered twice, as .*dist_h.*also\.py"):
        plugins.load([tmp_path / "also.py"])
    (tmp_path / "own.py").write_text(REWARD.format("gain"))
    with pytest.raises(DataError, match=r"'gain' is registered twice, as arena\.rewards.*own\.py"):
        plugins.load([tmp_path / "own.py"])


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("first", ["path", "name"])
def test_a_file_loaded_by_path_and_by_name_is_one_plug_in(tmp_path, first: str) -> None:
    one, two = tmp_path / f"one_{first}.py", tmp_path / f"two_{first}.py"
    one.write_text(REWARD.format("pays_one"))
    two.write_text(f"import one_{first}\n" + REWARD.format("pays_two"))
    plugins.load([one, two] if first == "path" else [two, one])
    assert {"pays_one", "pays_two"} <= set(REWARDS.names())
    assert REWARDS.get("pays_one") is sys.modules[f"one_{first}"].Paid
    assert {Path(each.file).name for each in plugins.loaded()} == {one.name, two.name}


@pytest.mark.usefixtures("fresh")
def test_a_file_that_does_not_import(tmp_path) -> None:
    with pytest.raises(DataError, match=r"there is no file '.*mien\.py'"):
        plugins.load([tmp_path / "mien.py"])
    (tmp_path / "mine.py").write_text("1 / 0\n")
    with pytest.raises(DataError, match=r"Did you mean 'mine\.py'\?"):
        plugins.load([tmp_path / "mien.py"])
    for _ in range(2):
        with pytest.raises(DataError, match="does not import: ZeroDivisionError"):
            plugins.load([tmp_path / "mine.py"])
