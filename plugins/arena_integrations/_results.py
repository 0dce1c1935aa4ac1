"""A run's results in the forms of Every Eval Ever 0.3.0 and of a model's page on Hugging Face."""

from __future__ import annotations

import datetime
import hashlib
import json
import re
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from arena.corpus import Corpus
from arena.dates import UNDATED
from arena.errors import DataError, clip
from arena.kit.files import atomic_write
from arena.llm.answers import clean
from arena.runs.checking import refuse_misstated
from arena.runs.directory import OpenedRun
from arena.runs.repeats import is_of_repeats
from arena_integrations._messages import (
    conversation,
    finished,
    replay_with_answers,
    tokens_of,
)

SAMPLES = "_samples.jsonl"
"""How the name of a file of samples ends."""
_VERSION = "0.3.0"


def write_eee(
    run: str | Path, corpus: Corpus, output: Path, day: str, model: str | None = None,
    answers: str | Path | None = None,
) -> tuple[Path, int]:  # fmt: skip
    """Write a finished run for Every Eval Ever; return the file of results, and the samples.

    The files are ``data/TASK/DEVELOPER/MODEL/UUID.json`` and ``UUID_samples.jsonl`` in `output`. A
    sample is an episode's score by one metric, and that of the headline has the conversation. No
    label is in them: every reference is empty. The same run, day, model and answers give the same
    bytes. `model` is ``developer/name``, by default that of the run's agent, or its name; `answers`
    is the file of the language model's answers. Raise CorpusError if the run does not replay or
    states scores that its answers do not get, and DataError for a malformed day or model.
    """
    recorded, summary = _checked(run, corpus)
    manifest = recorded.manifest
    named = model or str(manifest["agent_options"].get("model") or manifest["agent"])
    developer, slash, name = named.rpartition("/")
    developer = developer or "researcharena"
    if (model and not slash) or re.search(r'[<>:"\\|?*\s/]', developer + name) or not name:
        raise DataError(f"model={clip(named)}: name it as DEVELOPER/NAME, such as acme/m-1.")
    task, stamp = f"researcharena-{manifest['task']}", str(int(_midnight(day).timestamp()))
    common = {"schema_version": _VERSION, "evaluation_id": f"{task}/{developer}/{name}/{stamp}"}
    metrics = [n for n, v in summary["mean"].items() if v is not None and not is_of_repeats(n)]
    samples, lines = "", 0
    for record, steps, said in replay_with_answers(recorded, corpus, answers):
        messages = [_message(n, each) for n, each in enumerate(conversation(steps, said, False))]
        for row in _samples(recorded, summary, metrics, record, messages):
            row |= common | {"model_id": f"{developer}/{name}"}
            samples, lines = f"{samples}{json.dumps(clean(row))}\n", lines + 1
    digest = hashlib.sha256((json.dumps(manifest) + samples).encode()).digest()
    path = Path("data", task, developer, name, f"{uuid.UUID(bytes=digest[:16], version=4)}.json")
    beside = path.with_name(path.stem + SAMPLES)
    whole = common | {
        "retrieved_timestamp": stamp,
        "source_metadata": {
            "source_name": "ResearchArena", "source_type": "evaluation_run",
            "source_organization_name": "unknown", "evaluator_relationship": "other",
        },
        "eval_library": {
            "name": "researcharena", "version": manifest["arena"],
            "additional_details": {"manifest": json.dumps(manifest)},
        },
        "model_info": {
            "name": name, "id": f"{developer}/{name}", "developer": developer,
            "additional_details": {"deployment_type": "unknown", "model_availability": "unknown"},
        },
        "evaluation_results": [_result(recorded, summary, metric) for metric in metrics],
        "detailed_evaluation_results": {
            "format": "jsonl", "file_path": beside.as_posix(), "hash_algorithm": "sha256",
            "checksum": hashlib.sha256(samples.encode()).hexdigest(), "total_rows": lines,
        },
    }  # fmt: skip
    (output / path).parent.mkdir(parents=True, exist_ok=True)
    atomic_write(output / beside, samples)
    atomic_write(output / path, json.dumps(clean(whole), indent=1) + "\n")
    return output / path, lines


def write_hf(run: str | Path, corpus: Corpus, output: Path, day: str, dataset: str | None) -> float:
    """Write the headline of a run for the folder ``.eval_results`` of a model; return it.

    `dataset` is the id of the corpus on the hub, ``owner/name``. Engine, agent and budget are in
    the notes. Raise as `write_eee` does, and DataError without a data set or a score.
    """
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", dataset or ""):
        raise DataError(f"--dataset is {clip(dataset)}: give OWNER/NAME, the corpus on the hub.")
    recorded, summary = _checked(run, corpus)
    manifest = recorded.manifest
    headline = manifest["definition"]["headline"]
    if (value := summary["mean"].get(headline)) is None:
        raise DataError(f"{str(run)!r} has no score by {headline}, the headline of its task.")
    notes = f"mean {headline} over {len(manifest['topics'])} topics; {_setting(manifest)}"
    about = {"dataset": {"id": dataset, "task_id": manifest["task"]}, "value": value}
    entry = about | {"date": _midnight(day).date().isoformat(), "notes": notes}
    output.parent.mkdir(parents=True, exist_ok=True)
    atomic_write(output, yaml.safe_dump([entry], sort_keys=False, width=100))
    return float(value)


