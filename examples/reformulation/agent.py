"""The agent: search for the topic, then for phrases of what it has met, and fuse the hits.

arena run --corpus DIR --task discovery --agent examples/reformulation/agent.py:Reformulation \
    --agent-option weights=WEIGHTS.npz --output RUN

It needs numpy and the core only; torch is for training.
"""

from __future__ import annotations

import re
from collections import deque
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from arena.agents import Action, Agent, Observation, result_of
from arena.errors import DataError, clip
from arena.text import STOP_WORDS, analyze, tokenize

Array = NDArray[np.float64]

SEARCHES = 8
"""Queries that are chosen, after the one for the topic."""
CANDIDATES = 64
"""Phrases to choose from, at most."""
SUBMITTED = 100

_HITS = 100  # of each search
_EXPANDED, _READ = 6, 1  # papers whose references are listed, and that are read, after each search
_TOP, _FIRST = 30, 20
_RANK = 20.0  # a hit at place r, from 0, counts _RANK / (_RANK + r) of its query's weight
_TOPIC_WEIGHT, _QUERY_WEIGHT, _CITED_WEIGHT = 2.0, 2.0, 2.0

# Words that end a phrase, besides those that no index has.
_MORE_STOPS = """
about after also among any based been being between both can could do does done during each few
from had has have he her his how however i its less low made make many may more most much new non
nor our out over own per same she should since so some than them through thus too toward towards
under upon us use used using very via was we well were what when where which while who whose why
within without would you your
"""
_STOPS = STOP_WORDS.union(_MORE_STOPS.split())
_BREAK = re.compile(r"[^\w\s'’-]")


@lru_cache(maxsize=200_000)
def phrases(text: str) -> tuple[str, ...]:
    """Return the phrases of one to three words, each once; stop words and punctuation end them.

    >>> phrases("Towards Braided Lattices")
    ('braided', 'braided lattices', 'lattices')
    """
    found: dict[str, None] = {}
    for part in _BREAK.split(text):
        words = tokenize(part)
        stops = [-1, *(i for i, w in enumerate(words) if w in _STOPS or len(w) < 2), len(words)]
        for before, after in pairwise(stops):
            for start in range(before + 1, after):
                for end in range(start + 1, min(start + 3, after) + 1):
                    found[" ".join(words[start:end])] = None
    return tuple(found)


@lru_cache(maxsize=200_000)
def _terms(text: str) -> frozenset[str]:
    return frozenset(analyze(text))


