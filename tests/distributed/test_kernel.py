"""However rows are cut into batches, partitions and blocks, every bit is that of an evaluation on one machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from zlib import crc32

import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankgauge import Conventions, InputError, Qrels, UsageError, measure
from rankgauge.core.hits import Hits, PerQuery
from rankgauge.distributed import kernel, transport
from rankgauge.distributed.kernel import Task
from rankgauge.measures.measure import DEFINITIONS
from rankgauge.measures.names import parse_measure
from rankgauge.measures.registry import unregister
from tests.distributed import cases
from tests.measures.variants import ALL

MEASURES = [*(measure.name for measure in ALL), "ERR@10", "RBP@20"]
JUDGED, ROWS = cases.judgments(), cases.results()
TYPES = pyarrow.schema(
    [("run", "string"), ("query", "binary"), ("doc", "binary"), ("value", "float64"), ("grade", "float64"),
     ("kind", "int8")]
)  # fmt: skip


def shuffled(qrels: Qrels, rows: list[cases.Row], partitions: int, *, join: bool) -> list[Any]:
    """What an engine's shuffle makes of results and judgments: partitions of whole queries, sorted by run and query."""
    table: list[list[tuple[Any, ...]]] = [[] for _ in range(partitions)]
    everything: list[tuple[Any, ...]] = [
        (run, query.encode(), doc.encode(), score, None, kernel.RESULT) for run, query, doc, score in rows
    ]
    for part in transport.judgment_tables(qrels, with_judgments=join):
        for row in part.to_pylist():
            everything += [(run, row["query"], row["doc"], None, row["grade"], row["kind"]) for run in "ab"]
    for row in everything:
        table[crc32(repr(row[:2]).encode()) % partitions].append(row)
    return [_table(sorted(part, key=lambda row: row[:2])) for part in table]


def _table(rows: list[tuple[Any, ...]]) -> Any:
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(TYPES)
    return pyarrow.table([pyarrow.array(column, kind.type) for column, kind in zip(columns, TYPES, strict=True)], TYPES)


def evaluated(
    qrels: Qrels, rows: list[cases.Row], names: Any, *, partitions: int = 3, batch: int = 7, join: bool = False,
    conventions: Conventions | None = None,
) -> dict[str, Any]:  # fmt: skip
    conventions = conventions or Conventions()
    judged = conventions.judgments(qrels)
    task = Task.of(conventions.measures(names), judged, conventions, "table", False)

    def outputs() -> Iterator[Any]:
        for table in shuffled(qrels, rows, partitions, join=join):
            batches = table.to_batches(max_chunksize=batch)
            scored = transport.score_batches(batches, task, None if join else judged, "ab")
            yield from transport.unpack(transport.pack_results(scored, names=columns))

    columns = ["run", "query", "status", "averaged", *dict.fromkeys(task.measure_names), "join"]
    tables = [pyarrow.Table.from_batches([batch]) for batch in outputs()]
    table = pyarrow.concat_tables([one.replace_schema_metadata(None) for one in tables])
    counts = transport.dropped_queries(tables)
    return {one.run: one for one in transport.scores_of_results(table, task, judged.name, unjudged=counts)}


@pytest.mark.parametrize("join", [False, True])
def test_every_measure_has_the_same_bits(join: bool) -> None:
    scores = evaluated(Qrels.from_dict(JUDGED), ROWS, MEASURES, join=join)
    for run in "ab":
        cases.assert_same(scores[run], cases.local_scores(JUDGED, ROWS, run, MEASURES))


def judged_subtopics() -> Qrels:
    """The same judgments by two subtopics."""
    rows = [(query, half, doc, grade) for query in JUDGED for doc, grade in JUDGED[query].items() for half in "xy"]
    queries, halves, docs = ([row[column] for row in rows] for column in range(3))
    grades = [max(0, grade - (half == "y")) for _, half, _, grade in rows]
    return Qrels.from_columns(queries, docs, grades, iters=halves, by_subtopic=True)


def test_every_measure_of_judgments_by_subtopic_has_the_same_bits() -> None:
    parse_measure("AP")  # registers all of them
    own = [definition for definition in DEFINITIONS.values() if definition.judgments == "subtopics"]
    measures = [one(**({"cutoff": 5} if "cutoff" in one.parameters else {})) for one in own]
    assert measures
    qrels = judged_subtopics()
    scores = evaluated(qrels, ROWS, measures)
    for run in "ab":
        cases.assert_same(scores[run], cases.local_scores(qrels, ROWS, run, measures))


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(st.integers(1, 9), st.integers(1, 60), st.integers(1, 400), st.booleans(), st.integers(0, 10**6))
def test_batches_partitions_and_blocks_change_nothing(
    partitions: int, batch: int, block: int, join: bool, seed: int
) -> None:
    judged, rows, names = cases.judgments(seed), cases.results(seed), ["nDCG@5", "ERR", "AP", "P@3"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel.query_blocks, "__defaults__", (block,))
        scores = evaluated(Qrels.from_dict(judged), rows, names, partitions=partitions, batch=batch, join=join)
    for run in "ab":
        cases.assert_same(scores[run], cases.local_scores(judged, rows, run, names))


