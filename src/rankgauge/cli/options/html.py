"""The page that several commands write with ``--html``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from rankgauge.errors import InputError, UsageError, printable
from rankgauge.io.writing import atomic, refuse_inputs

if TYPE_CHECKING:
    from rankgauge.evaluation.evaluate import AnyQrels, AnyRun
    from rankgauge.report.report import Report
    from rankgauge.report.settings import Settings

html_option = click.option(
    "--html", "page", type=click.Path(), metavar="FILE", help="Write a page to look at, too: one file, no network."
)
texts_option = click.option(
    "--corpus", type=click.Path(), metavar="PATH", help="The documents, whose beginnings the page then shows."
)


def write_page(report: Report, path: str | Path, *, inputs: Iterable[str | Path] = ()) -> None:
    """Write the page of a report, whole or not at all."""
    from rankgauge.render.html import as_html

    with atomic(path, inputs=inputs) as file:
        file.write(as_html(report).encode("utf-8", "surrogateescape"))


@dataclass(frozen=True)
class Page:
    """The page that a user wants, or none: where, with which documents, and how the files are read."""

    path: str | None
    corpus: str | None = None
    topics: str | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)

    def check(self, files: Sequence[str]) -> None:
        """Raise, before any work, where it cannot be written."""
        if self.path is None:
            if self.corpus is not None:
                raise UsageError("--corpus is for the page", hint="say where to write it: --html FILE")
            return
        if any(name == "-" or Path(name).is_fifo() for name in files):
            raise UsageError("a page reads its files twice, and standard input or a pipe can be read only once")
        if self.path == "-" or Path(self.path).is_dir() or not Path(self.path).parent.is_dir():
            raise InputError.at(
                self.path, None, "cannot write a page there", hint="name a file in a folder that is there"
            )
        refuse_inputs(self.path, [*files, *(one for one in (self.corpus, self.topics) if one is not None)])

    def write(self, qrels: AnyQrels, runs: Sequence[AnyRun], settings: Callable[[], Settings], **more: Any) -> None:
        """Write the page of judgments and runs, which are read once more for it."""
        if self.path is None:
            return
        from rankgauge.report.building import build_report

        snippets = {}
        if self.corpus is not None:
            from rankgauge.report.snippets import snippets_of
            from rankgauge.retrieval.corpus.opening import open_documents

            snippets = snippets_of(open_documents(self.corpus), runs)
        report = build_report(
            qrels,
            runs,
            settings(),
            topics=self.topics,
            reading=self.reading,
            snippets=snippets,
            reproduce=told(click.get_current_context()),
            **more,
        )
        write_page(report, self.path)
        click.echo(f"wrote {printable(self.path, None)}", err=True)


def told(context: click.Context, unsaid: Sequence[str] = ()) -> str:
    """The command line as it may be told to others: a path that leads out of the working folder is only a name."""
    import shlex

    from rankgauge.report.manifest import plain_path, plain_text

    words = context.command_path.split()
    for option in context.command.params:
        name = option.name or ""
        if context.get_parameter_source(name) is not ParameterSource.COMMANDLINE or name in unsaid:
            continue
        found = context.params[name]
        for value in found if isinstance(found, tuple) else (found,):
            path = isinstance(option.type, click.Path) or Path(str(value)).is_absolute()
            said = plain_path(value) if path else plain_text(str(value))
            if isinstance(option, click.Argument):
                words.append(said)
            else:
                words += [option.opts[-1]] + ([] if getattr(option, "is_flag", False) else [said])
    return shlex.join(words)
