from __future__ import annotations

import gzip
import json
import warnings
from pathlib import Path
from typing import Any

import pytest

from rankgauge import InputError, RankgaugeWarning
from rankgauge.adapters import read_story
from rankgauge.adapters.story.story import Scene
from tests.adapters.story.stories import BUNDLED

SCENES = [{"id": "s1", "title": "Fog", "text": "The chain jams."}, {"id": "s2", "title": "Dawn", "text": "A bell."}]
EXPECTED = (Scene("s1", "Fog The chain jams."), Scene("s2", "Dawn A bell."))
BY_ID = {scene["id"]: scene for scene in SCENES}

FORMS = {
    "JSON Lines": "\n".join(map(json.dumps, SCENES)),
    "an array": json.dumps(SCENES),
    "an indented array": json.dumps(SCENES, indent=2),
    "a document": json.dumps({"scenes": SCENES[::-1], "ordered_ids": ["s1", "s2"]}),
    "an indented document": json.dumps({"title": "x", "scenes": SCENES[::-1], "orderedIds": ["s1", "s2"]}, indent=1),
    "a document by id": json.dumps({"ordered_ids": ["s1", "s2"], "scenes": dict(reversed(BY_ID.items()))}),
    "a document of texts": json.dumps({"scenes": {"s1": "Fog The chain jams.", "s2": "Dawn A bell."}}),
    "a document without an order": json.dumps({"scenes": SCENES}),
    "canonical texts": '{"scene_id": "s1", "title": "no", "text": "no", "scene_text": "Fog  The chain\\njams."}\n'
    '{"sceneId": "s2", "sceneText": "Dawn A bell."}\n',
    "Markdown with ids": "# T\n\n## Fog {#s1}\nThe chain\njams.\n\n## Dawn {#s2}\nA bell.\n",
    "a byte order mark": "\ufeff## Fog {#s1}\nThe chain jams.\n## Dawn {#s2}\nA bell.",
    "emphasis": "## Fog {#s1}\nThe **chain** _jams_.\n## *Dawn* {#s2}\nA `bell`.\n",
    "plain text with ids": "Scene 1: Fog {#s1}\r\nThe chain jams.\r\nSCENE II — Dawn {#s2}\r\nA bell.\r\n",
}


@pytest.mark.parametrize("form", FORMS)
def test_every_format_gives_the_same_story(form: str, tmp_path: Path) -> None:
    path = tmp_path / "story"
    path.write_bytes(FORMS[form].encode())
    assert read_story(path).scenes == EXPECTED
    path.write_bytes(gzip.compress(FORMS[form].encode()))
    assert read_story(str(path)).ids == ("s1", "s2")


@pytest.mark.parametrize(
    "source",
    [
        SCENES,
        BY_ID,
        {"s1": "Fog The chain jams.", "s2": SCENES[1]},
        {"scenes": SCENES[::-1], "ordered_ids": ["s1", "s2"]},
    ],
)
def test_python_objects_give_the_same_story(source: Any) -> None:
    story = read_story(source)
    assert story.scenes == EXPECTED
    assert read_story(story) is story


def test_the_bundled_story_is_the_same_in_both_formats() -> None:
    markdown, lines = read_story(BUNDLED / "story.md"), read_story(BUNDLED / "story.jsonl")
    assert markdown.scenes == lines.scenes
    assert len(markdown) == 15
    assert markdown.ids[6] == "scene-7"


def ids_of(tmp_path: Path, text: str) -> list[str]:
    (tmp_path / "story.md").write_text(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankgaugeWarning)
        return list(read_story(tmp_path / "story.md").ids)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("Scene 1\na\nscene 2b. The end\nb\nSCENE IV\nc", ["scene-1", "scene-2b", "scene-iv"]),
        (
            "# Book\n## Part one\n### The storm\na\n### A letter!\nb\n## Part two\n### Home\nc",
            ["the-storm", "a-letter", "home"],
        ),
        ("# T\n## Scene 1: x\na\n### Notes\nb\n## Scene 2\nc\n## Afterword\nd", ["scene-1", "scene-2"]),
        ("# Title\n\nScene 1\na\nScene 2\nb", ["scene-1", "scene-2"]),
        ("# Only\ntext", ["only"]),
        ("## Storm ##\na\n## Ålborg\nb", ["storm", "ålborg"]),
        ("Scene 1\nScene after scene went by.\nThe scene 3 of the play.", ["scene-1"]),
    ],
)
def test_a_text_is_split_at_its_scene_headings(text: str, ids: list[str], tmp_path: Path) -> None:
    assert ids_of(tmp_path, text) == ids