@pytest.mark.parametrize(
    "conventions",
    [
        Conventions(rel=2),
        Conventions(graded=False, rel=2),
        Conventions(query_set="both", no_relevant="skip"),
        Conventions(compat="trec_eval-10"),
    ],
)
@pytest.mark.parametrize("join", [False, True])
def test_conventions_hold_everywhere(conventions: Conventions, join: bool) -> None:
    names = ["nDCG@10", "ERR", "AP", "RR"]
    scores = evaluated(Qrels.from_dict(JUDGED), ROWS, names, conventions=conventions, join=join)
    for run in "ab":
        expected = cases.local_scores(JUDGED, ROWS, run, names, conventions=conventions)
        cases.assert_same(scores[run], expected)


def test_a_block_is_no_larger_than_it_must_be() -> None:
    rows = [("a", b"q%d" % (number // 4), b"d%d" % number, 1.0, None, kernel.RESULT) for number in range(400)]
    sizes = [table.num_rows for _, table in kernel.query_blocks(_table(rows).to_batches(max_chunksize=3), 10)]
    assert sum(sizes) == 400
    assert max(sizes) <= 10 + 4 + 3


def test_a_duplicate_is_an_error_that_names_the_query_and_the_document() -> None:
    with pytest.raises(InputError, match=rf"document '{ROWS[5][2]}' again for query '{ROWS[5][1]}'"):
        evaluated(Qrels.from_dict(JUDGED), [*ROWS, ROWS[5]], "AP")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("a", "q4", "", 1.0), "expected a document id for query 'q4', found nothing"),
        (("a", "", "d4", 1.0), "expected a query id, found nothing"),
        (("a", "q4", "new", float("nan")), "expected a number as score of document 'new' for query 'q4', found NaN"),
        (("c", "q4", "new", 1.0), "expected one of 2 runs by name, found 'c'"),
    ],
)
def test_a_row_that_says_nothing_is_an_error(row: cases.Row, message: str) -> None:
    with pytest.raises(InputError, match=message):
        evaluated(Qrels.from_dict(JUDGED), [*ROWS, row], "AP")


def test_a_run_without_judged_queries_is_an_error_as_on_one_machine() -> None:
    rows = [("a", "q1", "d1", 1.0), ("b", "x7", "d1", 1.0)]
    with pytest.raises(InputError, match="'b' and judgments 'qrels' have no query in common: 'x7' and 'irrelevant', "):
        evaluated(Qrels.from_dict(JUDGED), rows, "AP")


def test_a_measure_of_the_users_own_travels_to_the_workers() -> None:
    @measure("FirstGrade")
    def first_grade(hits: Hits) -> PerQuery:
        """The grade at rank 1."""
        return hits.first(hits.grade)

    try:
        task = Task.of([first_grade()], Qrels.from_dict(JUDGED), Conventions(), "table", False)
        assert task.own_definitions == (first_grade,)
        unregister("FirstGrade")
        assert [str(one) for one in task.measures] == ["FirstGrade"]
    finally:
        unregister("FirstGrade")


def test_columns_of_the_same_name_are_refused() -> None:
    with pytest.raises(UsageError, match="two columns of the results would be called Join"):
        transport.check_names(["AP", "Join"])


@pytest.mark.parametrize("error", [InputError("a\n'b' {\"c\"}", hint="d"), UsageError("e")])
def test_an_error_survives_the_text_of_a_stack_trace(error: InputError | UsageError) -> None:
    text = f"Job aborted\n\tat java.lang.Thread\nWorkerError: {transport.WorkerError(error)}\n\n\tat org.apache.spark"
    found = transport.error_of_worker(text)
    assert found is not None
    assert (type(found), found.message, found.hint) == (type(error), error.message, error.hint)
    assert transport.error_of_worker("ValueError: other") is None
    missing = transport.error_of_worker("ModuleNotFoundError: No module named 'rankgauge'")
    assert missing is not None
    assert missing.message == "the workers have no module rankgauge"


@pytest.mark.parametrize("name", ["FalseAnswer", "WrongRefusal", "RightAnswer@3", "Leak@3"])
def test_measures_that_depend_on_a_whole_run_are_refused_before_anything_is_sent(name: str) -> None:
    with pytest.raises(UsageError, match=f"{name} depends on all queries of a run") as refused:
        evaluated(Qrels.from_dict(JUDGED), ROWS, [name])
    assert refused.value.hint is not None
    assert "on one machine" in refused.value.hint


@pytest.mark.parametrize("join", [False, True])
def test_queries_with_more_relevant_documents_than_the_cutoff_have_the_same_note(join: bool) -> None:
    names = ["RecallAll@1", "RecallAll@2"]
    scores = evaluated(Qrels.from_dict(JUDGED), ROWS, names, join=join)
    for run in "ab":
        expected = [note for note in cases.local_scores(JUDGED, ROWS, run, names).notes if "more-rel" in note.code]
        assert expected
        assert [note for note in scores[run].notes if "more-rel" in note.code] == expected
