"""Take pictures of the pages of a demo in Debian's Chromium: wide, narrow, dark and printed.

apt-get install chromium; pip install playwright; python docs/pictures.py demo [FOLDER]

Without a folder, writes the pictures and plots that pages of the documentation show, into docs/.
With one, writes every view of the page of runs into it, to look at.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import yaml
from playwright.sync_api import Browser, sync_playwright

from arena.results.viewing import as_page
from arena.runs import run
from arena.runs.directory import OpenedRun
from arena_suites.experiments import run_experiment
from corpus_builder.card import write_card

DOCS = Path(__file__).parent
EXPERIMENT = """
name: pictures
retrievers: {BM25: bm25, Dense: dense}
tables:
  1:
    task: discovery
    title: Discovery on the demo's corpus
    metrics: {Recall@10: recall@10, Recall@100: recall@100}
    rows:
      Title: title
      Random: {agent: random, retriever: BM25}
      Scout: scout
      Oracle: {agent: oracle, retriever: BM25}
"""


class Picture(NamedTuple):
    """A picture of a page.

    Attributes:
        name: Name of its file, without ``.png``.
        page: Name of the page in the folder of the demo.
        address: What follows the ``#`` of the page's address.
        click: Selectors that are clicked, in order, before the picture is taken.
        width: Width of the window in pixels.
        height: Its height; 0 takes the whole page.
        scheme: ``light`` or ``dark``.
        media: ``screen`` or ``print``.
    """

    name: str
    page: str
    address: str = ""
    click: tuple[str, ...] = ()
    width: int = 1200
    height: int = 900
    scheme: str = "light"
    media: str = "screen"


def pictures(demo: Path) -> tuple[list[Picture], list[Picture]]:
    """Return the pictures of the documentation, and all views to look at."""
    runs = [demo / "runs" / f"discovery-{agent}-bm25" for agent in ("title", "scout")]
    page = demo / "pictures.html"
    topics = [record["topic_id"] for record in OpenedRun(runs[1]).episodes()]
    page.write_text(as_page(runs, demo / "synthetic", topics=topics[:10]).html, "utf-8")

    def at(step: int) -> str:
        return f"e/{quote('scout, bm25')}/{quote(topics[0])}/{step}"

    report, written = demo / "pictures-report", demo / "report.html"
    run(demo / "synthetic", "report", "digest", report, topics=topics[:1])
    written.write_text(as_page([report], demo / "synthetic").html, "utf-8")
    end = f"e/{quote('digest, bm25')}/{quote(topics[0])}/{10**6}"
    maps = [demo / "runs" / f"organization-{agent}" for agent in ("clustering", "random")]
    (demo / "pictures-maps.html").write_text(as_page(maps, demo / "synthetic").html, "utf-8")
    shown = [
        Picture("viewing", page.name, at(1), height=1100),
        Picture("report", written.name, end),
        Picture("comparison", "comparison.html", width=1280, height=860),
    ]
    views = {
        "runs": Picture("", page.name, "missed", ("#funnel button.lost >> nth=1",)),
        "maps": Picture("", "pictures-maps.html", "missed"),
        "report": Picture("", written.name, "s1"),
        "episode": Picture("", page.name, at(2)),
        "survey": Picture("", page.name, "s1", ("#aligned summary",)),
        "paper": Picture(
            "", page.name, at(2), ("[aria-current=step] button.paper >> nth=0",), height=700
        ),
        "end": Picture("", page.name, at(10**6)),
        "comparison": Picture("", "comparison.html"),
    }
    ways = {
        "wide": {}, "narrow": {"width": 390}, "dark": {"scheme": "dark"},
        "print": {"width": 800, "media": "print"},
    }  # fmt: skip
    return shown, [
        view._replace(name=f"{name}-{way}", **({"height": 0} | how))  # type: ignore[arg-type]
        for name, view in views.items()
        for way, how in ways.items()
    ]


def take(browser: Browser, demo: Path, picture: Picture, folder: Path) -> None:
    """Write a picture into a folder."""
    tab = browser.new_page(
        viewport={"width": picture.width, "height": picture.height or 900},
        color_scheme=picture.scheme,  # type: ignore[arg-type]
    )
    tab.goto(f"{(demo / picture.page).resolve().as_uri()}#{picture.address}")
    tab.wait_for_selector("body[data-ready]")
    for selector in picture.click:
        tab.click(selector)
    tab.wait_for_timeout(300)  # what is opened is drawn then
    tab.emulate_media(media=picture.media)  # type: ignore[arg-type]
    tab.screenshot(path=folder / f"{picture.name}.png", full_page=not picture.height)
    tab.close()


def plot(demo: Path) -> None:
    """Set an experiment in LaTeX, if it is there, and copy figures of it and of a card to docs/."""
    folder = demo / "pictures"
    run_experiment(yaml.safe_load(EXPERIMENT), demo / "synthetic", folder)
    shutil.copy(folder / "figure-1.svg", DOCS / "experiment.svg")
    if shutil.which("pdflatex"):
        page = (DOCS / "experiments.md").read_text("utf-8")
        (folder / "main.tex").write_text(page.split("```latex\n")[1].partition("```")[0], "utf-8")
        for command in (
            ["pdflatex", "-interaction=batchmode", "main.tex"],
            ["pdftoppm", "-png", "-r", "110", "-l", "1", "-singlefile", "-x", "180", "-y", "150",
             "-W", "580", "-H", "560", "main.pdf", str(DOCS / "paper")],
        ):  # fmt: skip
            subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    write_card(demo / "synthetic")
    shutil.copy(demo / "synthetic" / "card" / "dates.svg", DOCS / "card.svg")


def main(demo: Path, folder: Path | None = None) -> None:
    """Take the pictures of the documentation, or all views into a folder."""
    if folder is None:
        plot(demo)
    shown, views = pictures(demo)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"]
        )
        for picture in shown if folder is None else views:
            take(browser, demo, picture, folder or DOCS)
        browser.close()


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
