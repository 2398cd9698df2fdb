"""``rankgauge gate``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rankgauge.cli.options.common import (
    bands_of,
    collected_notes,
    colour,
    config_option,
    convention_options,
    kpi_option,
    limits_of,
    reading_options,
    say,
    say_of_runs,
    write,
)
from rankgauge.cli.options.html import Page, html_option
from rankgauge.cli.options.progress import bar
from rankgauge.comparison.gate.gate import gate, write_baseline
from rankgauge.comparison.gate.result import GateResult
from rankgauge.core.ranking import Compat
from rankgauge.core.run import OnDuplicate
from rankgauge.errors import UsageError, printable
from rankgauge.evaluation.evaluate import NoRelevant, Queries
from rankgauge.evaluation.notes import Note
from rankgauge.io.writing import atomic, refuse_inputs
from rankgauge.render.text import gate as render
from rankgauge.render.text import gate_ci as render_ci

if TYPE_CHECKING:
    from rankgauge.config.bands.bands import Bands

FAILED = 1
GITHUB = "GITHUB_STEP_SUMMARY"


def said_in(path: str) -> dict[str, Any]:
    """What a configuration says of this command's options; where a baseline is stored, not what to compare with."""
    from rankgauge.config.reading import load_config

    config = load_config(path)
    asked, measures = config.gate, config.measures
    if not measures.graded or measures.level is not None:
        raise UsageError(
            f"{printable(path, None)}: a gate does not know measures.graded and measures.level",
            hint="leave them out, and say the level in the names: AP(rel=2)@100",
        )
    said = measures.model_dump(include={"compat", "queries", "no_relevant", "on_duplicate"})
    said |= {"margin": asked.margin, "alpha": asked.alpha}
    said |= {"require": tuple(asked.require)} if asked.require else {}
    said |= {"measures": tuple(asked.measures)} if asked.measures else {}
    if asked.against is not None and click.get_current_context().params["store"] is None:
        said["against"] = str(Path(path).parent / asked.against)
    return said


@click.command("gate")
@click.argument("qrels", type=click.Path(allow_dash=True))
@click.argument("run", type=click.Path(allow_dash=True))
@click.option(
    "--require",
    multiple=True,
    metavar="'M>=X'",
    help="A value that a measure must have: 'nDCG@10>=0.35', 'RR>0.6'. Any number of them.",
)
@click.option(
    "--against",
    type=click.Path(allow_dash=True),
    metavar="FILE",
    help="A baseline made by --write-baseline, or a run: no gated measure may drop against it.",
)
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="NAME",
    help="The measures that are gated or stored.  [default: the baseline's, else those required, else the usual six]",
)
@click.option(
    "--margin",
    type=click.FloatRange(min=0),
    default=0.0,
    show_default=True,
    help="A smaller drop never fails.",
)
@click.option(
    "--alpha",
    type=click.FloatRange(min=0, max=1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="How often a gate may fail though nothing changed.",
)
@click.option("--corpus", type=click.Path(), metavar="FILE", help="The documents, to tell a drop from lost ids.")
@click.option(
    "--write-baseline",
    "store",
    type=click.Path(),
    metavar="FILE",
    help="Store this run as a baseline, unless the gate fails.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json", "junit", "markdown"]),
    default="table",
    show_default=True,
    help="What to print.",
)
@click.option(
    "--summary",
    type=click.Path(),
    metavar="FILE",
    help='Write the Markdown here too; "$GITHUB_STEP_SUMMARY" shows it on the page of a GitHub workflow.',
)
@html_option
@convention_options
@config_option(said_in)
@kpi_option
@reading_options
def command(
    qrels: str,
    run: str,
    require: tuple[str, ...],
    against: str | None,
    measures: tuple[str, ...],
    margin: float,
    alpha: float,
    corpus: str | None,
    store: str | None,
    form: str,
    summary: str | None,
    page: str | None,
    queries: Queries,
    no_relevant: NoRelevant,
    on_duplicate: OnDuplicate,
    compat: Compat,
    config: str | None,
    kpi: str | None,
    qrels_format: str | None,
    run_format: str | None,
    max_bytes: int | None,
    max_line: int | None,
    strict: bool,
) -> int:
    """Fail where retrieval got worse, for CI.

    A required value that is missed fails. Against a baseline only a drop fails that is significant (paired over
    queries, one-sided, corrected over all gated measures) and at least the margin. Where the judgments hold no relevant
    document the gate is skipped. Exit codes: 0 passed or skipped, 1 failed, 2 bad input or a baseline that cannot be
    compared with, 64 a wrong call.
    """
    inputs = [qrels, run, *(given for given in (against, corpus) if given)]
    if inputs.count("-") > 1:
        raise UsageError("standard input can be only one of the files")
    for out in (store, summary):
        if out is not None:
            refuse_inputs(out, inputs)
    if page is not None:
        Page(page).check(inputs)
    storing = store is not None and not require and against is None
    if storing and (page or summary or form != "table"):
        raise UsageError(
            "storing a baseline decides nothing that could be shown", hint="leave out --html, --summary and --format"
        )
    bands = bands_of(kpi, config)
    shared = {
        "compat": compat,
        "queries": queries,
        "no_relevant": no_relevant,
        "on_duplicate": on_duplicate,
        "qrels_format": qrels_format,
        "run_format": run_format,
        "limits": limits_of(max_bytes, max_line, strict=strict),
    }
    with collected_notes() as notes, bar("reading") as progress:
        if storing and store is not None:
            scores = write_baseline(store, qrels, run, measures or None, progress=progress, **shared)  # type: ignore[arg-type]  # names and types as above
            result = None
        else:
            result = gate(
                qrels,
                run,
                require=require,
                against=against,
                measures=measures or None,
                margin=margin,
                alpha=alpha,
                corpus=corpus,
                progress=progress,
                **shared,  # type: ignore[arg-type]
            )
            scores = result.scores
    if result is not None:
        show(result, notes, form, bands)
        _summarise(result, summary, bands)
        if page is not None:
            _write_page(page, result, inputs[: 3 if against else 2], corpus, bands, shared)
    say(notes)
    say_of_runs([scores])
    if store is not None:
        _store(result, store, inputs)
    return FAILED if result is not None and result.failed else 0


