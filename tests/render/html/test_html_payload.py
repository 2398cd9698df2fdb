"""The data for the scripts: rankings with contributions that add up to values, within a size limit."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import Run
from rankgauge.comparison.document_changes import explain
from rankgauge.core.ids import Ids
from rankgauge.render.html import as_html
from rankgauge.render.html.page_systems import page_systems_of
from rankgauge.render.html.page_text import plain
from rankgauge.render.html.payload import PAYLOAD_SIZES, Payload, scale_of
from rankgauge.render.html.payload_packing import Packer, as_text
from rankgauge.render.html.payload_rankings import top_rankings
from rankgauge.report.report import Report
from tests.conftest import Outcome
from tests.render.html.reports import report
from tests.render.html.unpacking import column_of, data_of


def contributions(data: dict[str, Any], measure: int, system: int, query: int) -> dict[str, float]:
    """The contribution of each document to the value of a system."""
    record, scale = data["rankings"][query], data["measures"][measure]["scale"]
    stored = record["c"][measure][system]
    pairs = zip(stored[::2], stored[1::2], strict=True)
    return {record["d"][record["r"][system][rank - 1]]: value / scale for rank, value in pairs}


def test_contributions_add_up_to_the_values_and_are_those_of_explain() -> None:
    made = report(2, measures=("nDCG@10", "RR", "P@5"))
    data = data_of(as_html(made))
    before, after = (joined.hits for joined in made.joined)
    for index, measure in enumerate(made.scores[0].measures):
        for query in range(len(before)):
            stored = [contributions(data, index, system, query) for system in (0, 1)]
            for system in (0, 1):
                value = data["measures"][index]["values"][system][query] / data["measures"][index]["scale"]
                assert sum(stored[system].values()) == pytest.approx(value, abs=1e-3)
            for move in explain(measure, made.qrels, before, after, query).documents:
                change = stored[1].get(move.doc, 0.0) - stored[0].get(move.doc, 0.0)
                assert change == pytest.approx(move.share, abs=2e-4)


def test_the_ranking_is_that_of_the_run_and_has_its_grades() -> None:
    made = report(2)
    data = data_of(as_html(made))
    for system, run in enumerate(made.runs):
        assert isinstance(run, Run)
        top = run.top(data["depth"])
        for index, query in enumerate(top.queries.to_text()):
            record = data["rankings"][data["queries"].index(query)]
            expected = top.docs.to_text()[top.offsets[index] : top.offsets[index + 1]]
            assert [record["d"][doc] for doc in record["r"][system]] == expected
    judged = {}
    for row in range(len(made.qrels)):
        query = made.qrels.queries[int(made.qrels.query[row])].decode()
        judged[query, made.qrels.docs[row].decode()] = float(made.qrels.grades[row])
    for query, record in zip(data["queries"], data["rankings"], strict=True):
        assert record["g"] == [judged.get((query, doc)) for doc in record["d"]]


def test_a_judged_document_below_the_depth_has_its_rank() -> None:
    made = report(2)
    data = data_of(as_html(made))
    below = [part for record in data["rankings"] for ranks in record["b"] for part in ranks]
    assert below
    assert min(below[1::2]) > data["depth"]


def test_snippets_are_those_of_documents_that_moved() -> None:
    made = report(2)
    data = data_of(as_html(made))
    assert data["snippets"]
    moved = set()
    for record in data["rankings"]:
        before, after = ({doc: rank for rank, doc in enumerate(ranking)} for ranking in record["r"])
        moved |= {record["d"][doc] for doc in {*before, *after} if before.get(doc) != after.get(doc)}
    assert set(data["snippets"]) <= moved


def packed(made: Report, limit: int) -> str:
    systems = page_systems_of(made)
    return Payload(made, systems, top_rankings(made, systems)).text(limit)


@pytest.mark.slow
def test_a_lower_limit_gives_less_data_until_nothing_more_can_be_omitted() -> None:
    made = report(3, 60)
    everything = packed(made, 10**7)
    sizes = {len(everything)}
    for limit in (len(everything) - 1, len(everything) // 2, len(everything) // 3):
        data = packed(made, limit)
        assert len(data) <= limit
        sizes.add(len(data))
    assert len(sizes) == 4
    assert len(packed(made, 1)) == len(packed(made, 0))


def test_each_step_holds_less_than_the_one_before() -> None:
    for more, less in pairwise(PAYLOAD_SIZES):
        assert (more.depth, more.measures is None, more.snippets) > (
            less.depth,
            less.measures is None,
            less.snippets,
        ) or (less.queries is not None)


@pytest.mark.parametrize(("largest", "scale"), [(0.0, 10_000), (1.0, 10_000), (25.0, 1000), (31_000.0, 1), (1e9, 1)])
def test_large_values_have_fewer_decimals(largest: float, scale: int) -> None:
    assert scale_of([np.array([largest, np.nan, 0.0])], 4) == scale


def unpacked(packer: Packer, column: dict[str, Any]) -> list[Any]:
    """The numbers or ids of one column, after a passage through JSON."""
    content = b"".join(packer.parts)

    def revived(value: dict[str, Any]) -> Any:
        return column_of(value, content) if "packed" in value else value

    found: list[Any] = json.loads(json.dumps(column), object_hook=revived)
    return found


@given(st.lists(st.one_of(st.integers(-(2**60), 2**60), st.integers(-3, 300), st.none()), max_size=300))
def test_packed_numbers_come_back(numbers: list[int | None]) -> None:
    packer = Packer()
    floats = np.array([np.nan if number is None else float(number) for number in numbers])
    packer.numbers(np.arange(5))  # something before them
    column = packer.numbers(floats)
    assert unpacked(packer, column) == [None if number is None else float(number) for number in numbers]


@given(st.lists(st.text(min_size=1, max_size=40).map(lambda text: text.replace("\0", "0")), unique=True, max_size=40))
def test_packed_ids_come_back_as_a_reader_sees_them(names: list[str]) -> None:
    names = [name for name in names if not any("\ud800" <= character <= "\udfff" for character in name)]
    packer = Packer()
    column = packer.ids(Ids.from_text(names))
    assert unpacked(packer, column) == [plain(name) for name in names]


@given(st.lists(st.integers(0, 10**15), unique=True, min_size=1), st.sampled_from(["", "d", "doc-00"]), st.booleans())
def test_packed_ids_with_numbers_come_back(numbers: list[int], prefix: str, padded: bool) -> None:
    names = sorted(
        (f"{prefix}{number:0{16 if padded else 1}d}" for number in numbers), key=lambda name: (len(name), name)
    )
    packer = Packer()
    assert unpacked(packer, packer.ids(Ids.from_text(names))) == names


def test_random_numbers_after_a_prefix_need_little_more_than_their_information() -> None:
    numbers = np.unique(np.random.default_rng(1).integers(0, 2_000_000, 30_000))
    packer = Packer()
    column = packer.ids(Ids.from_text([f"d{number:07d}" for number in numbers]))
    assert len(packer.compress({"ids": column})) < 1.45 * len(numbers)  # bytes per id; base64 of the digits: 4


@pytest.mark.parametrize("size", [0, 1, 2, 12, 13, 1000])
def test_bytes_as_text_come_back_and_are_harmless_in_html(size: int) -> None:
    content = np.random.default_rng(size).integers(0, 256, size, dtype=np.uint8).tobytes()
    text = as_text(content)
    assert base64.b64decode(text) == content
    assert not {*text} & {*"< \n"}


LOGS = {
    name: [
        {"query": f"q{n}", "retrieved": [{"id": doc, "text": f"words of {doc}"} for doc in order], "relevant": ["a"]}
        for n in range(3)
    ]
    for name, order in (("old", "abc"), ("new", "bca"))
}


@pytest.fixture
def logs(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / f"{name}.jsonl" for name in LOGS]
    for path, rows in zip(paths, LOGS.values(), strict=True):
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return paths


def test_pages_show_the_texts_that_came_with_the_results(
    tmp_path: Path, logs: list[Path], command: Callable[..., Outcome]
) -> None:
    texts = {doc: f"words of {doc}" for doc in "abc"}
    page = tmp_path / "page.html"
    assert command("evaluate", logs[0], *logs, "--html", page).code == 0
    snippets = data_of(page.read_text())["snippets"]
    assert snippets
    assert snippets.items() <= texts.items()
    assert command("diff", *logs, "--html", page).code == 0
    assert "words of b" in str(data_of(page.read_text())["snippets"])


def test_a_corpus_counts_more_than_the_texts_that_came_with_the_results(
    tmp_path: Path, logs: list[Path], command: Callable[..., Outcome]
) -> None:
    corpus, page = tmp_path / "corpus.jsonl", tmp_path / "page.html"
    corpus.write_text("".join(json.dumps({"_id": doc, "text": "corpus"}) + "\n" for doc in "abc"))
    for arguments in (["evaluate", logs[0], *logs], ["diff", *logs]):
        assert command(*arguments, "--html", page, "--corpus", corpus).code == 0
        snippets = str(data_of(page.read_text())["snippets"])
        assert "corpus" in snippets
        assert "words of" not in snippets
