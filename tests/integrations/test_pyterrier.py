"""Dated search in PyTerrier's pipelines; nothing here starts Java."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import gymnasium
import pytest

import arena
from arena.errors import DataError
from arena_integrations.ir_datasets import register

pt = pytest.importorskip("pyterrier", reason="needs the extra ir")

from arena_integrations.pyterrier import DatedRetriever, InReach  # noqa: E402


def test_it_finds_and_scores_what_the_environment_does(synthetic: Path, tmp_path: Path) -> None:
    register(tmp_path.name, synthetic)
    data = pt.get_dataset(f"irds:researcharena/{tmp_path.name}")
    topics = data.get_topics().rename(columns={"text": "query"})
    found = DatedRetriever(synthetic, k=100)(topics)
    env = gymnasium.make("arena/Discovery-v0", corpus=synthetic)
    corpus = arena.Corpus.open(synthetic)
    for row in topics.head(8).itertuples():
        observation, _ = env.reset(options={"topic_id": row.qid})
        hits = corpus.at(observation["cutoff"], [row.qid]).search(observation["topic"], 100)
        own = found[found.qid == row.qid]
        assert list(zip(own.docno, own.score, strict=True)) == [(h.id, h.score) for h in hits]
        assert own["rank"].tolist() == list(range(len(hits)))
    table = pt.Experiment(
        [DatedRetriever(synthetic, k=100), DatedRetriever(synthetic) % 10,
         DatedRetriever(synthetic) % 100],
        topics, data.get_qrels(), [pt.measures.R @ 100, pt.measures.R @ 10], validate="error",
    )  # fmt: skip
    mean = arena.run(synthetic, "discovery", "title", tmp_path / "title")["mean"]
    assert table["R@100"].tolist() == pytest.approx(
        [mean["recall@100"], mean["recall@10"], mean["recall@100"]]
    )
    assert table["R@10"].tolist() == pytest.approx([mean["recall@10"]] * 3)


def test_a_day_bounds_every_topic(mini: Path) -> None:
    topics = pt.new.queries(["papers on encoders day ranking later"] * 2, ["1", "2"])
    dated = topics.assign(before=["2020-03", "2023-02"])
    found = DatedRetriever(mini)(dated)
    assert set(found[found.qid == "1"].docno) == {"p:leap"}
    assert set(found[found.qid == "2"].docno) > {"p:leap", "p:day", "p:later"}
    capped = DatedRetriever(mini, before="2020-03-06")(dated)
    assert set(capped[capped.qid == "2"].docno) == {"p:leap", "p:day"}
    assert DatedRetriever(mini, before="2020-03")(topics).docno.tolist() == ["p:leap"] * 2
    with pytest.raises(DataError, match="no column 'before'"):
        DatedRetriever(mini)(topics)


def test_a_copy_opens_its_own_engine(mini: Path) -> None:
    topics = pt.new.queries(["papers on encoders"], ["1"])
    retriever = DatedRetriever(mini, k=2, before="2020-03-06", statistics="corpus")
    found = retriever(topics)
    assert len(found) == 2
    for made in (pickle.loads(pickle.dumps(retriever)), copy.deepcopy(retriever % 2)):
        assert made(topics).equals(found)
        assert "bm25" in repr(made)
    assert DatedRetriever(mini, before="2020-03-06")(topics).score[0] != found.score[0]


def test_the_filter_keeps_what_exists(mini: Path) -> None:
    everything = ["p:same", "s:flag", "p:last", "sv:1", "p:nodate", "p:day", "nowhere:1"]
    results = pt.new.ranked_documents([list(range(7, 0, -1))], ["1"], [everything])
    kept = InReach(mini, before="2022-06-15")(results)
    assert kept.docno.tolist() == ["p:last", "p:day"]
    assert kept["rank"].tolist() == [0, 1]
    assert kept.score.tolist() == [5, 2]


def test_the_example_of_the_page(synthetic: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parents[2] / "docs" / "integrations.md").read_text(encoding="utf-8")
    code = page.split("## ir_datasets and PyTerrier")[1].split("```python\n")[1].split("```")[0]
    name = f"example of {synthetic.parent.name}"
    for old, new in (
        ("demo/synthetic", str(synthetic)),
        ('"synthetic"', repr(name)),
        ("a/synthetic", f"a/{name}"),
    ):
        code = code.replace(old, new)
    exec(code, {})
    assert "statistics of all" in capsys.readouterr().out
