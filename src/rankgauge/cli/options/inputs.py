"""What labels and results a command takes: files and how they are read, labels by text, live retrievers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rankgauge.cli.options.declared_options import (
    RARE_SET,
    Command,
    Option,
    config_file,
    configuration,
    declared_options,
    flag_of,
    is_given,
    is_set,
    key_option,
    option,
    option_group,
    option_names,
    with_options,
)
from rankgauge.cli.printing import own_output, print_message
from rankgauge.config.retriever_settings import BenchmarkSettings, JournalSettings, RetrieverCalls, RetrieverSettings
from rankgauge.config.settings import HISTORY_PREFIX, make_reading
from rankgauge.core.dataclass import dataclass
from rankgauge.core.formatting import plural
from rankgauge.core.settings import Section, setting, setting_of
from rankgauge.errors import UsageError, printable, shown
from rankgauge.io.byte_streams import Limits
from rankgauge.io.formats.named_columns import names_labels
from rankgauge.io.reading_options import Asking, PassageMatching, Reading
from rankgauge.io.sources import can_be_scores, is_plain

if TYPE_CHECKING:
    from rankgauge.evaluation.evaluate import Evaluation
    from rankgauge.evaluation.given_scores import GivenScores
    from rankgauge.io.results import OpenedInputs, Opening


@dataclass(frozen=True)
class LabelSources:
    """Labels other than those of the first argument, the queries' texts, and what labels by text need."""

    labels: str | None = setting(
        None,
        "Score all results on the labels in FILE: then every argument is a result.",
        Section.INPUT,
        flag="--labels FILE",
        kind="path",
    )
    queries: str | None = setting(
        None,
        "Read texts and columns of the queries: JSON Lines, CSV, TREC topics, …",
        Section.INPUT,
        flag="--queries FILE",
        kind="path",
        common=True,
    )
    forbidden: str | None = setting_of(Reading, "forbidden")
    chunks: tuple[str, ...] = setting_of(PassageMatching, "chunks")
    documents: str | None = setting(
        None,
        "Read the documents that spans of labels by text count in.",
        Section.GOLD,
        flag="--corpus PATH",
        kind="path",
    )
    coverage: float = setting_of(PassageMatching, "coverage")
    tolerance: float = setting_of(PassageMatching, "tolerance")

    def check(self, *, needs_join: bool = False) -> None:
        """Raise if results on several chunkings cannot be shown together."""
        if needs_join and len(set(self.chunks)) > 1:
            raise UsageError(
                "--html and --audit are for runs on the same chunks",
                hint="write a page for each chunking, or compare chunkings with `rankgauge benchmark run`",
            )

    def reading(self, reading: Reading) -> Reading:
        """How files are read, with the file of forbidden documents."""
        return reading if self.forbidden is None else replace(reading, forbidden=self.forbidden)

    def split(self, first: str | None, others: Sequence[str]) -> NamedInputs:
        """Which arguments are the labels, and which are results."""
        results = tuple(others) if self.labels is None or first is None else (first, *others)
        labels = first if self.labels is None else self.labels
        named = None if labels is None else saved_results(labels)
        return NamedInputs(named, tuple(map(saved_results, results)), self)


