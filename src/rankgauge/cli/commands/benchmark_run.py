"""``rankgauge benchmark run``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

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
from rankgauge.cli.documented import documented
from rankgauge.cli.options.asking import ANSWER_OPTIONS, CALL_OPTIONS, MAX_FAILURES, NO_CODE
from rankgauge.cli.options.declared import (
    RETRIEVER_SET,
    configuration,
    configuration_folder,
    is_given,
    option,
    option_group,
    retriever_values,
)
from rankgauge.cli.options.html import HTML, PageRequest
from rankgauge.cli.options.reproducing import reproducible_command
from rankgauge.cli.options.saving import SaveRequest, saving_options
from rankgauge.cli.options.settings import (
    BY,
    CONVENTION_OPTIONS,
    KPI,
    measure_option,
    merge_options,
    statistics_options,
)
from rankgauge.cli.options.terminal import collected_notes, print_warnings, write, write_document
from rankgauge.config.settings import Settings, config_values
from rankgauge.core.progress import clear_line
from rankgauge.core.settings import Section
from rankgauge.errors import Note, UsageError, printable
from rankgauge.io.byte_streams import load_file
from rankgauge.io.writing import write_atomically
from rankgauge.render.document import ResultDocument, sentence
from rankgauge.render.documents.benchmark import collection_sentence, findings_document, summary_document
from rankgauge.report.report import Report
from rankgauge.retrieval.fetch.modes import RETRIEVER_MODES
from rankgauge.retrieval.named import is_own_retriever
from rankgauge.validation.findings import Validation

if TYPE_CHECKING:
    pass

BENCHMARK_FOLDER = "rankgauge-benchmark"
EXIT_BROKEN, EXIT_INVALID = 2, 1  # if a system failed, and if validation found an error
CONFIGURED_FIELDS = ("corpus", "queries_file", "qrels", "modes", "embedder", "rerank")


@dataclass(frozen=True)
class BenchmarkInput:
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


@documented(
    "run",
    """
    # Run what rankgauge.yaml describes
    rankgauge benchmark run rankgauge.yaml
    # Benchmark BM25 on a folder with corpus, queries and judgments
    rankgauge benchmark run --corpus my-collection --mode lexical
    # Benchmark a function of your own beside it
    rankgauge benchmark run --corpus my-collection --mode lexical \\
      --mode ./search.py:search
    """,
)
@click.argument("config_file", metavar="[CONFIG]", type=click.Path(), required=False)
@option_group(
    "source",
    BenchmarkInput,
    option(
        "--corpus",
        section=Section.INPUT,
        type=click.Path(),
        metavar="PATH",
        help="Read the corpus, or a BEIR folder with all three.",
    ),
    option(
        "--queries",
        "queries_file",
        section=Section.INPUT,
        type=click.Path(),
        metavar="PATH",
        help="Read the queries.  [default: those in the corpus's folder]",
    ),
    option(
        "--qrels",
        section=Section.INPUT,
        type=click.Path(),
        metavar="PATH",
        help="Read the judgments.  [default: those in the corpus's folder]",
    ),
    option(
        "--mode",
        "modes",
        section=Section.RETRIEVER,
        multiple=True,
        metavar="MODE",
        help=f"Run a retriever: {', '.join(RETRIEVER_MODES)}, module:callable, ./FILE.py:name, or FILE.yaml; "
        "repeatable.  [default: the three]",
    ),
    option(
        "--embedder",
        section=Section.RETRIEVER,
        metavar="NAME",
        help="Embed texts of vector and hybrid with NAME.  [default: wordllama]",
    ),
    option(
        "--rerank",
        section=Section.RETRIEVER,
        metavar="NAME",
        help="Add a system: the results of hybrid, reranked by NAME.",
    ),
    option(
        "--k",
        section=Section.RETRIEVER,
        type=click.IntRange(min=1),
        default=DEPTH,
        show_default=True,
        metavar="N",
        help="Fetch at most N documents per query.",
    ),
    option(
        "--latency",
        section=Section.RETRIEVER,
        type=click.IntRange(min=0),
        default=CALLS,
        show_default=True,
        metavar="N",
        help="Time N calls of each system, one query at a time; 0 measures no latency.",
    ),
    MAX_FAILURES,
)
@RETRIEVER_SET
@option_group("asking", dict, *ANSWER_OPTIONS, *CALL_OPTIONS)
@option_group(
    "options",
    dict,
    measure_option(f"Compute a measure or a set of them; repeatable.  [default: {', '.join(BENCHMARK_MEASURES)}]"),
    option(
        "--baseline", section=Section.STATISTICS, metavar="NAME", help="Compare with this system.  [default: the first]"
    ),
    *statistics_options(),
    BY,
    *CONVENTION_OPTIONS,
    KPI,
)
@option_group(
    "output",
    BenchmarkOutput,
    option(
        "--index",
        section=Section.RETRIEVER,
        type=click.Path(),
        metavar="DIR",
        help="Keep indexes in DIR for the next benchmark.",
    ),
    option(
        "--restart",
        section=Section.RETRIEVER,
        is_flag=True,
        help="Discard the partial results of an interrupted benchmark.",
    ),
    option(
        "-o",
        "--out",
        section=Section.OUTPUT,
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
    sets: tuple[str, ...],
    source: BenchmarkInput,
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
    if config_file is not None:
        check_config_file(config_file, source, asking)
    config = configuration()
    plan = plan_of_source(source, asking) if config_file is None or config is None else plan_of(config, config_file)
    configured = {} if config is None else config_values(config, configuration_folder())
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
            file.write(load_file(Path(output.out) / PAGE).stored)
    return code


def run_and_show(
    plan: BenchmarkPlan,
    out: str,
    *,
    index: str | None = None,
    restart: bool = False,
    more: Mapping[str, Sequence[str]] | None = None,
    saving: SaveRequest | None = None,
) -> int | None:
    """Run a plan, and print the results and where they are."""
    with collected_notes() as notes:
        report = run_benchmark(plan, out, index=index, restart=restart, listener=BenchmarkMessages())
    about = sentence(collection_sentence(report))
    write_document(ResultDocument(report.title, lambda: [about]))
    write("\n")
    write_document(summary_document(report, {**_ending(report, out), **(more or {})}))
    print_warnings([note for note in notes if note not in report.input_notes])
    if saving is not None:
        saving.write(report.evaluation, costs=report.costs)
    if report.failed:
        return EXIT_BROKEN
    return None if all(validation.ok for validation in report.validations) else EXIT_INVALID


def check_config_file(path: str, source: BenchmarkInput, asking: Iterable[str] = ()) -> None:
    """Raise if what a configuration names is an option too."""
    if Path(path).is_dir():
        raise UsageError(f"{path} is a folder, not a configuration", hint=f"--corpus {path}")
    conflict = next((name for name in CONFIGURED_FIELDS if getattr(source, name)), None)
    conflict = conflict or next((name for name in asking if is_given(name)), None)
    if conflict is not None:
        flag = {"modes": "--mode", "queries_file": "--queries"}.get(conflict, f"--{conflict}")
        raise UsageError(
            f"{flag} cannot be combined with a configuration, which names it",
            hint=f"leave out {flag}, or the configuration",
        )
    if retriever_values():
        raise UsageError(
            "--set retriever.… is for a benchmark without a configuration", hint="use --set retrievers.NAME.…"
        )


def plan_of_source(source: BenchmarkInput, asking: Mapping[str, Any]) -> BenchmarkPlan:
    """The plan of a collection, or of the bundled one; ``asking`` are the options of a callable."""
    flags = {"embedder": source.embedder, "rerank": source.rerank}
    options = {**retriever_values(), **{name: value for name, value in flags.items() if value is not None}}
    given = {name: value for name, value in asking.items() if is_given(name)}
    if given and not any(map(is_own_retriever, source.modes)):
        flag = f"--{next(iter(given))}"
        raise UsageError(f"{flag} applies to --mode module:callable", hint=f"leave out {flag}")
    systems = default_systems({**options, **given}, source.modes or RETRIEVER_MODES)
    if source.corpus is None:
        if source.queries_file or source.qrels:
            raise UsageError("--queries and --qrels need a corpus", hint="name it: --corpus")
        return shipped_plan(**({"systems": systems} if options or source.modes else {}))
    if source.queries_file is not None and source.qrels is not None:
        return BenchmarkPlan(
            Path(source.corpus).resolve().stem, source.corpus, source.queries_file, source.qrels, systems
        )
    plan = plan_of_folder(source.corpus, systems=systems)
    return replace(plan, queries=source.queries_file or plan.queries, qrels=source.qrels or plan.qrels)


class BenchmarkMessages(BenchmarkListener):
    """Prints on standard error what happens."""

    def validated(self, validation: Validation) -> None:
        """Show why invalid judgments are refused."""
        if not validation.ok:
            write_document(findings_document(validation))

    def noted(self, note: Note) -> None:
        """Show a caveat about the collection."""
        print_warnings([note])

    def finished(self, system: str, error: str | None) -> None:
        """Show why a system failed."""
        if error is not None:
            self.warned(system, Note("system-failed", error))

    def warned(self, system: str, note: Note) -> None:
        """Show a warning below the line of progress."""
        clear_line()
        print_warnings([note], about=system)


def _ending(report: Report, out: str) -> dict[str, Sequence[str]]:
    """The files, and what to do next."""
    folder = printable(out, None)
    files = [f"{folder}/{PAGE}   ← open this", f"{COMPARISON}, {REPORT}, {MANIFEST}"]
    from rankgauge.cli.starting.plan import CONFIG_FILE

    first = "rankgauge gate --help" if Path(CONFIG_FILE).exists() else "rankgauge init"
    steps = [first, "rankgauge compare --help", f"rankgauge report verify {folder}"]
    return {"Wrote": files, "Next": [" · ".join(steps)]}
