"""A story: its scenes, in canonical story order, each by its canonical text.

    {"id": "s1", "title": "Low water", "text": "…"}                               JSON Lines, in story order
    {"scenes": {"s1": {…}, "s2": "…"}, "ordered_ids": ["s2", "s1"]}               a JSON document
    ## Scene 1: Low water                                                         Markdown or plain text

The canonical text is ``scene_text`` where a scene has it, else title and text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from rankgauge.adapters.story.fields import Row, canonical, listed, mapping, name_of, objects
from rankgauge.adapters.story.headings import sections
from rankgauge.errors import InputError, InputTypeError, place, shown
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats.head import Head
from rankgauge.io.formats.jsonl import said
from rankgauge.io.formats.jsontext import Pairs
from rankgauge.io.formats.names import plain
from rankgauge.io.sources import read_bytes
from rankgauge.io.text import checked

IDS = ("scene_id", "id", "_id")
WHOLE = ("scene_text", "canonical_text")
TITLES = ("title", "heading", "name")
TEXTS = ("text", "body", "content", "contents")
SCENES, ORDER = "scenes", "ordered_ids"
SOURCE = "story"


@dataclass(frozen=True)
class Scene:
    """A scene: its id and its canonical text."""

    id: str
    text: str


@dataclass(frozen=True)
class Story:
    """Scenes in canonical story order."""

    scenes: tuple[Scene, ...]
    source: str = SOURCE

    def __len__(self) -> int:
        return len(self.scenes)

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The ids of the scenes, in story order."""
        return tuple(scene.id for scene in self.scenes)


Placed = tuple[Scene, int | None]  # and its line
AnyStory = Story | str | Path | Mapping[str, Any] | Iterable[Mapping[str, Any]]


def read_story(given: AnyStory) -> Story:
    """A story from a file, or from ``{id: text}``, a list of scenes, or a document as a JSON file holds it."""
    if isinstance(given, Story):
        return given
    if isinstance(given, (str, Path)):
        return _read(str(given), read_bytes(given)[0])
    if isinstance(given, Mapping):
        whole = any(plain(key) == plain(SCENES) and not isinstance(value, str) for key, value in given.items())
        row = Row(SOURCE, None, given if whole else {SCENES: given})
        return _document(row)
    if not isinstance(given, Iterable):
        raise InputTypeError(f"a story must be a path, a dict or a list of scenes, found {type(given).__name__}")
    return _story(SOURCE, [_scene(row) for row in listed(given, SOURCE)])


def _read(source: str, data: bytes) -> Story:
    faults = Faults(source)
    data = checked(faults, data)
    if Head(data).is_json:
        rows, document = objects(faults, data, SCENES)
        return _story(source, [_scene(row) for row in rows]) if document is None else _document(document)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError.at(
            source, line, "expected UTF-8, found other bytes", hint="convert it: iconv -t utf-8"
        ) from None
    found = [(section.line, section.id, f"{section.title} {section.text}") for section in sections(source, text)]
    return _story(source, [_made(Row(source, line, {}), name, whole) for line, name, whole in found])


def _document(document: Row) -> Story:
    given, order = document.only((SCENES,), SCENES), document.only((ORDER,), ORDER)
    if isinstance(given, (Mapping, Pairs)):
        scenes = [_named(document, name, value) for name, value in mapping(given, document.source).items()]
    elif isinstance(given, (list, tuple)):
        scenes = [_scene(row) for row in listed(given, document.source)]
    else:
        raise document.error(f"expected scenes under {SCENES}, found {said(given)}")
    story = _story(document.source, scenes)
    return story if order is None else _ordered(document, story, order)


def _named(document: Row, name: str, value: object) -> Placed:
    if isinstance(value, str):
        return _made(document, name, value)
    if isinstance(value, (Mapping, Pairs)):
        return _scene(Row(document.source, None, mapping(value, document.source)), name)
    raise document.error(f"expected a text or an object as scene {shown(str(name))}, found {said(value)}")


def _ordered(document: Row, story: Story, order: Any) -> Story:
    """The story in the order of its list of ids, which must have each scene once and no other."""
    if not isinstance(order, (list, tuple)) or isinstance(order, Pairs):
        raise document.error(f"expected a list of scene ids under {ORDER}, found {said(order)}")
    wanted = [name_of(value, "scene id", document) for value in order]
    by = {scene.id: scene for scene in story.scenes}
    for name, times in Counter(wanted).items():
        if times > 1:
            raise document.error(f"expected each scene once in {ORDER}, found {shown(name)} {times} times")
        if name not in by:
            raise document.error(f"expected a scene for each id in {ORDER}, found none for {shown(name)}")
    named = set(wanted)
    missing = next((name for name in story.ids if name not in named), None)
    if missing is not None:
        raise document.error(f"expected every scene in {ORDER}, found no {shown(missing)} there")
    return Story(tuple(by[name] for name in wanted), story.source)


def _scene(row: Row, name: str | None = None) -> Placed:
    found = row.first(IDS)
    if name is None and found is None:
        raise row.error(f"expected an id ({', '.join(IDS)}) of the scene, found none")
    id = name_of(found if name is None else name, "scene id", row)
    whole = _text(row, WHOLE, id)
    return _made(row, id, whole or f"{_text(row, TITLES, id)} {_text(row, TEXTS, id)}")


def _text(row: Row, names: tuple[str, ...], id: str) -> str:
    value = row.first(names)
    if value is not None and not isinstance(value, str):
        raise row.error(f"expected a text as {row.keys(names)[0]} of scene {shown(id)}, found {said(value)}")
    return value or ""


def _made(row: Row, id: str, text: str) -> Placed:
    scene = Scene(name_of(id, "scene id", row), canonical(text))
    if not scene.text:
        known = ", ".join(WHOLE[:1] + TEXTS)
        raise row.error(f"expected a text of scene {shown(id)}, found none", hint=f"it stands under one of {known}")
    return scene, row.line


def _story(source: str, found: list[Placed]) -> Story:
    if not found:
        raise InputError.at(source, None, "expected scenes, found none")
    seen: dict[str, int | None] = {}
    for scene, line in found:
        if scene.id in seen:
            before = seen[scene.id]
            where = f" (first on line {before})" if before else ""
            raise InputError(
                f"{place(source, line)}expected each scene id once, found {shown(scene.id)} again{where}",
                hint="a heading may say its id: ## The storm {#s3}",
            )
        seen[scene.id] = line
    return Story(tuple(scene for scene, _ in found), source)