def test_a_deeper_heading_is_part_of_its_scene_and_another_ends_it(tmp_path: Path) -> None:
    path = tmp_path / "story.md"
    path.write_text("## Scene 1: Fog\na\n### Later\nb\n# Part two\nlost\n## Scene 2\nc\n")
    with pytest.warns(RankgaugeWarning, match=r"story\.md:6: 1 line is outside of any scene"):
        story = read_story(path)
    assert [scene.text for scene in story.scenes] == ["Fog a ### Later b", "c"]


def test_a_heading_as_deep_as_a_scene_ends_it(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("## Scene 1\na\n## Afterword\nthanks\n")
    with pytest.warns(RankgaugeWarning, match="s:4: 1 line is outside"):
        assert [scene.text for scene in read_story(tmp_path / "s").scenes] == ["a"]


def test_lines_above_the_first_scene_are_warned_of(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("by nobody\nat all\n## Fog\ntext\n")
    with pytest.warns(RankgaugeWarning, match=r"s:1: 2 lines are outside"):
        read_story(tmp_path / "s")


WRONG = [
    ("", "file is empty"),
    ("Once upon a time.", "expected scene headings, found none"),
    ("## Fog\na\n## Fog\nb", ":3: expected each scene id once, found 'fog' again (first on line 1)"),
    ("## Scene 1\n\n## Scene 2\nb", ":1: expected a text of scene 'scene-1', found none"),
    ('{"id": "a", "text": "x"}\n{"text": "y"}', ":2: expected an id (scene_id, id, _id) of the scene, found none"),
    ('{"id": "a", "text": "x"}\n{"id": "a", "text": "y"}', ":2: expected each scene id once, found 'a' again"),
    ('{"id": "a", "text": 3}', ":1: expected a text as text of scene 'a', found '3'"),
    ('{"id": "a", "text": " "}', ":1: expected a text of scene 'a', found none"),
    ('{"id": true, "text": "x"}', "expected a string or a whole number as scene id"),
    ('{"id": "a", "text": "x"}\n{"id": ', ":2: not JSON"),
    ('{"scenes": []}', "expected scenes, found none"),
    ('{"scenes": "x"}', "expected scenes under scenes, found 'x'"),
    ('{"title": "x",\n"text": "y"}', "expected scenes under scenes, found nothing"),
    ('{"scenes": {"a": 1}}', "expected a text or an object as scene 'a', found '1'"),
    ('{"scenes": {"a": "x", "a": "y"}}', "expected each key once in an object, found 'a' twice"),
    ('{"scenes": ["x"]}', "expected an object as entry 1, found 'x'"),
    ('{"scenes": {"a": "x"}, "ordered_ids": ["a", "b"]}', "a scene for each id in ordered_ids, found none for 'b'"),
    ('{"scenes": {"a": "x", "b": "y"}, "ordered_ids": ["a"]}', "every scene in ordered_ids, found no 'b' there"),
    ('{"scenes": {"a": "x"}, "ordered_ids": ["a", "a"]}', "expected each scene once in ordered_ids, found 'a' 2 times"),
    ('{"scenes": {"a": "x"}, "ordered_ids": "a"}', "expected a list of scene ids under ordered_ids, found 'a'"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), WRONG, ids=[message for _, message in WRONG])
def test_an_error_in_a_story_names_its_place(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "story").write_text(text)
    with pytest.raises(InputError) as error:
        read_story(tmp_path / "story")
    assert str(error.value).startswith(f"{tmp_path / 'story'}:")
    assert message in str(error.value)


def test_a_story_in_another_encoding_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "s").write_bytes("## Caf\xe9\n".encode("latin-1"))
    with pytest.raises(InputError, match=r"s:1: expected UTF-8"):
        read_story(tmp_path / "s")


def test_a_value_that_is_not_a_story_is_an_error() -> None:
    with pytest.raises(InputError, match="must be a path, a dict or a list of scenes, found int"):
        read_story(3)  # type: ignore[arg-type]  # refused at run time
    with pytest.raises(InputError, match="story: expected an object as entry 1"):
        read_story(["s1"])  # type: ignore[list-item]  # refused at run time


def test_ids_that_are_numbers_are_their_digits() -> None:
    assert read_story([{"id": 7, "text": "x"}]).ids == ("7",)


def test_a_lone_surrogate_in_a_text_is_replaced() -> None:
    assert read_story({"a": "storm \ud83d"}).scenes[0].text == "storm \ufffd"
