"""Configurations in YAML: read with the line of every part, checked key by key."""

from __future__ import annotations

from arena._settings.section import Section
from arena._settings.source import Place, Source, read_source

__all__ = ["Place", "Section", "Source", "read_source"]
