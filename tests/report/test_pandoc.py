"""Citations by key."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.report import cited_ids, read_report
from arena.report.listing import cite


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("Known [@a].", ["a"]),
        ("See [see @a, p. 3; also @b].", ["a", "b"]),
        ("Ids [@arxiv:1706.03762; @10.1/x_y(2); @cs/9301111].",
         ["arxiv:1706.03762", "10.1/x_y(2)", "cs/9301111"]),
        ("Odd [@{a;b}].", ["a;b"]),
        (r"An \`odd quote [@a] and \`\`another'' [@b] but no `[@c]`.", ["a", "b"]),
        ("```\n[@a]\n```\n[@b]\n~~~ py\n[@c]\n~~~\n", ["b"]),
        ("It costs $5 [@a] and $x [@b], $ y$ [@c].", ["a", "b", "c"]),
        ("```markdown\n# T\n\nText [@a].\n```\nMore [@b].", ["a", "b"]),
        ("mail me@here.org or [me@here.org], @handle, [@ a], [x](@y), ![@z], [@w](/v)", []),
        (f"[{'; '.join(f'@paper-{i}' for i in range(500))}]", [f"paper-{i}" for i in range(500)]),
    ],
)  # fmt: skip
def test_cited_ids(text, ids):
    assert cited_ids(text) == ids
    assert [reference.key for reference in read_report(text).cited] == ids


IDS = st.text("abc.:/_*-()<>`$|\\&;~ é1", min_size=1, max_size=8).filter(lambda i: i == i.strip())
IDS |= st.text(
    st.characters(exclude_categories=["C", "Z"], exclude_characters="[]{}`~\\"), min_size=1
)


@given(st.lists(IDS, min_size=1, max_size=3, unique=True))
def test_any_id_is_cited_and_read(ids):
    text = f"Known {cite(ids)}. More."
    assert cited_ids(text) == ids
    report = read_report(text, ["pandoc"])
    assert [reference.key for reference in report.cited] == ids
    assert [s.text for s in report.statements] == ["Known.", "More."]


PIECES = st.sampled_from(
    ["word ", r"\`", "[@a]", "[@b; @c]", "`code [@d]`", "\n\n", ". ",
     "\n```\n[@e]\n```\n", "\n# Head\n"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=12))
def test_the_fast_way_finds_what_the_reader_finds(pieces):
    text = "".join(pieces)
    assert cited_ids(text) == [reference.key for reference in read_report(text).cited]
