"""What live retrievers answered, written to a file as they returned it: ``-o``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from rankgauge.cli.options.inputs import NamedInputs
from rankgauge.cli.printing import collected_notes, print_message, print_warnings
from rankgauge.core.run import Run
from rankgauge.errors import UsageError, printable
from rankgauge.evaluation.evaluate import Evaluation, unique_names
from rankgauge.io.formats.trec import write_run
from rankgauge.io.reading_options import Asking


def check_run_output(asking: Asking, named: NamedInputs) -> list[Path]:
    """The journals of the retrievers; raises, before anything is asked, if the results could not be written."""
    if asking.out is None:
        return []
    from rankgauge.io.atomic_files import check_writable
    from rankgauge.io.formats.log_writer import is_log_name
    from rankgauge.io.input_kinds import is_live
    from rankgauge.rag.live import live_journals
    from rankgauge.retrieval.journal import check_journal

    check_writable(asking.out, inputs=named.kept)
    live = [name for name in named.results if is_live(name)]
    if len(live) > 1 and not is_log_name(asking.out):
        raise UsageError(
            f"{printable(asking.out, None)} would be a TREC run, which holds one system, and there are {len(live)} "
            "live retrievers",
            hint="write a log, which holds several: -o results.jsonl",
        )
    journals = live_journals(asking.out, live)
    for journal in journals:  # nothing is asked before all of them are known to be usable
        check_journal(journal, asking.resume)
    return journals


def write_live_runs(
    evaluation: Evaluation,
    live: Sequence[Run],
    own_id: Callable[[str], str] | None,
    out: str,
    inputs: Iterable[str],
    journals: Iterable[Path],
) -> None:
    """Write the results, of several systems as one log; only then are the journals deleted."""
    from rankgauge.io.formats.log_writer import is_log_name, write_log
    from rankgauge.retrieval.journal import discard_journal

    with collected_notes() as notes:
        if is_log_name(out):
            labels = evaluation.qrels if evaluation.qrels.judgments == "grades" else None  # quotes stay in their file
            names = unique_names([run.name for run in live])
            runs = [replace(run, name=name) for run, name in zip(live, names, strict=True)]
            collection = evaluation.qrels.name
            write_log(out, runs, labels, evaluation.texts, inputs=inputs, own_id=own_id, collection=collection)
        else:
            write_run(live[0], out, inputs=inputs)
    for journal in journals:
        discard_journal(journal)
    print_warnings(notes)
    print_message(f"wrote {printable(out, None)}")
