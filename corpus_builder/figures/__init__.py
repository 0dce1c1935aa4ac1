"""Mind-maps out of the figures of surveys (ResearchArena, section 3.3); docs/figures.md."""

from corpus_builder.figures.extraction import BATCH, Extraction, Outcome
from corpus_builder.figures.folder import fingerprint, folder_name, read_folder

__all__ = ["BATCH", "Extraction", "Outcome", "fingerprint", "folder_name", "read_folder"]
