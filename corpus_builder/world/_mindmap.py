"""The gold mind-map of a survey."""

from __future__ import annotations

from typing import TypedDict

from corpus_builder.world._surveys import Survey
from corpus_builder.world._timeline import Timeline
from corpus_builder.world._topics import TopicTree

RELATED = "Related Areas"
"""The branch under which a survey's off-topic references are filed, by the topic they are from."""


class Node(TypedDict):
    """A topic, the topics below it, and the ids of the references filed under it itself."""

    name: str
    subtopics: list[Node]
    papers: list[str]


def mind_map(survey: Survey, tree: TopicTree, timeline: Timeline) -> Node:
    """Return the mind-map whose root is the survey's topic; every reference is filed once."""
    level = tree.level_of(survey.topic)
    paths: dict[int, list[int]] = {}
    # In the order of the hierarchy, so that a parent comes to be before what lies below it.
    for index in sorted(survey.references, key=lambda i: (timeline.leaf[i], i)):
        if index not in survey.off_topic:
            paths[index] = [
                int(tree.ancestors(timeline.leaf[index], lower))
                for lower in range(level + 1, tree.depth + 1)
            ]
    root = _node(tree.name(survey.topic))
    _file(root, paths, tree, timeline)
    if survey.off_topic:
        related = _node(RELATED)
        root["subtopics"].append(related)
        astray = sorted(survey.off_topic, key=lambda i: (timeline.leaf[i], i))
        topics = {index: [int(timeline.survey_topic[index])] for index in astray}
        _file(related, topics, tree, timeline)
    return root


def _node(name: str) -> Node:
    return {"name": name, "subtopics": [], "papers": []}


def _file(root: Node, paths: dict[int, list[int]], tree: TopicTree, timeline: Timeline) -> None:
    """File each paper under the last topic of its path, making the nodes on the way."""
    nodes: dict[int, Node] = {}
    for index, path in paths.items():
        at = root
        for topic in path:
            if topic not in nodes:
                nodes[topic] = _node(tree.name(topic))
                at["subtopics"].append(nodes[topic])
            at = nodes[topic]
        at["papers"].append(timeline.paper_id(index))
