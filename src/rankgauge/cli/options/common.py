"""What several commands share: options, the talk on standard error, colour."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from rankgauge.core.ranking import COMPATS
from rankgauge.errors import RankgaugeWarning, printable
from rankgauge.evaluation.evaluate import Scores
from rankgauge.evaluation.notes import Note, told_once
from rankgauge.io.sources import DEFAULT, Limits

if TYPE_CHECKING:
    from rankgauge.config.bands.bands import Bands

Command = TypeVar("Command", bound=Callable[..., Any])

_WHICH_QUERIES = (
    click.option(
        "--queries",
        type=click.Choice(["qrels", "both"]),
        default="qrels",
        show_default=True,
        help="Average over every judged query, or (trec_eval's default) over those that the run has too.",
    ),
    click.option(
        "--no-relevant",
        type=click.Choice(["zero", "skip"]),
        default="zero",
        show_default=True,
        help="What a query without relevant documents counts.",
    ),
    click.option(
        "--on-duplicate",
        type=click.Choice(["error", "first"]),
        default="error",
        show_default=True,
        help="What to do with a document that stands twice in a result.",
    ),
)
COMPAT = click.option(
    "--compat",
    type=click.Choice(COMPATS),
    default="trec_eval-9",
    show_default=True,
    help="Compare scores as trec_eval 9 does (float32) or as 10 does (float64).",
)


def reading_options(command: Command) -> Command:
    """The options of every command that reads judgments and runs."""
    for option in reversed(
        (
            click.option(
                "--qrels-format", metavar="NAME", help="The format of the judgments, where it is not told rightly."
            ),
            click.option("--run-format", metavar="NAME", help="The format of the runs."),
            click.option("--max-bytes", type=click.IntRange(min=1), help="The most that a file may unpack to."),
            click.option("--max-line", type=click.IntRange(min=1), help="The most bytes that a line may have."),
            click.option("--strict", is_flag=True, help="What a reader would only warn of is an error."),
        )
    ):
        command = option(command)
    return command


def convention_options(command: Command) -> Command:
    """The options of conventions on which tools disagree."""
    for option in reversed((*_WHICH_QUERIES, COMPAT)):
        command = option(command)
    return command


def kpi_option(command: Command) -> Command:
    """The option of commands whose tables show target bands."""
    text = (
        "The target band that a value reaches, where its measure has any: a preset's, a YAML file's, or none. A "
        "preset's thresholds mean something only on the collection they were made for; `rankgauge measures --kpi "
        "trec-2025` writes a file to put your own into.  [default: trec-2025]"
    )
    return click.option("--kpi", metavar="NAME|FILE|none", help=text)(command)


def bands_of(kpi: str | None, config: str | None = None) -> Bands | None:
    """The bands behind --kpi, else those of a configuration file, else the default preset."""
    from rankgauge.config.bands.loading import NONE, configured_bands, load_bands
    from rankgauge.config.bands.presets import DEFAULT

    if kpi is None and config is not None:
        return configured_bands(config)
    return None if kpi == NONE else load_bands(kpi or DEFAULT)


def config_option(said: Callable[[str], dict[str, Any]]) -> Callable[[Command], Command]:
    """``--config``: where the command line says nothing, an option is what ``said`` finds in the file."""

    def decorated(command: Command) -> Command:
        @click.option(
            "--config",
            type=click.Path(),
            metavar="FILE",
            help="What a rankgauge.yaml says of these options; one given here wins.",
        )
        @wraps(command)
        def wrapped(*args: Any, config: str | None, **options: Any) -> Any:
            filled = options if config is None else unless_given(options, said(config))
            return command(*args, config=config, **filled)

        return cast("Command", wrapped)

    return decorated


def unless_given(options: dict[str, Any], said: dict[str, Any]) -> dict[str, Any]:
    """The options of the current command, with what a file says where the command line says nothing."""
    from click.core import ParameterSource

    context = click.get_current_context()
    own = {key for key in options if context.get_parameter_source(key) != ParameterSource.DEFAULT}
    return options | {key: value for key, value in said.items() if key not in own}


def limits_of(max_bytes: int | None, max_line: int | None, *, strict: bool = False) -> Limits:
    """The limits of reading with some of them changed."""
    return replace(DEFAULT, total=max_bytes or DEFAULT.total, line=max_line or DEFAULT.line, strict=strict)


def colour() -> bool:
    """Whether to use bold: a terminal that did not ask for none."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def width() -> int:
    """How wide a table may be."""
    told = sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit()
    return shutil.get_terminal_size((120, 24)).columns if told else 160


@contextmanager
def collected_notes() -> Iterator[list[Note]]:
    """Warnings of the readers, collected instead of shown."""
    notes: list[Note] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RankgaugeWarning)
        yield notes
    notes += [Note("input", str(item.message)) for item in caught if issubclass(item.category, RankgaugeWarning)]


def say(notes: list[Note], *, about: str | None = None) -> None:
    """Print warnings on standard error."""
    for note in notes:
        where = f"{printable(about)}: " if about else ""
        click.echo(f"warning: {where}{note.message} [{note.code}]", err=True)


def say_of_runs(scores: Sequence[Scores]) -> None:
    """Print the warnings about runs, each once: what is true of all of them names none."""
    for note, runs in told_once([(one.run, one.notes) for one in scores]):
        say([note], about=", ".join(runs) or None)


def write(text: str) -> None:
    """Data on standard output, as UTF-8 bytes; ids that are no UTF-8 come out as they went in."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
    sys.stdout.buffer.flush()
