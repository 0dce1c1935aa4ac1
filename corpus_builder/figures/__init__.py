"""Mind-maps out of the figures of surveys (ResearchArena, section 3.3); docs/figures.md."""

from corpus_builder.figures.extraction import Extraction, Outcome
from corpus_builder.figures.folder import Flaw, Folder, fingerprint, folder_name, read_folder

__all__ = [
    "Extraction",
    "Flaw",
    "Folder",
    "Outcome",
    "fingerprint",
    "folder_name",
    "read_folder",
]
