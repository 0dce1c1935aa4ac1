"""The example that teaches a language model to search: its masks, the whole in small."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import arena

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
CALL = '<tool_call>\n{"name": "search", "arguments": {"query": "wet husks", "k": 10}}\n</tool_call>'


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"OMP_NUM_THREADS": "1", "TRL_EXPERIMENTAL_SILENCE": "1"}
    command = [sys.executable, str(EXAMPLES / "train_search_model.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=env, check=False)


def test_what_is_not_installed_is_named_at_once(tmp_path: Path) -> None:
    code = (
        "import runpy, sys\n"
        "for name in ('duckdb', 'scipy', 'torch', 'trl'): sys.modules[name] = None\n"
        "sys.argv = sys.argv[1:]\n"
        "sys.path.insert(0, sys.argv[0].rpartition('/')[0])\n"
        "runpy.run_path(sys.argv[0], run_name='__main__')\n"
    )
    words = [str(EXAMPLES / "train_search_model.py"), "--output", str(tmp_path / "out")]
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True)
    assert done.returncode == 2, done.stderr
    assert (
        "needs the packages 'duckdb', 'scipy', 'trl', which are not installed. Run: pip install "
        "'researcharena[build,mindmap,trl]'"
    ) in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.fixture
def trainer(monkeypatch: pytest.MonkeyPatch) -> Any:
    pytest.importorskip("trl", reason="training needs the extra trl")
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import train_search_model

    return train_search_model


@pytest.mark.slow
def test_only_what_the_model_wrote_is_learned(trainer: Any) -> None:
    from tiny_model import ciphered, tiny_model

    model, tokenizer = tiny_model(0)
    function = {"name": "search", "arguments": {"query": "wet husks", "k": 10}}
    messages = [
        {"role": "user", "content": '{"topic": "wet husks", "cutoff": "2014"}'},
        {"role": "assistant", "tool_calls": [{"type": "function", "function": function}]},
        {"role": "tool", "content": '{"budget": {}, "hits":[{"title":"Dry Bogs","date":"2001"}]}'},
        {"role": "assistant", "content": "I am done."},
    ]
    ids, mask = trainer.tokenised(messages, tokenizer, [], 400)
    learned = [each for each, learn in zip(ids, mask, strict=True) if learn]
    assert tokenizer.decode(learned) == f"{CALL}<|im_end|>I am done.<|im_end|>"
    assert "dry bogs" in tokenizer.decode(ids)
    short, cut = trainer.tokenised(messages, tokenizer, [], 3)
    assert (short, cut) == (ids[: mask.index(1) + 3], mask[: mask.index(1) + 3])
    # A cipher leaves no word, and keeps which pairs are the same.
    secret = ciphered(ids, tokenizer, random.Random(0))
    assert "husks" not in tokenizer.decode(secret)
    assert [ids.index(each) for each in ids] == [secret.index(each) for each in secret]
    # The model begins by copying what it has never seen.
    import torch

    once = torch.randperm(1000)[:24] + 400
    guess = model(input_ids=torch.cat([once, once])[None]).logits[0, 24 + 2 : -1].argmax(-1)
    assert (guess == once[3:]).float().mean() > 0.8


@pytest.mark.slow
def test_it_learns_in_small(tmp_path: Path) -> None:
    pytest.importorskip("trl", reason="training needs the extra trl")
    small = "--tuning 2 --batch 1 --steps 1 --generations 2 --prompts 1 --tests 1 --tokens 200"
    done = run("--quick", *small.split(), "--output", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr[-2000:]
    seed = tmp_path / "out" / "seed-0"
    curve = json.loads((seed / "curve.json").read_text())
    assert [step["step"] for step in curve] == [1]
    tools = json.loads((seed / "tuned" / "rollouts.json").read_text())["tools"]
    arguments = tools[0]["function"]["parameters"]["properties"]
    assert list(arguments)[:2] == ["query", "k"]  # tested in the order of training, not sorted
    (synthetic,) = (tmp_path / "out" / "synthetic corpora").glob("3001-*")
    first = tmp_path / "out" / "runs" / "1" / "reinforced-0"
    topics = list(json.loads((first / "metrics.json").read_text())["per_topic"])
    arena.run(  # the same weights play the same episodes
        synthetic, "discovery", f"{EXAMPLES / 'train_search_model.py'}:LanguageModel",
        tmp_path / "again", agent_options={"weights": str(seed / "reinforced")}, topics=topics,
        max_k=34,
    )  # fmt: skip
    for name in ("trajectories.jsonl", "metrics.json"):
        assert (tmp_path / "again" / name).read_bytes() == (first / name).read_bytes()
    assert "reinforced-0" in done.stdout