def show(result: GateResult, notes: list[Note], form: str, bands: Bands | None) -> None:
    """Print the verdict on standard output."""
    match form:
        case "json":
            write(render.as_json(result, notes=notes, bands=bands))
        case "junit":
            write(render_ci.as_junit(result, bands=bands))
        case "markdown":
            write(render_ci.as_markdown(result, bands=bands))
        case _:
            write(render.as_text(result, colour=colour(), bands=bands))


def _summarise(result: GateResult, path: str | None, bands: Bands | None) -> None:
    """Write the Markdown, behind what other steps wrote where the file is GitHub's; never there unasked."""
    github = os.environ.get(GITHUB)
    if path is None:
        if github:
            click.echo(f'hint: --summary "${GITHUB}" shows this on the page of the workflow', err=True)
        return
    text = render_ci.as_markdown(result, bands=bands)
    if github and Path(path).is_file() and Path(path).samefile(github):
        text = Path(path).read_text(encoding="utf-8", errors="surrogateescape") + text
    with atomic(path) as file:
        file.write(text.encode("utf-8", "surrogateescape"))


def _write_page(
    path: str, result: GateResult, files: list[str], corpus: str | None, bands: Bands | None, shared: dict[str, Any]
) -> None:
    """The page of the run beside the one that it was held against; a stored baseline has no rankings to show."""
    from rankgauge.comparison.compare import Statistics
    from rankgauge.comparison.stored import stored_baseline
    from rankgauge.report.settings import Settings

    qrels, run, *against = files
    runs = [*(one for one in against if stored_baseline(one) is None), run]
    measures, how = tuple(map(str, result.scores.measures)), Statistics(confidence=round(1 - result.rule.alpha, 12))
    settings = Settings(measures, conventions=result.scores.conventions, statistics=how, bands=bands)
    reading = {name: shared[name] for name in ("on_duplicate", "qrels_format", "run_format", "limits")}
    Page(path, corpus, reading=reading).write(qrels, runs, lambda: settings, verdict=render.verdict_lines(result))


def _store(result: GateResult | None, path: str, inputs: list[str]) -> None:
    """Store the run, unless it failed: a baseline that follows every drop would see none."""
    if result is not None and (result.failed or result.current is None):
        click.echo(f"{printable(path, None)}: not written, the gate {_became(result)}", err=True)
        return
    if result is not None and result.current is not None:
        result.current.write(path, inputs=inputs)
    click.echo(f"wrote {printable(path, None)}", err=True)


def _became(result: GateResult) -> str:
    return "failed" if result.failed else "was skipped"
