"""``rankgauge benchmark run``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rankgauge._version import __version__
from rankgauge.benchmark.folder import COMPARISON, MANIFEST, PAGE, REPORT
from rankgauge.benchmark.listener import BenchmarkListener
from rankgauge.benchmark.plan import (
    BENCHMARK_MEASURES,
    CALLS,
    DEPTH,
    BenchmarkPlan,
    default_measures,
    default_systems,
    plan_of,
    plan_of_folder,
    shipped_plan,
)
from rankgauge.benchmark.run import run_benchmark
from rankgauge.cli.options.asking import ANSWER_OPTIONS, CALL_OPTIONS, MAX_FAILURES
from rankgauge.cli.options.code import NO_CODE
from rankgauge.cli.options.groups import is_given, option_group
from rankgauge.cli.options.html import HTML, PageRequest, reproducible_command
from rankgauge.cli.options.progress import FetchLine
from rankgauge.cli.options.saving import SaveRequest, saving_options
from rankgauge.cli.options.settings import (
    BY,
    CONVENTION_OPTIONS,
    KPI,
    ON_DUPLICATE,
    measure_option,
    merge_options,
    statistics_options,
)
from rankgauge.cli.options.terminal import collected_notes, print_run_warnings, print_warnings, use_color, write
from rankgauge.config.settings import Settings, config_values
from rankgauge.errors import Note, UsageError, printable
from rankgauge.io.writing import write_atomically
from rankgauge.render.text import benchmark as render
from rankgauge.report.report import Report
from rankgauge.retrieval.fetch.fetch import FetchProgress
from rankgauge.retrieval.fetch.modes import RETRIEVER_MODES
from rankgauge.retrieval.named import is_own_retriever
from rankgauge.validation.findings import Validation

if TYPE_CHECKING:
    from rankgauge.config.schema import Config

BENCHMARK_FOLDER = "rankgauge-benchmark"
EXIT_BROKEN, EXIT_INVALID = 2, 1  # if a system failed, and if validation found an error
CONFIGURED_FIELDS = ("corpus", "queries_file", "qrels", "modes", "embedder", "rerank")


@dataclass(frozen=True)
class Source:
    """What to benchmark, from the command line."""

    corpus: str | None
    queries_file: str | None
    qrels: str | None
    modes: tuple[str, ...]
    embedder: str | None
    rerank: str | None
    k: int
    latency: int
    max_failures: int


@dataclass(frozen=True)
class BenchmarkOutput:
    """Where a benchmark writes, and whether it resumes."""

    out: str
    index: str | None
    restart: bool
    path: str | None  # of a copy of the HTML report


@click.command("run")
@click.argument("config_file", metavar="[CONFIG]", type=click.Path(), required=False)
@option_group(
    "source",
    Source,
    click.option(
        "--corpus", type=click.Path(), metavar="PATH", help="Read the corpus, or a BEIR folder with all three."
    ),
    click.option(
        "--queries",
        "queries_file",
        type=click.Path(),
        metavar="PATH",
        help="Read the queries.  [default: those in the corpus's folder]",
    ),
    click.option(
        "--qrels",
        type=click.Path(),
        metavar="PATH",
        help="Read the judgments.  [default: those in the corpus's folder]",
    ),
    click.option(
        "--mode",
        "modes",
        multiple=True,
        metavar="MODE",
        help=f"Run a retriever: {', '.join(RETRIEVER_MODES)}, module:callable, ./FILE.py:name, or FILE.yaml; "
        "repeatable.  [default: the three]",
    ),
    click.option(
        "--embedder", metavar="NAME", help="Embed texts of vector and hybrid with NAME.  [default: wordllama]"
    ),
    click.option("--rerank", metavar="NAME", help="Add a system: the results of hybrid, reranked by NAME."),
    click.option(
        "--k",
        type=click.IntRange(min=1),
        default=DEPTH,
        show_default=True,
        metavar="N",
        help="Fetch at most N documents per query.",
    ),
    click.option(
        "--latency",
        type=click.IntRange(min=0),
        default=CALLS,
        show_default=True,
        metavar="N",
        help="Time N calls of each system, one query at a time; 0 measures no latency.",
    ),
    MAX_FAILURES,
)
@option_group("asking", dict, *ANSWER_OPTIONS, *CALL_OPTIONS)
@option_group(
    "options",
    dict,
    measure_option(f"Compute a measure or a set of them; repeatable.  [default: {', '.join(BENCHMARK_MEASURES)}]"),
    click.option("--baseline", metavar="NAME", help="Compare with this system.  [default: the first]"),
    *statistics_options(),
    BY,
    *(option for option in CONVENTION_OPTIONS if option is not ON_DUPLICATE),  # retrievers return rankings, not files
    KPI,
)
@option_group(
    "output",
    BenchmarkOutput,
    click.option("--index", type=click.Path(), metavar="DIR", help="Keep indexes in DIR for the next benchmark."),
    click.option("--restart", is_flag=True, help="Discard the partial results of an interrupted benchmark."),
    click.option(
        "-o",
        "--out",
        type=click.Path(),
        default=BENCHMARK_FOLDER,
        show_default=True,
        metavar="DIR",
        help="Write everything to DIR.",
    ),
    HTML,
)
@saving_options
@NO_CODE
def command(
    config_file: str | None,
    source: Source,
    asking: dict[str, Any],
    options: dict[str, Any],
    output: BenchmarkOutput,
    saving: SaveRequest,
) -> int | None:
    """Run retrievers on the same queries and show which is best.

    CONFIG is a rankgauge.yaml (`rankgauge init` writes one); command-line options override the file. Without a
    configuration and without --corpus, the bundled collection is used. Everything is written to one folder, which
    `rankgauge report verify` checks.
    """
    config = None if config_file is None else load_config_file(config_file, source, asking)
    plan = plan_of_source(source, asking) if config is None else plan_of(config, str(config_file))
    configured = {} if config is None else config_values(config, Path(str(config_file)).parent)
    settings = Settings.of({"bands": plan.settings.bands, **merge_options(options, configured)})
    plan = replace(
        plan,
        settings=replace(settings, measures=settings.measures or default_measures(plan.gold, plan.chunkings)),
        command=reproducible_command(click.get_current_context(), omit=("out", "index", "restart", "path")),
        k=source.k if is_given("k") else plan.k,
        latency=source.latency if is_given("latency") else plan.latency,
        max_failures=source.max_failures if is_given("max_failures") else plan.max_failures,
    )
    PageRequest(output.path).check(plan.queries, plan.labels)
    saving.check()
    code = run_and_show(plan, output.out, index=output.index, restart=output.restart, saving=saving)
    if output.path is not None:
        with write_atomically(output.path) as file:
            file.write((Path(output.out) / PAGE).read_bytes())
    return code


def run_and_show(
    plan: BenchmarkPlan,
    out: str,
    *,
    index: str | None = None,
    restart: bool = False,
    more: str = "",
    saving: SaveRequest | None = None,
) -> int | None:
    """Run a plan, and print the results and where they are."""
    with collected_notes() as notes:
        report = run_benchmark(plan, out, index=index, restart=restart, listener=ProgressLines())
    write(f"rankgauge {__version__} · {printable(render.facts(report), None)}\n\n")
    write(render.checked(report.validations) + "\n\n")
    write(render.as_text(report, color=use_color()) + "\n")
    write(_written_files(report, out) + more)
    print_warnings(notes)
    print_run_warnings(report.scores)
    if saving is not None:
        saving.write(report.evaluation, costs=report.costs)
    if report.failed:
        return EXIT_BROKEN
    return None if all(validation.ok for validation in report.validations) else EXIT_INVALID


def load_config_file(path: str, source: Source, asking: Iterable[str] = ()) -> Config:
    """The configuration in a file; what it names cannot be an option too."""
    from rankgauge.config.reading import load_config

    if Path(path).is_dir():
        raise UsageError(f"{path} is a folder, not a configuration", hint=f"--corpus {path}")
    conflict = next((name for name in CONFIGURED_FIELDS if getattr(source, name)), None)
    conflict = conflict or next((name for name in asking if is_given(name)), None)
    if conflict is not None:
        option = {"modes": "--mode", "queries_file": "--queries"}.get(conflict, f"--{conflict}")
        raise UsageError(
            f"{option} cannot be combined with a configuration, which names it",
            hint=f"leave out {option}, or the configuration",
        )
    return load_config(path)


def plan_of_source(source: Source, asking: Mapping[str, Any]) -> BenchmarkPlan:
    """The plan of a collection, or of the bundled one; ``asking`` are the options of a callable."""
    options: dict[str, Any] = {"embedder": source.embedder, "rerank": source.rerank}
    given = {name: value for name, value in asking.items() if is_given(name)}
    if given and not any(map(is_own_retriever, source.modes)):
        option = f"--{next(iter(given))}"
        raise UsageError(f"{option} applies to --mode module:callable", hint=f"leave out {option}")
    systems = default_systems({**options, **given}, source.modes or RETRIEVER_MODES)
    if source.corpus is None:
        if source.queries_file or source.qrels:
            raise UsageError("--queries and --qrels need a corpus", hint="name it: --corpus")
        return shipped_plan(**({"systems": systems} if any(options.values()) or source.modes else {}))
    if source.queries_file is not None and source.qrels is not None:
        return BenchmarkPlan(
            Path(source.corpus).resolve().stem, source.corpus, source.queries_file, source.qrels, systems
        )
    plan = plan_of_folder(source.corpus, systems=systems)
    return replace(plan, queries=source.queries_file or plan.queries, qrels=source.qrels or plan.qrels)


class ProgressLines(BenchmarkListener):
    """Prints on standard error which system is running."""

    def __init__(self) -> None:
        self._line: FetchLine | None = None

    def validated(self, validation: Validation) -> None:
        """Show why invalid judgments are refused."""
        if not validation.ok:
            write(render.checked([validation]) + "\n")

    def noted(self, note: Note) -> None:
        """Show a caveat about the collection."""
        print_warnings([note])

    def started(self, system: str) -> FetchProgress:
        """Show how many queries are fetched."""
        self._line = FetchLine(system)
        return self._line

    def finished(self, system: str, error: str | None) -> None:
        """Show why a system failed."""
        if error is not None:
            self.warned(system, Note("system-failed", error))

    def warned(self, system: str, note: Note) -> None:
        """Show a warning below the line of progress."""
        if self._line is not None:
            self._line.end()
        print_warnings([note], about=system)


def _written_files(report: Report, out: str) -> str:
    runs = ", ".join(report.names)
    steps = {
        f"rankgauge report verify {printable(out, None)}": "recompute every number",
        "rankgauge init": "configure your own corpus",
        "rankgauge compare --help": "compare your own run files",
    }
    wide = max(map(len, steps))
    next_steps = [f"{step:<{wide}}   {purpose}" for step, purpose in steps.items()]
    files = [
        f"{printable(out, None)}/{PAGE}   ← open this",
        f"{COMPARISON}  {REPORT}  {MANIFEST}",
        f"runs/, evaluations/: {runs}",
    ]
    return "\n".join([render.labeled("wrote", files), render.labeled("next", next_steps)]) + "\n"
