"""Write the links of the host that publishes a release: ``python requirements/links.py URL REF``.

The project names no host. Where a release is built, this gives pyproject.toml the URLs of its
repository and makes the links of README.md, which an index shows without the repository, absolute.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def main(url: str, ref: str) -> None:
    """Write both files: `url` is the repository's address, `ref` the tag of the release."""
    pages = {"Source": "", "Issues": "/issues", "Changelog": f"/blob/{ref}/CHANGELOG.md",
             "Documentation": f"/blob/{ref}/docs/README.md"}  # fmt: skip
    lines = "".join(f'{name} = "{url}{path}"\n' for name, path in pages.items())
    project, readme = ROOT / "pyproject.toml", ROOT / "README.md"
    text = project.read_text("utf-8").replace("[project.urls]\n", f"[project.urls]\n{lines}")
    project.write_text(text, "utf-8")
    text = re.sub(r"(!\[[^\]]*\])\((?!https?:)", rf"\1({url}/raw/{ref}/", readme.read_text("utf-8"))
    readme.write_text(re.sub(r"\]\((?!https?:)", f"]({url}/blob/{ref}/", text), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
