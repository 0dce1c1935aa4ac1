"""Take the picture of docs/viewing.md in Debian's Chromium, from the runs of `make demo`.

apt-get install chromium; pip install playwright; python docs/screenshots.py demo
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import sync_playwright

from arena.results.viewing import as_view
from arena.runs.directory import OpenedRun


def main(demo: Path) -> None:
    """Write docs/viewing.png: the second step of scout, which has seen its first hits."""
    runs = [demo / "runs" / f"discovery-{agent}-bm25" for agent in ("title", "scout")]
    first = next(OpenedRun(runs[1]).episodes())["survey"]
    with tempfile.TemporaryDirectory() as directory, sync_playwright() as playwright:
        page = Path(directory) / "view.html"
        page.write_text(as_view(runs, demo / "world", surveys=[first]).html, "utf-8")
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"]
        )
        tab = browser.new_page(viewport={"width": 1200, "height": 900})
        tab.goto(f"{page.as_uri()}#e/{quote('scout, bm25')}/{quote(first)}/2")
        tab.wait_for_selector("body[data-ready]")
        tab.screenshot(path=Path(__file__).with_name("viewing.png"))
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
