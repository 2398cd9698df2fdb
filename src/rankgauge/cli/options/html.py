"""The HTML report that several commands write with ``--html``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rankgauge.cli.messages import print_message
from rankgauge.cli.options.declared import option, option_group
from rankgauge.cli.options.saving import SAVE_OPTIONS, SaveRequest
from rankgauge.core.dataclass import dataclass
from rankgauge.core.settings import Section
from rankgauge.errors import InputError, UsageError, printable

if TYPE_CHECKING:
    from rankgauge.config.settings import Settings
    from rankgauge.evaluation.evaluate import Evaluation
    from rankgauge.io.options import Reading
    from rankgauge.report.report import Report

HTML = option(
    "--html",
    "path",
    section=Section.OUTPUT,
    type=click.Path(),
    metavar="FILE",
    help="Also write a self-contained HTML report to FILE.",
)
CORPUS = option(
    "--corpus",
    section=Section.OUTPUT,
    rare=True,
    type=click.Path(),
    metavar="PATH",
    help="Read the documents, so that the HTML report shows their first words.",
)


@dataclass(frozen=True)
class PageRequest:
    """The HTML report that a user wants, or none."""

    path: str | None
    corpus: str | None = None

    def check(self, *files: str | None) -> None:
        """Raise, before any work, if it cannot be written."""
        if self.path is None:
            if self.corpus is not None:
                raise UsageError("--corpus is for the HTML report", hint="write one: --html FILE")
            return
        if self.path == "-":
            raise InputError.at(self.path, None, "cannot write a report there", hint="name a file")
        from rankgauge.io.writing import check_writable  # which most evaluations do without

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
        from rankgauge.cli.options.reproducing import data_date, reproducible_command
        from rankgauge.report.building import report_of

        snippets = {}
        if self.corpus is not None:
            from rankgauge.io.corpus.reading import read_corpus
            from rankgauge.report.snippets import snippets_of

            rankings = [joined.shown for joined in evaluation.joined]
            snippets = snippets_of(read_corpus(self.corpus), rankings, settings.conventions.compat)
        context = click.get_current_context()
        details |= {"reproduce": reproducible_command(context), "date": data_date(context)}
        report = report_of(evaluation, settings, snippets=snippets, **details)
        write_page(report, self.path)
        print_message(f"wrote {printable(self.path, None)}")


@dataclass(frozen=True)
class OutputRequest:
    """What a command writes besides what it prints."""

    page: PageRequest
    saving: SaveRequest

    def check(self, *files: str | None) -> None:
        """Raise, before any work, if something cannot be written."""
        self.page.check(*files)
        self.saving.check()

    def reading(self, reading: Reading) -> Reading:
        """How files are read for what is written."""
        return self.page.reading(self.saving.reading(reading))


def make_output(path: str | None, corpus: str | None, **saving: Any) -> OutputRequest:
    """Build an ``OutputRequest`` from the values of its options."""
    return OutputRequest(PageRequest(path, corpus), SaveRequest(**saving))


output_options = option_group("output", make_output, HTML, CORPUS, *SAVE_OPTIONS)


def write_page(report: Report, path: str | Path, *, inputs: Iterable[str | Path] = ()) -> None:
    """Write the HTML of a report, completely or not at all."""
    from rankgauge.render.html import as_html

    write_html(as_html(report), path, inputs=inputs)


def write_html(page: str, path: str | Path, *, inputs: Iterable[str | Path] = ()) -> None:
    """Write a page, completely or not at all."""
    from rankgauge.io.writing import write_atomically

    with write_atomically(path, inputs=inputs) as file:
        file.write(page.encode("utf-8", "surrogateescape"))
