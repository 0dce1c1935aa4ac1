"""A plug-in of every kind, which test_every_kind.py copies: as a file, and as an installed module.

It stays importable without what `plugins_forgotten` forgets, and has no test of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from arena.agents import Agent, agent
from arena.answers import AnswerKind, answer, write_rows
from arena.cli.commands import command
from arena.corpus.schemes import corpus_scheme
from arena.encoders import encoder
from arena.executors import Executor, executor
from arena.llm import ParseError
from arena.metrics import ScoreContext, checked, metric
from arena.mindmap import MindMap
from arena.mindmap.extractors import extractor
from arena.paper_texts import paper_text
from arena.results.comparison.opening import Opened, result_reader
from arena.retrieval import Ranking, Retriever, Scope, retriever
from arena.rewards import Progress, Reward, reward
from arena.runs.directory import OpenedRun
from arena.serving import integration
from arena.suites import Evaluation, OutputPath, suite
from arena.tasks import Task, open_task, task
from arena.tools import Episode, tool
from arena_suites.judging import rubric
from arena_suites.maps.formats import mind_map_format
from arena_suites.surge.pairs import PairModel, pair
from corpus_builder.judges import Candidate, Verdict, judge
from corpus_builder.questions import Question, named, question_format
from corpus_builder.readers import PaperFile, Record, paper, reader
from corpus_builder.sources import LocatedRecord, source


@metric("wasted", "ranking", lower_is_better=True)
def wasted(ranking: Sequence[str], gains: Mapping[str, int], context: ScoreContext) -> float:
    """Number of papers among the first `k` that are no gold."""
    top, gold = checked(ranking, gains, context)
    return float(sum(each not in gold for each in top))


@reward("stepwise")
class Stepwise(Reward):
    """Pays for each step."""

    def terms(self, progress: Progress) -> dict[str, float]:
        return {"stepwise": 1.0}


@tool("shout")
def shout(episode: Episode, words: str) -> dict[str, Any]:
    """Say it louder.

    Args:
        episode: the running episode.
        words: what to say.
    """
    return {"said": words.upper()}


@task("quick")
class Quick(Task):
    """A quick one."""

    instruction = "Be quick."
    metrics = ("recall@10",)
    headline = "recall@10"
    tools = ("search", "shout", "submit", "finish")


@answer("word")
class Word(AnswerKind):
    """A word of the title."""

    tool, argument, scored, files = "name_it", "word", ("word",), ("words.jsonl",)

    def compare(self, answer: Any, kind: str, context: ScoreContext) -> tuple[Any, Any]:
        return answer or "", self.ideal(context.tasks, context.topic_id)

    def ideal(self, tasks: Any, topic_id: str) -> str:
        return str(tasks.topic(topic_id).text.split()[0])

    def size(self, answer: Any) -> int:
        return 1

    def write(
        self, output: Path, stage: str, answers: Mapping[str, Any], tag: str, tasks: Any
    ) -> list[str]:
        write_rows(output / "words.jsonl", "word", answers)
        return ["words.jsonl"]


@tool("name_it")
def name_it(episode: Episode, word: str) -> dict[str, Any]:
    """Name the first word of the survey's title.

    Args:
        episode: the running episode.
        word: the word.
    """
    return {"named": word} | episode.submit("word", word)


@metric("same_word", "word")
def same_word(answer: str, gold: str, context: ScoreContext) -> float:
    """Whether it is the word."""
    return float(answer.casefold() == gold.casefold())


@task("naming")
class Naming(Task):
    """Name a word."""

    instruction = "Name it with name_it."
    metrics = ("same_word",)
    headline = "same_word"
    answer = "word"
    reward = "final"


@corpus_scheme("folder")
def folder(name: str) -> Path:
    """A folder by its name."""
    return Path(name)


@agent("names")
class Names(Agent):
    """Names the first word of the topic, where it can, or shouts and ends."""

    def act(self, observation: Mapping[str, Any]) -> dict[str, Any]:
        tools = {each["function"]["name"] for each in self.tools}
        word = observation["topic"].split()[0]
        if "name_it" in tools:
            return {"tool": "name_it", "arguments": {"word": word}}
        if "shout" in tools and not hasattr(self, "shouted"):
            self.shouted = True
            return {"tool": "shout", "arguments": {"words": word}}
        return {"tool": "finish", "arguments": {}}


@retriever("lengths")
class Lengths(Retriever):
    """The longest texts first."""

    config: ClassVar[dict[str, Any]] = {}

    def __init__(self, directory: Path) -> None:
        self._lengths = json.loads((directory / "lengths.json").read_text())

    @classmethod
    def build(
        cls, source: Any, directory: Path, fields: tuple[str, ...], progress: Callable[..., Any]
    ) -> dict[str, Any]:
        rows = [[len(text), number] for number, text in progress(source.texts(fields))]
        (directory / "lengths.json").write_text(json.dumps(rows))
        return {"fields": list(fields)}

    def search(self, query: str, k: int, scope: Scope) -> Ranking:
        seen = [row for row in self._lengths if row[1] < scope.end and row[1] not in scope.excluded]
        found = sorted((-length, number) for length, number in seen)[:k]
        return Ranking(
            np.array([number for _, number in found], np.int64),
            np.array([-length for length, _ in found], np.float64),
        )


@encoder("letters")
class Letters:
    """How often each letter is there."""

    dimension = 26
    config: ClassVar[dict[str, Any]] = {}

    def documents(self, texts: Sequence[str]) -> Any:
        counts = [[text.lower().count(chr(97 + i)) for i in range(26)] for text in texts]
        return np.array(counts, np.float32).reshape(len(texts), 26)

    queries = documents


@executor("in_turn")
class InTurn(Executor):
    """One task after the other, here."""

    def run(self, function: Callable[[Any], Any], tasks: Any) -> Iterator[Any]:
        yield from map(function, tasks)

    def close(self) -> None:
        return


@extractor("capitals")
class Capitals:
    """Words with a capital."""

    config: ClassVar[dict[str, Any]] = {}

    def entities(self, labels: Sequence[str]) -> list[list[str]]:
        return [re.findall(r"[A-Z]\w+", label) for label in labels]


_TAGS = {"T": "title", "D": "year", "J": "journal", "X": "abstract", "R": "doi"}


@reader("endnote", recognises=lambda head: re.match(r"%0 \w", head) is not None)
def read_endnote(file: PaperFile) -> Iterator[tuple[int, Record]]:
    """EndNote's tagged format, .enw."""
    for line, _, text in file.blocks(re.compile(r"%0 ")):
        tagged = re.findall(r"^%(\S) (.*)$", text, re.MULTILINE)
        fields = {_TAGS[tag]: value.strip() for tag, value in tagged if tag in _TAGS}
        people = [value.strip() for tag, value in tagged if tag == "A"]
        if record := paper(fields, people, [], file, line):
            yield line, record


