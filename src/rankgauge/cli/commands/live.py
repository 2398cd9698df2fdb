"""``rankgauge evaluate --retriever``: a live retriever from the command line."""

from __future__ import annotations

from dataclasses import replace

from rankgauge.cli.messages import print_message
from rankgauge.cli.options.gold import LabelSources
from rankgauge.cli.options.html import OutputRequest
from rankgauge.cli.options.live import LiveOptions
from rankgauge.cli.options.terminal import collected_notes, print_warnings, write, write_document, write_lines
from rankgauge.cli.options.view import View, scores_shown, show
from rankgauge.config.settings import Settings
from rankgauge.core.ids import Ids
from rankgauge.errors import InputError, RetrieverError, printable
from rankgauge.evaluation.evaluate import Evaluation
from rankgauge.evaluation.notes import Note
from rankgauge.io.options import Reading
from rankgauge.io.trec_writer import check_no_white_space, write_run
from rankgauge.io.writing import check_writable
from rankgauge.rag.cases import AnyCases, read_cases
from rankgauge.rag.live import evaluate_retriever
from rankgauge.rag.results import RetrievalResult
from rankgauge.render.formats import printed_json
from rankgauge.report.report import Cost

EXIT_TOO_MANY_FAILURES = 1


def evaluate_live(
    live: LiveOptions, sources: LabelSources, settings: Settings, view: View, output: OutputRequest
) -> int:
    """Call the retriever for every test case, show the result, and return 1 if too many queries failed."""
    output.check(live.cases, *sources.files)
    if sources.gold is not None:
        sources.inputs.measures(settings.measures, settings.conventions)  # raises before anything is asked
    cases = live.cases or sources.inputs.labels(Reading()).cases()
    _check_output(live, cases)
    code, hint = 0, None
    with collected_notes() as notes:
        try:
            result = _ask(live, cases, settings)
        except RetrieverError as error:
            if not isinstance(error.result, RetrievalResult):
                raise
            result, code, hint = error.result, EXIT_TOO_MANY_FAILURES, error.hint
    if sources.gold is None:
        evaluation = replace(result.evaluation, scores=(result.scores.only(result.printed),))
        _show(result, evaluation, notes, settings, view)
    else:
        evaluation = _evaluate_gold(sources, result, settings)
        show(evaluation, None, [*notes, *result.answer_notes], settings, view)
    if code == 0 and live.out is not None:
        write_run(result.run, live.out, inputs=_files(live))
        print_message(f"wrote {printable(live.out, None)}")
    elif hint is not None:
        print_message(f"hint: {hint}")
    if code == 0:
        output.saving.write(evaluation, costs={evaluation.scores[0].run: _cost(result)})
    elif output.saving.save:
        print_message("not saved: too many queries failed")
    output.page.write(evaluation, settings, input_notes=[*notes, *result.answer_notes])
    return code


def _files(live: LiveOptions) -> list[str]:
    return [] if live.cases is None else [live.cases]


def _evaluate_gold(sources: LabelSources, result: RetrievalResult, settings: Settings) -> Evaluation:
    """Score what the retriever returned on labels by text."""
    from rankgauge.labels.gold.evaluation import evaluate_gold_runs

    return evaluate_gold_runs(sources.inputs, [result], settings.measures, conventions=settings.conventions)


def _check_output(live: LiveOptions, cases: AnyCases) -> None:
    """Raise, before anything is asked, if the run could not be written."""
    if live.out is None:
        return
    check_writable(live.out, inputs=_files(live))
    ids = Ids.from_text([case.id for case in read_cases(cases).cases], "query id")
    try:
        check_no_white_space(ids, "query id")
    except InputError as error:
        raise InputError.at(
            live.cases or "gold", None, error.message, hint='give each case an "id" without white space'
        ) from None


def _ask(live: LiveOptions, cases: AnyCases, settings: Settings) -> RetrievalResult:
    return evaluate_retriever(
        live.retriever,
        cases,
        live.k,
        measures=None if live.cases is None else list(settings.measures or ()) or None,
        id=live.id,
        unit=live.unit,
        scores=live.scores,
        calls=replace(live.calls, journal=f"{live.out}.journal") if live.out is not None else live.calls,
        max_failures=live.max_failures,
    )


def _cost(result: RetrievalResult) -> Cost:
    """The latency of the calls that were answered."""
    calls = sum(row.latency is not None for row in result.per_query_metrics)
    times = result.latency_ms or {}
    return Cost(calls=calls, p50=times.get("p50"), p95=times.get("p95"), p99=times.get("p99"), max=times.get("max"))


def _show(result: RetrievalResult, evaluation: Evaluation, notes: list[Note], settings: Settings, view: View) -> None:
    """Print the result; like that of a run in a file, if more is asked for than the means."""
    if view.format == "json":
        data = {**result.to_dict(), "evaluation": scores_shown(evaluation, None, settings, view, notes).data()}
        write(printed_json(data))
    elif view.format != "table":
        show(evaluation, None, [*notes, *result.answer_notes], settings, view)
        return
    else:
        write_lines(str(result))
        if view.per_query or view.plot or view.audit or settings.confidence_intervals or settings.by:
            write("\n")
            write_document(scores_shown(evaluation, None, settings, view))
    print_warnings(notes)
