"""The page: what it shows, that it needs nothing else, and that text of others stays text."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from html.parser import HTMLParser

import pytest
from compare_helpers import TwoSearches, forge
from helpers import Memory, call, gold_of

import arena
from arena.agents import Agent
from arena.errors import CorpusError
from arena.results.comparison import as_text
from arena.results.viewing import as_page
from arena.runs.directory import OpenedRun
from arena.tasks import TaskSet
from arena.tools import encode
from corpus_builder.build import build

VOID = {"meta", "img", "br", "hr", "input", "wbr", "link", "path", "circle", "rect"}
POISON = (
    '<script>alert(1)</script><img src=x onerror=alert(2)>" onload="alert(3)\' ]]> --> </title>'
    "</style></svg></details>&amp;&lt;b&gt;<svg onload=alert(4)>javascript:alert(5) {{7*7}} ${x}"
)
TURNED = "abc\u202edef\u2066ghi\u0000\u001b[31m"


class Page(HTMLParser):
    """Checks the nesting of elements, and keeps what a test asks for."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.open: list[str] = []
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        assert len({name for name, _ in attrs}) == len(attrs), f"twice in {tag}: {attrs}"
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open and self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append((self.open[-1] if self.open else "", data))

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def text(self):
        return "".join(data for tag, data in self.texts if tag not in ("script", "style"))


def unpacked(html: str) -> dict[str, object]:
    """Return the blocks of a page, by name."""
    found = re.findall(r'<script type="application/octet-stream" id="(\w+)">([^<]*)<', html)
    return {name: json.loads(zlib.decompress(base64.b64decode(data))) for name, data in found}


def rebuilt(parts: list, texts: list[str]) -> str:
    """Build a JSON text from its parts, as the script of the page does."""
    built = ""
    for part in parts:
        if isinstance(part, str):
            built += part
        else:
            built += (
                texts[part] if part >= 0 else encode(json.loads(f"{{{texts[-part - 1]}}}")["id"])
            )
    return built


def check_safe(html: str) -> Page:
    """The page runs one script, its own, and refers to nothing outside."""
    page = Page(re.sub(r'<script type="application/octet-stream".*?</script>', "", html))
    (script,) = [data for tag, data in page.texts if tag == "script"]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = [m["content"] for m in page.all("meta") if m.get("http-equiv")]
    assert f"script-src 'sha256-{digest}'" in policy and "default-src 'none'" in policy
    assert len(page.all("script")) == len(page.all("style")) == 1
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(set(ids)) == len(ids)
    for tag, attributes in page.elements:
        assert not [name for name in attributes if name.startswith("on")], tag
        assert not {"style", "src", "srcset", "action", "xlink:href", "formaction"} & set(
            attributes
        ), tag
        address = attributes.get("href", "")
        if address:  # of a part of the page, or of an episode
            assert address[1:] in ids or re.match(r"#e/[^/]+/[^/]+/1$", address)
    return page


@pytest.fixture(scope="module")
def poisoned(tmp_path_factory):
    """A corpus of papers with hostile titles, and two runs by an agent that passes them on."""
    directory = tmp_path_factory.mktemp("poisoned")
    papers = [
        {"id": f"p{n}", "title": f"graphs {POISON} {n}", "date": "2019", "abstract": "graphs"}
        for n in range(4)
    ]
    papers.append({"id": "p<b>&\"'", "title": f"graphs {TURNED}", "date": "2019"})
    tree = {"label": POISON, "children": [{"label": f"{POISON} {TURNED}"}, {"label": "x"}]}
    topic = {
        "id": "s<i>\"'&", "title": f"{POISON} graphs", "date": "2020-06",
        "references": [{"id": "p0", "influential": True}, "p1", "p<b>&\"'"],
        "mind_map": tree,
    }  # fmt: skip
    build(Memory(papers, [topic]), directory / "corpus")
    for name, options in (("a", {}), ("b", {"more": POISON, "<u>": TURNED})):
        arena.run(
            directory / "corpus", "pipeline", Poisoner, directory / name, agent_options=options
        )
    return directory


class Poisoner(Agent):
    """Sends hostile queries and submits a hostile map."""

    def __init__(self, seed=0, **options):
        super().__init__(seed)
        self.turn = 0

    def act(self, observation):
        self.turn += 1
        if observation["stage"] == "organization":
            return call("organize", mind_map={"label": POISON, "children": [{"label": POISON}]})
        if self.turn == 1:
            return call("search", query=f"graphs {POISON} {TURNED}", k=3)
        if self.turn == 2:
            return call("search", query="x\ud800y" + POISON, retriever=POISON)
        return call("submit", paper_ids=["p0", "p2"])

    def notes(self):
        return {"llm": {"model": POISON, "total": {"calls": 1}}}


def test_text_of_others_stays_text(poisoned):
    name = POISON.replace("=", "")[:70]
    found = arena.compare([f"{name}={poisoned / 'a'}", poisoned / "b"])
    for corpus in (None, poisoned / "corpus"):
        html = as_page(found, corpus).html
        page = check_safe(html)
        assert name in page.text
        assert "\u202e" not in html and "\u2066" not in html and "\ud800" not in html
        assert "\x00" not in html and "\x1b" not in html
        html.encode("utf-8")
    cleaned = POISON.replace("&amp;&lt;b&gt;", "&<b>")  # as building cleans titles
    assert cleaned[:100] in page.text