@dataclass(frozen=True)
class NamedInputs:
    """The labels and the results that a user names; the first of the results may be in the file of the labels."""

    labels: str | None
    results: tuple[str, ...]
    sources: LabelSources

    @property
    def files(self) -> tuple[str, ...]:
        """Every file that is named, and standard input."""
        others = (self.sources.queries, self.sources.forbidden, *self.sources.chunks, self.corpus)
        named = (self.labels, *self.results, *others)
        return tuple(name for name in named if name is not None and _is_file(name))

    @property
    def kept(self) -> tuple[str, ...]:
        """Every file that no output may replace: what is read, the code of live retrievers, and the configuration."""
        config = config_file(click.get_current_context())
        code = (path for name in self.results if not _is_file(name) for path in _files_behind(name))
        return (*self.files, *code, *([] if config is None else [config]))

    @property
    def corpus(self) -> str | None:
        """The documents: of a command that also shows them, or of one that only matches labels by text with them."""
        return self.sources.documents or click.get_current_context().params.get("corpus")

    def scores(self, reading: Reading) -> list[GivenScores] | None:
        """The systems, if everything that is named is scores."""
        if not any(map(can_be_scores, (self.labels, *self.results))):
            return None
        from rankgauge.evaluation.given_scores import only_scores

        systems = only_scores(self.labels, self.results, reading)
        if systems is not None and is_given("scores"):
            raise UsageError("reading.scores applies to lists of results, and scores have none")
        return systems

    def are_plain(self, reading: Reading) -> bool:
        """Whether everything is read as it is, and matched by ids: judgments in a file, and runs in others."""
        has_text_options = self.corpus is not None or any(is_given(name) for name in TEXT_OPTIONS)
        results = self.results
        return (
            self.labels is not None
            and bool(results)
            and not has_text_options
            and not self._names_labels()
            and reading.matches_ids
            and is_plain(self.labels, "qrels")
            and all(is_plain(result, "run") for result in results)
        )

    @staticmethod
    def _names_labels() -> bool:
        """Whether --column names a key of the labels."""
        return is_given("columns") and names_labels(parse_columns(click.get_current_context().params["columns"]))

    def check_asking(self, *, also: Sequence[str] = (), but: Sequence[str] = ()) -> None:
        """Raise if an option that applies to live retrievers is given without one: none is ignored silently."""
        # What scores mean is said of the lists of a log, too.
        has_lists = any(one is not None and not is_plain(one, "run") for one in (self.labels, *self.results))
        but = (*but, *(("scores",) if has_lists else ()))
        names = [name for name in (*ASKING_NAMES, *also) if is_given(name) and name not in but]
        if not names:
            return
        from rankgauge.io.input_kinds import is_live

        if not any(map(is_live, self.results)):
            raise UsageError(f"{flag_of(names[0])} applies to a live retriever", hint=f"name one: {LIVE_EXAMPLE}")

    def open(
        self, reading: Reading, opening: Opening, further: Sequence[Any] = (), *, shows_corpus: bool = False
    ) -> OpenedInputs:
        """Open the labels and the results, and ask the retrievers; raises if an option does not fit the labels.

        ``further`` results are not among the arguments; ``shows_corpus`` says that documents serve the command, too.
        """
        from rankgauge.io.results import open_inputs

        opening = replace(opening, text_labels=self.text_labels())
        if self.sources.labels is not None:
            opening = replace(opening, newest="named", log_is_system=False)
        results = [*self.results, *further]
        opened = open_inputs(self.labels, results, reading, self.sources.queries, opening)
        given = next((name for name in TEXT_OPTIONS if is_given(name)), None)
        is_by_text = opened.is_by_text or (given == "chunks" and reading.match == "text")
        if given is not None and not is_by_text:
            raise UsageError(f"{flag_of(given)} applies to labels by text", hint=TEXT_LABELS_HINT)
        if self.corpus is not None and not shows_corpus and not opened.is_by_text:
            raise UsageError("--corpus is for the HTML report and for labels by text", hint="write one: --html FILE")
        return opened

    def text_labels(self) -> dict[str, Any]:
        """How labels by text are matched, as ``GoldInputs`` takes it; nothing if no option says so."""
        sources = self.sources
        if self.corpus is None and not any(is_given(name) for name in TEXT_OPTIONS):
            return {}
        from rankgauge.labels.gold.gold_judgments import GoldOptions

        options = GoldOptions(sources.coverage, sources.tolerance)
        return {"chunks": list(sources.chunks) or None, "documents": self.corpus, "options": options}


def _files_behind(name: str) -> list[str]:
    """The files that a live retriever may be in: its description, ``FILE.py:NAME`` or ``MODULE:NAME``."""
    before, _, _ = name.rpartition(":")
    named = (name, before, before.replace(".", "/") + ".py")
    return [path for path in named if path and "\0" not in path and Path(path).is_file()]


def _is_file(name: str) -> bool:
    """Whether a name is that of a file; what exists is one without a closer look."""
    if name == "-" or Path(name).exists():
        return True
    from rankgauge.io.input_kinds import is_file_name

    return is_file_name(name)


TEXT_OPTIONS = ("chunks", "documents", "coverage", "tolerance")
TEXT_LABELS_HINT = 'the labels hold ids; labels by text are quotes: {"query": "…", "gold": ["a sentence"]}'
LIVE_EXAMPLE = "rankgauge evaluate cases.jsonl ./search.py:search"
QUERIES: Option = declared_options(LabelSources, "queries")[0]
DOCUMENTS: Option = declared_options(LabelSources, "documents")[0]
label_options_and_corpus = option_group("sources", LabelSources, *declared_options(LabelSources))
label_options = option_group(  # for a command that has a --corpus already, which serves labels by text, too
    "sources",
    LabelSources,
    *declared_options(LabelSources, "labels", "queries", "forbidden", "chunks", "coverage", "tolerance"),
)

