"""What a command gives: what it shows and in which format, entries that it saves in the history, an HTML report."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rankgauge.cli.options.declared_options import Option, declared_options, option_group
from rankgauge.cli.printing import print_message
from rankgauge.config.settings import OutputSettings, SavedDate
from rankgauge.core.dataclass import dataclass
from rankgauge.core.settings import Section, declared, setting, setting_of
from rankgauge.errors import InputError, UsageError, printable

if TYPE_CHECKING:
    from rankgauge.benchmark.record import EvaluatedSources
    from rankgauge.config.settings import Settings
    from rankgauge.evaluation.evaluate import Evaluation
    from rankgauge.io.reading_options import Reading
    from rankgauge.report.report import Report
    from rankgauge.retrieval.latency import Cost

ROW_FORMATS = ("csv", "jsonl")  # one row per value, with every digit
PAGE_FORMATS = ("markdown", "latex")  # tables and sentences to be read
FORMATS = ("table", "json", "trec", "junit", *ROW_FORMATS, *PAGE_FORMATS)


@dataclass(frozen=True)
class View:
    """A format, and what is shown in it."""

    format: str = setting(
        "table",
        "json has full precision.",
        Section.OUTPUT,
        choices=FORMATS,
        common=True,
    )
    per_query: bool = setting(
        False, "Also show the value of each query.", Section.OUTPUT, flag="-q/--per-query", common=True
    )
    plot: bool = setting(False, "Draw a text bar chart of the means.", Section.OUTPUT, common=True)
    audit: bool = setting(
        False,
        "Show the range of each value over all orders of tied documents, and over all grades of unjudged ones.",
        Section.OUTPUT,
        common=True,
    )
    explain: bool = setting(
        False, "List every document behind the largest changes, with its share.", Section.OUTPUT, common=True
    )
    sort: str | None = setting_of(OutputSettings, "sort")

    def check(self) -> None:
        """Raise if the format cannot show what is asked for."""
        if self.plot and self.format != "table":
            raise UsageError(f"--format {self.format} has no charts", hint="leave out --plot, or use --format table")
        if self.explain and self.format != "table":
            raise UsageError(
                f"--format {self.format} has no --explain", hint="use --format table; json has every document"
            )
        if self.per_query and self.format == "latex":
            raise UsageError("--format latex has no per-query values", hint="use --format csv or markdown")
        if self.audit and self.format not in ("table", "json"):
            raise UsageError(f"--format {self.format} has no audits", hint="use --format json or table")


def format_option(*formats: str) -> Option:
    """``--format``, with the formats that a command has."""
    return declared_options(View, "format", choices=formats)[0]


def view_options(*options: Option) -> Option:
    """Options that a command receives as ``view``."""
    return option_group("view", View, *options)


# -------------------------------------------------------------------------------- ``--save`` and what belongs to it


@dataclass(frozen=True)
class SaveRequest:
    """Whether and how results are saved."""

    save: bool = setting(False, "Save the result of each run in the history.", Section.HISTORY, common=True)
    save_run: bool = setting(
        False, "With --save, keep the log, too, so that it can be scored again if labels change.", Section.HISTORY
    )
    date: str | None = setting_of(SavedDate, "date")
    system: str | None = setting(
        None,
        "With --save, name the system.  [default: as the log does, else its file's name without a date]",
        Section.HISTORY,
        flag="--system NAME",
    )
    folder: str | None = setting(
        None,
        "Use the history in FOLDER.  [default: $RANKGAUGE_HISTORY, else .rankgauge/history of the project]",
        Section.HISTORY,
        flag="--history FOLDER",
        kind="path",
    )

    def check(self, *, reads_history: bool = False) -> None:
        """Raise, before any work, if the options contradict each other or the history cannot be used.

        ``reads_history`` says that the command reads the history, too.
        """
        if not self.save:
            given: dict[str, object] = {"--set history.date": self.date, "--save-run": self.save_run}
            given |= {"--history": None if reads_history else self.folder, "--system": self.system}
            unused = next((name for name, value in given.items() if value), None)
            if unused is not None:
                raise UsageError(f"{unused} is for a result that is saved", hint="add --save")
            return
        from rankgauge.history.entries import parse_time
        from rankgauge.history.folder import History

        if self.date is not None:
            parse_time(self.date)
        History.open(self.folder).check_writable()

    def reading(self, reading: Reading) -> Reading:
        """How files are read if their results are saved."""
        if not self.save:
            return reading
        return replace(reading, fingerprint=True, keep_rankings=reading.keep_rankings or self.save_run)

    def write(
        self,
        evaluation: Evaluation,
        *,
        verdict: str | None = None,
        costs: Mapping[str, Cost] | None = None,
        only: Sequence[int] | None = None,
    ) -> None:
        """Save the runs of an evaluation, or some of them, if that is asked for."""
        if not self.save:
            return
        from rankgauge.history.entries import EntryFacts, parse_time
        from rankgauge.history.folder import History, SaveOptions, save_evaluation
        from rankgauge.retrieval.latency import cost_of

        command = click.get_current_context().command_path.partition(" ")[2]
        options = SaveOptions(
            EntryFacts(command=command, verdict=verdict),
            keep_log=self.save_run,
            date=None if self.date is None else parse_time(self.date),
            system=self.system,
        )
        live = {run.run: cost_of(run.extras) for run in evaluation.scores if run.extras is not None}
        history = History.open(self.folder)
        for entry in save_evaluation(history, evaluation, options, costs=costs or live, only=only):
            print_message(f"saved {printable(entry.system, None)} as {printable(str(entry.path), None)}")


SAVE_OPTIONS: tuple[Option, ...] = declared_options(SaveRequest)
SAVE_NAMES = tuple(declared(SaveRequest))
HISTORY: Option = declared_options(SaveRequest, "folder")[0]
saving_options = option_group("saving", SaveRequest, *SAVE_OPTIONS)

# -------------------------------------------------------------------------------- ``--html``


@dataclass(frozen=True)
class PageRequest:
    """The HTML report that a user wants, or none."""

    path: str | None = setting(
        None,
        "Also write a self-contained HTML report to FILE.",
        Section.OUTPUT,
        flag="--html FILE",
        kind="path",
        common=True,
    )
    corpus: str | None = setting(
        None,
        "Read the documents: the HTML report shows their first words, and spans of labels by text count in them.",
        Section.OUTPUT,
        flag="--corpus PATH",
        kind="path",
    )

    def check(self, *files: str | None) -> None:
        """Raise, before any work, if it cannot be written."""
        if self.path is None:
            if self.corpus is not None:
                raise UsageError("--corpus is for the HTML report", hint="write one: --html FILE")
            return
        if self.path == "-":
            raise InputError.at(self.path, None, "cannot write a report there", hint="name a file")
        from rankgauge.io.atomic_files import check_writable  # which most evaluations do without

        check_writable(self.path, inputs=[file for file in (*files, self.corpus) if file is not None])

    def reading(self, reading: Reading) -> Reading:
        """How files are read if their rankings are shown."""
        if self.path is None:
            return reading
        from rankgauge.report.report import SHOWN_DEPTH

        return replace(reading, fingerprint=True, keep_top=SHOWN_DEPTH)

    def write(self, evaluation: Evaluation, settings: Settings, **details: Any) -> None:
        """Write the report of runs that are scored; ``details`` are further fields of ``Report``."""
        if self.path is None:
            return
        from rankgauge.cli.options.reproducing_command import data_date, reproducible_command
        from rankgauge.report.report import report_of

        if self.corpus is not None:
            from rankgauge.io.corpus.corpus_files import read_corpus
            from rankgauge.report.report import snippets_of

            rankings = [joined.shown for joined in evaluation.joined]
            details["snippets"] = snippets_of(read_corpus(self.corpus), rankings, settings.conventions.compat)
        context = click.get_current_context()
        details |= {"reproduce": reproducible_command(context, SAVE_NAMES), "date": data_date(context)}
        report = report_of(evaluation, settings, **details)
        write_page(report, self.path)
        print_message(f"wrote {printable(self.path, None)}")


HTML: Option = declared_options(PageRequest, "path")[0]
CORPUS: Option = declared_options(PageRequest, "corpus")[0]


# ----------------------------------------------------------------------------------------------- ``--manifest FILE``


@dataclass(frozen=True)
class ManifestRequest:
    """The manifest that a user wants of an evaluation, or none."""

    manifest: str | None = setting(
        None,
        "Also write the ExperimentManifest of a benchmark to FILE: inputs with hashes, settings, versions, times.",
        Section.OUTPUT,
        flag="--manifest FILE",
        kind="path",
    )
    began: float = field(default_factory=time.perf_counter, compare=False)

    def check(self, *files: str | None) -> None:
        """Raise, before any work, if it cannot be written."""
        if self.manifest is None:
            return
        if "-" in (self.manifest, *files):
            raise UsageError("--manifest needs files: standard input and output have no path")
        from rankgauge.io.atomic_files import check_writable

        check_writable(self.manifest, inputs=[file for file in files if file is not None])

    def reading(self, reading: Reading) -> Reading:
        """How files are read if a manifest says what was in them."""
        return reading if self.manifest is None else replace(reading, fingerprint=True, keep_rankings=True)

    def write(self, evaluation: Evaluation, settings: Settings, sources: EvaluatedSources, k: int) -> None:
        """Write the manifest of runs that are scored; ``k`` is how many results of a query that takes."""
        assert self.manifest is not None
        from datetime import UTC, datetime, timedelta

        from rankgauge.benchmark.record import manifest_of_evaluation
        from rankgauge.cli.options.reproducing_command import reproducible_command
        from rankgauge.io.atomic_files import write_atomically
        from rankgauge.report.manifest import to_bytes

        command = reproducible_command(click.get_current_context(), SAVE_NAMES)
        manifest = manifest_of_evaluation(evaluation, settings, sources, k, command)
        seconds = round(time.perf_counter() - self.began, 3)
        start = (datetime.now(UTC) - timedelta(seconds=seconds)).replace(microsecond=0).isoformat()
        manifest["times"] |= {"start": start, "seconds": seconds}
        with write_atomically(self.manifest) as file:
            file.write(to_bytes(manifest))
        print_message(f"wrote {printable(self.manifest, None)}")


@dataclass(frozen=True)
class OutputRequest:
    """What a command writes besides what it prints."""

    page: PageRequest
    saving: SaveRequest
    manifest: ManifestRequest

    def check(self, *files: str | None, reads_history: bool = False) -> None:
        """Raise, before any work, if something cannot be written; ``reads_history`` if results come from there."""
        if self.page.path is not None:
            self.page.check(*files)
        self.manifest.check(*files)
        self.saving.check(reads_history=reads_history)

    def reading(self, reading: Reading) -> Reading:
        """How files are read for what is written."""
        return self.manifest.reading(self.page.reading(self.saving.reading(reading)))


def make_output(path: str | None, corpus: str | None, manifest: str | None = None, **saving: Any) -> OutputRequest:
    """Build an ``OutputRequest`` from the values of its options."""
    return OutputRequest(PageRequest(path, corpus), SaveRequest(**saving), ManifestRequest(manifest))


MANIFEST: Option = declared_options(ManifestRequest, "manifest")[0]
output_options = option_group("output", make_output, HTML, CORPUS, *SAVE_OPTIONS)
evaluation_output_options = option_group("output", make_output, HTML, CORPUS, MANIFEST, *SAVE_OPTIONS)


def write_page(report: Report, path: str | Path, *, inputs: Iterable[str | Path] = ()) -> None:
    """Write the HTML of a report, completely or not at all."""
    from rankgauge.render.html import as_html

    write_html(as_html(report), path, inputs=inputs)


def write_html(page: str, path: str | Path, *, inputs: Iterable[str | Path] = ()) -> None:
    """Write a page, completely or not at all."""
    from rankgauge.io.atomic_files import write_atomically

    with write_atomically(path, inputs=inputs) as file:
        file.write(page.encode("utf-8", "surrogateescape"))
