"""``arena/Report-v0``: a draft is written, submitted and scored."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest
from helpers import act, call, gold_of, make_env, result

import arena
from arena.errors import DataError
from arena.tasks import TaskSet
from corpus_builder.build import build
from corpus_builder.sources.jsonl import JsonLines

REPORT = "arena/Report-v0"


def begun(synthetic, **options):
    """Return an environment whose episode has made a search, and the ids of the hits."""
    env = make_env(synthetic, REPORT, **options)
    topic = env.reset(seed=3)[0]["topic"]
    return env, [hit["id"] for hit in act(env, "search", query=topic, k=5)["hits"]]


def test_an_episode_from_the_first_section_to_the_score(synthetic):
    env, (one, two, *_) = begun(synthetic)
    written = act(env, "write", heading="Methods", text=f"They differ [@{one}; @{two}].")
    assert written == {
        "sections": 1, "characters": len(f"## Methods\n\nThey differ [@{one}; @{two}].\n"),
        "cited": 2, "unknown": 0,
    }  # fmt: skip
    act(env, "write", heading="  Open\n questions ", text=f"Nobody knows [@made-up]; see [@{one}].")
    act(env, "write", heading="Methods", text=f"They agree [@{two}].")
    observation, _, terminated, truncated, info = env.step(call("submit_report"))
    report = (
        f"## Methods\n\nThey agree [@{two}].\n\n"
        f"## Open questions\n\nNobody knows [@made-up]; see [@{one}].\n"
    )
    counts = {"characters": len(report), "cited": 2, "unknown": 1}
    assert json.loads(observation["result"]) == counts
    assert (terminated, truncated) == (True, False)
    assert info["answers"] == {"report": report}
    assert info["seen"] == sorted([one, two])
    gold = gold_of(synthetic, info["topic_id"])
    hits = len({one, two} & gold)
    assert info["metrics"]["reference_precision"] == hits / 3
    assert info["metrics"]["reference_recall"] == hits / len(gold)
    assert info["metrics"]["fabricated_rate"] == 1 / 3
    assert info["metrics"]["unseen_rate"] == 0


@pytest.mark.parametrize("end", ["finish", "steps"])
def test_a_draft_is_scored_however_the_episode_ends(synthetic, end):
    env, (one, *_) = begun(synthetic, max_steps=3)
    act(env, "write", heading="All", text=f"It is known [@{one}].")
    step = env.step(call("finish") if end == "finish" else call("select", paper_ids=[one]))
    assert step[2:4] == ((True, False) if end == "finish" else (False, True))
    assert step[4]["answers"] == {"report": f"## All\n\nIt is known [@{one}].\n"}
    if end == "finish":
        assert result(step) == {"submitted": 1}


def test_no_draft_scores_zero(synthetic):
    env, _ = begun(synthetic)
    info = env.step(call("finish"))[4]
    assert info["answers"] == {}
    assert info["metrics"]["reference_f1"] == 0
    assert "late_rate" not in info["metrics"]


def test_too_many_characters_are_refused_and_nothing_is_lost(synthetic):
    env, _ = begun(synthetic, max_written=40)
    act(env, "write", heading="A", text="x" * 30)
    error = act(env, "write", heading="B", text="y" * 9)["error"]
    assert "10 characters" in error
    assert "9 may still be written" in error
    assert "may still be written" in act(env, "submit_report", text="z" * 10)["error"]
    observation, _, terminated, _, info = env.step(call("submit_report"))
    assert terminated
    assert observation["budget"]["written"] == 9
    assert info["answers"]["report"] == "## A\n\n" + "x" * 30 + "\n"


def test_a_whole_text_takes_the_place_of_the_draft(synthetic):
    env, (one, *_) = begun(synthetic)
    act(env, "write", heading="A", text="Draft.")
    text = f"# All of it\n\nIt is so [@{one}].\n"
    assert env.step(call("submit_report", text=text))[4]["answers"] == {"report": text}


def test_empty_text_removes_a_section(synthetic):
    env, _ = begun(synthetic)
    act(env, "write", heading="A", text="One.")
    act(env, "write", heading="B", text="Two.")
    assert act(env, "write", heading="A", text="")["sections"] == 1
    assert env.step(call("submit_report"))[4]["answers"] == {"report": "## B\n\nTwo.\n"}


def test_ids_out_of_reach_are_all_alike(synthetic):
    """A later paper, a topic, the survey itself and no paper at all: one answer."""
    tasks = TaskSet(synthetic)
    own = min(tasks.topics, key=lambda topic_id: tasks.topic(topic_id).date)
    rows = pq.read_table(synthetic / "papers.parquet", columns=["id", "date"]).to_pylist()
    day = tasks.topic(own).date
    late = next(r["id"] for r in rows if r["id"] not in tasks.topics and str(r["date"]) > day)
    other = next(topic_id for topic_id in tasks.topics if topic_id != own)
    env = make_env(synthetic, REPORT)
    env.reset(options={"topic_id": own})
    cited = (late, other, own, "w7-0000000000")
    answers = {str(act(env, "write", heading="A", text=f"[@{paper}]")) for paper in cited}
    assert answers == {"{'sections': 1, 'characters': 23, 'cited': 0, 'unknown': 1}"}
    metrics = env.step(call("submit_report", text=" ".join(f"So [@{i}]." for i in cited)))[4]
    shares = {name: metrics["metrics"][f"{name}_rate"] for name in ("late", "self", "fabricated")}
    assert shares == {"late": 0.5, "self": 0.25, "fabricated": 0.25}  # the other topic is later


def test_prompts_take_the_place_of_the_title(synthetic):
    tasks = TaskSet(synthetic)
    for prompt in ("title", "sentence", "detailed"):
        env = make_env(synthetic, REPORT, prompt=prompt)
        observation, info = env.reset(seed=1)
        topic = tasks.topic(info["topic_id"])
        expected = topic.text.lower() if prompt == "title" else topic.prompts[prompt]
        assert observation["topic"] == expected
        assert observation in env.observation_space
    assert make_env(synthetic, REPORT, prompt="any").reset(seed=1)[0]["topic"] == expected


def test_topics_without_the_prompt_are_left_out(mini_records, tmp_path):
    mini_records.surveys[0]["prompts"] = {"sentence": "Review sparse models before 2021."}
    corpus = tmp_path / "corpus"
    build(JsonLines(*mini_records.write(tmp_path)), corpus)
    env = make_env(corpus, REPORT, prompt="any")
    assert {env.reset(seed=seed)[1]["topic_id"] for seed in range(5)} == {"sv:2"}
    for wrong in ({"prompt": "any", "topics": ["sv:1"]}, {"prompt": "detailed"}):
        with pytest.raises(DataError, match=r"such (a )?prompt"):
            make_env(corpus, REPORT, **wrong)
    with pytest.raises(DataError, match="the topic 'sv:1' has no such prompt"):
        env.reset(options={"topic_id": "sv:1"})
    with pytest.raises(DataError, match=r"prompt='long'\. Known: any, detailed"):
        make_env(corpus, REPORT, prompt="long")
    with pytest.raises(DataError, match="no argument 'prompt': it asks for no report"):
        make_env(corpus, prompt="title")
    metrics = arena.run(corpus, "report", "oracle", tmp_path / "r", prompt="any")
    assert list(metrics["per_topic"]) == ["sv:2"]
