"""Reports that are pages of HTML."""

from __future__ import annotations

from arena.report import read_report

PAGE = """<!-- made --><!DOCTYPE html>
<html><head><title>T</title><style>p {}</style></head><body>
<nav><a href="https://x.org">Home [9]</a></nav>
<h1>Deep &amp; <em>flat</em></h1>
<h2>Words</h2>
<p>One <a href="#r1">[1]</a>. Two<sup>2</sup> * a_b_ <a href="https://arxiv.org/abs/1706.03762">see</a>.</p>
<pre><code>a[3] &lt;x&gt;</code></pre><p><code>b[4]</code> is <b>code</b>.<br>More</p>
<table><tr><td>Cell [1]</td><td>x</td></tr></table>
<h2>References</h2><ol><li>One</li><li><p>Two https://x.org</p></li></ol>
<script>evil("[5]")</script></body></html>"""


def test_a_page_is_read_as_its_markdown():
    report = read_report(PAGE)
    assert report.title == "Deep & flat" and [s.heading for s in report.sections] == ["Words"]
    assert [(s.text, s.citations) for s in report.statements] == [
        ("One.", ("1",)),
        ("Two^{2} * a_b_ see.", ("arxiv:1706.03762",)),
        ("b[4] is code.", ()),
        ("More", ()),
        ("| Cell | x", ("1",)),
    ]
    assert [(r.key, r.text) for r in report.references[:2]] == [
        ("1", "One"),
        ("2", "Two https://x.org"),
    ]


def test_markdown_that_names_tags_is_no_page():
    assert read_report("A `<html>` tag <p>here</p>.").statements[0].text == "A <html> tag"
