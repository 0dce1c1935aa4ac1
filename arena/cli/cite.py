"""``arena cite``."""

from __future__ import annotations

from arena.cli.app import print_json
from arena.errors import UnknownNameError, clip, did_you_mean
from arena.version import __version__

BIBTEX = f"""\
@software{{researcharena_gym,
  title = {{{{ResearchArena}}: a gym for research agents}},
  author = {{{{The ResearchArena maintainers}}}},
  year = {{2026}},
  version = {{{__version__}}}
}}

@misc{{kang2024researcharena,
  title = {{{{ResearchArena}}: Benchmarking {{LLMs'}} Ability to Collect and Organize Information
           as Research Agents}},
  author = {{Kang, Hao and Xiong, Chenyan}},
  year = {{2024}},
  eprint = {{2406.10291}}, archivePrefix = {{arXiv}},
  url = {{https://arxiv.org/abs/2406.10291}}
}}
"""


def cite(name: str | None = None, *, json: bool = False) -> None:
    """Print the BibTeX of a benchmark's authors, or of this gym and the paper of its tasks.

    Args:
        name (NAME): A suite (`arena list suites`), or researcharena (default: all of them).

    Example:
        arena cite taxobench
    """
    from arena.suites import SUITES

    texts = {"researcharena": BIBTEX} | {each: SUITES.get(each).bibtex for each in SUITES.names()}
    entries = {each: text.strip() for each, text in texts.items() if text}
    if name is not None and name not in entries:
        hint = did_you_mean(name, entries)
        raise UnknownNameError(f"no benchmark with an entry is called {clip(name)}.{hint}")
    found = {name: entries[name]} if name is not None else entries
    if json:
        print_json(found)
    else:
        print("\n\n".join(found.values()))
