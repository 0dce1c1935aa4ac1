"""The page of runs in a real browser: Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import re
import shutil
from itertools import pairwise
from urllib.parse import quote

import pytest
from helpers import Memory, call
from llm_server import tool_call
from test_compare_page import POISON, TURNED, unpacked

import arena
from arena.agents import Agent
from arena.corpus import Corpus
from arena.kit.files import sealed, sha256_file, write_json
from arena.results.viewing import as_page
from arena.runs.credit import write_credit
from arena.runs.directory import OpenedRun
from arena.runs.replaying import replay_episodes
from arena_analysis.credit import credit_of_run
from corpus_builder.build import build

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not here: apt-get install chromium"),
]


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def visit(browser, request):
    """Open a file and return the tab; at the end nothing was requested, said or asked of it."""
    troubles = []

    def visit(path, address="", **options):
        tab = browser.new_page(**options)
        request.addfinalizer(tab.close)
        tab.on("request", lambda r: r.url.startswith("file:") or troubles.append(r.url))
        tab.on("console", lambda message: troubles.append(message.text))
        tab.on("pageerror", lambda error: troubles.append(str(error)))
        tab.on("dialog", lambda dialog: (troubles.append(dialog.message), dialog.dismiss()))
        tab.goto(path.as_uri() + address)
        tab.wait_for_selector("body[data-ready]")
        return tab

    yield visit
    assert not troubles


@pytest.fixture(scope="module")
def page(synthetic, tmp_path_factory):
    """Two runs of two topics; their path, and the ids of the topics."""
    directory = tmp_path_factory.mktemp("view")
    for agent in ("title", "scout"):
        arena.run(synthetic, "discovery", agent, directory / agent, topics=2)
    write_credit(OpenedRun(directory / "title"), credit_of_run(directory / "title", synthetic))
    path = directory / "view.html"
    path.write_text(as_page([directory / "title", directory / "scout"], synthetic).html, "utf-8")
    return path


NOW = "#steps .step[aria-current]"


def first(page) -> str:
    return next(OpenedRun(page.parent / "scout").episodes())["topic_id"]


def step(page, number, run="scout, bm25") -> str:
    return f"#e/{quote(run)}/{quote(first(page))}/{number}"


def wait_at(tab, text) -> None:
    tab.locator("#where", has_text=re.compile(f"^{text}")).wait_for()


def open_paper(tab, part) -> None:
    tab.locator(f"{part} button.paper").first.click()
    tab.wait_for_selector("dialog[open]")
    tab.keyboard.press("Escape")
    tab.wait_for_selector("dialog", state="hidden")


def test_the_credit_of_calls(page, visit):
    tab = visit(page, step(page, 1, "title, bm25"))
    bars = tab.locator(".credit i")
    assert [bar.get_attribute("style") for bar in bars.all()] == [
        "width: 100%", "width: 100%", "width: 0%"  # the legend's, which is that of the first
    ]  # fmt: skip
    assert tab.inner_text("#course li").startswith("1. search ")
    assert "headline, script 0." in tab.inner_text("#course li")
    assert re.search(r"Credit: shapley \d\.\d{4}; headline, script 0\.", tab.inner_text(NOW))
    assert "the credit of a step" in tab.inner_text("#start")
    assert visit(page, step(page, 1)).locator(".credit, #course li").count() == 0


def test_steps_links_and_keys(page, visit):
    tab = visit(page, step(page, 2))
    assert tab.text_content("#where").startswith("step 2 of ")
    tab.keyboard.press("ArrowRight")
    wait_at(tab, "step 3 ")
    assert tab.evaluate("location.hash") == step(page, 3)
    tab.evaluate("for (const _ of [1, 2]) document.querySelector('#previous').click()")  # at once
    wait_at(tab, "step 1 ")
    assert tab.is_disabled("#previous") and tab.inner_text("#start").count("cutoff")
    tab.go_back()
    wait_at(tab, "step 2 ")
    tab.goto(page.as_uri() + step(page, 1, "scuot"))  # is not taken for the comparison
    tab.locator("#trouble", has_text="there is no episode of the run scuot on the topic").wait_for()
    tab.go_back()
    wait_at(tab, "step 2 ")
    assert tab.is_hidden("#trouble")
    tab.click("#h-episode a")
    tab.click("#aligned summary")
    tab.wait_for_selector("#beside .split")  # title and scout begin with the same search
    rows = tab.locator("#beside tbody tr").all_inner_texts()
    assert "1. search" in rows[0] and rows[1] == "Here the runs first differ"
    tab.goto(page.as_uri() + step(page, 10**6))
    wait_at(tab, "the end")
    tab.locator(NOW, has_text="recall@100").wait_for()
    assert tab.is_disabled("#next")


def test_steps_of_a_kind_are_a_group_and_long_lists_are_cut(page, visit):
    tab = visit(page, step(page, 1))
    hits = tab.locator(f"{NOW} div > ol.papers >> nth=0").locator("> li")
    hits.nth(10).wait_for()
    assert hits.count() == 11
    more = tab.locator(f"{NOW} li.more button").first
    number = int(more.inner_text().split()[0])
    more.press("Enter")
    assert hits.count() == 10 + number
    assert tab.evaluate("document.activeElement.matches('ol.papers li:nth-child(11) button')")
    tab.evaluate(
        "keys => show('start', table(Object.fromEntries(keys.map((key) => [key, 1]))))",
        [*"abcdefghijklmnopqrstuvwxyz"],
    )
    assert tab.locator("#start tr").count() == 11
    assert tab.inner_text("#start tr >> nth=10") == "16 more"
    groups = tab.locator("#steps .group > summary").all_inner_texts()
    steps = [tuple(map(int, re.match(r"(\d+)–(\d+)\.", text).groups())) for text in groups]
    assert steps and all(last - first >= 3 for first, last in steps)
    tab.evaluate(f"go({steps[0][1]})")
    tab.locator(f"#step-{steps[0][1]}[open]").wait_for()
    assert tab.locator("#steps > li").count() == tab.evaluate("current.steps") + 1 - sum(
        last - first for first, last in steps
    )
    last, shown = tab.evaluate("[current.steps, current.own.w.flat().length]")
    numbers = tab.locator("#course text").all_text_contents()
    assert numbers[-2:] == [f"step {last}", str(shown)] and f"step {last // 2}" in numbers
    assert f"{shown} after step {last}" in tab.locator("#course svg").get_attribute("aria-label")
    tab.locator("#all").press("Enter")
    tab.locator(f"#step-{last + 1} .budget, #step-{last + 1} dl").first.wait_for()
    assert tab.locator("#steps .step[open]").count() == last + 1
    assert tab.locator("#steps .budget").count() == last
    tab.locator("#all").press("Enter")
    assert tab.locator("#steps details[open]").count() == 0


def test_the_script_builds_what_the_agent_saw(page, synthetic, visit):
    tab = visit(page, step(page, 1))
    run, corpus = OpenedRun(page.parent / "scout"), Corpus.open(synthetic)
    ((_, steps),) = replay_episodes(run, corpus, {first(page)})
    built = tab.evaluate("loadAll().then(() => current.own.o.map(build))")
    score = r'(?<="score":)[^}]+'
    for mine, played in zip(built, steps, strict=True):
        assert re.sub(score, "", mine) == re.sub(score, "", played.observation["result"])
    actions = tab.evaluate("current.own.a.map(build).map(JSON.parse)")
    assert actions == [played.action for played in steps[1:]]


def test_missed_papers_are_listed(page, visit):
    tab = visit(page, "#missed")
    lost = tab.locator("#funnel button.lost").first
    number = int(lost.inner_text().lstrip("−"))
    lost.click()
    tab.wait_for_selector("#lost tbody tr")
    assert f"({number})" in tab.inner_text("#lost h3")
    assert tab.locator("#lost tbody tr").count() == min(number, 200)
    gained = sum(map(int, tab.locator("#difference td:nth-child(2)").all_inner_texts()))
    lost = sum(map(int, tab.locator("#difference td:nth-child(3)").all_inner_texts()))
    title, scout = (
        int(tab.locator(f"#funnel tr:last-child td:nth-child({n}) b").inner_text()) for n in (2, 3)
    )
    assert gained - lost == scout - title
    one = tab.locator("#of-topic option").nth(1).get_attribute("value")
    tab.select_option("#of-topic", one)
    assert int(tab.locator("#funnel tr:last-child td:nth-child(3) b").inner_text()) < scout
    assert sum(map(int, tab.locator("#difference td:nth-child(2)").all_inner_texts())) < gained
    tab.locator("#difference td:nth-child(2) button").first.click()
    tab.locator("#lost h3", has_text="Found by scout, bm25, lost by title, bm25").wait_for()
    assert "#e/title" in tab.locator("#lost tbody a").last.get_attribute("href")  # which lost it


def test_the_topic_that_was_chosen_last_is_drawn(page, visit):
    tab = visit(page, "#missed")
    assert tab.inner_text("#tallies thead th >> nth=0") == "sum over 2 topics"
    tab.evaluate("""() => {
        const quick = read;  // the first topic is slow
        read = async (parts) => {
            read = quick;
            await new Promise((done) => setTimeout(done, 300));
            return quick(parts);
        };
        for (const place of [0, 1]) {
            $("of-topic").value = place;
            $("of-topic").dispatchEvent(new Event("change"));
        }
    }""")
    tab.evaluate("() => shown")
    second = tab.inner_text("#of-topic option >> nth=2")
    assert tab.inner_text("#answered h3 a") == second
    assert tab.inner_text("#tallies thead th >> nth=0") == "sum over this topic"


def test_filter_and_search(page, visit):
    tab = visit(page)
    tab.goto(page.as_uri() + "#episodes")
    assert tab.locator("#list tbody tr").count() == 2
    heading = tab.locator("#list th", has_text="difference")
    for sign in (1, -1):
        heading.press("Enter")
        gains = [float(text) for text in tab.locator("#list td:last-child").all_inner_texts()]
        assert gains == sorted(gains, key=lambda gain: -sign * gain)
    tab.fill("#filter", first(page))
    assert tab.locator("#list tbody tr:not([hidden])").count() == 1
    tab.click("nav a[href='#search']")
    tab.select_option("#tool", "submit")
    tab.click("#search button")
    tab.wait_for_selector("#hits li >> nth=3")
    assert tab.inner_text("#found") == "4 steps"  # two runs of two topics
    tab.locator("#hits a").first.click()
    tab.locator(f"{NOW} .call code", has_text="submit").wait_for()


def test_the_keyboard_alone_reaches_everything(page, visit):
    tab = visit(page)
    assert tab.locator("#compare").is_visible() and tab.locator("#missed").is_hidden()

    def tab_to(selector):
        for _ in range(200):
            tab.keyboard.press("Tab")
            if tab.evaluate("(s) => document.activeElement.matches(s)", selector):
                return
        raise AssertionError(f"no way to {selector}")

    tab_to("nav a[href='#missed']")
    tab.keyboard.press("Enter")
    tab_to("button.lost")
    tab.keyboard.press("Enter")
    tab.wait_for_selector("#lost tbody tr")
    tab_to("nav a[href='#episodes']")
    tab.keyboard.press("Enter")
    tab_to("#list td a")
    tab.keyboard.press("Enter")
    tab.wait_for_selector("#episode:not([hidden])")
    tab.keyboard.press("ArrowRight")
    wait_at(tab, "step 2 ")
    tab_to(f"{NOW} button.paper")
    tab.keyboard.press("Enter")
    tab.wait_for_selector("dialog[open]")
    tab.keyboard.press("Escape")
    tab.wait_for_selector("dialog", state="hidden")
    assert tab.evaluate(f"document.activeElement.matches('{NOW} button.paper')")


def test_dark_narrow_print_and_landmarks(page, visit):
    dark = visit(page, step(page, 2), color_scheme="dark")
    red = dark.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0]")
    assert int(red) < 60
    narrow = visit(page, viewport={"width": 360, "height": 700})
    for address in ("", "#missed", "#episodes", "#s1", "#search", step(page, 2)):
        narrow.goto(page.as_uri() + address)
        narrow.wait_for_timeout(200)
        assert narrow.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert narrow.locator(f"{NOW} .call").bounding_box()["y"] < 2 * 700
    cut = narrow.locator("#episode li.more").first  # a printed list says that it is cut
    narrow.goto(page.as_uri() + step(page, 1))
    cut.wait_for()
    narrow.emulate_media(media="print")
    assert cut.locator("button").is_visible()
    assert narrow.is_hidden("#next") and narrow.is_visible(f"{NOW} .call")
    assert narrow.locator("main").count() == narrow.locator("body > header").count() == 1
    unnamed = """[...document.querySelectorAll("button, input, select, nav, section, a")].filter(
        (e) => !(e.textContent.trim() || e.ariaLabel || e.labels?.length))"""
    assert narrow.evaluate(f"{unnamed}.length") == 0
    levels = "[...document.querySelectorAll('h1,h2,h3,h4')].map((h) => +h.tagName[1])"
    heads = narrow.evaluate(levels)
    assert heads[0] == 1 and all(b - a <= 1 for a, b in pairwise(heads))


class Several(Agent):
    """Sends two queries in one step."""

    def act(self, observation):
        search = call("search", queries=["neural", "encoders"], k=2, fuse=False)
        return search if observation["budget"]["steps"] == 100 else call("finish")


def test_lists_of_several_queries_are_shown(tiny, tmp_path, visit):
    arena.run(tiny, "discovery", Several, tmp_path / "run", topics=["s1"])
    path = tmp_path / "view.html"
    path.write_text(as_page([f"several={tmp_path / 'run'}"], tiny).html, "utf-8")
    tab = visit(path, "#e/several/s1/1")
    tab.locator(f"{NOW} ol.papers").nth(1).wait_for()
    tab.click("#h-episode a")
    tab.click("#aligned summary")
    assert "search neural | encoders" in tab.locator("#beside a").first.inner_text()


def ask(body):
    results = [message for message in body["messages"] if message["role"] == "tool"]
    if results:
        return (
            f'```json\n{{"{POISON[:8]}": [{{"id": 1, "why": "<b>"}}, {{"id": 2}}], "end": 1}}\n```'
        )
    return tool_call("search", {"query": f"encoders {POISON}"})


def test_a_prompt_is_unfolded(tiny, tmp_path, visit, play):
    run, store = play(ask)
    path = tmp_path / "view.html"
    path.write_text(as_page([f"react={run}"], tiny, answers=store).html, "utf-8")
    tab = visit(path, "#e/react/s1/2")
    tab.click(".prompt summary")
    tab.locator(".prompt a").wait_for()
    assert tab.locator(".prompt > h4").all_inner_texts() == ["assistant", "tool"]
    tab.locator(".prompt summary", has_text="1 earlier message").press("Enter")
    assert tab.locator(".prompt h4").all_inner_texts() == ["user", "assistant", "tool"]
    assert "neural ranking" in tab.inner_text(".prompt .text >> nth=0")
    assert tab.inner_text(".prompt .call") == "search"
    assert "<script>" in tab.inner_text(".prompt > dl, .prompt > div dl")
    assert tab.inner_text(".prompt a") == "the result of step 1"
    said = tab.locator(f"{NOW} .said")
    assert said.locator("table").inner_text().split() == ["id", "why", "1", "<b>", "2"]
    said.locator("summary").press("Enter")
    said.locator("pre", has_text=re.compile(r"^```json\s\{.*```$", re.S)).wait_for()  # all of it
    tab.click("nav a[href='#search']")
    tab.fill("#words", "```json")
    tab.click("#search button")
    tab.locator("#found", has_text="1 step").wait_for()  # the model said so at step 2
    assert tab.locator("#hits a").get_attribute("href").endswith("/2")


def test_maps_stand_beside_the_topics_own_and_pages_without_labels_have_none(
    synthetic, tmp_path, visit
):
    runs, path = [tmp_path / "random", tmp_path / "oracle"], tmp_path / "view.html"
    for run in runs:
        arena.run(synthetic, "organization", run.name, run, topics=1)
    path.write_text(as_page(runs, synthetic).html, "utf-8")
    tab = visit(path, "#s1")
    assert tab.locator("#topic h4", has_text="the survey's own").count() == 1  # not the oracle's
    told = tab.locator("#topic .two .legend").all_inner_texts()
    matched, alike, elsewhere = (
        re.findall(r"(\d+) " + words, told[1])[0] for words in ("of", "papers? under", "elsewhere")
    )
    tab.goto(path.as_uri() + "#missed")
    tab.wait_for_selector("#answered .tree")
    assert not tab.locator("#funnel").count()  # an episode begins with the papers
    rows = dict(text.split("\t") for text in tab.locator("#tallies tbody tr").all_inner_texts())
    numbers = {words: text.split()[0] for words, text in rows.items()}
    assert numbers["headings of the survey that match"] == matched
    assert numbers["papers in reach: filed elsewhere"] == elsewhere
    assert numbers.get("papers in reach: under a matching heading", "0") == alike
    tab.locator("#answered .two summary").first.press("Enter")
    assert " other map: " in tab.locator("#answered li.bad").first.inner_text()
    assert tab.locator("#answered .share").first.get_attribute("aria-label").endswith("only here")
    path.write_text(as_page(runs, synthetic, labels=False).html, "utf-8")
    tab = visit(path, "#episodes")
    tab.locator("#list td a").first.click()
    wait_at(tab, "step 1 ")
    tab.evaluate("go(current.steps + 1)")
    tab.locator(NOW, has_text="The page has no labels, and so no scores.").wait_for()
    assert not tab.locator("#course svg").count()  # no step shows a paper first
    heads = tab.locator(f"{NOW} h4")
    heads.nth(1).wait_for()
    assert heads.all_inner_texts() == ["Answer, organization", "submitted"]


def test_citations_of_a_report_are_verified(synthetic, tmp_path, visit):
    arena.run(synthetic, "report", "oracle", tmp_path / "run", topics=1)
    path = tmp_path / "view.html"
    path.write_text(as_page([tmp_path / "run"], synthetic).html, "utf-8")
    tab = visit(path, "#s1")
    told = tab.inner_text("#topic .legend >> nth=1")
    assert re.fullmatch(r"Cited papers: ✓ \d+ cited by the topic", told)
    good = tab.locator("#topic .text button.paper.good")
    assert good.count() >= int(told.split()[3]) and good.first.inner_text().startswith("✓ ")
    assert not tab.locator("#topic button.paper.bad, #topic .verdicts").count()
    scores = tab.inner_text("#topic table.scored")
    assert "reference_f1" in scores and "late_rate" not in scores
    assert "0 in every run: " in tab.inner_text("#topic > p.more")
    assert "late_rate" in tab.inner_text("#topic > p.more")
    assert "#" not in tab.locator("#topic .text strong").first.inner_text()


def test_statements_have_their_verdicts(synthetic, tmp_path, visit):
    arena.run(synthetic, "report", "oracle", tmp_path / "run", topics=1)
    run, path = OpenedRun(tmp_path / "run"), tmp_path / "view.html"
    topic = next(run.episodes())["topic_id"]
    cited = [
        {"statement": "It rains.", "outcome": "match", "paper": "p", "reason": "So it is."},
        {"statement": POISON, "outcome": "not_found", "paper": None},
    ]
    claims = [{"statement": "Sun.", "outcome": how} for how in ("tie", "true", "failed", "true")]
    reports = {topic: {"cited": cited, "claims": claims}}
    hashes = {"trajectories.jsonl": sha256_file(run.path)}
    (run.directory / "judgements").mkdir()
    file = run.directory / "judgements" / "statements.json"
    write_json(file, sealed({"reports": reports, "sha256": hashes}))
    path.write_text(as_page([run.directory], synthetic).html, "utf-8")
    tab = visit(path, "#missed")
    rows = tab.locator("#answered .verdicts tbody tr").all_inner_texts()
    assert [row.split("\t")[0] for row in rows] == [
        "no evidence", "undecided", "no verdict", "supported", "held true", "held true"
    ]  # fmt: skip
    assert "<script>" in rows[0] and "So it is." in rows[3]
    told = [row.inner_text().split("\t") for row in tab.locator("#tallies tbody tr").all()]
    assert told[:2] == [
        ["citations that support their statement", "\n1 of 2"],
        ["statements without a citation that are held true", "\n2 of 3"],  # one is undecided
    ]
    write_json(file, sealed({"reports": reports, "sha256": hashes | {"trajectories.jsonl": "0"}}))
    assert "It rains." not in str(unpacked(as_page([run.directory], synthetic).html))  # of others


def test_ids_of_arxiv_and_doi_are_links(page, visit):
    ids = ["2101.01507", "hep-th/9901001", "10.1145/3626772.x", "arxiv:2406.10291", "W123", "12.5"]
    tab = visit(page)
    assert tab.evaluate("(ids) => ids.map(addressOf)", ids) == [
        "https://arxiv.org/abs/2101.01507",
        "https://arxiv.org/abs/hep-th/9901001",
        "https://doi.org/10.1145/3626772.x",
        "https://arxiv.org/abs/2406.10291",
        None,
        None,
    ]


HOSTILE = "<img/src=x/onerror=alert(8)>\"'&"


class Poisoner(Agent):
    """Sends hostile text wherever an agent can."""

    def act(self, observation):
        actions = [
            call("search", query=f"graphs {POISON} {TURNED}", k=9),
            call("read", paper_id="javascript:alert(6)"),
            {"tool": POISON, "arguments": {POISON: TURNED}},
            POISON,
            call("write", heading=POISON, text=f"[x](javascript:alert(7)) {POISON} [@p0; @{{q}}]"),
            call("submit_report"),
        ]
        return actions[100 - observation["budget"]["steps"]]

    def notes(self):
        return {"llm": {"model": POISON, "total": {POISON: TURNED}}}


def test_a_hostile_corpus_runs_nothing(tmp_path, visit):
    long = "graphs " + "long " * 200_000  # a megabyte
    titles = {"p0": POISON, "javascript:alert(6)": TURNED, "long": long}
    papers = [
        {"id": i, "title": f"graphs {title}", "date": "2019", "abstract": POISON * 20}
        for i, title in titles.items()
    ]
    topic = {
        "id": HOSTILE, "title": f"graphs {POISON} {TURNED} {long}", "date": "2020-06",
        "references": [*titles, f"{HOSTILE}2"],
        "mind_map": {"label": POISON, "children": [{"label": TURNED}]},
    }  # fmt: skip
    build(Memory(papers, [topic]), tmp_path / "corpus")
    arena.run(tmp_path / "corpus", "report", Poisoner, tmp_path / "run")
    name = POISON[:60].replace("=", "")  # NAME=DIR
    html = as_page([f"{name}={tmp_path / 'run'}"], tmp_path / "corpus").html
    (tmp_path / "view.html").write_text(html, "utf-8")
    tab = visit(tmp_path / "view.html", "#missed")
    tab.locator("#funnel button.lost").first.click()
    tab.wait_for_selector("#lost tbody tr")
    tab.goto((tmp_path / "view.html").as_uri() + "#s1")
    tab.wait_for_selector("#topic:not([hidden]) #aligned")
    assert "\u202e" not in tab.inner_text("body") and tab.is_hidden("#trouble")
    tab.goto((tmp_path / "view.html").as_uri() + "#episodes")
    tab.locator("#list td a").click()
    for number in range(1, 8):
        at = "step 1 " if number == 1 else "the end" if number == 7 else f"step {number} "
        wait_at(tab, at)
        tab.locator(f"{NOW} .budget, #step-7[open] dl").first.wait_for()
        assert tab.is_hidden("#trouble")
        assert "\u202e" not in tab.inner_text("body")
        assert tab.locator("script:not([type]), img, iframe, object, body svg script").count() == 1
        links = tab.evaluate("[...document.querySelectorAll('[href]')].map((a) => a.href)")
        assert all(link.startswith("file:") for link in links)
        handlers = "[...document.querySelectorAll('*')].flatMap((e) => [...e.attributes])"
        assert not tab.evaluate(f"{handlers}.some((a) => a.name.startsWith('on'))")
        if number == 1:  # building a corpus takes such marks out of titles, and no query
            assert "abc⟨U+202E⟩def" in tab.inner_text(NOW)
            assert "<script>" in tab.inner_text(f"{NOW} .papers")
            open_paper(tab, NOW)
        if number == 5:  # the citations of a report
            open_paper(tab, NOW)
        tab.evaluate(f"go({number + 1})")
    tab.click("nav a[href='#search']")
    tab.fill("#words", "<script>")
    tab.evaluate("document.getElementById('find').requestSubmit()")
    tab.locator("#found", has_text="steps").wait_for()
