"""Results of which no id is judged: both sides are shown, with the likely cause; if one is judged, nothing is said."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import evaluate
from rankgauge.core.id_overlap import NOTHING_JUDGED, are_random, chunk_of
from rankgauge.core.run import Run, RunExtras

JUDGED = {"q1": {"doc-1": 1, "doc-2": 1}, "q2": {"doc-3": 1}}


def message(run: object) -> str | None:
    """The note that nothing is judged."""
    found = [note.message for note in evaluate(JUDGED, run, "P@1").notes if note.code == NOTHING_JUDGED]
    assert len(found) <= 1
    return found[0] if found else None


def random_ids() -> Iterator[str]:
    yield str(uuid.uuid4())
    yield uuid.uuid4().hex
    yield f"node_{uuid.uuid4()}"
    yield "9f86d081884c7d659a2feaa0c55ad015"


def test_three_ids_of_each_side_are_shown() -> None:
    found = message({"q1": {"a": 3.0, "b": 2.0, "c": 1.0, "d": 0.5}, "q2": {"e": 1.0}})
    assert found is not None
    assert "the results have the ids 'a', 'b', 'c', the judgments 'doc-1', 'doc-2', 'doc-3'" in found
    assert "runs validate" in found
    assert "random" not in found


def test_ids_of_queries_that_are_not_judged_are_not_shown() -> None:
    found = message({"other": {"z": 1.0}, "q2": {"e": 1.0}})
    assert found is not None
    assert "the results have the ids 'e', the judgments 'doc-3'" in found


def test_random_ids_are_named_as_the_cause() -> None:
    found = message({"q1": dict.fromkeys(random_ids(), 1.0)})
    assert found is not None
    assert "look random" in found
    assert "--set retriever.id=metadata.source (id='metadata.source')" in found


@pytest.mark.parametrize("chunk", ["doc-1#3", "doc-1_0", "doc-1::chunk-12", "doc-1/p7"])
def test_chunks_of_judged_documents_are_recognized(chunk: str) -> None:
    found = message({"q1": {"other": 2.0, chunk: 1.0}})
    assert found is not None
    assert f"'{chunk}' looks like a chunk of 'doc-1'" in found
    assert "--set retriever.unit=document (unit='document')" in found


@pytest.mark.parametrize("name", ["doc-1", "doc-11", "doc-1#intro", "my-doc-1", "doc", "#1"])
def test_other_ids_are_not_taken_for_chunks(name: str) -> None:
    assert chunk_of([name.encode()], {b"doc-1", b"doc-2"}) is None


def test_metadata_with_judged_ids_name_the_field() -> None:
    def found(results: dict[str, float], metadata: dict[str, dict[str, object]]) -> str:
        run = Run.from_dict({"q1": results})
        text = message(run.__class__(**{**vars(run), "extras": RunExtras(metadata=metadata)}))
        assert text is not None
        return text

    assert "with --set retriever.unit=document" in found({"c1": 1.0}, {"c1": {"page": 3, "source": "doc-1"}})
    assert "with --set retriever.id=metadata.file --set retriever.unit=document" in found(
        {"c1": 1.0}, {"c1": {"page": 3, "file": "doc-1"}}
    )
    name = str(uuid.uuid4())
    assert "--set retriever.id=metadata.file (id='metadata.file')" in found({name: 1.0}, {name: {"file": "doc-2"}})
    assert "runs validate" in found({"c1": 1.0}, {"c1": {"page": 3, "source": None, "file": "x"}})


def test_a_difference_in_spelling_is_cause_enough() -> None:
    found = message({"q1": {"DOC-1": 1.0}})
    assert found is not None
    assert found.endswith("the judgments 'doc-1', 'doc-2'")


@pytest.mark.parametrize("name", ["doc-1", "1234567890123456789", "deadbeef", "abcdefabcdefabcdef", "MED-10", ""])
def test_ordinary_ids_do_not_look_random(name: str) -> None:
    assert not are_random([name.encode()])


def test_some_random_ids_among_others_are_no_cause() -> None:
    assert are_random([name.encode() for name in random_ids()])
    assert not are_random([b"doc-1", *(name.encode() for name in random_ids())])
    assert not are_random([])


@given(
    st.lists(st.uuids().map(str), unique=True, min_size=1, max_size=20),
    st.sampled_from(["doc-1", "doc-2"]),
    st.floats(-10, 10),
)
def test_random_ids_are_no_matter_if_one_is_judged(names: list[str], judged: str, score: float) -> None:
    results = {name: float(rank) for rank, name in enumerate(names)}
    assert message({"q1": results}) is not None
    assert message({"q1": {**results, judged: score}}) is None
    assert message({"q1": results, "q2": {"doc-3": score}}) is None
