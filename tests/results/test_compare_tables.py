"""Tables: what stands in a cell stays text, in a terminal, in Markdown and in LaTeX; papers."""

from __future__ import annotations

import re

import pytest
from compare_helpers import forge, topics_of
from hypothesis import given
from hypothesis import strategies as st

import arena
import arena.cli
from arena.kit.terminal import Table, escape_latex, escape_markdown
from arena.results.comparison import as_latex

HEADER = ["run", "recall@10", "searches"]
ROWS = [["title_1", 0.51234, 12], ["a|b & 50 %", None, 1234]]


def test_text():
    assert Table(HEADER, ROWS).text().splitlines() == [
        "run           recall@10    searches",
        "----------  -----------  ----------",
        "title_1          0.5123          12",
        "a|b & 50 %            -        1234",
    ]
    assert Table(["id"], [["2101.01507"]]).text().splitlines()[-1] == "2101.01507"
    assert Table(HEADER, []).text().splitlines()[0].split() == HEADER
    told = Table(["x\n"], [["\x1b[31mred\u202e\ud800\n\n"]]).text()
    assert all(line.isprintable() for line in told.splitlines()) and told.count("\n") == 2


def test_markdown():
    assert Table(HEADER, ROWS, bold={(0, 1)}).markdown().splitlines() == [
        r"| run          |   recall@10 |   searches |",
        r"|:-------------|------------:|-----------:|",
        r"| title_1      |  **0.5123** |         12 |",
        r"| a\|b \& 50 % |           - |       1234 |",
    ]
    assert escape_markdown("<script>[x](y) `a` *b* _c_ d_e") == (
        r"\<script\>\[x\](y) \`a\` \*b\* \_c\_ d_e"
    )


def test_latex():
    shown = Table(HEADER, ROWS, None, {(0, 1)}, "50 % of\n$x$", "a b_c").latex()
    assert shown.splitlines() == [
        r"\begin{table}",
        r"\centering",
        r"\caption{50 \% of \$x\$}",
        r"\label{tab:a-b-c}",
        r"\begin{tabular}{lrr}",
        r"\toprule",
        r"run & recall@10 & searches \\",
        r"\midrule",
        r"title\_1 & \textbf{0.5123} & 12 \\",
        r"a\textbar{}b \& 50 \% & - & 1234 \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    assert Table(["d"], [["-0.1 to +0.2"], [-0.5], ["[x]"]]).latex().splitlines()[8:11] == [
        r"$-$0.1 to +0.2 \\", r"$-$0.5000 \\", r"{[}x{]} \\",
    ]  # fmt: skip
    heads = ["Group", "Agent", "R@10, BM25", "R@10, x_y", "P, a, BM25", "Time, s"]
    assert Table(heads, [["a"] * 6]).latex().splitlines()[6:9] == [
        r" &  & \multicolumn{2}{c}{R@10} & \multicolumn{1}{c}{P, a} & \multicolumn{1}{c}{Time} \\",
        r"Group & Agent & BM25 & x\_y & BM25 & s \\",
        r"\midrule",
    ]
    assert (
        Table(heads[3:], [["a"] * 3]).latex().splitlines()[6]
        == r"R@10, x\_y & P, a, BM25 & Time, s \\"
    )


def test_small_print_below_a_cell_and_a_table_of_many_columns():
    table = Table(["a", "b"], [["x", "0.5*"]], "lr", {(0, 1)}, "T", "k", {(0, 1): "-0.1 to 0.2"})
    assert table.markdown().splitlines()[-1] == r"| x   | **0.5\***<br>-0.1 to 0.2 |"
    assert "-0.1" not in table.text()
    cell = r"\shortstack[r]{\rule{0pt}{2.6ex}\textbf{0.5{*}}\\{\scriptsize $-$0.1 to 0.2}}"
    assert table.latex().splitlines()[8] == rf"x & {cell} \\"
    wide = Table(["a" * 70, "b"], [[1, 2]]).latex().splitlines()  # 345 points are some 70 letters
    assert wide[4:6] == [r"\resizebox{\linewidth}{!}{%", r"\begin{tabular}{rr}"]
    assert wide[-2:] == [r"\end{tabular}}", r"\end{table}"]