# ------------------------------------------------------------------------------ how judgments and runs are read


def parse_columns(texts: tuple[str, ...]) -> dict[str, str]:
    """Parse ``query=qid`` into the names of columns by their role."""
    names: dict[str, str] = {}
    for text in texts:
        role, sign, name = text.partition("=")
        if not sign or not role or not name:
            raise UsageError(f"--column takes ROLE=NAME, found {shown(text)}", hint="--column query=question_no")
        names[role] = name
    return names


COLUMN: Option = option(
    "--column",
    "columns",
    section=Section.FILES,
    rare=True,
    multiple=True,
    metavar="ROLE=NAME",
    help="Say which key or column is which: relevant, query, id of test cases; query, doc, grade of judgments; query, "
    "doc, score, rank, tag of runs; repeatable.",
)
MATCH_NAMES = ("match", "ignore_case", "match_fields")
READING_OPTIONS: tuple[Option, ...] = (
    COLUMN,
    *declared_options(Reading, "qrels_format", "run_format", "on_duplicate", "memory"),
    *declared_options(Limits),
    key_option(
        "parallel",
        "performance.parallel_processing=true|false",
        "Read several large runs at the same time.",
        default=True,
    ),
)


def reading_options(command: Command) -> Command:
    """Add the options to a command, which receives them and its configuration's ``reading`` as one ``Reading``."""
    return _with_reading(command, READING_OPTIONS)


def matching_options(*common: str) -> Option:
    """``reading_options``, and those that say how labels are matched with results; ``--help`` shows the common ones."""
    options = (*declared_options(Reading, *MATCH_NAMES, common=common), *READING_OPTIONS)
    return lambda command: _with_reading(command, options)


def _with_reading(command: Command, options: tuple[Option, ...]) -> Command:
    names = option_names(*options)

    @wraps(command)
    def wrapped(*args: Any, **values: Any) -> Any:
        own = {name: values.pop(name) for name in names}
        return command(*args, **values, reading=_reading(own))

    return with_options(wrapped, *options)


def reading_options_and_set(command: Command) -> Command:
    """``reading_options`` for a command that has no ``--config``: the rest of section ``reading`` by ``--set``."""
    return with_options(reading_options(without_sets(command)), RARE_SET)


def matching_options_and_set(command: Command) -> Command:
    """``matching_options`` for a command that has no ``--config``, with ``--set``."""
    return with_options(matching_options()(without_sets(command)), RARE_SET)


def without_sets(command: Command) -> Command:
    """A command that does not receive ``--set``, which ``configuration`` reads from the context."""

    @wraps(command)
    def wrapped(*args: Any, sets: tuple[str, ...], **values: Any) -> Any:
        return command(*args, **values)

    return wrapped


def _reading(options: dict[str, Any]) -> Reading:
    """Build a ``Reading``: given options, then the configuration, then the defaults."""
    values = {**options, "columns": parse_columns(options["columns"]) or None}
    config = configuration()
    if config is not None:
        from rankgauge.config.configured_settings import reading_values

        values |= {name: value for name, value in reading_values(config).items() if not is_given(name)}
    return make_reading(values)


def check_one_stdin(*files: str) -> None:
    """Raise if more than one file is standard input."""
    if files.count("-") > 1:
        raise UsageError("only one of the files can be standard input")


# ------------------------------------------------------------------------------ how a retriever of the user is asked

ANSWER_OPTIONS: tuple[Option, ...] = declared_options(RetrieverSettings, "id", "unit", "scores")
CALL_OPTIONS: tuple[Option, ...] = declared_options(RetrieverCalls)
MAX_FAILURES: Option = declared_options(BenchmarkSettings, "max_failures")[0]


def _apply_code_policy(context: click.Context, parameter: click.Parameter, is_refused: bool) -> Any:
    """Apply the policy until the command ends, or its words turn out to be wrong."""
    from rankgauge.retrieval.code_policy import CodePolicy, code_policy

    root = context.find_root()  # which is closed in any case
    diverted: list[str] = []

    def announce(kind: str, path: str) -> None:
        if not diverted:
            diverted.append(path)
            root.with_resource(own_output())
        origin = " from the working folder" if _is_in_working_folder(path) else ""
        print_message(f"loading code{origin}: {printable(path, None)} ({kind.lstrip('-')})")

    root.with_resource(code_policy(CodePolicy(is_allowed=not is_refused, announce=announce)))


