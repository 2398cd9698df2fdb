"""``rankgauge evaluate --engine spark``: runs that Spark reads and scores."""

from __future__ import annotations

from tempfile import NamedTemporaryFile

from rankgauge.cli.options.engine import SparkOptions
from rankgauge.cli.options.html import PageRequest
from rankgauge.cli.options.terminal import collected_notes
from rankgauge.cli.options.view import View, check_confidence, check_format, compared, show
from rankgauge.config.settings import Settings
from rankgauge.distributed.spark import collect_scores, evaluate, start_session
from rankgauge.distributed.spark.library import read_frame, spark_errors
from rankgauge.evaluation.evaluate import Evaluation
from rankgauge.evaluation.scores import Scores
from rankgauge.io.byte_streams import source_name
from rankgauge.io.options import Reading
from rankgauge.io.queries import as_queries
from rankgauge.io.read import as_qrels


def evaluate_on_spark(
    options: SparkOptions,
    qrels: str,
    runs: tuple[str, ...],
    queries: str | None,
    settings: Settings,
    reading: Reading,
    view: View,
) -> None:
    """Read the judgments here and the runs on Spark, and show the scores."""
    view.check()
    check_format(view, settings)
    check_confidence(settings, view, PageRequest(None, None))
    with collected_notes() as notes:
        judgments, texts = as_qrels(qrels, reading), {}
        if queries is not None:
            described = as_queries(queries, limits=reading.limits)
            judgments, texts = judgments.with_columns(described.columns), described.known_texts()
        scores: list[Scores] = []
        with NamedTemporaryFile(prefix="rankgauge-spark-", suffix=".log") as log:
            session = start_session(options.master, settings=options.settings, log=log)
            for path in runs:
                with spark_errors(path):
                    frame = read_frame(session, path, reading.run_format)
                    result = evaluate(
                        frame,
                        judgments,
                        settings.measures,
                        conventions=settings.conventions,
                        columns=reading.columns,
                        default_name=source_name(path),
                    )
                    scores += collect_scores(result, columns=judgments.columns).values()
            session.stop()
    judged = settings.conventions.judgments(judgments)
    evaluation = Evaluation(judged, (), tuple(scores), texts).uniquely_named()
    show(evaluation, compared(evaluation, settings, runs), notes, settings, view)
