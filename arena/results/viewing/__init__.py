"""See runs: one HTML page that compares them, shows what they missed, and every episode.

See docs/viewing.md.
"""

from arena.results.viewing.funnel import STAGES, Funnel, WantedPaper, funnel_of
from arena.results.viewing.page import Page, as_page, write_page

__all__ = ["STAGES", "Funnel", "Page", "WantedPaper", "as_page", "funnel_of", "write_page"]
