"""Metrics of mind-maps, one a module; `arena.mindmap.MIND_MAP_METRICS` finds them."""
