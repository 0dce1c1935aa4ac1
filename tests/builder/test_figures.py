"""Figures of surveys: folders, images, answers; nothing here asks a model."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import DataError
from arena.llm import ParseError
from arena.mindmap import MindMap, read_mind_map
from arena.mindmap.figures import data_url, folder_name
from corpus_builder.figures import fingerprint, read_folder
from corpus_builder.figures.extraction import read_name, read_tree

PNG = b"\x89PNG\r\n\x1a\n" + b"tiny"
JPEG = b"\xff\xd8\xff\xe0" + b"tiny-jpeg"
WEBP = b"RIFF\x10\0\0\0WEBPVP8 "


def fill(directory, captions, files=(), name="captions.jsonl"):
    directory.mkdir(parents=True, exist_ok=True)
    for file in files:
        (directory / file).write_bytes(PNG)
    if name.endswith("l") and not isinstance(captions, str):
        captions = "".join(json.dumps(entry) + "\n" for entry in captions)
    elif not isinstance(captions, str):
        captions = json.dumps(captions)
    (directory / name).write_text(captions, encoding="utf-8")
    return directory


def usable(directory):
    figures, flaws = read_folder(directory)
    return figures, [(flaw.step, flaw.reason) for flaw in flaws]


@pytest.mark.parametrize(
    ("captions", "name"),
    [
        ([{"file": "2-Figure1-1.png", "caption": "A  taxonomy"}], "captions.jsonl"),
        ([{"file": "2-Figure1-1.png", "caption": "A\ntaxonomy"}], "captions.json"),
        ({"2-Figure1-1.png": "A taxonomy"}, "captions.json"),
        ([{"renderURL": "figs/2-Figure1-1.png", "figType": "Figure", "name": "1", "page": 1,
           "caption": "A taxonomy"}], "captions.json"),
    ],
)  # fmt: skip
def test_forms_of_captions(tmp_path, captions, name):
    directory = fill(tmp_path / "s", captions, ["2-Figure1-1.png"], name)
    assert usable(directory) == ({"2-Figure1-1.png": "A taxonomy"}, [])


@pytest.mark.parametrize("caption", [None, "", "  \n", 3, ["a"]])
def test_a_figure_without_a_caption_cannot_be_chosen(tmp_path, caption):
    directory = fill(tmp_path / "s", [{"file": "a.png", "caption": caption}], ["a.png"])
    assert usable(directory)[1][0] == ("figure", "no caption")


@pytest.mark.parametrize(
    ("captions", "name"),
    [("{", "captions.json"), ("3", "captions.json"), ("[" * 100_000, "captions.json"),
     ('{"file": "a.png"}\nno json\n', "captions.jsonl"), ("", "captions.json")],
)  # fmt: skip
def test_captions_that_cannot_be_read(tmp_path, captions, name):
    assert usable(fill(tmp_path / "s", captions, name=name)) == (
        {}, [("folder", "captions unreadable")],
    )  # fmt: skip


@given(st.lists(st.text(min_size=1), unique=True))
def test_folders_of_different_surveys_differ_and_lie_in_the_root(ids):
    names = [folder_name(id_) for id_ in ids if not any(0xD800 <= ord(c) < 0xE000 for c in id_)]
    kept = [name for name in names if name is not None]
    assert len(set(kept)) == len(kept)
    assert all("/" not in name and name not in ("", ".", "..") for name in kept)


def test_the_fingerprint_sees_changes(tmp_path):
    root = tmp_path / "figures"
    with pytest.raises(DataError, match="is not a folder"):
        fingerprint(root)
    fill(root / "s", [])
    first = fingerprint(root)
    assert first == fingerprint(root)
    (root / "link").symlink_to("nowhere")
    (root / "s" / ".0a.atomic-write.tmp").write_bytes(b"left by a kill")
    assert first == fingerprint(root)
    (root / "s" / "a.png").write_bytes(PNG)
    assert first != fingerprint(root)


@pytest.mark.parametrize(
    ("data", "kind"), [(PNG, "image/png"), (JPEG, "image/jpeg"), (WEBP, "image/webp")]
)
def test_the_first_bytes_tell_the_kind(tmp_path, data, kind):
    path = tmp_path / "a.jpg"  # the name does not
    path.write_bytes(data)
    head, _, body = data_url(path, len(data)).partition(",")
    assert (head, base64.b64decode(body)) == (f"data:{kind};base64", data)
    with pytest.raises(DataError, match="more than"):
        data_url(path, len(data) - 1)


NAMES = ["2-Figure1-1.png", "12-Figure1-1.png", "3-TableII-1.png"]


@pytest.mark.parametrize(
    ("text", "name"),
    [("2-Figure1-1.png", NAMES[0]), ("`12-Figure1-1.png`.", NAMES[1]), ("NULL", None),
     ("null.", None), ("The file is 3-TableII-1.png.", NAMES[2]), ('"2-Figure1-1.png"', NAMES[0]),
     ("<think>12-Figure1-1.png?</think>\nNULL", None)],
)  # fmt: skip
def test_names(text, name):
    assert read_name(text, NAMES) == name


@pytest.mark.parametrize(
    "text", ["", "Figure 1", "1-Figure1-1.png", "../../etc/passwd", "../2-Figure1-1.png",
             "2-Figure1-1.png or 12-Figure1-1.png", "x/2-Figure1-1.png", "2-figure1-1.png"],
)  # fmt: skip
def test_names_that_are_none_of_them(text):
    with pytest.raises(ParseError):
        read_name(text, NAMES)


FIGURE_2 = """{
    "Pre-trained Models": {
        "Left-to-Right LM": ["GPT", "GPT-2", "GPT-3"],
        "Masked LM": ["BERT", "RoBERTa"],
        "Encoder-Decoder": ["T5", "MASS", "BART"],
    }
}"""  # as figure 2 of the paper has it, commas and all
TREE = MindMap("", (MindMap("Pre-trained Models", (
    MindMap("Left-to-Right LM", (MindMap("GPT"), MindMap("GPT-2"), MindMap("GPT-3"))),
    MindMap("Masked LM", (MindMap("BERT"), MindMap("RoBERTa"))),
    MindMap("Encoder-Decoder", (MindMap("T5"), MindMap("MASS"), MindMap("BART"))),
)),))  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [FIGURE_2, f"<typology>\n{FIGURE_2}\n</typology>",
     f"Here it is:\n```json\n{FIGURE_2}\n```\nBye.",
     f"<think>A tree {{?</think><typology>```json\n{FIGURE_2}\n```</typology> I hope it helps."],
)  # fmt: skip
def test_trees(text):
    made = read_tree(text)
    assert read_mind_map(made) == (TREE, [])  # as it is kept, nothing is left to be repaired
    assert made == json.dumps(json.loads(made))


@pytest.mark.parametrize(
    "text", ["NULL", " null.\n", "<typology>NULL</typology>", "```\nnull\n```"]
)
def test_no_hierarchy(text):
    assert read_tree(text) is None


@pytest.mark.parametrize(
    "text",
    ["", "I cannot see a figure.", "- a list\n- of prose", "{}", "[]", '{"label": "only a root"}',
     '<typology>{"A": {"B": null}', '{"A": {"B": null}', "<typology></typology>", "[1, 2",
     '{"A": NaN}', "{" * 5000, '{"' + "x" * 600 + '": null}', "data:image/png;base64,AAAA"],
)  # fmt: skip
def test_trees_that_are_none(text):
    with pytest.raises(ParseError):
        read_tree(text)
