"""Each style of citation, alone and mixed, with and without a reference list."""

from __future__ import annotations

import pytest

from arena.report import read_report

NUMBERED = "\n\n## References\n\n" + "\n\n".join(f"[{i}] Title {i}" for i in range(1, 20))
BARE = "\n\n## References\n\n1 4 9 A page https://a.org/x- y\n\n2 3 A paper https://arxiv.org/abs/1706.03762"
AUTHORS = """

## References

Smith, J., & Lee, K. (2020). Deep things. Journal.

Ann Lee. 2019a. Flat things. In ACL.

Ann Lee and Bo van Berg. 2019b. Round things. In ACL.
"""


def cited(text: str) -> list[list[str]]:
    return [list(s.citations) for s in read_report(text).statements]


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("One [12]. Two [1, 3-5].", [["12"], ["1", "3", "4", "5"]]),
        ("One.[1][2] Two [1;2]. Three [3]–[5], four [7, p. 3].",
         [["1", "2"], ["1", "2"], list("3457")]),
        ("One【1†source】 and 【2†L3-L9】. Two [3 + L127-L134] .", [["1", "2"], ["3"]]),
        ("In [0, 1] and [2024], `a[1]`, $x[2]$ and \\(y[3]\\) nothing.", [[]]),
        ("```\na [1]\n```\n\nA cell\n\n| a | b |\n|---|---|\n| x [1] | y [2] |",
         [[], [], ["1", "2"]]),
        ("Escaped \\[5\\] by a converter.", [["5"]]),
        ("One [1 and 3]. Two [1, 2, & 5]. Three [#1, #3].", [["1", "3"], list("125"), list("13")]),
        ("It fails. [7] shows why. And this. [8]\n\n[9]", [[], ["7"], ["8", "9"]]),
    ],
)  # fmt: skip
def test_numbers(text, keys):
    assert cited(text + NUMBERED) == keys


def test_numbers_in_round_brackets():
    """They count where they hold ten numbers of the list, and half, and no square bracket does."""
    text = "Old (1–10). New ( 12 ), (14; see Section 2), 5(3) and (20), in (2019)."
    assert cited(text + NUMBERED) == [[str(n) for n in range(1, 11)], ["12", "14"]]
    assert cited(f"{text} So [1]." + NUMBERED)[0] == []
    assert cited(text.replace("10", "4") + NUMBERED) == [[], []]


def test_an_escaped_bracket_is_literal_where_ids_are_cited():
    assert cited("Quoted: \\[5\\] and \\[@b\\] [@a].") == [["a"]]


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("It holds (Smith and Lee, 2020; Lee, 2019a).", [["smith 2020", "lee 2019a"]]),
        ("Smith & Lee (2020) find it. So do Lee et al. [2019a].", [["smith 2020"], ["lee 2019a"]]),
        ("Besides, Smith et al. (2020) agree; see (e.g., Lee et al., 2019a,b).",
         [["smith 2020", "lee 2019a", "lee 2019b"]]),
        ("Unlisted (Doe et al., 2021) counts; (ICLR, 2021), (May 2020) and (in 2020) do not.",
         [["doe 2021"]]),
        ("Lists vary [Smith and Lee, 2020, Lee and van Berg, 2019b].",
         [["smith 2020", "lee 2019b"]]),
    ],
)  # fmt: skip
def test_author_and_year(text, keys):
    assert cited(text + AUTHORS) == keys


def test_author_and_year_without_a_list():
    report = read_report("It holds (Smith et al., 2020; Doe, 2019), as of (ICLR, 2021).")
    assert [r.key for r in report.cited] == ["smith 2020", "doe 2019"]
    assert report.statements[0].text == "It holds, as of (ICLR, 2021)."


def test_letters_that_a_list_leaves_out_count_in_its_order():
    listed = "\n\n# References\n\nAn Li. One thing. ACL, 2023.\n\nBo Li. Two things. ACL, 2023.\n"
    report = read_report("Known (Li, 2023b) and (Li, 2023a)." + listed)
    assert [r.title for r in report.cited] == ["Two things", "One thing"]


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("See [Transformers](https://arxiv.org/abs/1706.03762v5).", ["arxiv:1706.03762"]),
        ("See https://arxiv.org/pdf/1706.03762.pdf, and (http://x.org/a?b=1).",
         ["arxiv:1706.03762", "url:x.org/a?b=1"]),
        ("Two: <https://openreview.net/forum?id=A_1>, https://openreview.net/pdf?id=B-2.",
         ["openreview:A_1", "openreview:B-2"]),
        ("Named arXiv:1706.03762v2 and doi:10.1000/X1.", ["arxiv:1706.03762", "doi:10.1000/x1"]),
        ("[1](https://x.org/1), [[2]](https://x.org/2) and [here](mailto:a@b.c), [there](/x).",
         ["url:x.org/1", "url:x.org/2"]),
    ],
)  # fmt: skip
def test_links(text, keys):
    assert [r.key for r in read_report(text).cited] == keys


def test_the_words_of_a_link_stay_and_its_address_goes():
    report = read_report(
        "See [Deep Nets](https://x.org/1) ([x.org](https://x.org/2)) [3](http://x.org/3)."
    )
    assert report.statements[0].text == "See Deep Nets."
    assert [r.title for r in report.cited] == ["Deep Nets", "", ""]


def test_a_link_to_a_listed_paper_is_its_entry():
    text = "A [paper](https://arxiv.org/abs/1706.03762) [1].\n\n# Sources\n\n1. V. https://arxiv.org/pdf/1706.03762\n"
    assert cited(text) == [["1"]]


def test_footnotes():
    notes = "[^1]: Vaswani. https://arxiv.org/abs/1706.03762\n\n[^b]: More."
    report = read_report(f"One[^1], two[^b].\n\n{notes}\n\n# More\n\nThree[^1].")
    assert [s.citations for s in report.statements] == [("^1", "^b"), ("^1",)]
    assert report.references[0].ids == ("arxiv:1706.03762",)
    assert [s.heading for s in report.sections] == ["", "More"]


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("It rose 1 . It fell 2 3. It stayed (so they say) 4, mostly.", [["1"], ["2"], ["1"]]),
        ("Raised $^{2}$ , <sup>3,4</sup> and $ ^{9} $.", [["2", "1"]]),
        ("Right behind.2 Next, in 2017 1. Math $x$ $3$ .", [["2"], ["1"], ["2"]]),
        ("See Figure 2. Llama 3. A 1.5 B model uses 4 GPUs, 3 times. Above 55.", [[]] * 4),
    ],
)  # fmt: skip
def test_exports(text, keys):
    assert cited(text + BARE) == keys


def test_an_export_keeps_the_numbers_of_an_entry():
    first, second = read_report("It rose 1 ." + BARE).references
    assert (first.key, first.text) == ("1", "1 4 9 A page https://a.org/x-y")
    assert (second.key, second.title, second.ids) == ("2", "A paper", ("arxiv:1706.03762",))


def test_some_styles_alone():
    text = "Ours [@3], theirs [3], (Smith et al., 2020)." + NUMBERED
    report = read_report(text, ["pandoc"])
    assert report.statements[0].text == "Ours, theirs [3], (Smith et al., 2020)."
    assert report.styles == ("pandoc",) and report.statements[0].citations == ("3",)


def test_styles_mix():
    text = "Ours [@a], theirs [1], [a page](https://x.org) and a note[^n].\n\n[^n]: N." + NUMBERED
    assert read_report(text).styles == ("footnotes", "links", "numbers", "pandoc")
