"""How hard a made-up field of science is to search, and what its knobs do to that."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml
from helpers import NEVER, full_text, resolve

from corpus_builder.world import World, WorldConfig

ROOT = Path(__file__).resolve().parents[2]


class Search:
    """BM25 over the papers of a world, by a library of its own, with a cutoff."""

    def __init__(self, config):
        self.bm25s = pytest.importorskip("bm25s")
        self.stemmer = pytest.importorskip("Stemmer").Stemmer("porter")
        world = World(config)
        self.surveys = list(world.surveys())
        self.papers = list(world.papers())
        self.place = {paper["id"]: k for k, paper in enumerate(self.papers)}
        self.texts = [full_text(paper) for paper in self.papers]
        self.day = np.array(
            [
                NEVER.toordinal() if p["is_survey"] else resolve(p["date"]).toordinal()
                for p in self.papers
            ]
        )
        self.index = self.bm25s.BM25(method="lucene", k1=0.9, b=0.4)
        self.index.index(self._tokens(self.texts), show_progress=False)

    def _tokens(self, texts, **options):
        return self.bm25s.tokenize(
            texts, stopwords="en", stemmer=self.stemmer, show_progress=False, **options
        )

    def scores(self, query, survey):
        (words,) = self._tokens([query.lower()], return_ids=False)
        scores = self.index.get_scores([w for w in words if w in self.index.vocab_dict])
        return np.where(self.day < resolve(survey["date"]).toordinal(), scores, 0.0)

    def hits(self, scores, survey):
        """Tell of each of the first 100 papers whether the survey cites it."""
        best = np.argsort(-scores, kind="stable")[:100]
        gold = [self.place[reference["id"]] for reference in survey["references"]]
        return np.isin(best, gold) & (scores[best] > 0)

    def found(self, scores, survey):
        return self.hits(scores, survey).sum() / len(survey["references"])

    def by_title(self):
        return [self.found(self.scores(s["title"], s), s) for s in self.surveys]

    def hits_by_title(self):
        return np.array([self.hits(self.scores(s["title"], s), s) for s in self.surveys])


@pytest.fixture(scope="module")
def default_search():
    return Search(WorldConfig())


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3, 5, 11])
def test_a_title_finds_a_good_part_of_the_references_and_the_best_first_whatever_the_seed(seed):
    search = Search(WorldConfig(seed=seed))
    assert 0.30 < np.mean(search.by_title()) < 0.55
    check_that_the_first_hits_are_the_best(search)


def check_that_the_first_hits_are_the_best(search):
    """As in real collections; in a world where they were not, agents would learn to skip them."""
    hits = search.hits_by_title()
    precision = {k: hits[:, :k].mean() for k in (10, 30, 100)}
    assert precision[10] > precision[30] > precision[100]
    assert precision[100] + 0.1 < precision[10] < 0.65
    first = np.where(hits.any(axis=1), hits.argmax(axis=1), np.inf)
    assert np.mean(1 / (1 + first)) > 0.5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("knob", "easy", "hard", "effect"),
    [
        ("synonymy", 0.0, 0.9, 0.10),
        ("distractors", 0.0, 0.9, 0.03),
        ("reference_noise", 0.0, 0.6, 0.04),
    ],
)
def test_knobs_move_recall_the_way_their_names_say(knob, easy, hard, effect, default_search):
    middle = np.mean(default_search.by_title())
    assert np.mean(Search(WorldConfig(**{knob: easy})).by_title()) > middle + effect
    assert np.mean(Search(WorldConfig(**{knob: hard})).by_title()) < middle - effect


def test_the_hard_world_is_harder_but_not_hopeless(default_search):
    knobs = yaml.safe_load((ROOT / "configs" / "world-hard.yaml").read_text(encoding="utf-8"))
    search = Search(WorldConfig(**knobs))
    recall, hits = np.mean(search.by_title()), search.hits_by_title()
    assert hits[:, :10].mean() > hits.mean()
    assert 0.1 < recall < np.mean(default_search.by_title()) - 0.1