def test_what_a_topic_shows(synthetic, tmp_path):
    """References, their ranks and the queries, against the files of the run and the labels."""
    arena.run(synthetic, "discovery", TwoSearches, tmp_path / "two")
    arena.run(synthetic, "discovery", "random", tmp_path / "random")
    found = arena.compare([tmp_path / "two", tmp_path / "random"])
    html = as_page(found, synthetic).html
    page, blocks, tasks = check_safe(html), unpacked(html), TaskSet(synthetic)
    records = {each["topic_id"]: each for each in OpenedRun(tmp_path / "two").episodes()}
    assert html.count("<tr id=") == len(found.topics)
    texts = [text for name, block in blocks.items() if name[0] == "t" for text in block]
    for topic, _, _, block, slot, anchor in blocks["index"]["topics"]:
        assert tasks.topic(topic).text in page.text and f'<tr id="{anchor}">' in html
        refs, own = blocks[f"e{block}"][slot]
        ids = [json.loads(f"{{{texts[number]}}}")["id"] for number, *_ in refs]
        gains = {paper: gain for paper, (_, gain, *_) in zip(ids, refs, strict=True) if gain}
        assert gains == tasks.gold(topic).gains and set(gains) == gold_of(synthetic, topic)
        ranking = found.runs[0].episodes[topic].answers["discovery"]
        ranks = dict(zip(ids, own["0"]["ranks"], strict=True))
        assert ranks == {p: ranking.index(p) + 1 if p in ranking else None for p in ids}
        ((stage, noun, parts),) = own["0"]["answers"]
        assert (stage, noun) == ("discovery", "ranking")
        assert json.loads(rebuilt(parts, texts)) == {"form": "ranking", "value": ranking}
        actions = [json.loads(rebuilt(parts, texts)) for parts in own["0"]["a"]]
        assert actions == [step["action"] for step in records[topic]["steps"]]


def test_another_corpus_is_refused(title_run, mini):
    with pytest.raises(CorpusError, match="is not the corpus of these runs"):
        as_page(arena.compare([title_run]), mini).html


def test_starting_papers_are_told_in_words(synthetic, tmp_path):
    for name, options in (("oracle", {}), ("random", {"references": "oracle"})):
        arena.run(synthetic, "organization", name, tmp_path / name, **options)
    html = as_page(arena.compare([tmp_path / "random", tmp_path / "oracle"])).html
    assert (
        "The runs differ in the papers that an episode begins with: the survey&#39;s own "
        "references (random, bm25), none (oracle, bm25)." in html
    )
    assert "None" not in check_safe(html).text


def test_verdict_first_and_topics_by_difference(synthetic, title_run, tmp_path):
    arena.run(synthetic, "discovery", "random", tmp_path / "random")
    found = arena.compare([tmp_path / "random", title_run])
    check_safe(html := as_page(found, synthetic).html)
    assert html.index("has a better mean recall@100 than") < html.index("<table")
    assert "<title>random, bm25, title, bm25: discovery, compared by recall@100</title>" in html
    ids = re.findall(r'<tr id="s(\d+)"', html)
    (metric,) = [m for m in found.metrics if m.metric == "recall@100"]
    differences = [
        metric.values["title, bm25"][int(n) - 1] - metric.values["random, bm25"][int(n) - 1]
        for n in ids
    ]
    assert len(ids) == 8 and differences == sorted(differences, reverse=True)
    assert f"<td>{differences[0]:+.4f}</td>" in html


def test_mind_maps_are_shown_with_their_floors(synthetic, tmp_path):
    arena.run(synthetic, "organization", "random", tmp_path / "run", references="oracle")
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    values = {"predicted": 0.5, "other_topics": 0.25, "random": 0.125}
    metrics["floors"] = {
        k: {"heading_soft_recall": v / 2, "paper_filing": v} for k, v in values.items()
    }
    (tmp_path / "run" / "metrics.json").write_text(json.dumps(metrics))
    found = arena.compare(
        [forge(tmp_path / "run", tmp_path / "other")], metrics=["heading_soft_recall"]
    )
    lines = [line.split() for line in as_text(found).splitlines()]
    start = lines.index(["organization", "paper_filing", "heading_soft_recall"])
    assert start < 5  # before every other table
    assert [line[-2:] for line in lines[start + 2 : start + 5]] == [
        ["0.5000", "0.2500"], ["0.2500", "0.1250"], ["0.1250", "0.0625"],
    ]  # fmt: skip
    assert lines[start + 3][:4] == ["random,", "bm25", "(other", "topics)"]
    assert "says little" in as_text(found)
    page = check_safe(as_page(found).html)
    assert "paper_filing" in page.text and "other topics" in page.text


def test_a_count_without_a_best_direction_has_no_winner(title_run, tmp_path):
    topics = json.loads((title_run / "manifest.json").read_text())["topics"]
    runs = [
        forge(title_run, tmp_path / name, {"reference_count": dict.fromkeys(topics, value)})
        for name, value in (("few", 3.0), ("many", 5.0))
    ]
    found = arena.compare(runs)
    assert "no best direction" in as_text(found).splitlines()[0]
    html = as_page(found).html
    text = check_safe(html).text
    assert "None" not in text and " wins, " not in text
    assert 'class="won"' not in html and "is better on this topic" not in text
    assert "<b>" not in html[html.index('id="means"') : html.index("</table>")]