@reader("endnote_xml", recognises=lambda head: "<records>" in head)
def read_xml(file: PaperFile) -> Iterator[tuple[int, Record]]:
    """EndNote's XML."""
    for line, _, text in file.blocks(re.compile(r"\s*<record>")):
        fields = dict(re.findall(r"<(title|year)>(.*?)</", text))
        if record := paper(fields, [], [], file, line):
            yield line, record


@source("two")
class Two:
    """Two papers, and a topic that cites one.

    Args:
        year: Year of the papers.
    """

    def __init__(self, year: int = 2001) -> None:
        self.year = year

    def papers(self) -> Iterator[LocatedRecord]:
        for number in (1, 2):
            record = {"id": f"p{number}", "title": f"Paper {number}", "date": str(self.year)}
            yield LocatedRecord(record, "two", number)

    def surveys(self) -> Iterator[LocatedRecord]:
        record = {"id": "s", "title": "A Survey", "date": "2020", "references": ["p1"]}
        yield LocatedRecord(record, "two", 1)

    def describe(self) -> dict[str, Any]:
        return {"name": "two", "year": self.year}


@question_format("lines")
def read_lines(path: Path) -> Iterator[Question]:
    """Lines of a day, a question and a title, with tabs."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        day, text, title = line.split("\t")
        yield Question(f"q{number}", text, day, (named(title),))


@mind_map_format("outline", suffixes=(".outline",))
def outline(tree: MindMap) -> str:
    """The labels, one a line."""
    return "".join(f"* {label}\n" for label in tree.labels())


@paper_text("first_words", heading="First words", prompts=Path(__file__).parent)
def first_words(text: str) -> list[str]:
    """The first words of a model's answer."""
    if not text.split():
        raise ParseError("Say something.")
    return [" ".join(text.split()[:3])]


