"""Readers of outlines, Markdown, forests, texts and files."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from arena.errors import DataError
from arena.mindmap import MindMap, read_mind_map
from arena_suites.maps import read_markdown, read_outline
from arena_suites.maps.files import read_mind_map_file


def shape(tree: MindMap) -> object:
    """Return a tree as nested lists of labels, a leaf as its label."""
    below = [shape(child) for child in tree.children]
    return [tree.label, *below] if below else tree.label


# Outlines


@pytest.mark.parametrize(
    ("entries", "expected", "notes"),
    [
        ([(0, "T"), (1, "a"), (2, "b"), (1, "c")], ["T", ["a", "b"], "c"], []),
        ([(5, "T"), (7, "a"), (7, "b")], ["T", "a", "b"],
         ["levels skipped, closed up (2): 'a' under 'T', 'b' under 'T'."]),
        ([(1, "a"), (2, "b"), (1, "c")], ["", ["a", "b"], "c"], []),
        ([(1, "a"), (0, "T"), (1, "b")], ["", "a", ["T", "b"]],
         ["levels skipped, closed up (1): 'a'."]),
        ([(1, "a"), (3, "b"), (2, "c"), (3, "d")], ["a", "b", ["c", "d"]],
         ["levels skipped, closed up (1): 'b' under 'a'."]),
        ([(1, "a"), (1, "a")], ["", "a"], ["siblings of one label merged (1): 'a'."]),
        ([(0, "T"), (1, "a"), (0, " T"), (1, "b")], ["T", "a", "b"],
         ["titles that stand twice left out (1): ' T'."]),
        ([(0, "T"), (1, ""), (2, "b"), (1, "c")], ["T", "b", "c"],
         ["empty labels left out, what is below lifted (1): '' under 'T'."]),
    ],
)  # fmt: skip
def test_outlines(entries, expected, notes):
    tree, sentences = read_outline(entries)
    assert shape(tree) == expected
    assert sentences == notes
    text = json.dumps(entries)
    assert read_mind_map(text) == read_mind_map([list(e) for e in entries]) == (tree, notes)


@pytest.mark.parametrize(
    ("entries", "labels"),
    [
        (["1 a", " 1.1 b", " 1.2. c", "2 d", "  2.1.1 e"], "a b c d e"),
        (["1. a", "2) b", "(3) c", "4: d", "5 - e", "6 – f"], "a b c d e f"),
        (["I. a", " A. b", " B. c", "II. d", " A) e", "III. f", "IV. g"], "a b c d e f g"),
        (["1 a", "2 b", "4 c"], "a b c"),  # one left out
        (["1 a", " 2.1 b", " 2.2 c", "2 d"], "a b c d"),  # in a wrong order, as Bloom-Eval has it
        # What only looks like numbers
        (["1 a", "2 b", "3D c", "2016 d"], "a b 3D_c 2016_d"),
        (["1 day", "x"], "1_day x"),
        (["E. coli", "C. elegans"], "E._coli C._elegans"),
        (["1", "2"], "1 2"),
    ],
)
def test_numbers_of_sections(entries, labels):
    pairs = [(1 + len(e) - len(e.lstrip()), e.strip()) for e in entries]
    tree, notes = read_outline([(0, "T"), *pairs])
    assert [label.replace(" ", "_") for label in tree.labels()] == labels.split()
    stripped = sum(e.strip() not in tree.labels() for e in entries)
    kept = [sentence for sentence in notes if sentence.startswith("section numbers stripped")]
    assert (
        kept == []
        if not stripped
        else kept[0].startswith(f"section numbers stripped ({stripped}): ")
    )


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([], "no heading"),
        ([(1, "a"), (1,)], "entry 2 of the outline is a list: expected a pair such as"),
        ([(1, "a" * 501)], "longer than 500"),
        ([(n, f"x{n}") for n in range(67)], "65 levels|66 levels"),
        ([(1, f"x{n}") for n in range(10_001)], "more than 10,000 nodes"),
    ],
    ids=range(5),
)
def test_outlines_refused(entries, message):
    with pytest.raises(DataError, match=message):
        read_outline(entries)


@st.composite
def maps(draw: st.DrawFn, labels: st.SearchStrategy[str], depth: int = 4) -> MindMap:
    below = draw(st.lists(labels, unique=True, max_size=3)) if depth else []
    made = [draw(maps(labels, depth - 1)) for _ in below]
    children = tuple(MindMap(k, v.children) for k, v in zip(below, made, strict=True))
    return MindMap(draw(labels), children)


LABEL = st.text("abc é中3.-", min_size=1, max_size=5).map(lambda s: "w" + " ".join(s.split()))


def entries_of(tree: MindMap, level: int) -> list[tuple[int, str]]:
    below = [entry for child in tree.children for entry in entries_of(child, level + 1)]
    return [(level, tree.label), *below]


@settings(deadline=None)
@given(maps(LABEL), st.integers(-3, 3))
def test_outlines_come_back(tree, level):
    if tree.children or level == 0:
        assert read_outline(entries_of(tree, level)) == (tree, [])


# Markdown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# T\n## a\n### b\n## c", ["T", ["a", "b"], "c"]),
        ("# a\n# b", ["", "a", "b"]),
        ("#\n- a\n  - b", ["", ["a", "b"]]),
        ("- a\n\t- b\n\t\t- c\n- d", ["", ["a", ["b", "c"]], "d"]),
        ("- a\n - b\n- c", ["", "a", "b", "c"]),  # one column is a slip
        ("# T\n- a\n  - b\n## c\n- d", ["T", ["a", "b"], ["c", "d"]]),
        ("# T\n- a\n### b\n- c", ["T", ["a", ["b", "c"]]]),
        ("# T\nIt was in\n2016. Then\n1. a\n2. b", ["T", "a", "b"]),
        ("T\n=\nA\n---\nB\n--\nc\n- d\n---", ["T", "A", ["B", "d"]]),
        ("# T\r\n## a\r## b\n", ["T", "a", "b"]),
        ("# T ##\n## a #b\n## c\\#", ["T", "a #b", "c#"]),
        ("# T\n- a\n  ```\n  - no\n  ```\n  - b", ["T", ["a", "b"]]),
        ("- a\n  went on\n  here\n- b\nlazily", ["", "a went on here", "b lazily"]),
        ("- [ ] a\n- [x] b", ["", "a", "b"]),
        ("• a\n  ◦ b\n    ▪ c\n    ‣ d\n• e", ["", ["a", ["b", "c", "d"]], "e"]),
        ("1. a\n   1.1. b\n      1.1.1. c\n2. d", ["", ["a", ["b", "c"]], "d"]),
        ("1. a\n1.1 b\n1.1.1 c\n1.1.2 d\n1.2 e\n2. f", ["", ["a", ["b", "c", "d"], "e"], "f"]),
        ("1. a grew by\n   1.5 percent\n   2.1 points", ["", "a grew by 1.5 percent 2.1 points"]),
        ("# T\n1. a\n## b\n1.1 c", ["T", "a", "b"]),  # no list, so c is a paragraph
        # Only a heading is a title that may stand twice.
        ("- a\n  - b\n- a\n  - c", ["", ["a", "b", "c"]]),
        ("---\ntitle: x\n---\n# T\n- a", ["T", "a"]),
        ("---\n# by me\nx: y\n\n# of\nby:\n- A\n- B\n#draft: yes\n...\n# T\n- a", ["T", "a"]),
        # Between two rules
        ("---\nSee: this\n\n# T\n- a\n\n---\n# U\n- b", ["", ["T", "a"], ["U", "b"]]),
        ("# T\n- a <!-- no\n- no -->\n<!--\n## no\n\n-->\n- b<!-->", ["T", "a", "b"]),
        ("# T\n- `<!--` a\n- `-->`\n```\n<!--\n```\n- b -->", ["T", "<!-- a", "-->", "b -->"]),
        ("# T {#t}\n## a {#a .x k=v}\n- **b {.y}**: text\n- c {-}\n- {1, 2}\n- \\{#d}",
         ["T", ["a", "b", "c", "{1, 2}", "{#d}"]]),
        ("```markdown\n# T\n- a\n```", ["T", "a"]),
        ("Here it is:\n\n```\n- a\n  - b\n```\nThat is all.", ["a", "b"]),
        ("- 1\\. a\n- 2\\. b", ["", "1. a", "2. b"]),
        # Labels of list items
        ("- **A**: text\n- **B:** text\n- **C** - text\n- **D**\n- **E**. Text",
         ["", "A", "B", "C", "D", "E"]),
        ("- Label: " + "word " * 40 + "\n- b", ["", "Label", "b"]),
        ("- a\n- " + "word " * 40 + "\n  - b\n- c", ["", "a", "b", "c"]),
        ("- a\n- " + "x" * 3_000_000, ["", "a"]),
    ],
)  # fmt: skip
def test_markdown(text, expected):
    assert shape(read_markdown(text)[0]) == expected
    assert shape(read_mind_map(text)[0]) == expected


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("**Bold** and *italic*, __b__ _i_ ***both*** ~~no~~", "Bold and italic, b i both no"),
        ("`f(x)` and ``a`b``", "f(x) and a`b"),
        ("[text](http://a.b/c_(d)) ![alt](x.png)", "text alt"),
        ("A* search, C*-algebras and 2*3*4", "A* search, C*-algebras and 2*3*4"),
        ("$a_i * b_j$ of $\\mathcal{L}_2$", "$a_i * b_j$ of $\\mathcal{L}_2$"),
        (r"\*no\* \_no\_ \# \[a\](b) 1\. x\y", "*no* _no_ # [a](b) 1. x\\y"),
        ("R&amp;D &lt;b&gt; AT&T &unknown; &#65;&#x42;", "R&D <b> AT&T &unknown; AB"),
        ("<b>x</b><br/>y <i>z</i> a < b > c <T>", "x y z a < b > c <T>"),
        ("a\0b", "a\ufffdb"),
    ],
)
def test_marks_within_labels(text, label):
    for line in ("# " + text, "- " + text):
        tree, notes = read_markdown("# T\n" + line + "\n# U")
        assert tree.children[1 if line[0] == "#" else 0].labels() == (
            [] if line[0] == "#" else [label]
        )
        assert label in [node.label for node in tree.nodes()]
        marked = any(sentence.startswith("marks of Markdown in labels") for sentence in notes)
        assert marked == (text.replace("\0", "\ufffd") != label)


def test_what_is_dropped_is_told():
    text = (
        "---\na: b\n---\n# *T*\nSome words\nand more.\n\n- **A**: why\n- " + "word " * 40 + "\n"
        "```python\nx\n```\n> quoted\n"
    )
    tree, notes = read_mind_map(text)
    assert shape(tree) == ["T", "A"]
    assert notes == [
        "paragraphs dropped (2): 'Some words and more.', 'quoted'.",
        "code blocks dropped (1): 'python'.",
        "front matter dropped (1): '---'.",
        "marks of Markdown in labels removed (2): '*T*', '**A**:'.",
        "explanations after labels dropped (1): 'why' under 'A'.",
        f"list items too long for a label dropped (1): '{('word ' * 40)[:56]}....",
    ]


def test_lists_in_a_report_are_text():
    outline = "# T\n## A\n- a\n## B\n- b\n"
    for prose, lists, labels in [
        ("x" * 5_000, None, ["A", "a", "B", "b"]),
        ("x" * 5_001, None, ["A", "B"]),
        ("x" * 5_001, True, ["A", "a", "B", "b"]),
        ("x", False, ["A", "B"]),
    ]:
        tree, notes = read_markdown(outline + "\n" + prose, lists=lists)
        assert tree.labels() == labels
        dropped = ["list items dropped, the text is a report (2): 'a', 'b'."]
        assert [sentence for sentence in notes if "report" in sentence] == (
            dropped if labels == ["A", "B"] else []
        )
    assert read_markdown("# T\n" + "x" * 6_000 + "\n- a")[0].labels() == ["a"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("plain words\n\nand more", "neither Markdown headings"),
        ("# T\n# " + "x" * 501, "longer than 500 characters"),
        ("\n".join("  " * n + f"- x{n}" for n in range(67)), "65 levels|66 levels"),
        ("\n".join(f"- x{n}" for n in range(10_001)), "more than 10,000 nodes"),
        ("- " * 60 + "x", "a line nests 50 list items"),
        ("- " + "![" * 330 + "x" + "](u)" * 330, "nests too many|no node"),
        ("label: x\nchildren:\n  - label: a\n  - label: b", "looks like YAML"),
    ],
    ids=range(7),
)
def test_markdown_refused(text, message):
    with pytest.raises(DataError, match=message) as error:
        read_markdown(text)
    assert len(str(error.value)) < 400


PIECES = st.lists(
    st.sampled_from(
        ["<!--", "-->", "{#a}", "&amp;", "+++\n", "x: ",
         "#", "# ", "## ", "- ", "  - ", "\t", "1. ", "\n", "\n\n", "```", "~~~", "---", "===", "a",
         "b c", "**", "*", "_", "`", "[", "](", ")", "!", "<", ">", "<b>", "&#42;", "\\", "$", ":",
         "<typology>", "</typology>", "{", "}", '"a"', "[[1, ", "]]", "2.1 ", "json\n", "\0", "|"]
    )
    | st.text(max_size=3),
    max_size=30,
).map("".join)  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(st.text() | PIECES)
@example("<typology><typology>- a</typology>")
@example("```json\n```\n```json\n```")
def test_any_text_is_read_or_refused(text):
    for read in (read_markdown, read_mind_map):
        try:
            tree, notes = read(text)
        except DataError as error:
            assert len(str(error)) < 400
            continue
        assert all(isinstance(sentence, str) for sentence in notes)
        assert read_mind_map(json.dumps(tree.to_json())) == (tree, [])


# Forests, and texts around a map


@pytest.mark.parametrize(
    ("value", "expected", "notes"),
    [
        ([{"label": "a", "children": ["b"]}, {"name": "c"}, "d"], ["", ["a", "b"], "c", "d"],
         ["trees without a common root given one without a label (1): 3."]),
        (["a", "a"], ["", "a"],
         ["trees without a common root given one without a label (1): 2.",
          "siblings of one label merged (1): 'a'."]),
        ([{"label": "a", "children": ["b"]}], ["a", "b"],
         ["a list around the only tree dropped (1): '[...]'."]),
    ],
)  # fmt: skip
def test_a_forest_gets_a_root(value, expected, notes):
    tree, sentences = read_mind_map(value)
    assert shape(tree) == expected
    assert sentences == notes
    assert read_mind_map(json.dumps(value)) == (tree, notes)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('<typology>{"A": null}</typology>', ["", "A"]),
        ('I fill <typology>.\n# No\n<typology>\n{"A": ["b"]}\n</typology>\nDone.',
         ["", ["A", "b"]]),
        ("<typology># T\n- a</typology>", ["T", "a"]),
        ('Notes:\n- one\n\n```\n{"A": null}\n```', ["", "A"]),
        ('```json\n[[0, "T"], [1, "a"]]\n```', ["T", "a"]),
        ("Sure:\n```python\nx\n```\n```markdown\n- a\n```\n- b", ["", "b"]),
        ('\ufeff{"A": null}', ["", "A"]),
    ],
)  # fmt: skip
def test_texts_around_a_map(text, expected):
    assert shape(read_mind_map(text)[0]) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"A": [', "cannot be read as JSON"),
        ('```json\n{"A": null}', None),  # not closed, but whole
        ('Notes:\n- a\n\n{"label": "x"}', r"the text has JSON \('{\"label\": \"x\"}'\) after"),
        ("```json\n{}\n```\n```json\n{}\n```", "2 blocks of JSON"),
        ("<typology>{}</typology><typology>{}</typology>", "2 </typology> tags"),
        ("</typology>{}<typology>", "before <typology>"),
    ],
)
def test_texts_refused(text, message):
    if message is None:
        read_mind_map(text)
        return
    with pytest.raises(DataError, match=message) as error:
        read_mind_map(text)
    assert len(str(error.value)) < 400


# Files

MAP = {"label": "T", "children": ["a"], "papers": []}
TREE = MindMap("T", (MindMap("a"),))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.json", json.dumps(MAP)),
        ("x", json.dumps(MAP)),
        ("x.md", "# T\n- a"),
        ("x.md", "```json\n" + json.dumps(MAP) + "\n```"),
        ("x.json", json.dumps({"id": 7, "gt": MAP})),
        ("x.json", json.dumps([{"survey": "s", "mind_map": MAP}])),
        ("x.json", json.dumps({"corpusid": "7", "typology": json.dumps(MAP)})),
        ("x.jsonl", json.dumps({"id": "s", "tree": MAP}) + "\n\n"),
    ],
)
def test_files(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert read_mind_map_file(path) == (TREE, [])
    assert read_mind_map_file(str(path))[0] == TREE


def test_a_markdown_file_may_begin_like_json(tmp_path):
    path = tmp_path / "x.md"
    path.write_text("[link](here)\n\n# T\n- a", encoding="utf-8")
    assert read_mind_map_file(path) == (TREE, ["paragraphs dropped (1): '[link](here)'."])
    with pytest.raises(DataError, match="cannot be read as JSON"):
        read_mind_map_file(path.rename(tmp_path / "x.txt"))


def records(*ids: object) -> list[dict[str, object]]:
    return [{"id": i, "tree": {"name": f"T{n}", "subtopics": ["a"]}} for n, i in enumerate(ids, 1)]


def write(path, values, lines):
    text = "\n".join(map(json.dumps, values)) if lines else json.dumps(values)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "lines"), [("x.jsonl", True), ("x.json", True), ("x.json", False)]
)
def test_records_are_chosen_by_id_or_number(tmp_path, name, lines):
    path = write(tmp_path / name, records("s1", "s2", 3, 1), lines)
    for record, label in [("s1", "T1"), ("s2", "T2"), ("3", "T3"), ("1", "T4"), ("2", "T2")]:
        assert read_mind_map_file(path, record)[0].label == label
    for record, message in [
        (None, "it has 4 mind-maps, 's1', 's2', '3', '1': choose one by its id"),
        ("s3", "none of its 4 records has the id or number 's3'. Did you mean '"),
        ("5", "has the id or number '5'"),
        ("0", "has the id or number '0'"),
        ("zzz", "Known: 1, 3, s1, s2"),
    ]:
        with pytest.raises(DataError, match=re.escape(message)) as error:
            read_mind_map_file(path, record)
        assert str(error.value).startswith(repr(str(path)))


def test_records_without_a_map(tmp_path):
    path = tmp_path / "x.jsonl"
    values = [{"id": "a", "typology": "None"}, {"id": "b", "typology": '{"A": null}'}]
    write(path, values, True)
    tree, notes = read_mind_map_file(path)
    assert tree.labels() == ["A"]
    assert notes == ["records without a mind-map passed over (1): 'a'."]
    with pytest.raises(DataError, match="line 1: the record 'a' has no mind-map"):
        read_mind_map_file(path, "a")
    write(path, values[:1], True)
    with pytest.raises(DataError, match="it has 1 record, none with a mind-map"):
        read_mind_map_file(path)
    write(path, [{"survey": "a", "mind_map": None}] * 2, True)
    with pytest.raises(DataError, match="line 1 and line 2 have the id 'a': make it one"):
        read_mind_map_file(path, "a")


@pytest.mark.parametrize(
    ("name", "data", "record", "message"),
    [
        ("x.json", b"", None, "it is empty"),
        ("x.json", b'{"A": "\xff"}', None, "not UTF-8 (byte 7"),
        ("x.jsonl", b'{"A": "a"}\n\xff\n', None, "line 2: it is not UTF-8"),
        ("x.json", b'{"A": "a"}\n{"B": null}\n{"B"', None, "line 3: the mind-map"),
        ("x.json", b'{"id": "r", "tree": {"name": 5, "subtopics": []}}', None, "record 1: a label"),
        ("x.json", b'{"A": null}', "a", "one mind-map and no records: leave out the record 'a'"),
    ],
)
def test_files_refused(tmp_path, name, data, record, message):
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(DataError, match=re.escape(message)) as error:
        read_mind_map_file(path, record)
    assert str(error.value).startswith(repr(str(path)) + ": ")


# What is out there


def test_outlines_of_bloom_eval(real_data):
    paths = sorted((real_data.directory / "bloom_eval").glob("*/human/outline.json"))
    assert len(paths) == 13
    number = re.compile(r"^(\d+(\.\d+)*[.)]?|[IVX]+\.|[A-N]\.) ")
    for path in paths:
        entries = json.loads(path.read_text(encoding="utf-8"))
        tree, notes = read_mind_map_file(path)
        assert tree.label == entries[0][1]
        labels = [number.sub("", heading, count=1) for _, heading in entries[1:]]
        assert tree.labels() == list(dict.fromkeys(" ".join(label.split()) for label in labels))
        assert [sentence.split(" (")[0] for sentence in notes] in ([], ["section numbers stripped"])


def test_real_reports(real_data):
    paths = sorted((real_data.directory / "reports").glob("*/*.md"))
    assert len(paths) == 45
    without_title = set()
    for path in paths:
        tree, notes = read_mind_map_file(path)
        text = path.read_text(encoding="utf-8-sig")
        text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
        headings = re.findall(r"^#+ (.*)$|^(.+)\n-{20}", text, re.MULTILINE)
        headings = [hashes or underlined for hashes, underlined in headings]
        assert all("report" not in s or s.startswith("list items dropped") for s in notes)
        words = [set(heading.replace("*", "").split()) for heading in headings]
        for label in tree.labels():
            assert any(set(label.split()) <= heading for heading in words), (path, label)
            assert not re.match(r"\d", label), (path, label)
        assert 5 <= tree.size <= len(headings)
        if not tree.label:
            without_title.add(path.parent.name)
    assert without_title == {"HumanSurvey"}  # two have a second heading of the first level
