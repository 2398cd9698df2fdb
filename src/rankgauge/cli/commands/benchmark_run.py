"""``rankgauge benchmark run``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from rankgauge._version import __version__
from rankgauge.benchmark.folder import COMPARISON, MANIFEST, PAGE, REPORT
from rankgauge.benchmark.plan import (
    CALLS,
    DEPTH,
    BenchmarkPlan,
    plan_of_config,
    plan_of_folder,
    shipped_plan,
    usual_systems,
)
from rankgauge.benchmark.run import Talk, run_benchmark
from rankgauge.cli.options.common import bands_of, collected_notes, colour, kpi_option, say, say_of_runs, write
from rankgauge.cli.options.html import Page, html_option, told
from rankgauge.cli.options.progress import FetchLine
from rankgauge.errors import UsageError, printable
from rankgauge.io.writing import atomic
from rankgauge.render.text import benchmark as render
from rankgauge.report.report import Report
from rankgauge.report.settings import Settings
from rankgauge.retrieval.fetch.fetch import Progress
from rankgauge.retrieval.fetch.modes import MODES
from rankgauge.validation.findings import Validation

FOLDER = "rankgauge-benchmark"
BROKEN, INVALID = 2, 1  # the exit codes where a system broke, and where validation found an error


@click.command("run")
@click.argument("config", type=click.Path(), required=False)
@click.option(
    "--corpus",
    type=click.Path(),
    metavar="PATH",
    help="The corpus, or a BEIR folder with all three.",
)
@click.option("--queries", type=click.Path(), metavar="PATH", help="The queries.  [default: the folder's]")
@click.option("--qrels", type=click.Path(), metavar="PATH", help="The judgments.  [default: the folder's]")
@click.option(
    "--mode",
    "modes",
    multiple=True,
    metavar="MODE",
    help=f"{', '.join(MODES)}, or module:callable.  [default: the three]",
)
@click.option("--embedder", metavar="NAME", help="Of vector and hybrid.  [default: wordllama]")
@click.option("--rerank", metavar="NAME", help="One system more: the hybrid's results reranked by sentences, ….")
@click.option("-m", "--measure", "measures", multiple=True, metavar="NAME", help="What to measure.  [default: kpi]")
@click.option("--baseline", metavar="NAME", help="The system to compare with.  [default: the first]")
@click.option("--by", multiple=True, metavar="COLUMN", help="Columns of the queries to look into.")
@click.option("--k", type=click.IntRange(min=1), default=DEPTH, show_default=True, help="Documents a query, at most.")
@click.option(
    "--latency",
    type=click.IntRange(min=0),
    default=CALLS,
    show_default=True,
    help="Calls of each system to time, one query at a time; 0 for no times at all.",
)
@click.option("--index", type=click.Path(), metavar="DIR", help="A folder to keep indexes in, for the next time.")
@click.option("--restart", is_flag=True, help="Forget what a benchmark that was stopped has got.")
@click.option("-o", "--out", type=click.Path(), default=FOLDER, show_default=True, metavar="DIR")
@html_option
@kpi_option
def command(
    config: str | None,
    out: str,
    index: str | None,
    restart: bool,
    page: str | None,
    kpi: str | None,
    **options: Any,
) -> int | None:
    """Run retrievers on the same queries, and say which is best.

    CONFIG is a rankgauge.yaml (`rankgauge init` writes one); options given here come first. Without a configuration and
    without --corpus, the collection that comes with the package. Everything is written into one folder, which
    `rankgauge report verify` can check.
    """
    plan = _changed(_plan(config, options), options, kpi)
    Page(page).check([plan.queries, plan.qrels])
    code = run_and_show(plan, out, index=index, restart=restart)
    if page is not None:
        with atomic(page) as file:
            file.write((Path(out) / PAGE).read_bytes())
    return code


def run_and_show(
    plan: BenchmarkPlan, out: str, *, index: str | None = None, restart: bool = False, more: str = ""
) -> int | None:
    """Run a plan, and print what came out and where it is."""
    talk = _Line()
    with collected_notes() as notes:
        report = run_benchmark(plan, out, index=index, restart=restart, talk=talk)
    write(f"rankgauge {__version__} · {printable(render.facts(report), None)}\n\n")
    write(render.checked(report.validations) + "\n\n")
    write(render.as_text(report, colour=colour()) + "\n")
    write(_wrote(report, out) + more)
    say(notes)
    say_of_runs(report.scores)
    if report.failed:
        return BROKEN
    return None if all(one.ok for one in report.validations) else INVALID


def _plan(config: str | None, options: dict[str, Any]) -> BenchmarkPlan:
    """The plan of a configuration, of a collection, or of the one that is shipped."""
    if config is not None:
        if Path(config).is_dir():
            raise UsageError(f"{config} is a folder, not a configuration", hint=f"--corpus {config}")
        names = ("corpus", "queries", "qrels", "modes", "embedder", "rerank")
        other = next((name for name in names if options[name]), None)
        if other is not None:
            option = "--mode" if other == "modes" else f"--{other}"
            raise UsageError(f"{option} stands in the configuration", hint=f"leave out {option}, or the configuration")
        return plan_of_config(config)
    given = {name: options[name] for name in ("embedder", "rerank")}
    systems = usual_systems(given, options["modes"] or MODES)
    if options["corpus"] is None:
        if options["queries"] or options["qrels"]:
            raise UsageError("queries and judgments of which corpus?", hint="name it: --corpus")
        chosen = {"systems": systems} if any(given.values()) or options["modes"] else {}
        return shipped_plan(**chosen)
    corpus, queries, qrels = options["corpus"], options["queries"], options["qrels"]
    if queries is not None and qrels is not None:
        return BenchmarkPlan(Path(corpus).stem, corpus, queries, qrels, systems)
    plan = plan_of_folder(corpus, systems=systems)
    return replace(plan, queries=queries or plan.queries, qrels=qrels or plan.qrels)


def _changed(plan: BenchmarkPlan, options: dict[str, Any], kpi: str | None) -> BenchmarkPlan:
    """The plan with what the command line says itself."""
    context = click.get_current_context()
    given = {name for name in options if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    settings: Settings = plan.settings
    if options["measures"]:
        settings = replace(settings, measures=tuple(options["measures"]))
    if options["baseline"] is not None:
        settings = replace(settings, baseline=options["baseline"])
    if context.get_parameter_source("kpi") is ParameterSource.COMMANDLINE:
        settings = replace(settings, bands=bands_of(kpi))
    return replace(
        plan,
        settings=settings,
        command=told(context, unsaid=("out", "index", "restart", "page")),
        by=tuple(options["by"]) if options["by"] else plan.by,
        k=options["k"] if "k" in given else plan.k,
        latency=options["latency"] if "latency" in given else plan.latency,
    )


class _Line(Talk):
    """Says on standard error whose turn it is."""

    def __init__(self) -> None:
        self._fetching: FetchLine | None = None

    def validated(self, found: Validation) -> None:
        if not found.ok:
            write(render.checked([found]) + "\n")

    def begins(self, system: str) -> Progress:
        self._fetching = FetchLine(system)
        return self._fetching

    def ends(self, system: str, reason: str | None) -> None:
        if reason is not None:
            self.says(system, reason)

    def says(self, system: str, text: str) -> None:
        if self._fetching is not None:
            self._fetching.end()
        click.echo(f"warning: {printable(f'{system}: {text}', None)}", err=True)


def _wrote(report: Report, out: str) -> str:
    runs = ", ".join(report.names)
    steps = {
        f"rankgauge report verify {printable(out, None)}": "every number computed again",
        "rankgauge init": "a configuration for your own corpus",
        "rankgauge compare --help": "you have run files already",
    }
    wide = max(map(len, steps))
    told = [f"{step:<{wide}}   {why}" for step, why in steps.items()]
    files = [
        f"{printable(out, None)}/{PAGE}   ← open this",
        f"{COMPARISON}  {REPORT}  {MANIFEST}",
        f"runs/, evaluations/: {runs}",
    ]
    return "\n".join([render.labelled("wrote", files), render.labelled("next", told)]) + "\n"