@pytest.fixture
def forged(title_run, tmp_path):
    """Three runs: `base`, one that is .25 better on all of eight topics, and an oracle's."""
    topics = topics_of(title_run)
    base = [0.5, 0.25, 0.75, 0.5, 0.25, 0.5, 0.5, 0.0]

    def make(name, more, agent):
        values = {
            "recall@10": {s: v + more for s, v in zip(topics, base, strict=True)},
            "late_rate": {s: v / 4 for s, v in zip(topics, base, strict=True)},
        }
        return forge(title_run, tmp_path / name, values, lambda m: m.update(agent=agent))

    made = {"base": (0, "title"), "better": (0.25, "scout"), "best": (0.25, "oracle")}
    return [make(name, *how) for name, how in made.items()]


def test_stars_and_the_best_are_for_agents_that_do_not_know_the_labels(forged):
    """All eight differences are .25, so p is 2 / 2 ** 8, twice that after Holm."""
    latex = as_latex(arena.compare(forged, metrics=["recall@10"]))
    rows = [line for line in latex.splitlines() if line.startswith(("title", "scout", "oracle"))]
    means = [re.search(r"0\.\d{4}(\{\*\}|\})*", row)[0] for row in rows[:3]]
    assert means == ["0.4062", "0.6562{*}}", "0.6562"]
    assert [r"\textbf" in row for row in rows[:3]] == [False, True, False]
    assert "* differs from title, bm25 at 0.05 (Holm)" in latex.replace("{*}", "*")


def test_what_goes_into_a_paper(forged, synthetic, tmp_path, capsys):
    written = []
    for name in ("a", "b"):
        arguments = ["compare", *map(str, forged), "--metric", "recall@10", "--format", "latex"]
        assert arena.cli.main([*arguments, "--paper", str(tmp_path / name)]) == 0
        written.append({p.name: p.read_bytes() for p in (tmp_path / name).iterdir()})
    assert written[0] == written[1]
    assert sorted(written[0]) == ["appendix.tex", "figure.pdf", "figure.svg", "tables.tex"]
    assert written[0]["tables.tex"].decode().partition("\n%")[0] in capsys.readouterr().out
    appendix = written[0]["appendix.tex"].decode()
    for said in (
        r"-{}-agent scout -{}-seed 0 -{}-topics TOPICS", r"\item release: " + arena.__version__,
        r"\item seed: 0 (all)", r"\item budget, max\_searches: 50 (all)",
        "corrected by Holm for all comparisons by one metric", r"\item SHA-256 of corpus: ",
    ):  # fmt: skip
        assert said in appendix, said
    assert str(tmp_path) not in appendix
    svg = written[0]["figure.svg"].decode()
    assert all(f">{name}<" in svg for name in ("title", "scout", "oracle", "recall@10"))


# What TeX prints for each command that the escaping may write.
PRINTS = {
    r"\textbackslash{}": "\\", r"\{": "{", r"\}": "}", r"\$": "$", r"\&": "&", r"\#": "#",
    r"\_": "_", r"\%": "%", r"\textasciitilde{}": "~", r"\textasciicircum{}": "^",
    r"\textless{}": "<", r"\textgreater{}": ">", r"\textbar{}": "|", r"\char34{}": '"',
    "{[}": "[", "{]}": "]", "{*}": "*", r"\textasciigrave{}": "`", r"\textquotesingle{}": "'",
    "-{}": "-",
}  # fmt: skip


@given(st.text(alphabet=st.one_of(st.sampled_from("\\{}$&#_%~^<>|\"[]*`'- ab1"), st.characters())))
def test_latex_prints_what_was_given(value):
    """Read back by a reader that knows these commands alone, and no bare special character."""
    token = re.compile("|".join(map(re.escape, sorted(PRINTS, key=len, reverse=True))))
    escaped, printed, place = escape_latex(value), "", 0
    while place < len(escaped):
        found = token.match(escaped, place)
        letter = PRINTS[found[0]] if found else escaped[place]
        assert found or letter not in "\\{}$&#_%~^"
        printed += letter
        place = found.end() if found else place + 1
    assert printed == value
    assert "--" not in escaped
