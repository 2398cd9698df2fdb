"""``--save`` and what belongs to it: the same in every command that scores runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from rankgauge.cli.messages import print_message
from rankgauge.cli.options.declared import Option, option, option_group, option_names
from rankgauge.core.dataclass import dataclass
from rankgauge.core.settings import Section
from rankgauge.errors import UsageError, printable

if TYPE_CHECKING:
    from rankgauge.evaluation.evaluate import Evaluation
    from rankgauge.io.options import Reading
    from rankgauge.report.report import Cost

HISTORY: Option = option(
    "--history",
    "history_file",
    section=Section.HISTORY,
    rare=True,
    type=click.Path(),
    metavar="FILE",
    help="Use the history in FILE.  [default: $RANKGAUGE_HISTORY, else .rankgauge/history.db of the project]",
)
SAVE_OPTIONS: tuple[Option, ...] = (
    option("--save", section=Section.HISTORY, is_flag=True, help="Save the result of each run in the history."),
    option(
        "--tag",
        "tags",
        section=Section.HISTORY,
        rare=True,
        multiple=True,
        metavar="TAG",
        help="With --save, tag the entries; repeatable.",
    ),
    option(
        "--save-run",
        section=Section.HISTORY,
        rare=True,
        is_flag=True,
        help="Store the run itself too, so that it can be scored again if labels change.",
    ),
    option(
        "--date",
        section=Section.HISTORY,
        rare=True,
        metavar="TIME",
        help="With --save, date the entries TIME instead of now, for results of the past.",
    ),
    HISTORY,
)
SAVE_NAMES = option_names(*SAVE_OPTIONS)


@dataclass(frozen=True)
class SaveRequest:
    """Whether and how results are saved."""

    save: bool = False
    tags: tuple[str, ...] = ()
    save_run: bool = False
    date: str | None = None
    history_file: str | None = None

    def check(self, *, stores_run: bool = False, reads_history: bool = False) -> None:
        """Raise, before any work, if the options contradict each other or the history cannot be used.

        ``stores_run`` says that the command stores the run elsewhere too, ``reads_history`` that it needs the history
        for more than saving.
        """
        if not self.save:
            given: dict[str, object] = {"--tag": self.tags, "--date": self.date}
            given["--history"] = None if reads_history else self.history_file
            given["--save-run"] = self.save_run and not stores_run
            unused = next((name for name, value in given.items() if value), None)
            if unused is not None:
                raise UsageError(f"{unused} is for a result that is saved", hint="add --save")
            return
        from rankgauge.history.location import history_path
        from rankgauge.history.names import checked_tag
        from rankgauge.history.store import History
        from rankgauge.history.times import parse_time

        for tag in self.tags:
            checked_tag(tag)
        if self.date is not None:
            parse_time(self.date)
        path = history_path(self.history_file)
        with History(path) as history:
            history.database.check_writable()
            if path.exists():
                history.count()

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
        from rankgauge.history.entries import EntryFacts
        from rankgauge.history.saving import SaveOptions, save_evaluation
        from rankgauge.history.store import History
        from rankgauge.history.times import parse_time

        command = click.get_current_context().command_path.partition(" ")[2]
        options = SaveOptions(
            EntryFacts(tags=self.tags, command=command, verdict=verdict),
            keep_run=self.save_run,
            date=None if self.date is None else parse_time(self.date),
        )
        with History.open(self.history_file) as history:
            saved = save_evaluation(history, evaluation, options, costs=costs, only=only)
            for entry in saved:
                name = printable(entry.system, None)
                print_message(f"saved {name} as {entry.name} in {printable(str(history.path), None)}")


saving_options = option_group("saving", SaveRequest, *SAVE_OPTIONS)
