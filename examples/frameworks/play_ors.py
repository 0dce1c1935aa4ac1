"""Play an episode over ORS with OpenReward's client; the server is on this machine."""

import json
import os

from openreward import OpenReward

URL = "http://127.0.0.1:8000"
os.environ |= {"OPENREWARD_API_URL": URL, "OPENREWARD_SESSION_URL": URL}  # not openreward.ai
env = OpenReward().environments.get("researcharena", variant="discovery")
with env.session(split="test", index=0) as session:
    topic = json.loads(session.get_prompt()[0].text)["topic"]
    found = session.call_tool("search", {"query": topic, "k": 10})
    hits = json.loads(found.blocks[0].text)["result"]["hits"]
    end = session.call_tool("submit", {"paper_ids": [hit["id"] for hit in hits]})
print(json.dumps([topic, end.metadata["total"], end.finished]))
