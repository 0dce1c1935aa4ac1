"""The stages that turn a release into a corpus; each can resume and writes a report."""

from __future__ import annotations

from corpus_builder.stages.base import Plan, Stage, Steps, plan
from corpus_builder.stages.config import Config, read_config
from corpus_builder.stages.running import run_stages

__all__ = ["Config", "Plan", "Stage", "Steps", "plan", "read_config", "run_stages"]
