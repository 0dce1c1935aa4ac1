"""See runs: one HTML file of episodes step by step, and where wanted papers were missed.

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
from arena.results.viewing.page import View, as_view

__all__ = [
    "STAGES", "Funnel", "RunFunnel", "View", "WantedPaper", "as_view", "funnel_json", "funnel_of",
    "funnel_tables",
]  # fmt: skip
