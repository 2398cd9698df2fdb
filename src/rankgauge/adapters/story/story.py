"""A story: its scenes, in canonical story order, each with its canonical text.

    {"id": "s1", "title": "Low water", "text": "…"}                               JSON Lines, in story order
    {"scenes": {"s1": {…}, "s2": "…"}, "ordered_ids": ["s2", "s1"]}               a JSON document
    ## Scene 1: Low water                                                         Markdown or plain text

The canonical text is ``scene_text`` if a scene has it, otherwise title and text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from rankgauge.adapters.story.headings import split_scenes
from rankgauge.adapters.story.records import (
    SourceRecord,
    canonical_text,
    check_id,
    read_records,
    records_of,
    unique_keys,
)
from rankgauge.errors import InputError, InputTypeError, location, shown
from rankgauge.io.byte_streams import read_bytes
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats.head import Head
from rankgauge.io.formats.json_records import describe_json
from rankgauge.io.formats.jsontext import JsonPairs
from rankgauge.io.formats.names import normalize_name
from rankgauge.io.text import check_text

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
