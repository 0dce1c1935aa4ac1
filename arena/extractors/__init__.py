"""Extractors: the entities in headings, found by name; `heading_entity_recall` compares them."""

from arena.extractors.base import EXTRACTORS, Extractor, make_extractor

__all__ = ["EXTRACTORS", "Extractor", "make_extractor"]
