"""Markdown and plain text, split at scene headings.

A heading is a Markdown one (``## The storm``), or a line that says no more than which scene begins (``Scene 3``,
``SCENE IV: The storm``). Where any heading says ``Scene`` and its number, those are the scenes; else the Markdown
headings of the deepest level are. A deeper heading is part of its scene; another one, as deep or less, ends it.

    ## The storm {#s3}      has the id s3, and the title The storm
    ## Scene 3: The storm   has the id scene-3, and the title The storm
    ## The storm            has the id the-storm, and the title The storm
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from rankgauge.errors import InputError, RankgaugeWarning, place

MARKDOWN = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$")
ANCHOR = re.compile(r"[ \t]*\{#([^\s{}]+)\}[ \t]*$")
SCENE = re.compile(r"scene[ \t]+(\d+[a-z]?|[ivxl]+)(?:[ \t]*[:.–—-][ \t]*(.*))?$", re.IGNORECASE)
EMPHASIS = re.compile(r"(?<!\w)[*_`]+|[*_`]+(?!\w)")
WORD = re.compile(r"\w+")
BELOW = 7  # the level of a heading without a mark: deeper than all that have one


@dataclass(frozen=True)
class Heading:
    """A line that may begin a scene."""

    line: int
    level: int
    id: str
    title: str
    numbered: bool


@dataclass(frozen=True)
class Section:
    """A scene as the text has it."""

    line: int
    id: str
    title: str
    text: str


def sections(source: str, text: str) -> list[Section]:
    """The scenes of a text, in its order. What stands outside of them is told of, and left out."""
    lines = [line.rstrip() for line in text.split("\n")]
    headings = {heading.line: heading for heading in _headings(lines)}
    if not headings:
        raise InputError.at(
            source, None, "expected scene headings, found none", hint="write '## The storm' or 'Scene 3: The storm'"
        )
    bodies: dict[Heading, list[str]] = {scene: [] for scene in _scenes(list(headings.values()))}
    current: Heading | None = None
    outside: list[int] = []
    for number, line in enumerate(lines, 1):
        heading = headings.get(number)
        if heading in bodies:
            current = heading
        elif heading is not None and (current is None or heading.level <= current.level):
            current = None
        elif current is not None:
            bodies[current].append(line)
        elif WORD.search(line):
            outside.append(number)
    if outside:
        _tell(source, outside)
    return [
        Section(scene.line, scene.id, _plain(scene.title), _plain("\n".join(body))) for scene, body in bodies.items()
    ]


def _scenes(headings: list[Heading]) -> list[Heading]:
    deepest = max(heading.level for heading in headings)
    numbered = [heading for heading in headings if heading.numbered]
    return numbered or [heading for heading in headings if heading.level == deepest]


def _headings(lines: list[str]) -> Iterator[Heading]:
    for number, line in enumerate(lines, 1):
        marked = MARKDOWN.match(line)
        said = marked.group(2) if marked else line.strip()
        anchor = ANCHOR.search(said)
        said = said[: anchor.start()] if anchor else said
        scene = SCENE.match(said)
        if marked or scene:
            title = (scene.group(2) or "") if scene else said
            name = f"scene-{scene.group(1).lower()}" if scene else "-".join(WORD.findall(said.lower()))
            level = len(marked.group(1)) if marked else BELOW
            yield Heading(number, level, anchor.group(1) if anchor else name, title, scene is not None)


def _plain(text: str) -> str:
    """Without the marks of emphasis, which would else be part of words."""
    return EMPHASIS.sub("", text)


def _tell(source: str, outside: list[int]) -> None:
    count = f"{len(outside)} lines stand" if len(outside) > 1 else "1 line stands"
    warnings.warn(
        f"{place(source, outside[0])}{count} outside of any scene and cannot be found", RankgaugeWarning, stacklevel=6
    )