class Memory:
    """What an episode has shown: papers, how they were found, and the phrases they contain."""

    def __init__(self) -> None:
        self.queries: list[str] = []
        self.papers: dict[str, int] = {}
        self.first: list[int] = []  # the best hits of the first search
        self._hits: list[float] = []  # of each paper: what the searches say
        self._cited: list[int] = []  # how many of the papers expanded cite it
        self._phrases: dict[str, int] = {}
        self._read: list[int] = []  # of each phrase: in how many abstracts it was read
        self._owner: list[int] = []  # pairs of a paper ...
        self._held: list[int] = []  # ... and a phrase of its title

    def add_search(self, query: str, hits: list[dict[str, Any]]) -> None:
        """Take in a search. Its weight is the share of its best hits that rank high already."""
        if self.queries:
            high = set(self.ranking()[:SUBMITTED])
            best = [hit["id"] for hit in hits[:_TOP]]
            weight = _QUERY_WEIGHT * sum(paper in high for paper in best) / max(1, len(best))
        else:
            weight = _TOPIC_WEIGHT
        numbers = [self._paper(hit) for hit in hits]
        for place, number in enumerate(numbers):
            self._hits[number] += weight * _RANK / (_RANK + place)
        if not self.queries:
            self.first = numbers[:_FIRST]
        self.queries.append(query)

    def add_references(self, papers: list[dict[str, Any]]) -> None:
        """Take in the references of one paper."""
        for paper in papers:
            self._cited[self._paper(paper)] += 1

    def add_text(self, text: str) -> None:
        """Take in an abstract."""
        for phrase in phrases(text):
            self._read[self._phrase(phrase)] += 1

    def _paper(self, paper: dict[str, Any]) -> int:
        number = self.papers.get(paper["id"])
        if number is None:
            number = self.papers[paper["id"]] = len(self.papers)
            self._hits.append(0.0)
            self._cited.append(0)
            held = [self._phrase(phrase) for phrase in phrases(paper["title"])]
            self._held += held
            self._owner += [number] * len(held)
        return number

    def _phrase(self, phrase: str) -> int:
        number = self._phrases.setdefault(phrase, len(self._phrases))
        if number == len(self._read):
            self._read.append(0)
        return number

    def scores(self) -> Array:
        """Return the fused score of each paper: what searches say, and what other papers cite."""
        cited = np.array(self._cited, np.float64)
        most = max(1.0, float(cited.max(initial=0.0)))
        return np.asarray(np.array(self._hits) + _CITED_WEIGHT * cited / most, np.float64)

    def ranking(self) -> list[str]:
        """Return the ids of the papers, the best first; of equals the one met first."""
        ids = list(self.papers)
        return [ids[number] for number in np.argsort(-self.scores(), kind="stable")]

    def candidates(self) -> tuple[list[str], NDArray[np.float32]]:
        """Return phrases that were not yet searched for, and their features.

        Returns:
            At most `CANDIDATES` phrases, and an array of shape (phrases, len(FEATURES)).
        """
        owner, held = np.array(self._owner, np.int64), np.array(self._held, np.int64)
        size = len(self._phrases)
        names = list(self._phrases)
        words = np.array([name.count(" ") + 1 for name in names], np.float64)
        scores = self.scores()
        top = np.zeros(len(scores))
        top[np.argsort(-scores, kind="stable")[:_TOP]] = 1.0
        first = np.zeros(len(scores))
        first[self.first] = 1.0

        def over_papers(weights: Array) -> Array:
            return np.bincount(held, weights[owner], minlength=size).astype(np.float64)

        count, mass = over_papers(np.ones(len(scores))), over_papers(scores)
        in_top, in_first = over_papers(top), over_papers(first)
        cited = over_papers(np.array(self._cited, np.float64))
        read = np.array(self._read, np.float64)
        usable = (count >= 2) | (in_top > 0) | (read >= 2)
        usable[[n for q in self.queries if (n := self._phrases.get(q)) is not None]] = False
        order = np.argsort(-mass * words, kind="stable")
        chosen = order[usable[order]][:CANDIDATES]
        if not len(chosen):
            return [], np.zeros((0, len(FEATURES)), np.float32)
        texts = [names[n] for n in chosen]
        count, mass, in_top, in_first, cited, read, words = (
            values[chosen] for values in (count, mass, in_top, in_first, cited, read, words)
        )
        columns = [
            np.log1p(count), np.log1p(in_top), np.log1p(in_first), np.log1p(cited), np.log1p(read),
            10 * mass / scores.sum(), mass / np.maximum(count, 1),
            in_top / np.maximum(count, 1), cited / np.maximum(count, 1) / 3,
            *(values / max(1e-9, values.max()) for values in (count, in_top, mass, cited)),
            words == 1, words == 2, words == 3,
            *self._overlaps(texts).T,
            np.full(len(texts), len(self.queries) / 10),
        ]  # fmt: skip
        return texts, np.stack(columns, axis=1).astype(np.float32)

    def _overlaps(self, texts: list[str]) -> Array:
        used = [_terms(query) for query in self.queries]  # the first is the topic
        every = frozenset().union(*used)
        rows = []
        for text in texts:
            terms = _terms(text)
            size = max(1, len(terms))
            rows.append(
                (
                    len(terms & used[0]) / size,
                    len(terms & every) / size,
                    max(len(terms & query) for query in used) / size,
                )
            )
        return np.array(rows)


FEATURES = (
    "papers", "top papers", "first hits", "cited", "read",
    "share of score", "mean score", "top of papers", "cited of papers",
    "papers of most", "top papers of most", "score of most", "cited of most",
    "one word", "two words", "three words",
    "in the topic", "in all queries", "in one query",
    "round",
)  # fmt: skip
"""What the policy sees of a phrase, in the order of the columns."""


