"""What must hold on Spark: functions that ``run_page.py`` calls in the environment of Spark, all with one session.

The session is that of the guide, ``local[2,4]``: two workers, and four attempts for each task.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession, functions

from rankgauge import Conventions, InputError, Qrels, UsageError, compare, gate, measure
from rankgauge.core.hits import Hits, PerQuery
from rankgauge.distributed import spark
from rankgauge.distributed.spark.session import read_frame, spark_errors
from rankgauge.errors import RankgaugeError
from tests.distributed import cases
from tests.measures.variants import ALL

MEASURES = [*(measure.name for measure in ALL), "ERR@10", "RBP@20"]
JUDGED, ROWS = cases.judgments(), cases.results()
TYPES = "run string, query_id string, doc_id string, score double"
SKEWED_ROWS = 5_000_000 if os.environ.get("RANKGAUGE_LARGE") else 200_000


def session() -> SparkSession:
    found = SparkSession.getActiveSession()
    return found or spark.start_session("local[2,4]", settings={"spark.sql.shuffle.partitions": "4"})


def frame(rows: list[cases.Row] = ROWS, partitions: int = 3) -> DataFrame:
    return session().createDataFrame(rows, TYPES).repartition(partitions)


def fails(kind: type[RankgaugeError], text: str, call: Callable[[], object]) -> None:
    """Raise unless a call fails with an error of rankgauge, behind which no other is shown."""
    caught: RankgaugeError | None = None
    try:
        call()
    except kind as error:
        caught = error
    assert caught is not None, f"expected: {text}"
    assert text in str(caught), caught
    assert "org.apache" not in str(caught)
    assert caught.__context__ is None or caught.__suppress_context__


def check_every_measure_has_the_same_bits_with_judgments_sent_or_joined() -> None:
    for limit in (10**6, 10):
        scores = spark.collect_scores(spark.evaluate(frame(), JUDGED, MEASURES, broadcast_limit=limit))
        assert list(scores) == ["a", "b"]
        for run in "ab":
            cases.assert_same(scores[run], cases.local_scores(JUDGED, ROWS, run, MEASURES))


def check_judgments_may_be_a_dataframe_too() -> None:
    rows = [(query, doc, float(grade)) for query, judged in JUDGED.items() for doc, grade in judged.items()]
    judgments = session().createDataFrame(rows, "query_id string, doc_id string, relevance double")
    known = {query: judged for query, judged in JUDGED.items() if judged}
    for limit in (10**6, 10):
        scores = spark.collect_scores(spark.evaluate(frame(), judgments, "nDCG@10 ERR AP", broadcast_limit=limit))
        cases.assert_same(scores["a"], cases.local_scores(known, ROWS, "a", "nDCG@10 ERR AP"))


def check_a_killed_worker_changes_nothing() -> None:
    result = spark.evaluate(frame(), JUDGED, "nDCG@10 AP", conventions=Conventions(rel=2), partitions=3)
    with TemporaryDirectory() as folder:
        marker = str(Path(folder, "killed"))

        def kill(batches: Iterable[Any]) -> Iterator[Any]:
            """On the first attempt, kill every other Python worker after the first batch: one of them is scoring."""
            context = TaskContext.get()
            for batch in batches:
                yield batch
                if context is not None and context.attemptNumber() == 0:
                    Path(marker).touch()
                    own, parent = os.getpid(), os.getppid()
                    for process in Path("/proc").glob("[0-9]*"):
                        stat = (process / "stat").read_text().rpartition(")")[2].split()
                        if int(stat[1]) == parent and int(process.name) != own:
                            os.kill(int(process.name), signal.SIGKILL)
                    os.kill(own, signal.SIGKILL)

        scores = spark.collect_scores(result.mapInArrow(kill, result.schema))
        assert Path(marker).exists()
    for run in "ab":
        expected = cases.local_scores(JUDGED, ROWS, run, "nDCG@10 AP", conventions=Conventions(rel=2))
        cases.assert_same(scores[run], expected)


def check_a_task_that_runs_twice_gives_the_same_rows() -> None:
    result = spark.evaluate(frame(), JUDGED, "nDCG@10 AP")
    assert sorted(result.collect()) == sorted(result.collect())
    assert result.count() == result.select("run", "query").distinct().count()


def check_duplicates_in_different_partitions_are_an_error_that_names_the_query() -> None:
    row = ROWS[5]
    twice = frame().union(frame([row], 1))
    text = f"document '{row[2]}' again for query '{row[1]}'\nhint: keep each document once per query"
    fails(InputError, text, lambda: spark.collect_scores(spark.evaluate(twice, JUDGED, "AP")))

    def use() -> None:
        with spark.input_errors():
            spark.evaluate(twice, JUDGED, "AP").collect()

    fails(InputError, text, use)


def check_one_run_empty_partitions_and_columns_of_other_names_and_types() -> None:
    own = [(int(query[1:]), doc, position) for position, (run, query, doc, _) in enumerate(ROWS) if run == "a"
           and query[1:].isdigit()]  # fmt: skip
    table = session().createDataFrame(own, "`the.question` int, found string, place int").repartition(9)
    columns = {"query": "the.question", "doc": "found", "rank": "place"}
    judged = {query[1:]: grades for query, grades in JUDGED.items() if query[1:].isdigit()}
    result = spark.evaluate(table, judged, "nDCG@10 RR", columns=columns, default_name="mine", partitions=11)
    rows = [("mine", str(query), doc, -float(rank)) for query, doc, rank in own]
    cases.assert_same(spark.collect_scores(result)["mine"], cases.local_scores(judged, rows, "mine", "nDCG@10 RR"))
    fails(InputError, "expected numbers in column 'found'",
          lambda: spark.evaluate(table, judged, columns={**columns, "score": "found"}))  # fmt: skip
    fails(UsageError, "runs are named", lambda: spark.evaluate(table, judged, columns=columns, runs=["a", "b"]))
    fails(InputError, "expected a column for the query", lambda: spark.evaluate(table, judged))


def check_one_query_with_most_of_the_rows() -> None:
    large = session().range(SKEWED_ROWS, numPartitions=4).select(
        functions.lit("a").alias("run"),
        functions.lit("q5").alias("query_id"),
        functions.concat(functions.lit("d"), "id").alias("doc_id"),
        (functions.col("id") % 1000).cast("double").alias("score"),
    )  # fmt: skip
    rows = [row for row in ROWS if row[:2] != ("a", "q5")]
    scores = spark.collect_scores(spark.evaluate(frame(rows).union(large), JUDGED, "nDCG@10 AP R@1000"))
    every = [*rows, *(("a", "q5", f"d{number}", float(number % 1000)) for number in range(SKEWED_ROWS))]
    cases.assert_same(scores["a"], cases.local_scores(JUDGED, every, "a", "nDCG@10 AP R@1000"))


def _scored(table: DataFrame) -> object:
    return spark.collect_scores(spark.evaluate(table, JUDGED, "AP"))


def check_bad_rows_and_empty_tables_are_errors() -> None:
    for row, text in (
        (("a", "q1", "new", float("nan")), "score of document 'new' for query 'q1', found NaN"),
        (("a", "q1", None, 1.0), "expected a document id for query 'q1'"),
        ((None, "q1", "new", 1.0), "expected the name of a run in each row"),
    ):
        table = frame([*ROWS, row])  # type: ignore[list-item]  # that is what is wrong
        fails(InputError, text, partial(_scored, table))
    fails(InputError, "has no rows", lambda: spark.evaluate(frame([]), JUDGED))
    fails(InputError, "found 'b'", lambda: spark.collect_scores(spark.evaluate(frame(), JUDGED, runs=["a"])))
    fails(InputError, "evaluate() of rankgauge.distributed.spark", lambda: spark.collect_scores(frame()))


def check_grades_between_0_and_1_need_a_grade_of_relevance() -> None:
    fractions = {"q0": {"d1": 2, "d2": 0.4}}
    judged = session().createDataFrame(
        [("q0", "d1", 2.0), ("q0", "d2", 0.4)], "query_id string, doc_id string, relevance double"
    )
    for qrels in (fractions, judged):
        for limit in (0, 10):
            call = partial(spark.evaluate, frame(), qrels, "RR", broadcast_limit=limit)
            fails(InputError, "between 0 and 1, such as 0.4, and RR needs to know", call)


def check_results_can_be_stored_filtered_compared_and_gated() -> None:
    with TemporaryDirectory() as folder:
        spark.evaluate(frame(), JUDGED, "nDCG@10 P@5 RBP(p=0.5,rel=1)").write.parquet(f"{folder}/scores")
        stored = session().read.parquet(f"{folder}/scores")
        scores = spark.collect_scores(stored, columns={"kind": dict.fromkeys(JUDGED, "all")})
        assert list(spark.collect_scores(stored.where("run = 'b'"))) == ["b"]
        average = stored.where("averaged and run = 'a'").agg(functions.avg("`nDCG@10`")).collect()[0][0]
    local = [cases.local_scores(JUDGED, ROWS, run, "nDCG@10 P@5 RBP(p=0.5,rel=1)") for run in "ab"]
    mean = local[0]["nDCG@10"]
    assert mean is not None
    assert np.isclose(average, mean, rtol=1e-12)
    assert [group.label for group in scores["a"].by("kind")] == ["all"] * 3
    assert scores["a"].interval("P@5") == local[0].interval("P@5")
    qrels = Qrels.from_dict(JUDGED)
    assert compare(qrels, list(scores.values()), "nDCG@10").differences == compare(qrels, local, "nDCG@10").differences
    assert gate(qrels, scores["a"], "nDCG@10", baseline=scores["b"]).verdict in ("pass", "fail")


def check_a_folder_of_orc_files_is_read_as_one_of_parquet_files() -> None:
    with TemporaryDirectory() as folder:
        frame().write.orc(f"{folder}/runs.orc")
        scores = spark.collect_scores(spark.evaluate(read_frame(session(), f"{folder}/runs.orc"), JUDGED, "AP"))
        cases.assert_same(scores["a"], cases.local_scores(JUDGED, ROWS, "a", "AP"))

        def read_nothing() -> None:
            with spark_errors("nowhere"):
                read_frame(session(), f"{folder}/nowhere")

        fails(InputError, "nowhere: [PATH_NOT_FOUND]", read_nothing)


def check_a_measure_of_the_users_own() -> None:
    @measure("FirstGrade")
    def first_grade(hits: Hits) -> PerQuery:
        """The grade at rank 1."""
        return hits.first(hits.grade)

    scores = spark.collect_scores(spark.evaluate(frame(), JUDGED, "FirstGrade"))
    cases.assert_same(scores["b"], cases.local_scores(JUDGED, ROWS, "b", "FirstGrade"))
