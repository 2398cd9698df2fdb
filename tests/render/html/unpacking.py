"""The parts of a rendered page, and what holds for every page."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from html.parser import HTMLParser
from typing import Any


class Parts(HTMLParser):
    """Elements with their attributes, and the text that a reader sees."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.inside: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self.inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self.inside and tag == self.inside[-1]:
            self.inside.pop()

    def handle_data(self, data: str) -> None:
        if not self.inside:
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def data_of(page: str) -> dict[str, Any]:
    """The data for the scripts."""
    packed = re.search(r'<script type="text/plain" id="data">(.*?)</script>', page, re.DOTALL)
    assert packed
    data: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(packed[1])))
    return data


def contents(page: str, tag: str) -> list[str]:
    """The content of each element without attributes."""
    return re.findall(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL)


def check_policy(page: str) -> None:
    """The policy names these very styles and scripts, and nothing else."""
    policy = next(meta["content"] for meta in Parts(page).named("meta") if "http-equiv" in meta)
    assert policy
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    for kind, tag in (("script-src", "script"), ("style-src", "style")):
        (content,) = contents(page, tag)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert rules[kind] == f"'sha256-{digest}'"


def check_self_contained(page: str) -> None:
    """Nothing is loaded from outside, and no attribute is code."""
    for tag, attributes in Parts(page).elements:
        assert tag not in ("img", "link", "iframe", "object", "base"), tag
        assert not any(name in ("style", "src", "srcset", "action") or name.startswith("on") for name in attributes)
        assert (attributes.get("href") or "#").startswith("#")
    (css,) = contents(page, "style")
    assert "url(" not in css
    assert "@import" not in css
    (js,) = contents(page, "script")
    assert set(re.findall(r"https?://[^'\"]+", js)) == {"http://www.w3.org/2000/svg"}
    assert "innerHTML" not in js