def _checked(run: str | Path, corpus: Corpus) -> tuple[OpenedRun, dict[str, Any]]:
    """Open a run whose stated scores are those that its answers get."""
    recorded = finished(run)
    summary = json.loads((recorded.directory / "metrics.json").read_bytes())
    refuse_misstated(recorded, summary, corpus)
    return recorded, summary


def _midnight(day: str) -> datetime.datetime:
    try:
        return datetime.datetime.strptime(day, "%Y-%m-%d").replace(tzinfo=datetime.UTC)
    except ValueError:
        raise DataError(f"date={clip(day)}: give a day such as 2026-11-28.") from None


def _setting(manifest: Mapping[str, Any]) -> str:
    """Return in one line what a score depends on beside the model."""
    budget = ", ".join(f"{name} {value}" for name, value in sorted(manifest["budget"].items()))
    undated = f"{UNDATED}; " if manifest.get("undated") else ""
    return undated + (
        f"agent {manifest['agent']}; engine {manifest['environment']['retriever']}; budget: "
        f"{budget}; researcharena {manifest['arena']}, corpus {manifest['sha256']['corpus'][:12]}"
    )


def _result(recorded: OpenedRun, summary: Mapping[str, Any], metric: str) -> dict[str, Any]:
    """Return the mean by a metric, without bounds: what a plug-in may give is not known."""
    manifest, counts = recorded.manifest, summary["counts"]
    tools = [{"name": each.name, "description": each.description}
             for each in recorded.tools.values()]  # fmt: skip
    scored = counts.get("scored_by", {}).get(metric, counts["scored"])
    dataset = f"corpus {manifest['sha256']['corpus']}"
    return {
        "evaluation_result_id": metric, "evaluation_name": f"{manifest['task']}/{metric}",
        "source_data": {"dataset_name": dataset, "source_type": "other"},
        "metric_config": {
            "metric_id": metric, "lower_is_better": bool(recorded.direction(metric)),
            "score_type": "continuous", "min_score": "-Infinity", "max_score": "Infinity",
        },
        "score_details": {
            "score": summary["mean"][metric], "uncertainty": {"num_samples": scored},
        },
        "generation_config": {
            "generation_args": {
                "agentic_eval_config": {"available_tools": tools},
                "eval_limits": {"message_limit": manifest["budget"]["max_steps"]},
            },
            "additional_details": {"setting": _setting(manifest)},
        },
    }  # fmt: skip


def _samples(
    recorded: OpenedRun, summary: Mapping[str, Any], metrics: list[str],
    record: Mapping[str, Any], messages: list[dict[str, Any]],
) -> Iterator[dict[str, Any]]:  # fmt: skip
    topic, definition = summary["per_topic"][record["topic_id"]], recorded.manifest["definition"]
    scores = record["metrics"] if recorded.repeats > 1 else topic
    used, last = tokens_of(record), len(messages) - 1
    where = {"cluster": topic["cluster"]} if topic.get("cluster") else {}
    for metric in metrics:
        if (score := scores.get(metric)) is None:
            continue
        yield {
            "evaluation_result_id": metric, "interaction_type": "agentic", "output": None,
            "evaluation_name": f"{recorded.manifest['task']}/{metric}",
            "sample_id": record["topic_id"],
            "input": {"raw": messages[0]["content"], "reference": []},
            "messages": messages if metric == definition.get("headline") else [],
            "answer_attribution": [{
                "turn_idx": last, "source": f"messages[{last}]", "extraction_method": "custom",
                "extracted_value": json.dumps(record["answers"]), "is_terminal": True,
            }],
            "evaluation": {
                "score": score,
                "is_correct": score <= 0 if recorded.direction(metric) else score >= 1,
                "num_turns": len(record["steps"]), "tool_calls_count": len(record["steps"]),
            },
            "token_usage": used,
            "metadata": {"repeat": str(record.get("repeat", 0))} | where,
        }  # fmt: skip


def _message(turn: int, message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a chat message in the form of Every Eval Ever, where arguments are texts."""
    made = {"turn_idx": turn, "role": message["role"], "content": message["content"]}
    calls = []
    for call in message.get("tool_calls", ()):
        given = call["function"]["arguments"].items()
        texts = {name: v if isinstance(v, str) else json.dumps(v) for name, v in given}
        calls.append({"id": call["id"], "name": call["function"]["name"], "arguments": texts})
    if "tool_call_id" in message:
        made["tool_call_id"] = [message["tool_call_id"]]
    return made | ({"tool_calls": calls} if calls else {})
