"""A story: its scenes, in canonical story order, each with its canonical text.

    {"id": "s1", "title": "Low water", "text": "…"}                               JSON Lines, in story order
    {"scenes": {"s1": {…}, "s2": "…"}, "ordered_ids": ["s2", "s1"]}               a JSON document
    ## Scene 1: Low water                                                         Markdown or plain text

The canonical text is ``scene_text`` if a scene has it, otherwise title and text.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from rankgauge.errors import InputError, InputTypeError, location, shown, warn_user
from rankgauge.io.byte_streams import read_bytes
from rankgauge.io.corpus.markdown import parse_heading
from rankgauge.io.faults import Faults
from rankgauge.io.formats import json_text
from rankgauge.io.formats.detection import Head
from rankgauge.io.formats.json_text import JsonPairs, describe_json, id_from_json, parse_json
from rankgauge.io.formats.named_columns import normalize_name
from rankgauge.io.text_checks import check_text

SCENE_ID_KEYS = ("scene_id", "id", "_id")
CANONICAL_TEXT_KEYS = ("scene_text", "canonical_text")
TITLE_KEYS = ("title", "heading", "name")
SCENE_TEXT_KEYS = ("text", "body", "content", "contents")
SCENES_KEY, ORDER_KEY = "scenes", "ordered_ids"
STORY_SOURCE = "story"


@dataclass(frozen=True)
class Scene:
    """A scene: its id and its canonical text."""

    id: str
    text: str


@dataclass(frozen=True)
class Story:
    """Scenes in canonical story order."""

    scenes: tuple[Scene, ...]
    source: str = STORY_SOURCE

    def __len__(self) -> int:
        return len(self.scenes)

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The ids of the scenes, in story order."""
        return tuple(scene.id for scene in self.scenes)


SceneAtLine = tuple[Scene, int | None]
AnyStory = Story | str | Path | Mapping[str, Any] | Iterable[Mapping[str, Any]]


def read_story(story: AnyStory) -> Story:
    """Read a story from a file, or from ``{id: text}``, a list of scenes, or a document like that of a JSON file."""
    if isinstance(story, Story):
        return story
    if isinstance(story, (str, Path)):
        return _read_file(str(story), read_bytes(story)[0])
    if isinstance(story, Mapping):
        is_document = any(
            normalize_name(key) == normalize_name(SCENES_KEY) and not isinstance(value, str)
            for key, value in story.items()
        )
        return _from_document(SourceRecord(STORY_SOURCE, None, story if is_document else {SCENES_KEY: story}))
    if not isinstance(story, Iterable):
        raise InputTypeError(f"a story must be a path, a dict or a list of scenes, found {type(story).__name__}")
    return _story(STORY_SOURCE, [_scene(record) for record in records_of(story, STORY_SOURCE)])


def _read_file(source: str, data: bytes) -> Story:
    faults = Faults(source)
    data = check_text(faults, data)
    if Head(data).is_json:
        records, document = read_records(faults, data, SCENES_KEY)
        return _story(source, [_scene(record) for record in records]) if document is None else _from_document(document)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError.at(
            source, line, "expected UTF-8, found other bytes", hint="convert it: iconv -t utf-8"
        ) from None
    scenes = [
        _scene_of(SourceRecord(source, section.line, {}), section.id, f"{section.title} {section.text}")
        for section in split_scenes(source, text)
    ]
    return _story(source, scenes)


def _from_document(document: SourceRecord) -> Story:
    scenes, order = document.only((SCENES_KEY,), SCENES_KEY), document.only((ORDER_KEY,), ORDER_KEY)
    if isinstance(scenes, (Mapping, JsonPairs)):
        by_id = unique_keys(scenes, document.source)
        story = _story(document.source, [_scene_by_id(document, id, value) for id, value in by_id.items()])
    elif isinstance(scenes, (list, tuple)):
        story = _story(document.source, [_scene(record) for record in records_of(scenes, document.source)])
    else:
        raise document.error(f"expected scenes under {SCENES_KEY}, found {describe_json(scenes)}")
    return story if order is None else _reorder(document, story, order)


def _scene_by_id(document: SourceRecord, id: str, value: object) -> SceneAtLine:
    if isinstance(value, str):
        return _scene_of(document, id, value)
    if isinstance(value, (Mapping, JsonPairs)):
        return _scene(SourceRecord(document.source, None, unique_keys(value, document.source)), id)
    raise document.error(f"expected a text or an object as scene {shown(str(id))}, found {describe_json(value)}")


def _reorder(document: SourceRecord, story: Story, order: Any) -> Story:
    """The story in the order of a list of ids, which must have each scene once and no other."""
    if not isinstance(order, (list, tuple)) or isinstance(order, JsonPairs):
        raise document.error(f"expected a list of scene ids under {ORDER_KEY}, found {describe_json(order)}")
    ids = [check_id(value, "scene id", document) for value in order]
    by_id = {scene.id: scene for scene in story.scenes}
    for id, count in Counter(ids).items():
        if count > 1:
            raise document.error(f"expected each scene once in {ORDER_KEY}, found {shown(id)} {count} times")
        if id not in by_id:
            raise document.error(f"expected a scene for each id in {ORDER_KEY}, found none for {shown(id)}")
    ordered = set(ids)
    missing = next((id for id in story.ids if id not in ordered), None)
    if missing is not None:
        raise document.error(f"expected every scene in {ORDER_KEY}, found no {shown(missing)} there")
    return Story(tuple(by_id[id] for id in ids), story.source)