def _is_in_working_folder(path: str) -> bool:
    from rankgauge.retrieval.named_code import FILE_SUFFIX

    module = path.rpartition(":")[0]
    if module.endswith(FILE_SUFFIX):
        return Path(module).resolve().is_relative_to(Path.cwd())
    name = module.partition(".")[0]
    return Path(name).is_dir() or Path(f"{name}{FILE_SUFFIX}").is_file()


NO_CODE: Option = option(
    "--no-code",
    section=Section.LIVE,
    rare=True,
    is_flag=True,
    expose_value=False,
    callback=_apply_code_policy,
    help="Refuse module:callable, so that no code of a configuration or the working folder runs.",
)

# ------------------------------------------------------------------------------ live retrievers among the results

ASKED_QUERIES: Option = option(
    "--queries",
    section=Section.LIVE,
    type=click.Path(),
    metavar="FILE",
    help="Read the texts of the queries, in any format; a live retriever is asked these.",
)


@dataclass(frozen=True)
class LiveOptions:
    """How many results live retrievers are asked for, and where their run is written."""

    k: int | None = setting_of(
        BenchmarkSettings,
        "k",
        default=None,
        help="Ask a live retriever for K results per query.  [default: the deepest cutoff of the measures, 100 if one "
        "has none]",
        section=Section.LIVE,
        flag="--k K",
    )
    out: str | None = setting(
        None,
        "Write the run of the live retriever to RUN, of several as one log (RUN.jsonl); the same command resumes.",
        Section.OUTPUT,
        flag="-o/--out RUN",
        kind="path",
        common=True,
    )
    resume: bool | None = setting_of(JournalSettings, "resume", section=Section.LIVE, is_common=False)


def make_asking(
    max_failures: int | None, k: int | None = None, out: str | None = None, resume: bool | None = None, **options: Any
) -> Asking:
    """How live retrievers are asked, from the options that are given."""
    if resume is not None and out is None:
        raise UsageError("--resume and --restart apply to the answers that are kept beside -o RUN")
    given = {name: value for name, value in options.items() if is_set(name)}
    return Asking(given, k, max_failures, out, resume=resume)


ASKING_OPTIONS = (*ANSWER_OPTIONS, *CALL_OPTIONS, MAX_FAILURES)
ASKING_NAMES = option_names(*ASKING_OPTIONS)
ASKED_K, OUT, RESUME = declared_options(LiveOptions, "k", "out", "resume", common=("out",))
asking_group = option_group("asking", make_asking, *ASKING_OPTIONS)
asking_with_k = option_group("asking", make_asking, ASKED_K, *ASKING_OPTIONS)
asking_with_out = option_group("asking", make_asking, OUT, ASKED_K, RESUME, *ASKING_OPTIONS)


def open_rankings(
    names: Sequence[str], queries: str | None, depth: int, asking: Asking, reading: Reading
) -> OpenedInputs:
    """Results that need no labels, as runs in memory; retrievers are asked the queries."""
    from rankgauge.io.results import Opening, open_runs

    return open_runs(names, reading, queries, Opening(depth, asking=asking))


def saved_results(name: str) -> str:
    """The file that ``history:NAME`` means; any other name as it is."""
    if not is_history(name):
        return name
    from rankgauge.history.folder import named_results

    return named_results(name, click.get_current_context().params.get("folder"))


def is_history(name: str | None) -> bool:
    """Whether a name is that of saved results."""
    return name is not None and name.startswith(HISTORY_PREFIX)


def named_files(*names: str | None) -> list[str]:
    """The names that are files."""
    return [name for name in names if name is not None and _is_file(name)]


def check_baseline_file(name: str | None, runs: Sequence[str], evaluation: Evaluation) -> None:
    """Raise if the baseline is a file among files of which one holds several runs."""
    if name in runs and len(evaluation.scores) != len(runs):
        raise UsageError(
            f"--baseline names a file, and {len(evaluation.scores)} runs are in {plural(len(runs), 'file')}",
            hint=f"name a run: --baseline {evaluation.scores[0].run}",
        )


def chosen_baseline(name: str | None, runs: Sequence[str]) -> str | int | None:
    """The baseline by what a user calls it: the file or the name of a run; None if not given."""
    return runs.index(name) if name in runs else name
