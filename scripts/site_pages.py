"""What the documentation site adds to the Markdown pages, which read well without it.

- The lists of links on the landing page and on the pages in ``guides/by-task`` are the navigation.
- A ``<picture>`` with a light and a dark image becomes two images, of which the theme of the site shows one.
- The paragraphs of the glossary become entries, so that a search finds a term.
- A link to a page of the project outside ``docs`` becomes the name of that page: the site does not have it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

DOCS = Path(__file__).resolve().parents[1] / "docs"
INDEX = "index"
TASKS = "guides/by-task/"
GLOSSARY = "glossary"
ENTRY = re.compile(r"^- \[([^\]]+)\]\(([^)#]+)\.md\)", re.MULTILINE)
PICTURE = re.compile(
    r'<picture>\s*<source media="\(prefers-color-scheme: dark\)" srcset="(?P<dark>[^"]+)">\s*'
    r'<img alt="(?P<alt>[^"]+)" src="(?P<light>[^"]+)">\s*</picture>'
)
LINK_UP = re.compile(r"\[([^\]]+)\]\((\.\./[^)#]+)(?:#[^)]*)?\)")
TERM = re.compile(r"^\*\*(.+?)\*\*: ", re.MULTILINE)


def prepare(name: str, text: str) -> str:
    """The text of a page as Sphinx reads it."""
    text = PICTURE.sub(_image_of_each_theme, text)
    text = LINK_UP.sub(lambda match: _link_within((DOCS / name).parent, match), text)
    if name == GLOSSARY:
        return _with_entries(text)
    if name == INDEX or name.startswith(TASKS):
        return text + "".join(_toctree(caption, pages) for caption, pages in navigation(text))
    return text


def navigation(text: str) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """The sections of a page that have lists of links: the heading, and the text and target of each link."""
    for section in re.split(r"^(?=## )", text, flags=re.MULTILINE):
        heading, _, body = section.partition("\n")
        if pages := ENTRY.findall(body):
            yield heading.removeprefix("## ") if heading.startswith("## ") else "", pages


def pages(start: str = INDEX) -> Iterator[str]:
    """The names of all pages of the navigation, depth first."""
    yield start
    if start == INDEX or start.startswith(TASKS):
        folder = (DOCS / start).parent
        for _, targets in navigation((DOCS / f"{start}.md").read_text(encoding="utf-8")):
            for _, target in targets:
                path = (folder / target).resolve().relative_to(DOCS)
                yield from pages(str(PurePosixPath(path)))


def _link_within(folder: Path, match: re.Match[str]) -> str:
    target = (folder / match[2]).resolve()
    return match[0] if target.is_relative_to(DOCS) else f"{match[1]} (`{target.relative_to(DOCS.parent)}`)"


def _toctree(caption: str, pages: list[tuple[str, str]]) -> str:
    entries = [f"{title} <{target}>" for title, target in pages]
    lines = ["", "```{toctree}", ":hidden:", *([f":caption: {caption}"] if caption else []), "", *entries, "```", ""]
    return "\n".join(lines)


def _image_of_each_theme(match: re.Match[str]) -> str:
    image = "```{{image}} {}\n:alt: {}\n:class: only-{}\n```\n"
    return "\n".join(image.format(match[theme], match["alt"], theme) for theme in ("light", "dark"))


def _with_entries(text: str) -> str:
    """Paragraphs that begin with a bold term, as a glossary; what comes before the first one stays."""
    introduction, *entries = re.split(r"(?=^\*\*)", text, flags=re.MULTILINE)
    lines = [introduction, "```{glossary}"]
    for entry in entries:
        term, definition = TERM.split(entry)[1:]
        lines += [term, *(f"  {line}".rstrip() for line in definition.strip().splitlines()), ""]
    return "\n".join([*lines, "```", ""])
