"""Pages of suites: what people read first, and what must not mislead them."""

from __future__ import annotations

import re

import pytest

from arena import cli
from arena.results.comparison.report import means, verdict
from arena.results.comparison.systems import compare_systems
from arena.results.viewing import as_page
from arena.results.viewing.drawing import Axis
from arena.suites import Evaluation


def scored(lower=None, **columns):
    """Return scores of the topics 1, 2, ... by metric."""
    topics = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    mean = {name: sum(values) / len(values) for name, values in columns.items()}
    rows = {str(n): row for n, row in enumerate(topics, 1)}
    return Evaluation(mean, rows, [], lower_is_better=lower or {})


def page(systems, suite="toy"):
    return as_page(compare_systems(suite, systems)).html.partition("<script>")[0]


def bold(systems):
    table = means(compare_systems("toy", systems))
    return {(table.header[c], table.rows[r][0]) for r, c in table.bold}


def test_the_head_says_who_and_on_how_many_and_a_verdict_follows():
    systems = {"<b>a</b>": scored(f1=[0.5, 0.5, 0.5]), "b": scored(f1=[0.5, 1.0, 0.75])}
    html = page(systems)
    assert "<h1>toy: <bdi>&lt;b&gt;a&lt;/b&gt;; b</bdi> <small>3 topics</small></h1>" in html
    said = "b has a better mean f1 than &lt;b&gt;a&lt;/b&gt; over 3 topics: 0.7500 against 0.5000"
    assert f'<p class="verdict"><bdi>{said}' in html and "<b>a" not in html
    assert "shows the labels" not in html and "oracle" not in html


def test_only_what_alone_is_best_is_marked():
    a = scored({"late": True}, f1=[0.4, 0.6], late=[0.0, 0.0], cost=[3.0, 1.0])
    b = scored({"late": True}, f1=[0.5, 0.5], late=[0.5, 0.0], cost=[1.0, 1.0])
    assert bold({"a": a, "b": b}) == {("late", "a"), ("cost", "a")}  # of f1 both have .5
    same = scored({"late": True}, f1=[0.1 + 0.2, 0.3], late=[0.0, 0.0], cost=[3.0, 1.0])
    other = scored({"late": True}, f1=[0.3, 0.3], late=[0.0, 0.0], cost=[3.0, 1.0])
    assert bold({"a": same, "b": other}) == set()  # .1 + .2 is .3, but for rounding
    assert "have the same mean f1" in verdict(compare_systems("toy", {"a": same, "b": other}))
    assert bold({"a": a}) == set()


@pytest.mark.parametrize(
    ("largest", "unit", "last"),
    [
        (0.97, "", "1"), (2e-7, "billionths", "200"), (2e-6, "millionths", "2"),
        (0.004, "", "0.004"), (6e-4, "millionths", "600"), (65_907.0, "", "80,000"),
        (3_000_000.0, "millions", "3"), (150_000.0, "thousands", "150"),
    ],
)  # fmt: skip
def test_the_numbers_at_an_axis_can_be_read(largest, unit, last):
    axis = Axis([0.0, largest], 0, 100)
    assert (axis.unit, axis.label(axis.ticks[-1]), axis.label(0.0)) == (unit, last, "0")
    assert not any("e" in axis.label(tick) for tick in axis.ticks)


def test_what_rounding_leaves_is_no_scale():
    assert Axis([0.0, 1e-17], 0, 100).ticks == pytest.approx([0.0, 0.2])  # not one of 1e-17


def test_tiny_and_huge_means_are_not_drawn_as_zero_or_with_powers_of_ten():
    tiny, huge = [2e-7, 0.0], [4_000_000.0, 2_000_000.0]
    html = page({"a": scored(late=tiny, tokens=huge), "b": scored(late=tiny, tokens=huge)})
    assert "&lt;0.0001" in html and "3,000,000" in html
    assert "<small>in billionths" in html and "<small>in millions" in html
    drawn = re.findall(r'<text class="tick"[^>]*>([^<]*)<', html)
    assert {"1", "2", "3", "4"} <= {*drawn} and not any("e" in each for each in drawn)