@judge("short")
class Short:
    """A topic has a short title."""

    batch = 2
    config: ClassVar[dict[str, Any]] = {}

    def judge(self, candidates: Sequence[Candidate]) -> list[Verdict]:
        verdicts = [("survey", "short"), ("other", "long")]
        return [Verdict(*verdicts[len(each.title) > 30]) for each in candidates]


@pair("often")
class Often(PairModel):
    """Supports everything."""

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> Any:
        return np.tile([0.1, 0.8, 0.1], (len(pairs), 1))


@suite("letter_count")
def letter_count(*, made: OutputPath) -> Evaluation:
    """Count the letters of what a system made.

    Args:
        made (FILE): A text.

    Example:
        arena evaluate letter_count --made text.txt
    """
    number = float(len(Path(made).read_text()))
    return Evaluation({"letters": number}, {"s": {"letters": number}}, [])


class Lines(OpenedRun):
    """A file with a topic and its recall in each line."""

    def __init__(self, path: Path) -> None:
        self.directory, self.task = path, open_task("discovery")
        lines = [line.split() for line in path.read_text().splitlines()]
        self.scores = {topic: {"recall@100": float(score)} for topic, score in lines}
        self.manifest = {
            "task": "discovery", "definition": self.task.definition(), "agent": path.stem,
            "agent_options": {}, "environment": {"retriever": "none"}, "seed": 0, "sha256": {},
            "topics": [*self.scores],
        }  # fmt: skip

    def episodes(self, every: bool = False) -> Iterator[dict[str, Any]]:
        """Yield the scores."""
        for topic, scores in self.scores.items():
            yield {"topic_id": topic, "steps": [], "answers": {}, "metrics": scores}


@result_reader(".lines")
def read_scores(path: Path) -> Opened:
    """Lines of topics and scores."""
    run, empty = Lines(path), {"submitted": {}}
    mean = sum(row["recall@100"] for row in run.scores.values()) / len(run.scores)
    return run, {
        "mean": {"recall@100": mean}, "ceiling": {}, "counts": {"scored": len(run.scores)},
        "per_topic": {topic: row | empty for topic, row in run.scores.items()},
    }  # fmt: skip


@rubric("liking", dimensions=("liking",), fields=("expert", "generated"))
def liking() -> str:
    """How much one likes a map, 1 to 5."""
    return 'Do you like $generated beside $expert? {"liking": {"score": 1, "reason": "..."}}'


@integration("echo")
def echo(*, corpus: str, port: int = 8000) -> None:
    """Say where it would serve.

    Args:
        port: Port.

    Example:
        arena serve echo --corpus demo/synthetic
    """
    print(f"{corpus} at {port}")


@command("greet")
def greet(name: str, *, loud: bool = False) -> None:
    """Say hello.

    Args:
        name (NAME): Whom to greet.
        loud: Say it louder.

    Example:
        arena greet Ada
    """
    print(f"Hello {name}{'!' if loud else '.'}")


@command("count-titles", program="arena-corpus")
def count_titles(directory: str) -> None:
    """Count the papers of a corpus.

    Args:
        directory (DIR): A built corpus.

    Example:
        arena-corpus count-titles demo/synthetic
    """
    from arena.corpus import Corpus

    print(f"{Corpus.open(directory).manifest['counts']['papers']} papers")
