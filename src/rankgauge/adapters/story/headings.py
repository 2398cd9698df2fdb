"""Markdown and plain text, split at scene headings.

A heading is a Markdown heading (``## The storm``), or a line that only names a scene (``Scene 3``, ``SCENE IV: The
storm``). If any heading has ``Scene`` and a number, those headings are the scenes; otherwise the Markdown headings of
the deepest level are. A deeper heading is part of its scene; any other heading of the same or a higher level ends it.

    ## The storm {#s3}      has the id s3, and the title The storm
    ## Scene 3: The storm   has the id scene-3, and the title The storm
    ## The storm            has the id the-storm, and the title The storm
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rankgauge.errors import InputError, location, warn_user
from rankgauge.io.formats.markdown import parse_heading

ANCHOR = re.compile(r"\{#([^\s{}]+)\}")
NUMBERED_SCENE = re.compile(r"scene[ \t]+(\d+[a-z]?|[ivxl]+)(?:[ \t]*[:.–—-][ \t]*(.*))?$", re.IGNORECASE)
# A run of marks at the beginning or the end of a word, looked at once: one inside of a word is part of it.
EMPHASIS = re.compile(r"(?<![*_`])(?:(?<!\w)[*_`]++|[*_`]++(?!\w))")
TITLE_WORD = re.compile(r"\w+")
PLAIN_TEXT_LEVEL = 7  # the level of a heading without a Markdown mark: deeper than all Markdown levels


@dataclass(frozen=True)
class SceneHeading:
    """A line that may begin a scene."""

    line: int
    level: int
    id: str
    title: str
    is_numbered: bool


@dataclass(frozen=True)
class SceneSection:
    """A scene as it appears in the text."""

    line: int
    id: str
    title: str
    text: str


def split_scenes(source: str, text: str) -> list[SceneSection]:
    """The scenes of a text, in its order. Text outside of them is left out, with a warning."""
    lines = [line.rstrip() for line in text.split("\n")]
    headings = {heading.line: heading for heading in _headings(lines)}
    if not headings:
        raise InputError.at(
            source, None, "expected scene headings, found none", hint="write '## The storm' or 'Scene 3: The storm'"
        )
    bodies: dict[SceneHeading, list[str]] = {scene: [] for scene in _scene_headings(list(headings.values()))}
    current: SceneHeading | None = None
    outside: list[int] = []
    for number, line in enumerate(lines, 1):
        heading = headings.get(number)
        if heading in bodies:
            current = heading
        elif heading is not None and (current is None or heading.level <= current.level):
            current = None
        elif current is not None:
            bodies[current].append(line)
        elif TITLE_WORD.search(line):
            outside.append(number)
    if outside:
        _warn_of_lost_lines(source, outside)
    return [
        SceneSection(scene.line, scene.id, _without_emphasis(scene.title), _without_emphasis("\n".join(body)))
        for scene, body in bodies.items()
    ]


def _scene_headings(headings: list[SceneHeading]) -> list[SceneHeading]:
    deepest = max(heading.level for heading in headings)
    numbered = [heading for heading in headings if heading.is_numbered]
    return numbered or [heading for heading in headings if heading.level == deepest]


def _headings(lines: list[str]) -> Iterator[SceneHeading]:
    for number, line in enumerate(lines, 1):
        markdown = parse_heading(line)
        text, anchor = split_anchor(markdown.text if markdown else line.strip())
        scene = NUMBERED_SCENE.match(text)
        if markdown or scene:
            title = (scene.group(2) or "") if scene else text
            name = f"scene-{scene.group(1).lower()}" if scene else "-".join(TITLE_WORD.findall(text.lower()))
            level = markdown.level if markdown else PLAIN_TEXT_LEVEL
            yield SceneHeading(number, level, anchor or name, title, scene is not None)


def split_anchor(text: str) -> tuple[str, str | None]:
    """A heading without the ``{#id}`` at its end, and the id; None if it has none."""
    start = text.rfind("{")
    anchor = ANCHOR.fullmatch(text, start) if start >= 0 else None
    return (text[:start].rstrip(" \t"), anchor.group(1)) if anchor else (text, None)


def _without_emphasis(text: str) -> str:
    """The text without emphasis marks, which would otherwise be part of words."""
    return EMPHASIS.sub("", text)


def _warn_of_lost_lines(source: str, lines: list[int]) -> None:
    subject = f"{len(lines)} lines are" if len(lines) > 1 else "1 line is"
    warn_user(f"{location(source, lines[0])}{subject} outside of any scene and cannot be found")
