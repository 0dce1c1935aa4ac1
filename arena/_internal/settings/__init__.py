"""Configurations in YAML: read with the line of every part, checked key by key."""

from __future__ import annotations

from arena._internal.settings.section import Section
from arena._internal.settings.source import Place, Source, read_source

__all__ = ["Place", "Section", "Source", "read_source"]
