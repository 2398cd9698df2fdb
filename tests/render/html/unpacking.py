"""The parts of a rendered page, and what holds for every page."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import accumulate, pairwise
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
    """The data for the scripts, with one record for each query that has rankings, as ``data.js`` makes it."""
    packed = re.search(r'<script type="text/plain" id="data">(.*?)</script>', page, re.DOTALL)
    assert packed
    content = zlib.decompress(base64.b64decode(packed[1]))
    begin = 4 + int.from_bytes(content[:4], "little")
    columns = content[begin:]

    def revived(value: dict[str, Any]) -> Any:
        return column_of(value, columns) if isinstance(value.get("packed"), list) else value

    data: dict[str, Any] = json.loads(content[4:begin], object_hook=revived)
    for measure in data["measures"] if "queries" in data else ():
        values, size = measure["values"], len(data["queries"])
        measure["values"] = [values[begin : begin + size] for begin in range(0, len(values), size)]
    if data.get("rankings"):
        table = data["rankings"]
        names, queries = table["docs"], range(len(data["queries"])) if table["queries"] is None else table["queries"]
        snippets = data["snippets"]
        data["snippets"] = {names[doc]: text for doc, text in zip(snippets["docs"], snippets["texts"], strict=True)}
        records = dict(zip(queries, _records(table, len(data["systems"])), strict=True))
        data["rankings"] = [records.get(query) for query in range(len(data["queries"]))]
    return data


def column_of(column: dict[str, Any], content: bytes) -> list[Any]:
    """A packed column."""
    if "list" in column:
        return list(column["list"])
    if "steps" in column:
        numbers = zip(accumulate(column["steps"]), column["digits"], strict=True)
        return [f"{column['prefix']}{number:0{width}d}" for number, width in numbers]
    begin, count, width = column["packed"]
    if "shared" in column:
        out: list[bytes] = []
        for shared, length in zip(column["shared"], column["length"], strict=True):
            out.append((out[-1][:shared] if out else b"") + content[begin : begin + length - shared])
            begin += length - shared
        return [name.decode() for name in out]
    planes = [content[begin + byte * count : begin + (byte + 1) * count] for byte in range(width)]
    codes = [sum(part << (8 * byte) for byte, part in enumerate(parts)) for parts in zip(*planes, strict=True)]
    codes = [column["values"][code] for code in codes] if "values" in column else codes
    missing, least = column["missing"], column["least"]
    return [None if missing and not code else code - missing + least for code in codes]


def _records(table: dict[str, Any], systems: int) -> Iterator[dict[str, Any]]:
    counts, queries = table["counts"], len(table["counts"])
    grades = [None if code is None else table["grades"]["list"][code] for code in table["grades"]["codes"]]
    entries, rows = ([0, *accumulate(sizes)] for sizes in (counts, table["lengths"]))
    judged_entries = [0, *accumulate(grade is not None for grade in grades)]
    codes = table["grades"]["codes"]
    row_codes = [
        codes[entries[cell % queries] + place]
        for cell, (begin, end) in enumerate(pairwise(rows))
        for place in table["places"][begin:end]
    ]
    kept = [[0, *accumulate(code in part["grades"] for code in row_codes)] for part in table["contributions"]]
    for query, (begin, end) in enumerate(pairwise(entries)):
        cells = [system * queries + query for system in range(systems)]
        docs = [doc - 1 for doc in accumulate(gap + 1 for gap in table["gaps"][begin:end])]
        yield {
            "d": [table["docs"][doc] for doc in docs],
            "g": grades[begin:end],
            "r": [table["places"][rows[cell] : rows[cell + 1]] for cell in cells],
            "c": [
                [
                    [
                        part
                        for row in range(rows[cell], rows[cell + 1])
                        if row_codes[row] in measure["grades"]
                        for part in (row - rows[cell] + 1, measure["values"][before[row]])
                    ]
                    for cell in cells
                ]
                for measure, before in zip(table["contributions"], kept, strict=True)
            ],
            "b": [
                [
                    part
                    for entry in range(begin, end)
                    if ranks and grades[entry] is not None and ranks[judged_entries[entry]]
                    for part in (entry - begin, ranks[judged_entries[entry]])
                ]
                for ranks in table["below"]
            ],
        }


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
