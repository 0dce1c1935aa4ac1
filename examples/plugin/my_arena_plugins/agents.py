"""Words: search for each word of the topic, and what is cited with the first hit."""

from itertools import chain, zip_longest

from arena.agents import Desk, Researcher, Steps, agent


@agent("words")
class Words(Researcher):
    """One search a word of the topic, the hits interleaved."""

    def discover(self, desk: Desk) -> Steps[None]:
        """Search while there are words and searches left."""
        found = yield from desk.search_many(desk.topic.split(), k=50)
        in_turn = [hit.id for hit in chain(*zip_longest(*found)) if hit]
        offered = {each["function"]["name"] for each in self.tools}
        if in_turn and "cocited" in offered and desk.reads_left:
            result = yield from desk.call("cocited", paper_id=in_turn[0])
            in_turn[1:1] = [paper["id"] for paper in result.get("cocited", ())]
        desk.ranking = in_turn