class Policy(NamedTuple):
    """A network with two hidden layers that scores each phrase by its features."""

    w1: Array
    b1: Array
    w2: Array
    b2: Array
    w3: Array

    @classmethod
    def load(cls, path: str | Path) -> Policy:
        """Read the weights that training wrote.

        Raises:
            DataError: if it is not such a file.
        """
        try:
            with np.load(path, allow_pickle=False) as arrays:
                policy = cls(*(np.asarray(arrays[name], np.float64) for name in cls._fields))
        except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
            raise DataError(
                f"weights={clip(str(path))} cannot be read: {error}. Name a weights-N.npz that "
                "examples/train_reformulation.py wrote."
            ) from None
        width = len(policy.b1)
        shapes = ((len(FEATURES), width), (width,), (width, width), (width,), (width,))
        if tuple(array.shape for array in policy) != shapes:
            raise DataError(
                f"weights={clip(str(path))} are not for the {len(FEATURES)} features of this "
                "agent. Train again."
            )
        return policy

    def log_probabilities(self, features: NDArray[np.float32]) -> Array:
        """Return the logarithm of the probability of each row, shape (rows,)."""
        hidden = np.tanh(np.tanh(features @ self.w1 + self.b1) @ self.w2 + self.b2)
        logits = hidden @ self.w3
        logits -= logits.max()
        return np.asarray(logits - np.log(np.exp(logits).sum()), np.float64)


class Choice(NamedTuple):
    """One decision, as training needs it."""

    features: NDArray[np.float32]
    chosen: int
    log_probability: float


class Reformulation(Agent):
    """Searches for phrases that a trained network chooses; without weights for random ones.

    Args:
        seed: of the random choices.
        weights: a file that training wrote.
        policy: the network itself, instead of `weights`.
        explore: draw from the network's probabilities instead of taking the most probable.
        rule: without a network: ``"random"``, or ``"cited"``, the three-word phrase that the
            references contain most often, a rule made by one who knows how worlds are made.
    """

    def __init__(
        self,
        seed: int = 0,
        weights: str | None = None,
        policy: Policy | None = None,
        explore: bool = False,
        rule: str = "random",
    ) -> None:
        super().__init__(seed)
        if rule not in ("random", "cited"):
            raise DataError(f"rule={clip(rule)}: give 'random' or 'cited'.")
        self.choices: list[Choice] = []
        self._policy = Policy.load(weights) if weights is not None else policy
        self._explore, self._rule = explore, rule
        self._random = np.random.default_rng(seed)
        self._memory = Memory()
        self._plan: deque[tuple[str, str]] = deque()  # tools and papers to look at next
        self._met: dict[str, set[str]] = {"references": set(), "read": set()}
        self._asked = ("", "")

    def act(self, observation: Observation) -> Action:
        """Take in what the last action showed, and continue: look at papers, search, or submit."""
        memory, budget = self._memory, observation["budget"]
        self._take_in(memory, result_of(observation))
        if self._plan and budget["reads"] and budget["steps"] > 1:
            self._asked = tool, paper_id = self._plan.popleft()
            return {"tool": tool, "arguments": {"paper_id": paper_id}}
        if budget["searches"] and budget["steps"] > 1:
            if not memory.queries:
                return self._search(observation["topic"])
            texts, features = memory.candidates()
            if texts and len(memory.queries) <= SEARCHES:
                return self._search(texts[self._choose(features)])
        return {"tool": "submit", "arguments": {"paper_ids": memory.ranking()[:SUBMITTED]}}

    def _search(self, query: str) -> Action:
        self._asked = "search", query
        return {"tool": "search", "arguments": {"query": query, "k": _HITS}}

    def _take_in(self, memory: Memory, result: dict[str, Any]) -> None:
        tool, asked = self._asked
        if tool == "references":
            memory.add_references(result.get("references", []))
        elif tool == "read":
            memory.add_text(result.get("text", ""))
        elif tool == "search":
            memory.add_search(asked, result.get("hits", []))
            ranking = memory.ranking()
            for tool, count in (("references", _EXPANDED), ("read", _READ)):
                met = self._met[tool]
                best = [paper for paper in ranking if paper not in met][:count]
                met.update(best)
                self._plan.extend((tool, paper) for paper in best)

    def _choose(self, features: NDArray[np.float32]) -> int:
        if self._policy is None:
            if self._rule == "random":
                return int(self._random.integers(len(features)))
            columns = [features[:, FEATURES.index(name)] for name in ("cited", "three words")]
            return int(np.argmax(columns[0] * (1 + 9 * columns[1])))
        logs = self._policy.log_probabilities(features)
        chosen = int(np.argmax(logs))
        if self._explore:
            place = np.searchsorted(np.exp(logs).cumsum(), self._random.random(), side="right")
            chosen = min(int(place), len(logs) - 1)
        self.choices.append(Choice(features, chosen, float(logs[chosen])))
        return chosen
