"""``rankgauge runs validate``: faults in runs and labels, a repaired copy, and labels that no longer fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import click

from rankgauge.cli.command_tree import documented
from rankgauge.cli.options.declared_options import (
    declared_options,
    flag_of,
    is_given,
    option,
    option_group,
    option_names_given,
)
from rankgauge.cli.options.inputs import COLUMN, parse_columns
from rankgauge.cli.options.outputs import PAGE_FORMATS, ROW_FORMATS, View
from rankgauge.cli.printing import collected_notes, print_message, print_warnings, write_document
from rankgauge.core.formatting import listing, plural
from rankgauge.core.settings import Section
from rankgauge.core.verdicts import CheckOutcome, exit_code
from rankgauge.errors import InputError, Note, UsageError, printable
from rankgauge.io.atomic_files import check_writable, write_atomically
from rankgauge.io.byte_streams import DEFAULT_LIMITS, AnyFile, is_dataset, load_file, read_bytes
from rankgauge.io.corpus.corpus_files import read_corpus
from rankgauge.io.formats import registry as formats
from rankgauge.io.formats.detection import Head
from rankgauge.io.formats.named_columns import Columns
from rankgauge.io.queries import read_query_ids
from rankgauge.io.reading_options import MatchRule, Reading
from rankgauge.labels.gold.gold_labels import is_gold_record
from rankgauge.rag.cases import read_cases
from rankgauge.render.documents.labels import check_document
from rankgauge.render.documents.validation import PLACES_SHOWN, fixed_text, validation_document
from rankgauge.validation.findings import Validation, unreadable
from rankgauge.validation.label_rot import LabelCheck, check_labels, stamp_labels
from rankgauge.validation.qrels_validation import retrieved_ids, validate_qrels
from rankgauge.validation.repair import Repair, repair_text
from rankgauge.validation.run_validation import read_qrels_to_check_against, validate_run
from rankgauge.validation.validated_file import (
    DEFAULT_OPTIONS,
    PRESETS,
    CheckedRows,
    ValidationOptions,
    read_for_validation,
)

ValidateFunction = Callable[[AnyFile], Validation]
RepairFunction = Callable[[bytes, Validation], Repair]


@dataclass(frozen=True)
class ValidationOutput:
    """How findings are printed, and where a repaired copy is written."""

    format: str
    fix: str | None

    @property
    def max_places(self) -> int | None:
        """The number of places to keep of each fault: all for programs, a few for people."""
        return None if self.format == "json" else PLACES_SHOWN

    @property
    def needs_hash(self) -> bool:
        """Whether the hash of a file is printed, or compared before it is repaired."""
        return self.format == "json" or self.fix is not None


QUERIES = option(
    "--queries",
    section=Section.INPUT,
    type=click.Path(),
    metavar="FILE",
    help="Read the ids of all queries: from JSON Lines, TREC topics, or lines of an id and a text.",
)
output_options = option_group(
    "output",
    ValidationOutput,
    *declared_options(
        View,
        "format",
        choices=("table", "json", *ROW_FORMATS, *PAGE_FORMATS),
        help="Print a few places of each fault, or all of them as JSON; the other formats list labels that rotted.",
    ),
    option(
        "--fix",
        section=Section.OUTPUT,
        type=click.Path(),
        metavar="FILE",
        help="Write a copy of the one run given, or else of the labels, to FILE, with everything repaired that is safe "
        "to repair.",
    ),
)


def _print_and_repair(
    validations: Sequence[Validation], output: ValidationOutput, validate: ValidateFunction, repair: RepairFunction
) -> int:
    """Print the findings, write the repaired copy of the first file, and return the exit code."""
    write_document(validation_document(validations), output.format)
    if output.fix is not None:
        _write_repaired(validations[0], output.fix, validate, repair)
    return exit_code(*map(_outcome, validations))


def _outcome(file: Validation) -> CheckOutcome:
    """A file that cannot be read to its end cannot be decided, whatever was found in its beginning."""
    return "undecidable" if not file.readable else "fail" if file.errors else "pass"


def _validated(file: AnyFile, validate: ValidateFunction) -> Validation:
    try:
        return validate(file)
    except InputError as error:
        return unreadable(str(file), error)


def _write_repaired(before: Validation, path: str, validate: ValidateFunction, repair: RepairFunction) -> None:
    """Write a repaired copy, if anything can be repaired, and print what was done."""
    if before.format not in (None, "trec"):
        raise UsageError(
            f"--fix repairs TREC files, but the format of {printable(before.file, None)} is {before.format}",
            hint="write it in the TREC format with `rankgauge convert`, then repair that file",
        )
    data, digest = read_bytes(before.file, hashed=True) if before.readable else (b"", None)
    if digest != before.sha256:
        raise InputError.at(before.file, None, "has changed since it was validated, or can be read only once")
    repaired = repair(data, before)
    after = None
    if repaired.text is not None:
        with write_atomically(path, inputs=[before.file]) as file:
            file.write(repaired.text)
        after = validate(path)
    print_message(fixed_text(path, repaired, after).removesuffix("\n"))


RUN_FORMATS = ", ".join(format.name for format in formats.FORMATS if format.supports("run"))
QRELS_FORMATS = ", ".join(format.name for format in formats.FORMATS if format.supports("qrels"))
# The options that only apply to runs, to labels, and to labels that are compared with documents.
RUN_OPTIONS = ("preset", "max_depth", "min_depth", "cutoffs", "run_format")
LABEL_OPTIONS = ("min_judged", "by_subtopic", "qrels_format", "match", "match_fields", "corpus", "stamp")
CORPUS_OPTIONS = ("labels", "corpus", "stamp", "qrels_format", "columns", "strict", "format")


@dataclass(frozen=True)
class Checks:
    """What is checked, and how the files are read."""

    preset: str | None
    run_format: str | None
    qrels_format: str | None
    columns: tuple[str, ...]
    match: MatchRule
    match_fields: tuple[str, ...]
    max_depth: int | None
    min_depth: int | None
    cutoffs: tuple[int, ...]
    min_judged: int | None
    by_subtopic: bool
    strict: bool

    @property
    def named_columns(self) -> Columns | None:
        """The columns that the user named, by their roles."""
        return parse_columns(self.columns) or None

    def of_runs(self, output: ValidationOutput) -> ValidationOptions:
        """The checks of runs: those that are given, then those of the preset."""
        base = DEFAULT_OPTIONS if self.preset is None else PRESETS[self.preset]
        given = {name: getattr(self, name) for name in ("max_depth", "min_depth", "cutoffs") if is_given(name)}
        return replace(
            base,
            format=self.run_format or base.format,
            columns=self.named_columns,
            strict=self.strict,
            max_places=output.max_places,
            hashed=output.needs_hash,
            **given,
        )

    def of_labels(self, output: ValidationOutput, *, is_alone: bool) -> ValidationOptions:
        """The checks of labels; with runs, the columns that the user named are those of the runs."""
        return ValidationOptions(
            min_judged=self.min_judged,
            by_subtopic=self.by_subtopic,
            strict=self.strict,
            max_places=output.max_places,
            format=self.qrels_format,
            columns=self.named_columns if is_alone else None,
        )

    @property
    def reading(self) -> Reading:
        """How labels are read that are matched with results, or compared with documents."""
        return Reading(
            qrels_format=self.qrels_format,
            match=self.match,
            match_fields=self.match_fields,
            columns=self.named_columns,
            limits=replace(DEFAULT_LIMITS, strict=self.strict),
        )


@documented(
    "validate",
    """
    # Find faults in a run and in its labels, and write a repaired run
    rankgauge runs validate my.run --labels qrels.txt --fix fixed.run
    # Find faults in judgments, a log or test cases
    rankgauge runs validate --labels qrels.txt
    # Find labels whose documents changed since --stamp stored their hashes
    rankgauge runs validate --labels stamped.jsonl --corpus corpus.jsonl
    """,
)
@click.argument("runs", type=click.Path(), nargs=-1, metavar="[RUN …]")
@option(
    "--labels",
    section=Section.INPUT,
    type=click.Path(),
    multiple=True,
    metavar="FILE",
    help="Find faults in judgments, a log or test cases, and check that runs share queries and ids with them; "
    "repeatable without runs.",
)
@QUERIES
@option(
    "--corpus",
    section=Section.INPUT,
    type=click.Path(),
    metavar="PATH",
    help="Show which labels no longer fit these documents.",
)
@option_group(
    "checks",
    Checks,
    option(
        "--preset",
        section=Section.CHECKS,
        type=click.Choice(list(PRESETS)),
        help="Check what a workflow demands. trec-2025: the TREC format, at most 100 results per query, and every "
        "query answered, so it needs --queries or --labels.",
    ),
    *declared_options(ValidationOptions, "max_depth", "min_depth", "cutoffs"),
    *declared_options(ValidationOptions, "min_judged", "by_subtopic", common=()),
    *declared_options(
        Reading,
        "run_format",
        flags={"run_format": "--run-format NAME"},
        common=["run_format"],
        help=f"Set the format of the runs: {RUN_FORMATS}.  [default: detected from the content]",
    ),
    *declared_options(
        Reading,
        "qrels_format",
        flags={"qrels_format": "--qrels-format NAME"},
        help=f"Set the format of the labels: {QRELS_FORMATS}.  [default: detected from the content]",
    ),
    *declared_options(Reading, "match", "match_fields"),
    COLUMN,
    *declared_options(ValidationOptions, "strict"),
)
@output_options
@option(
    "--stamp",
    section=Section.OUTPUT,
    type=click.Path(),
    metavar="FILE",
    help="With --corpus, write the labels with the hash of each judged text to FILE, as JSON Lines, instead of "
    "checking them.",
)
def runs_validate_command(
    runs: tuple[str, ...],
    labels: tuple[str, ...],
    queries: str | None,
    corpus: str | None,
    checks: Checks,
    output: ValidationOutput,
    stamp: str | None,
) -> int:
    """Find faults in runs and labels, line by line.

    Labels are judgments, a log or test cases. With runs, each side is checked against the other; with --queries, every
    one of them must be answered.

    With --corpus, labels are compared with documents. A label rots if the text of its document changed after it was
    judged, or if the document is gone: re-splitting documents gives the same ids to other texts. Judgments of
    `rankgauge judge` keep the hash of the text, and --stamp adds it to others; without it, only missing documents are
    found.

    Exit codes: 0 no errors, 1 an error was found or a label rotted, 2 a file cannot be read.
    """
    _check_options(runs, labels, corpus)
    if corpus is not None:
        return _check_rot(labels, corpus, stamp, checks.reading, output.format)
    if output.format not in ("table", "json"):
        raise UsageError(f"--format {output.format} lists labels that are compared with documents", hint="add --corpus")
    if checks.preset is not None and queries is None and not (labels and checks.reading.matches_ids):
        raise UsageError(
            "--preset checks that every query is answered, and needs to know the queries",
            hint="add --queries or --labels",
        )
    if output.fix is not None:
        files = runs or labels
        if len(files) > 1 or files[0] == "-":
            raise UsageError(
                "--fix takes one file, which cannot be standard input", hint="validate the files one at a time"
            )
        check_writable(output.fix, inputs=[*runs, *labels, *([] if queries is None else [queries])])
    return _validate(runs, labels, queries, checks, output)


def _check_options(runs: tuple[str, ...], labels: tuple[str, ...], corpus: str | None) -> None:
    """Raise if nothing is named, or if an option has no effect on what is named."""
    given = option_names_given()
    if not runs and not labels:
        raise UsageError("expected a run, or labels", hint="name one: rankgauge runs validate RUN, or --labels FILE")
    if len(labels) > 1 and (runs or corpus is not None):
        raise UsageError(f"--labels is given {len(labels)} times, and takes one file here")
    if corpus is not None:
        unused = next((name for name in given if name not in CORPUS_OPTIONS), None)
        if runs or not labels or unused is not None:
            what = "RUN" if runs else "--corpus" if not labels else flag_of(str(unused))
            raise UsageError(f"{what} does not apply: --corpus compares labels with documents", hint="--labels FILE")
    elif "stamp" in given:
        raise UsageError("--stamp writes the hashes of judged texts", hint="name the documents: --corpus PATH")
    for names, is_used, what in ((RUN_OPTIONS, bool(runs), "runs"), (LABEL_OPTIONS, bool(labels), "labels")):
        unused = next((name for name in given if name in names), None)
        if unused is not None and not is_used:
            raise UsageError(f"{flag_of(unused)} applies to {what}", hint=f"leave it out, or name {what}")


def _validate(
    runs: tuple[str, ...], labels: tuple[str, ...], queries: str | None, checks: Checks, output: ValidationOutput
) -> int:
    """Validate runs against labels and labels against runs, each file read once."""
    query_ids = None if queries is None else list(read_query_ids(queries))
    of_runs, of_labels = checks.of_runs(output), checks.of_labels(output, is_alone=not runs)
    files: list[AnyFile] = list(labels)
    if runs:
        files = [label if is_dataset(label) else load_file(label) for label in labels]
    with collected_notes() as notes:
        is_compared = bool(runs and files) and checks.reading.matches_ids
        judgments = read_qrels_to_check_against(files[0]) if is_compared else None
    tables: list[CheckedRows] = []  # of the runs that the labels are checked against

    def validate_one_run(path: AnyFile) -> Validation:
        if judgments is None:
            return validate_run(path, None, query_ids, of_runs)
        file = read_for_validation(path, "run", of_runs)
        tables.extend([] if file.table is None else [file.table])
        return validate_run(file, judgments, query_ids, of_runs)

    def validate_labels(path: AnyFile) -> Validation:
        if not checks.reading.matches_ids:
            return _read_matched_labels(path, checks.reading)
        return validate_qrels(path, retrieved_ids(tables) if tables else (), query_ids, of_labels)

    def repair(data: bytes, validation: Validation) -> Repair:
        if runs:
            return repair_text(data, "run", validation, max_depth=of_runs.max_depth)
        return repair_text(data, "qrels", validation, by_subtopic=of_labels.by_subtopic)

    print_warnings(notes)
    validations = [_validated(run, validate_one_run) for run in runs]
    validations += [_validated(label, validate_labels) for label in files]
    return _print_and_repair(validations, output, validate_one_run if runs else validate_labels, repair)


def _read_matched_labels(path: AnyFile, reading: Reading) -> Validation:
    """The labels of test cases that are matched by a rule: their reader finds the first fault, if there is one."""
    cases = read_cases(str(path), reading=reading).cases
    return Validation(str(path), None, None, len(cases), len({case.id for case in cases}), ())


# Labels that no longer fit the documents.


def _check_rot(labels: tuple[str, ...], corpus: str, stamp: str | None, reading: Reading, format: str) -> int:
    """Compare labels with documents, or write them with the hashes of their texts."""
    _check_not_gold(labels[0], corpus, reading)
    if stamp is not None:
        if is_given("format"):
            raise UsageError("--stamp writes labels and prints no table", hint="leave out --format")
        _write_stamped(labels[0], corpus, stamp, reading)
        return 0
    with collected_notes() as notes:
        check = check_labels(labels[0], corpus, reading=reading)
    write_document(check_document(check), format)
    print_warnings([*notes, *_unverified(check)])
    return exit_code("fail" if check.rotted else "pass")


def _check_not_gold(labels: str, corpus: str, reading: Reading) -> None:
    """Raise if labels are quotes, which need no check."""
    if is_dataset(labels):
        return
    record = Head(read_bytes(labels, limits=reading.limits)[0]).record
    if record is not None and is_gold_record(record):
        out = f"--chunks {printable(corpus, None)} -o FILE"
        raise InputError.at(
            labels,
            None,
            "labels by text do not rot: a quote is in the documents, or it is not",
            hint=f"list the quotes that are not: rankgauge labels resolve {printable(labels, None)} {out}",
        )


def _unverified(check: LabelCheck) -> list[Note]:
    """A warning if no label keeps a hash, so that changed texts are not found."""
    if check.counts["fits"] or check.counts["changed"]:
        return []
    files = f"{printable(check.source, None)} --corpus {printable(check.corpus, None)}"
    command = f"rankgauge runs validate --labels {files} --stamp FILE"
    return [Note("no-text-hashes", f"no label keeps the hash of its text; while labels fit, add them: {command}")]


def _write_stamped(labels: str, corpus: str, out: str, reading: Reading) -> None:
    """Write labels with the hashes of their texts; a hash that a label has already stays."""
    with collected_notes() as notes:
        counts = stamp_labels(labels, read_corpus(corpus, limits=reading.limits), out, reading=reading)
    if counts.missing:
        missing = f"{plural(len(counts.missing), 'labeled document')} not in {printable(corpus, None)}, without a hash"
        notes.append(Note("no-text", f"{missing}: {listing(map(printable, counts.missing))}"))
    print_warnings(notes)
    kept = f", {counts.kept:,} had one already" if counts.kept else ""
    print_message(f"wrote the hashes of {plural(counts.stamped, 'label')}{kept} to {printable(out, None)}")
