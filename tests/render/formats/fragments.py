"""What a view shows, read back from its HTML; and a result of each type."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

VOID = {"br", "hr", "img", "input", "link", "meta"}


@dataclass
class ShownTable:
    caption: str = ""
    head: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    scopes: list[str | None] = field(default_factory=list)  # of the header cells


class Fragment(HTMLParser):
    """The elements, texts and tables of a view; raises if an element is not closed."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.tables: list[ShownTable] = []
        self.texts: list[str] = []
        self.leads: list[str] = []
        self._in_head = self._in_lead = False
        self.feed(html)
        self.close()
        assert self.open == [], self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables.append(ShownTable())
        elif tag == "thead":
            self._in_head = True
        elif tag == "tr" and not self._in_head:
            self.tables[-1].rows.append([])
        elif tag in ("th", "td"):
            (self.tables[-1].head if self._in_head else self.tables[-1].rows[-1]).append("")
            if tag == "th":
                self.tables[-1].scopes.append(dict(attrs).get("scope"))
        elif tag == "p" and "lead" in (dict(attrs).get("class") or "").split():
            self._in_lead = True
            self.leads.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        if tag == "thead":
            self._in_head = False
        if tag == "p":
            self._in_lead = False

    def handle_data(self, data: str) -> None:
        if "style" in self.open:
            return
        self.texts.append(data)
        if self._in_lead:
            self.leads[-1] += data
        if "caption" in self.open:
            self.tables[-1].caption += data
        elif "th" in self.open or "td" in self.open:
            (self.tables[-1].head if self._in_head else self.tables[-1].rows[-1])[-1] += data

    @property
    def text(self) -> str:
        return "\n".join(self.texts)


def shown(result: Any) -> Fragment:
    """The view of a result."""
    return Fragment(result._repr_html_())
