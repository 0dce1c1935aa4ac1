"""A made-up field of science: topics, papers, references, surveys and their gold mind-maps.

>>> world = World(WorldConfig(papers=60, surveys=2))
>>> len(list(world.papers())), len(list(world.surveys()))
(60, 2)
"""

from corpus_builder.world._config import PAPERS_PER_SURVEY, WorldConfig
from corpus_builder.world._world import BLOCK, World

__all__ = ["BLOCK", "PAPERS_PER_SURVEY", "World", "WorldConfig"]
