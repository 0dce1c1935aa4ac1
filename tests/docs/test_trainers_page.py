"""The snippets of docs/trainers.md for TRL, on the tiny model of the examples."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from arena.cli import main

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/trainers.md").read_text(encoding="utf-8")
SETTINGS = (
    'max_steps=1, use_cpu=True, bf16=False, report_to="none", save_strategy="no", '
    'output_dir="trainer", per_device_train_batch_size=2, '
)
CALLS = re.compile(r"<\|im_start\|>assistant\n(.*?<\|im_end\|>)", re.DOTALL)


@pytest.fixture
def tiny_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    pytest.importorskip("trl", reason="training needs the extra trl")
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    monkeypatch.chdir(tmp_path)
    from tiny_model import tiny_model

    model, tokenizer = tiny_model(0)
    model.save_pretrained("tiny-model")
    tokenizer.save_pretrained("tiny-model")
    return tmp_path


def snippet(trainer: str, config: str, more: str = "") -> dict[str, Any]:
    """Run the page's block that makes a trainer, in small; return its names."""
    (block,) = [b for b in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if trainer in b]
    block = re.sub(r'"Qwen/[^"]+"', '"tiny-model"', block)
    block = block.replace("max_completion_length=4096", "max_completion_length=48")
    names: dict[str, Any] = {}
    exec(block.replace(f"args={config}(", f"args={config}({SETTINGS}{more}"), names)
    return names


@pytest.mark.slow
def test_sft_learns_what_the_agent_wrote_alone(tiny: Path, tiny_weights: Path) -> None:
    (tiny_weights / "demo").mkdir()
    run = ["run", "--corpus", str(tiny), "--task", "discovery", "--agent", "title"]
    assert main([*run, "--output", "demo/teacher"]) == 0
    export = ["export", "messages", "demo/teacher", "--corpus", str(tiny), "--reward"]
    assert main([*export, "--output", "demo/sft.jsonl"]) == 0
    trainer = snippet("SFTTrainer(", "SFTConfig")["trainer"]
    row = trainer.train_dataset[0]
    learned = [each for each in row["labels"] if each != -100]
    decode = trainer.processing_class.decode
    assert decode(learned) == "".join(CALLS.findall(decode(row["input_ids"])))
    assert decode(learned).startswith('<tool_call>\n{"name": "search"')
    assert trainer.train().training_loss > 0


@pytest.mark.slow
def test_grpo_plays_episodes(synthetic: Path, tiny_weights: Path) -> None:
    (tiny_weights / "demo").mkdir()
    (tiny_weights / "demo/synthetic").symlink_to(synthetic)
    small = "num_generations=2, logging_steps=1, disable_tqdm=True, "
    trainer = snippet("GRPOTrainer(", "GRPOConfig", small)["trainer"]
    trainer.train()
    assert trainer.state.log_history[0]["completions/mean_length"] > 0
