"""See runs: one HTML page that compares them, shows what they missed, and every episode.

See docs/viewing.md.
"""

from arena.results.viewing.funnel import (
    STAGES,
    Funnel,
    RunFunnel,
    WantedPaper,
    funnel_json,
    funnel_of,
    funnel_tables,
)
from arena.results.viewing.page import Page, as_page, write_page

__all__ = [
    "STAGES", "Funnel", "Page", "RunFunnel", "WantedPaper", "as_page", "funnel_json", "funnel_of",
    "funnel_tables", "write_page",
]  # fmt: skip
