"""The main job on the embedded default: build a synthetic corpus, play it, print what came out.

python examples/demo.py --output demo
"""

from __future__ import annotations

import argparse
import io
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing, redirect_stderr
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import arena
from arena.corpus import Corpus
from arena.errors import ArenaError, CorpusError
from arena.executors import make_executor
from arena.kit.process import cores
from arena.kit.terminal import Table, progress
from arena.results.comparison import as_text, verdict
from arena.results.viewing import write_page
from arena.tasks import TaskSet, play_order
from corpus_builder.build import build
from corpus_builder.sources.example import Example
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
ORGANIZERS = (("random", None), ("clustering", None), ("oracle", None))
TASKS = {"discovery": PLAYERS, "selection": PLAYERS, "organization": ORGANIZERS}
BASELINES = ("title, bm25", "title, bm25", "clustering, bm25")
MORE = """Further commands, after `source .venv/bin/activate`:
  arena search --corpus demo/synthetic --query "membranes" --before 2015 --retriever dense
  arena list topics --corpus demo/synthetic
  arena-corpus build synthetic --synonymy 0.9 --output demo/harder
  arena run --corpus demo/harder --task discovery --agent title --output demo/runs/harder
  arena mindmap show demo/runs/organization-clustering/mind_maps.jsonl --record 1
  arena experiment researcharena --corpus demo/synthetic --topics 8 \\
      --agents title,random,scout,clustering,oracle --output demo/tables
"""

Run = tuple[str, str, str | None]
"""Task, agent, and retriever, None where nothing is searched."""
Summaries = dict[Run, dict[str, Any]]


def main() -> None:
    """Build (once), let every baseline play every task, and say where to go from here."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", default="demo", help="directory for the corpus and the runs")
    parser.add_argument("--jobs", type=int, default=min(2, cores()), help="processes at once")
    arguments = parser.parse_args()
    output, config = Path(arguments.output), SyntheticConfig()
    order = [(task, *player) for task, players in TASKS.items() for player in players]
    runs = sorted(order, key=lambda run: run[1] != "scout")  # the longest first: none ends alone
    print(f"{len(runs)} runs of agents without a language model, on {config.papers:,} papers of a "
          "made-up field ...", flush=True)  # fmt: skip
    with closing(make_executor("local", arguments.jobs)) as pool:
        # The search by words is compiled while the corpus is built; numba keeps it for all.
        prepare: list[Callable[[], Any]] = [compile_search]
        prepare.append(partial(prepare_corpus, config, output / "synthetic"))
        with progress(total=len(prepare) + len(runs), desc="build, compile", unit="step") as bar:
            for _ in pool.run(quietly, prepare):
                bar.update()
            bar.set_description("play")
            played: Summaries = {}
            for run, summary in pool.run(quietly, [partial(play, output, run) for run in runs]):
                played[run] = summary
                bar.update()
    show(output, dict(sorted(played.items(), key=lambda item: order.index(item[0]))))


def quietly(step: Callable[[], Any]) -> Any:
    """Take a step without its own progress, since other processes write to the same terminal."""
    with redirect_stderr(io.StringIO()):
        return step()


def compile_search() -> None:
    """Search the example of nine papers, for which numba compiles the search."""
    with tempfile.TemporaryDirectory() as directory:
        build(Example(), Path(directory, "tiny"))
        Corpus.open(Path(directory, "tiny")).at("2016-01-01").search("retrieval")


def prepare_corpus(config: SyntheticConfig, directory: Path) -> None:
    """Build the corpus, if it is not there, and search it by vectors, which compiles that."""
    open_or_build(config, directory, ENGINES).at("2015-01-01", retriever="dense").search("membrane")


def open_or_build(
    config: SyntheticConfig, directory: Path, engines: tuple[str, ...] = ("bm25",)
) -> Corpus:
    """Return a synthetic corpus, built if it is not in `directory` or was made with other knobs."""
    try:
        corpus = Corpus.open(directory)
        made = corpus.manifest["source"].get("config")
        if made == config.to_dict() and set(engines) <= set(corpus.manifest["indexes"]):
            return corpus
    except CorpusError:
        pass  # not there yet, or of an older format
    build(SyntheticSource(config), directory, engines=engines, overwrite=True)
    return Corpus.open(directory)


def play(output: Path, run: Run) -> tuple[Run, dict[str, Any]]:
    """Play a run; return it with its summary."""
    task, agent, retriever = run
    settings: dict[str, Any] = {} if retriever is None else {"retriever": retriever}
    folder = folder_of(output, run)
    return run, arena.run(output / "synthetic", task, agent, folder, overwrite=True, **settings)


def folder_of(output: Path, run: Run) -> Path:
    """Return the folder of a run."""
    task, agent, retriever = run
    words = [task, agent] if retriever is None else [task, agent, retriever.partition("(")[0]]
    return output / "runs" / "-".join(words)


def name_of(run: Run) -> str:
    """Return what the tables call the agent of a run."""
    _, agent, retriever = run
    return f"{agent}, {retriever}" if agent in ("title", "scout") else agent


def show(output: Path, summaries: Summaries) -> None:
    """Write the page and all tables; print the verdict, a table, three files, three commands."""
    corpus = Corpus.open(output / "synthetic")
    compared = {
        task: arena.compare([folder_of(output, (task, *player)) for player in players], baseline)
        for (task, players), baseline in zip(TASKS.items(), BASELINES, strict=True)
    }
    write_page(compared["discovery"], page := output / "comparison.html", corpus, topics=10)
    rest = [as_text(each) for each in compared.values()]
    rest.append(MORE.replace("demo/", f"{output}/"))
    (output / "tables.txt").write_text("\n\n".join(rest), encoding="utf-8")

    headlines, rows = dict[str, str](), dict[str, dict[str, float]]()
    for run, summary in summaries.items():
        (headlines[run[0]],) = summary["headlines"]
        rows.setdefault(name_of(run), {})[run[0]] = summary["mean"][headlines[run[0]]]
    header = ["", *(f"{task}, {metric}" for task, metric in headlines.items())]
    table = Table(header, [[name, *map(row.get, headlines)] for name, row in rows.items()])
    (topic,) = play_order(TaskSet(corpus), TaskSet(corpus).topics)[:1]
    print(f"""
{verdict(compared["discovery"])}

{table.text(missing="")}

random submits papers at random, the floor; oracle submits the labels, the ceiling.

Open
  {page}#e/{quote("scout, bm25")}/{topic}/2   what scout saw and did
  {output}/runs/organization-clustering/pictures/   mind-maps beside the surveys' own
  {output}/tables.txt   all metrics, tests, and more commands
Try, after `source .venv/bin/activate`
  arena search --corpus {output}/synthetic --query "membrane erosion" --before 2015-01-01
  arena verify {output}/runs/discovery-title-bm25 --corpus {output}/synthetic
  arena audit --corpus {output}/synthetic""")


if __name__ == "__main__":
    try:
        main()
    except ArenaError as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