def _scene(record: SourceRecord, id: str | None = None) -> SceneAtLine:
    value = record.first(SCENE_ID_KEYS)
    if id is None and value is None:
        raise record.error(f"expected an id ({', '.join(SCENE_ID_KEYS)}) of the scene, found none")
    id = check_id(value if id is None else id, "scene id", record)
    text = _text(record, CANONICAL_TEXT_KEYS, id)
    return _scene_of(record, id, text or f"{_text(record, TITLE_KEYS, id)} {_text(record, SCENE_TEXT_KEYS, id)}")


def _text(record: SourceRecord, keys: tuple[str, ...], id: str) -> str:
    value = record.first(keys)
    if value is not None and not isinstance(value, str):
        raise record.error(
            f"expected a text as {record.keys(keys)[0]} of scene {shown(id)}, found {describe_json(value)}"
        )
    return value or ""


def _scene_of(record: SourceRecord, id: str, text: str) -> SceneAtLine:
    scene = Scene(check_id(id, "scene id", record), canonical_text(text))
    if not scene.text:
        keys = ", ".join(CANONICAL_TEXT_KEYS[:1] + SCENE_TEXT_KEYS)
        raise record.error(f"expected a text of scene {shown(id)}, found none", hint=f"use one of the keys {keys}")
    return scene, record.line


def _story(source: str, scenes: list[SceneAtLine]) -> Story:
    if not scenes:
        raise InputError.at(source, None, "expected scenes, found none")
    line_of: dict[str, int | None] = {}
    for scene, line in scenes:
        if scene.id in line_of:
            first_line = line_of[scene.id]
            first = f" (first on line {first_line})" if first_line else ""
            raise InputError(
                f"{location(source, line)}expected each scene id once, found {shown(scene.id)} again{first}",
                hint="a heading may name its id: ## The storm {#s3}",
            )
        line_of[scene.id] = line
    return Story(tuple(scene for scene, _ in scenes), source)


# Markdown and plain text, split at scene headings.
#
# A heading is a Markdown heading (``## The storm``), or a line that only names a scene (``Scene 3``, ``SCENE IV: The
# storm``). If any heading has ``Scene`` and a number, those headings are the scenes; otherwise the Markdown headings of
# the deepest level are. A deeper heading is part of its scene; any other heading of the same or a higher level ends it.
#
#     ## The storm {#s3}      has the id s3, and the title The storm
#     ## Scene 3: The storm   has the id scene-3, and the title The storm
#     ## The storm            has the id the-storm, and the title The storm

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


# What a story and its queries have in common: JSON in three shapes, keys with several spellings, canonical text.


@dataclass(frozen=True)
class SourceRecord:
    """An object, and the place that it comes from."""

    source: str
    line: int | None
    record: Mapping[str, Any]

    def keys(self, names: Sequence[str]) -> list[str]:
        """The keys with a value that are one of the names, in the order of the names."""
        order = [normalize_name(name) for name in names]
        keys = [key for key, value in self.record.items() if value is not None and normalize_name(key) in order]
        return sorted(keys, key=lambda key: order.index(normalize_name(key)))

    def first(self, names: Sequence[str]) -> Any:
        """The value under the first of the names; None if there is none."""
        keys = self.keys(names)
        return self.record[keys[0]] if keys else None

    def only(self, names: Sequence[str], label: str) -> Any:
        """The value under the only one of the names; a second key is an error."""
        keys = self.keys(names)
        if len(keys) > 1:
            raise self.error(f"expected one key for {label}, found {len(keys)}: {', '.join(map(shown, keys))}")
        return self.record[keys[0]] if keys else None

    def error(self, message: str, *, hint: str | None = None) -> InputError:
        """An error at the place of the object."""
        return InputError.at(self.source, self.line, message, hint=hint)


def read_records(faults: Faults, data: bytes, inner_key: str) -> tuple[list[SourceRecord], SourceRecord | None]:
    """The objects of JSON Lines or of an array; or else the one document that has them under ``inner_key``."""
    head = Head(data)
    if head.is_array:
        return records_of(parse_json(faults.source, None, head.data[head.begin :]), faults.source), None
    if head.record is not None and normalize_name(inner_key) not in map(normalize_name, head.record):
        lines = json_text.read_records(faults, data)
        faults.raise_errors()
        return [
            SourceRecord(faults.source, line, record)
            for line, record in zip(lines.line.tolist(), lines.records, strict=True)
        ], None
    document = unique_keys(parse_json(faults.source, None, head.data[head.begin :]), faults.source)
    return [], SourceRecord(faults.source, None, document)


def records_of(values: Iterable[Any], source: str) -> list[SourceRecord]:
    """One record per object of a list."""
    records = []
    for number, value in enumerate(values, 1):
        if not isinstance(value, (Mapping, JsonPairs)):
            raise InputTypeError(f"{source}: expected an object as entry {number}, found {describe_json(value)}")
        records.append(SourceRecord(source, None, unique_keys(value, source)))
    return records


def unique_keys(value: Mapping[str, Any] | JsonPairs, source: str) -> Mapping[str, Any]:
    """An object as a mapping; a key that appears twice is an error."""
    return value.to_dict(source, None) if isinstance(value, JsonPairs) else value


def check_id(value: object, label: str, record: SourceRecord) -> str:
    """Return an id: a string, or a whole number as its digits."""
    try:
        return id_from_json(value, label).decode("utf-8", "surrogateescape")
    except InputError:
        raise record.error(f"expected a string or a whole number as {label}, found {describe_json(value)}") from None


def canonical_text(text: str) -> str:
    """A text as it is compared: composed characters (NFC), any white space as one space, no lone surrogates."""
    valid = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return " ".join(unicodedata.normalize("NFC", valid).split())
