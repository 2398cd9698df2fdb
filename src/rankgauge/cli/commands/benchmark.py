"""``rankgauge benchmark run``: retrievers, or labels and results, from options or a configuration."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import click

from rankgauge.benchmark.folder import COMPARISON, MANIFEST, PAGE, REPORT
from rankgauge.benchmark.plan import (
    BENCHMARK_MEASURES,
    BenchmarkPlan,
    PlannedSystem,
    default_measures,
    default_systems,
    plan_of,
    plan_of_folder,
    plan_of_opened,
)
from rankgauge.benchmark.run import BenchmarkListener, run_benchmark
from rankgauge.cli.command_tree import documented
from rankgauge.cli.options.declared_options import (
    FOLDER_CONFIG,
    NO_CONFIG,
    RETRIEVER_SET,
    config_file,
    config_option,
    configuration,
    configuration_folder,
    declared_options,
    flag_of,
    is_given,
    is_set,
    option,
    option_group,
    retriever_values,
)
from rankgauge.cli.options.evaluation_settings import (
    BY,
    CONVENTION_OPTIONS,
    KPI,
    announce_configuration,
    measure_option,
    merge_options,
    statistics_options,
)
from rankgauge.cli.options.inputs import (
    ANSWER_OPTIONS,
    CALL_OPTIONS,
    NO_CODE,
    is_history,
    matching_options,
    without_sets,
)
from rankgauge.cli.options.outputs import HTML, SAVE_NAMES, PageRequest, SaveRequest, saving_options
from rankgauge.cli.options.reproducing_command import reproducible_command
from rankgauge.cli.printing import collected_notes, print_warnings, write, write_document
from rankgauge.cli.process import report_failure
from rankgauge.config.configured_settings import config_values, label_reading
from rankgauge.config.retriever_settings import BenchmarkSettings, JournalSettings, RetrieverSettings
from rankgauge.config.settings import Settings
from rankgauge.core.progress import clear_line
from rankgauge.core.settings import Section
from rankgauge.core.verdicts import CheckOutcome, exit_code
from rankgauge.errors import Note, RetrieverError, UsageError, printable
from rankgauge.io.atomic_files import write_atomically
from rankgauge.io.byte_streams import load_file
from rankgauge.io.input_kinds import is_live
from rankgauge.io.reading_options import Reading
from rankgauge.io.results import Opening, open_inputs
from rankgauge.render.document import ResultDocument, sentence
from rankgauge.render.documents.benchmark import collection_sentence, findings_document, summary_document
from rankgauge.report.report import Report
from rankgauge.retrieval.open_retriever import RETRIEVER_MODES, is_own_retriever, needless_option
from rankgauge.validation.findings import Validation

BENCHMARK_FOLDER = "rankgauge-benchmark"
OWN_NAMES = ("out", "index", "resume", "path")  # of where it writes, which is no part of what it computes
COLLECTION_SECTIONS = ("collection", "chunking", "retrievers")  # which other labels and results replace
CONFIGURED_FIELDS = ("corpus", "queries_file", "qrels", "embedder", "rerank")


@dataclass(frozen=True)
class BenchmarkInput:
    """What to benchmark, from the command line."""

    config: str | None  # settings for labels and results, or for --corpus; the collection, too, if there are neither
    corpus: str | None
    queries_file: str | None
    qrels: str | None
    retrievers: tuple[str, ...]
    embedder: str
    rerank: str | None
    k: int
    latency: int
    max_failures: int | None

    @property
    def has_collection(self) -> bool:
        """Whether options name the files."""
        return any(one is not None for one in (self.corpus, self.queries_file, self.qrels))

    @property
    def has_queries_in_labels(self) -> bool:
        """Whether the texts of the queries can only be those of the labels, such as test cases."""
        is_collection = self.corpus is not None and not Path(self.corpus).is_file()
        return bool(self.retrievers) and self.qrels is not None and self.queries_file is None and not is_collection


@dataclass(frozen=True)
class BenchmarkOutput:
    """Where a benchmark writes, and whether it resumes."""

    out: str
    index: str | None
    resume: bool | None
    path: str | None  # of a copy of the HTML report


@documented(
    "run",
    """
    # Run what rankgauge.yaml describes
    rankgauge benchmark run rankgauge.yaml
    # Benchmark BM25 and a function of your own on a BEIR folder
    rankgauge benchmark run --corpus my-collection --retriever lexical \\
      --retriever ./search.py:search
    # Benchmark results that exist already, and a live retriever
    rankgauge benchmark run qrels.txt old.run ./search.py:search \\
      --queries queries.jsonl
    """,
    sections=("collection", "chunking", "retrievers", "benchmark", "reading.coverage", "reading.tolerance"),
)
@click.argument(
    "inputs",
    metavar="[CONFIG | LABELS RESULTS …]",
    type=click.Path(),
    nargs=-1,
    is_eager=True,
    callback=lambda context, _, names: check_configuration_argument(context, names),
)
@option_group(
    "source",
    BenchmarkInput,
    config_option(rare=True),
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
        "--retriever",
        "retrievers",
        section=Section.RETRIEVER,
        multiple=True,
        metavar="NAME",
        help=f"Run {', '.join(RETRIEVER_MODES)}, one of CONFIG, module:object, ./FILE.py:name, or FILE.yaml; "
        "repeatable.  [default: those of CONFIG, or the first three]",
    ),
    *declared_options(RetrieverSettings, "embedder"),
    *declared_options(RetrieverSettings, "rerank", help="Add a system: the results of hybrid, reranked by NAME."),
    *declared_options(BenchmarkSettings),
)
@RETRIEVER_SET
@option_group("asking", dict, *ANSWER_OPTIONS, *CALL_OPTIONS)
@option_group(
    "options",
    dict,
    measure_option(f"Compute a measure or a set of them; repeatable.  [default: {', '.join(BENCHMARK_MEASURES)}]"),
    *declared_options(Settings, "baseline", help="Compare with this system.  [default: the first]"),
    *statistics_options(),
    BY,
    *CONVENTION_OPTIONS,
    KPI,
)
@option_group(
    "output",
    BenchmarkOutput,
    *declared_options(RetrieverSettings, "index"),
    *declared_options(JournalSettings, "resume"),
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
@matching_options()
@NO_CODE
@without_sets
def benchmark_run_command(
    inputs: tuple[str, ...],
    config_argument: str | None,
    source: BenchmarkInput,
    reading: Reading,
    asking: dict[str, Any],
    options: dict[str, Any],
    output: BenchmarkOutput,
    saving: SaveRequest,
) -> int | None:
    """Run retrievers on the same queries and show which is best.

    CONFIG is a rankgauge.yaml (`rankgauge init` writes one), by default that of this folder; command-line options
    override it. LABELS and RESULTS are those of `rankgauge evaluate`: stored results are scored as they are, live
    retrievers are asked, and a log holds both. Everything is written to one folder, which `rankgauge benchmark verify`
    checks.
    """
    if config_argument and is_given("config"):
        raise UsageError(
            f"{printable(config_argument, None)} and --config {printable(str(source.config), None)} are both settings"
        )
    loaded, file = configuration(), config_file(click.get_current_context())
    if loaded is not None and (config_argument or not (inputs or source.has_collection)):
        check_configured(asking)
        announce_configuration()
        plan = plan_of(loaded, file or FOLDER_CONFIG, source.retrievers)
    else:
        announce_configuration(unused=COLLECTION_SECTIONS)
        if inputs or source.has_queries_in_labels:
            plan = plan_of_inputs(inputs, source, asking, saving, reading)
        else:
            plan = plan_of_source(source, asking)
        if loaded is not None:
            plan = replace(plan, **asdict(loaded.benchmark.as_settings(BenchmarkSettings)))
    configured = {} if loaded is None else config_values(loaded, configuration_folder())
    configured |= {"reading": label_reading(reading)}
    settings = Settings.of({"bands": plan.settings.bands, **merge_options(options, configured)})
    plan = replace(
        plan,
        settings=replace(settings, measures=settings.measures or _default_measures(plan)),
        command=reproducible_command(click.get_current_context(), omit=("out", "index", "resume", "path", *SAVE_NAMES)),
        k=source.k if is_given("k") else plan.k,
        latency=source.latency if is_given("latency") else plan.latency,
        max_failures=source.max_failures if is_given("max_failures") else plan.max_failures,
    )
    files = (plan.queries, plan.labels, *inputs)
    PageRequest(output.path).check(*(file for file in files if isinstance(file, str)))
    saving.check(reads_history=any(is_history(one) for one in inputs))
    code = run_and_show(plan, output.out, index=output.index, resume=output.resume, saving=saving)
    if output.path is not None:
        with write_atomically(output.path) as page:
            page.write(load_file(Path(output.out) / PAGE).stored)
    return code


def run_and_show(
    plan: BenchmarkPlan,
    out: str,
    *,
    index: str | None = None,
    resume: bool | None = None,
    more: Mapping[str, Sequence[str]] | None = None,
    saving: SaveRequest | None = None,
) -> int | None:
    """Run a plan, and print the results and where they are."""
    try:
        with collected_notes() as notes:
            report = run_benchmark(plan, out, index=index, resume=resume, listener=BenchmarkMessages())
    except RetrieverError as error:  # of the first retriever, as all failed
        report_failure(error)
        return exit_code("undecidable")
    about = sentence(collection_sentence(report))
    write_document(ResultDocument(report.title, lambda: [about]))
    write("\n")
    write_document(summary_document(report, {**_ending(report, out), **(more or {})}))
    print_warnings([note for note in notes if note not in report.input_notes])
    if saving is not None:
        saving.write(report.evaluation, costs=report.costs)
    found: list[CheckOutcome] = ["pass" if validation.ok else "fail" for validation in report.validations]
    return exit_code("undecidable" if report.failed else "pass", *found)


def check_configuration_argument(context: click.Context, names: tuple[str, ...]) -> tuple[str, ...]:
    """Tell a configuration from labels and results: it is a single file, in YAML, or in JSON with a key of one."""
    is_config = len(names) == 1 and (names[0].endswith((".yaml", ".yml")) or _is_json_configuration(names[0]))
    context.params["config_argument"] = names[0] if is_config else None
    return names


def _is_json_configuration(path: str) -> bool:
    if not path.endswith(".json") or not Path(path).is_file():
        return False
    from rankgauge.config.schema import Config

    try:
        data = json.loads(load_file(path).stored)
    except ValueError:
        return False  # whoever reads it says why that fails
    return isinstance(data, dict) and not Config.model_fields.keys().isdisjoint(data)


def plan_of_inputs(
    inputs: tuple[str, ...],
    source: BenchmarkInput,
    asking: Mapping[str, Any],
    saving: SaveRequest,
    reading: Reading,
) -> BenchmarkPlan:
    """The plan of labels and results; --retriever adds systems, which search --corpus."""
    if len(inputs) == 1 and Path(inputs[0]).is_dir():
        raise UsageError(f"{inputs[0]} is a folder, not labels or a configuration", hint=f"--corpus {inputs[0]}")
    labels = source.qrels or inputs[0]
    results = inputs if source.qrels is not None else inputs[1:]
    asks = any(map(is_live, results)) or any(map(is_own_retriever, source.retrievers))
    given = _asking_values(asking, asks=asks)
    systems: Mapping[str, PlannedSystem] = {}
    if source.retrievers:
        flags = {"embedder": source.embedder, "rerank": source.rerank}
        options = {**retriever_values(), **{name: value for name, value in flags.items() if is_given(name)}}
        systems = default_systems({**options, **given}, source.retrievers)
    engine = next((name for name, system in systems.items() if not system.is_own), None)
    if engine is not None and source.corpus is None:
        raise UsageError(f"{engine} retrieval needs a corpus", hint="name it: --corpus")
    documents = {} if source.corpus is None else {"documents": source.corpus}
    opening = Opening(0, needs_rankings=True, asks=False, history=saving.folder, text_labels=documents)
    if source.qrels is not None:
        opening = replace(opening, newest="named", log_is_system=False)
    opened = open_inputs(labels, results, reading, source.queries_file, opening)
    print_warnings(opened.notes)
    if not opened.results and not systems:
        raise UsageError(
            f"{printable(labels, None)} holds labels only: a benchmark needs results",
            hint="name them after the labels: runs, logs, or live retrievers such as ./search.py:search",
        )
    more = {"corpus": source.corpus, "systems": systems, "asking": given}
    return plan_of_opened(labels, opened, source.queries_file, reading, **more)


def check_configured(asking: Iterable[str]) -> None:
    """Raise if what a configuration names is an option too."""
    conflict = next((name for name in (*CONFIGURED_FIELDS, *asking) if is_given(name)), None)
    if conflict is not None:
        flag = flag_of(conflict)
        raise UsageError(
            f"{flag} cannot be combined with a configuration, which names it",
            hint=f"leave out {flag}, or the configuration (--config {NO_CONFIG})",
        )
    if retriever_values():
        raise UsageError(
            "--set retriever.… is for a benchmark without a configuration", hint="use --set retrievers.NAME.…"
        )


def _asking_values(asking: Mapping[str, Any], *, asks: bool) -> dict[str, Any]:
    """How live retrievers are asked, as the user or the configuration says; raises if there is none to ask."""
    given = next((name for name in asking if is_given(name)), None)
    if given is not None and not asks:
        raise needless_option(flag_of(given))
    return {name: value for name, value in asking.items() if asks and is_set(name)}


def plan_of_source(source: BenchmarkInput, asking: Mapping[str, Any]) -> BenchmarkPlan:
    """The plan of a collection, or of the bundled one; ``asking`` are the options of a callable."""
    flags = {"embedder": source.embedder, "rerank": source.rerank}
    options = {**retriever_values(), **{name: value for name, value in flags.items() if is_given(name)}}
    given = _asking_values(asking, asks=any(map(is_own_retriever, source.retrievers)))
    systems = default_systems({**options, **given}, source.retrievers or RETRIEVER_MODES)
    if source.corpus is None:
        return _plan_without_corpus(source, systems)
    if source.queries_file is not None and source.qrels is not None:
        return BenchmarkPlan(
            Path(source.corpus).resolve().stem, source.corpus, source.queries_file, source.qrels, systems
        )
    plan = plan_of_folder(source.corpus, systems=systems)
    return replace(plan, queries=source.queries_file or plan.queries, qrels=source.qrels or plan.qrels)


def _plan_without_corpus(source: BenchmarkInput, systems: Mapping[str, PlannedSystem]) -> BenchmarkPlan:
    """The plan of retrievers that search documents of their own."""
    if not source.has_collection:
        raise UsageError(
            f"nothing to benchmark: expected a configuration ({FOLDER_CONFIG}), LABELS and RESULTS, or --corpus",
            hint="`rankgauge init` writes a configuration; `rankgauge demo` benchmarks the bundled collection",
        )
    engine = next((name for name, system in systems.items() if not system.is_own), None)
    if engine is not None:
        raise UsageError(f"{engine} retrieval needs a corpus", hint="name it: --corpus")
    if source.queries_file is None or source.qrels is None:
        missing = "--queries" if source.queries_file is None else "--qrels"
        raise UsageError(f"a benchmark without a corpus needs {missing}", hint=f"name them: {missing} PATH")
    title = Path(source.queries_file).resolve().stem
    return BenchmarkPlan(title, None, source.queries_file, source.qrels, systems)


def _default_measures(plan: BenchmarkPlan) -> tuple[str, ...]:
    return default_measures(plan.gold, has_corpus=plan.corpus is not None)


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
    from rankgauge.cli.starter_files import CONFIG_FILE

    first = "rankgauge gate --help" if Path(CONFIG_FILE).exists() else "rankgauge init"
    steps = [first, "rankgauge compare --help", f"rankgauge benchmark verify {folder}"]
    return {"Wrote": files, "Next": [" · ".join(steps)]}
