"""A page of HTML as Markdown."""

from __future__ import annotations

from html.parser import HTMLParser

import arena.counted as re

PAGE = re.compile(
    r"\s*+(?><!--.*?-->\s*)*+<(?:!doctype html|html|head|body|article|main|div|h1|p)\b",
    re.IGNORECASE | re.DOTALL,
)
_UNSEEN = {"script", "style", "head", "nav", "template", "noscript", "svg"}
_BLOCKS = {"p", "div", "section", "article", "main", "table", "tr", "ul", "ol", "dl", "blockquote"}
_INLINE = {"br": "\n", "sup": "<sup>", "/sup": "</sup>", "td": " | ", "th": " | "}
_CODE = {"pre": "\n```\n", "code": "`"}
_MARKUP = re.compile(r"([\\`*_<>#~])")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
# What begins a tag and does not end before the next: the standard library would look for the end of
# each to the end of the page.
_UNENDED = re.compile(
    r"""<(?=[a-z/!?])(?!(?!!--)(?:[^<>"']|(["'])(?:(?!\1|<[a-z/!?]).)*+\1)*+>)""",
    re.IGNORECASE | re.DOTALL,
)


def to_markdown(page: str) -> str:
    """Return the headings, paragraphs, lists, links, code and superscripts of a page."""
    reader = _Page()
    commented, end, rest = page.rpartition("-->")
    reader.feed(_UNENDED.sub("&lt;", _COMMENT.sub("", commented + end) + rest))
    reader.close()
    return "".join(reader.parts)


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._unseen: list[str] = []
        self._code = ""
        self._links: list[str] = []
        self._lists: list[int] = []  # number of each open list's last item; -1 without numbers

    def parse_marked_section(self, i: int, report: bool = True) -> int:
        """Read ``<![`` as a comment where the standard library raises an error."""
        try:
            return super().parse_marked_section(i, report)
        except AssertionError:
            return self.parse_bogus_comment(i, report)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _UNSEEN:
            self._unseen.append(tag)
        if self._unseen or self._code:
            return
        text = _INLINE.get(tag, "")
        if tag in _CODE:
            self._code, text = tag, _CODE[tag]
        elif tag == "a":
            self._links.append(dict(attrs).get("href") or "")
            text = "[" if self._links[-1] else ""
        elif tag == "li" and self._lists and self._lists[-1] >= 0:
            self._lists[-1] += 1
            text = f"\n\n{self._lists[-1]}. "
        elif tag == "li":
            text = "\n\n- "
        elif re.fullmatch("h[1-6]", tag):
            text = f"\n\n{'#' * int(tag[1])} "
        elif tag in _BLOCKS and not "".join(self.parts[-1:]).endswith((". ", "- ")):
            text = "\n\n"
        if tag in ("ol", "ul"):
            self._lists.append(0 if tag == "ol" else -1)
        self.parts.append(text)

    def handle_endtag(self, tag: str) -> None:
        if self._unseen:
            if tag == self._unseen[-1]:
                self._unseen.pop()
        elif self._code:
            if tag == self._code:
                self.parts.append(_CODE[tag])
                self._code = ""
        elif tag == "a" and self._links:
            address = re.sub(r"[<>\s]", "", self._links.pop())
            self.parts.append(f"](<{address}>)" if address else "")
        elif tag in _BLOCKS or re.fullmatch("h[1-6]|li", tag):
            self.parts.append("\n\n")
        else:
            self.parts.append(_INLINE.get(f"/{tag}", ""))
        if tag in ("ol", "ul") and self._lists:
            self._lists.pop()

    def handle_data(self, data: str) -> None:
        if self._code:
            self.parts.append(data)
        elif not self._unseen:
            self.parts.append(_MARKUP.sub(r"\\\1", re.sub(r"\s+", " ", data)))
