"""Tables: what stands in a cell stays text, in a terminal, in Markdown and in LaTeX."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from arena.kit.terminal import Table, escape_latex, escape_markdown

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


# What TeX prints for each command that the escaping may write.
PRINTS = {
    r"\textbackslash{}": "\\", r"\{": "{", r"\}": "}", r"\$": "$", r"\&": "&", r"\#": "#",
    r"\_": "_", r"\%": "%", r"\textasciitilde{}": "~", r"\textasciicircum{}": "^",
    r"\textless{}": "<", r"\textgreater{}": ">", r"\textbar{}": "|", r"\textquotedbl{}": '"',
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
