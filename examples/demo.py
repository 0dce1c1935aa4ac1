"""The main job on the embedded default: build a synthetic corpus, play it, print the tables.

python examples/demo.py --output demo
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from urllib.parse import quote

from tabulate import tabulate

import arena
from arena.corpus import Corpus
from arena.errors import ArenaError, CorpusError
from arena.results.viewing import write_page
from arena.tasks import TaskSet, play_order
from corpus_builder.build import build
from corpus_builder.sources.synthetic import SyntheticSource
from corpus_builder.synthetic import SyntheticConfig

ENGINES = ("bm25", "dense")
PLAYERS = (
    ("random", "bm25"),
    ("title", "bm25"),
    ("title", "dense"),
    ("title", "hybrid(bm25,dense)"),
    ("scout", "bm25"),
    ("oracle", "bm25"),
)
TASKS = ("discovery", "selection")
ORGANIZERS = ("random", "clustering", "oracle")


def main() -> None:
    """Build (once), run every baseline on every task, and say where to go from here."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", default="demo", help="directory for the corpus and the runs")
    output = Path(parser.parse_args().output)
    corpus = open_or_build(SyntheticConfig(), output / "synthetic", ENGINES)
    view = corpus.at("2015-01-01")
    print(f"\n{len(view):,} papers existed before {view.cutoff}. The best hits for 'membrane':")
    for hit in view.search("membrane", k=3):
        print(f"  {hit.date}  {hit.score:6.3f}  {hit.title}")
    for task in TASKS:
        started = time.monotonic()
        rows = []
        for agent, retriever in PLAYERS:
            name = f"{agent}, {retriever}" if agent in ("title", "scout") else agent
            directory = run_of(output, task, agent, retriever)
            summary = arena.run(corpus, task, agent, directory, retriever=retriever, overwrite=True)
            rows.append((name, *summary["mean"].values()))
        counts = summary["counts"]
        print(f"\n{task}: mean over {counts['scored']} topics, {counts['gold']} references in "
              f"reach; random is the floor, oracle the ceiling "
              f"({time.monotonic() - started:.1f} s)")  # fmt: skip
        print(tabulate(rows, headers=(task, *summary["mean"]), floatfmt=".3f"))
    organize(corpus, output)
    page = output / "comparison.html"
    runs = [run_of(output, "discovery", *player) for player in PLAYERS]
    compared = arena.compare(runs, baseline="title, bm25")
    write_page(compared, page, corpus, topics=10)
    (topic,) = play_order(TaskSet(corpus), TaskSet(corpus).topics)[:1]
    episode = f"{page}#e/{quote('scout, bm25')}/{topic}/2"
    print(f"""
Files: the corpus is in {output / "synthetic"}, the runs (TREC run and qrels, metrics,
trajectories, hashes) in {output / "runs"}. Open {page} in a browser:
the runs of discovery with intervals and tests, why papers were missed, and every step of ten
episodes. Mind-maps, drawn next to the surveys' own:
{output / "runs/organization-clustering/pictures"}.
Try next, after `source .venv/bin/activate`:
  arena search --corpus {output / "synthetic"} --query "membrane erosion" --before 2015-01-01 --k 5
  arena search --corpus {output / "synthetic"} --query "membranes" --before 2015 --retriever dense
  arena list topics --corpus {output / "synthetic"}
  arena-corpus build synthetic --synonymy 0.9 --output {output / "harder"}
  arena run --corpus {output / "harder"} --task discovery --agent title \\
      --output {output / "runs/harder"}
  arena mindmap show {output / "runs/organization-clustering/mind_maps.jsonl"} --record 1
  arena verify {output / "runs/discovery-title-bm25"} --corpus {output / "synthetic"}
  arena audit --corpus {output / "synthetic"}
  arena experiment researcharena --corpus {output / "synthetic"} --topics 8 \\
      --agents title,random,scout,clustering,oracle --output {output / "tables"}

Begin with what scout saw and did: open {episode}
""")


def open_or_build(
    config: SyntheticConfig, directory: Path, engines: tuple[str, ...] = ("bm25",)
) -> Corpus:
    """Return a synthetic corpus, built if it is not in `directory` or was made with other knobs."""
    try:
        corpus = Corpus.open(directory)
        made = corpus.manifest["source"].get("config")
        if made == config.to_dict() and set(engines) <= set(corpus.manifest["indexes"]):
            print(f"The synthetic corpus in {directory} is there already.")
            return corpus
    except CorpusError:
        pass  # not there yet, or of an older format
    print(f"Building a synthetic corpus of {config.papers} papers and {config.surveys} topics ...")
    started = time.monotonic()
    build(SyntheticSource(config), directory, engines=engines, overwrite=True)
    print(f"Built {directory} in {time.monotonic() - started:.1f} s.", flush=True)
    return Corpus.open(directory)


def run_of(output: Path, task: str, agent: str, retriever: str) -> Path:
    """Return the directory of a run."""
    return output / "runs" / f"{task}-{agent}-{retriever.partition('(')[0]}"


def organize(corpus: arena.Corpus, output: Path) -> None:
    """Let every organizer draw mind-maps of the references of each topic."""
    started = time.monotonic()
    columns: dict[str, dict[str, float]] = {}
    for agent in ORGANIZERS:
        directory = output / "runs" / f"organization-{agent}"
        summary = arena.run(corpus, "organization", agent, directory, overwrite=True)
        columns[agent] = summary["floors"]["predicted"]
        if agent == "clustering":
            columns["other topics"] = summary["floors"]["other_topics"]
    scored = summary["counts"]["scored"]
    print(f"\norganization: mean over {scored} topics, their references given; of a distance less "
          f"is better ({time.monotonic() - started:.1f} s);\nother topics is a floor: the maps of "
          "clustering scored against those of other topics")  # fmt: skip
    rows = [(name, *(column[name] for column in columns.values())) for name in summary["mean"]]
    print(tabulate(rows, headers=("organization", *columns), floatfmt=".3f"))


if __name__ == "__main__":
    try:
        main()
    except ArenaError as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