@pytest.fixture
def surveys(tmp_path):
    """Experts on two topics, and a folder with a name of its own that has one of them."""
    text = "# {}\n\n## Graphs\n\nText.\n\n### Paths\n\nText.\n\n## Trees\n\nText.\n"
    for folder, topics in {"human": "ab", "my system": "a"}.items():
        (tmp_path / folder).mkdir()
        for topic in topics:
            (tmp_path / folder / f"{topic}.md").write_text(text.format(topic))

    def evaluate(*options, system="my system"):
        made = str(tmp_path / system) if "=" not in system else system.format(tmp_path)
        given = ["--system" if "=" in system else "--generated", made]
        path = tmp_path / "page.html"
        words = ["--human", str(tmp_path / "human"), *given, *options, "--page", str(path)]
        assert cli.main(["evaluate", "bloom-eval", *words]) == 0
        return path.read_text(encoding="utf-8").partition("<script>")[0]

    return evaluate


def test_a_suite_in_which_nothing_was_computed_draws_nothing(surveys):
    html = surveys("--metrics", "fnov,roq")  # both are a judge's
    assert "bloom-eval: <bdi>my system</bdi> <small>2 topics</small>" in html
    assert "No topic has fnov in every system, so nothing is compared." in html
    assert "<svg" not in html and html.count("<td>needs a judge</td>") == 4
    assert '<bdi>creation</bdi></th><td class="left"><bdi>needs a judge</bdi>' in html
    assert "<strong>Needs a judge</strong>: fnov, fnov_order, roq, roq_order." in html


def test_parts_without_a_mean_have_no_bar(surveys):
    html = surveys("--metrics", "scons,fnov")
    drawn = html[html.index('id="parts"') : html.index('id="means"')]
    assert drawn.count("<svg") == 1 and drawn.count('class="mark"') == 1
    assert "1.0000, without scs, sts" in drawn  # equal outlines; the others were not asked for
    assert "creation" in drawn.partition("</svg>")[2] and "needs a judge" in drawn
    several = surveys("--metrics", "scons,fnov", system="<i>x</i>={}/human")
    assert "&lt;i&gt;x&lt;/i&gt;" in several and "<i>x" not in several


def test_published_numbers_stand_apart_and_say_that_they_do_not_compare(surveys):
    html = surveys("--metrics", "scons")
    means, _, published = html.partition('<section id="published">')
    assert "SurveyForge" in published and "SurveyForge" not in means
    assert "<strong>Bloom-Eval: not comparable: other corpus</strong>" in published
    cells = re.findall(r"<bdi>([^<]*)</bdi>", published)
    place = cells.index("efid_f1")
    assert cells[place : place + 6] == ["efid_f1", "0.10", "0.13", "0.12", "0.11", "-"]
    assert "<b>" not in published.partition("</section>")[0]


def test_a_suite_of_anyone_has_the_same_page():
    """A metric that no system has, published numbers and a part, without code of its own."""

    class Mine(Evaluation):
        def parts(self):
            return {"easy": (0.25, ""), "hard": (None, "needs <a>")}

    table = {"benchmark": "M&M", "source": "Table 1", "comparability": "undated",
             "columns": ["f1"], "rows": {"<them>": [0.5]}}  # fmt: skip
    systems = {
        name: Mine({"f1": 0.5, "style": None}, {"t": {"f1": 0.5, "style": None}}, [],
                   needs={"style": "a judge"}, published=[table])
        for name in ("a", "b")
    }  # fmt: skip
    html = as_page(compare_systems("mine", systems), scored=systems).html
    assert "<strong>Needs a judge</strong>: style." in html and "needs &lt;a&gt;" in html
    assert "M&amp;M: not comparable: undated" in html and "&lt;them&gt;" in html
    assert "<them>" not in html and "<figcaption>easy</figcaption>" in html
    assert "<figcaption>hard" not in html
    *_, published = systems["a"].table()[1]
    assert published == ("<them>, published", 0.5, "not comparable: undated")
