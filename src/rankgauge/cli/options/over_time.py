"""A gate over time: a baseline from the history of a branch, and errors controlled over a sequence of builds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from rankgauge.cli.options.groups import Option, Section, option
from rankgauge.config.settings import HISTORY_PREFIX
from rankgauge.errors import UsageError
from rankgauge.stats.names import ONLINE_CONTROLS, OnlineControl

if TYPE_CHECKING:
    from rankgauge.comparison.gate.baseline import Baseline
    from rankgauge.config.settings import Settings
    from rankgauge.core.qrels import Qrels
    from rankgauge.history.sequences import BuildSequence
    from rankgauge.history.store import History

ONLINE_OPTIONS: tuple[Option, ...] = (
    option(
        "--online",
        section=Section.GATE,
        type=click.IntRange(min=1),
        metavar="N",
        help="Control false alarms over N builds of this branch and collection, instead of in each; the history keeps "
        "count of them.",
    ),
    option(
        "--online-control",
        section=Section.GATE,
        type=click.Choice(ONLINE_CONTROLS),
        default="any",
        show_default=True,
        help="With --online, control the probability of any false alarm, or the share of false alarms among alarms: "
        "lond (positive dependence) or e-lond (any dependence).",
    ),
)
ONLINE_RESTART: Option = option(
    "--online-restart",
    section=Section.GATE,
    is_flag=True,
    help="With --online, end the sequence of builds and begin a new one.",
)


def is_history(against: str | None) -> bool:
    """Whether a baseline is the history of a branch."""
    return against is not None and against.startswith(HISTORY_PREFIX)


@dataclass(frozen=True)
class OverTime:
    """What a gate takes from a history."""

    against: str | None
    online: int | None
    control: OnlineControl
    restart: bool

    def check(self) -> bool:
        """Whether a history is used; raises if the options contradict each other."""
        if self.online is None and self.restart:
            raise UsageError("--online-restart is for a sequence of builds", hint="add --online N")
        if self.online is not None and self.against is None:
            raise UsageError("--online is for a gate with a baseline", hint="name one with --against")
        return self.online is not None or is_history(self.against)

    @contextmanager
    def opened(
        self, history_file: str | None, judgments: str | Qrels, settings: Settings
    ) -> Iterator[tuple[Baseline | None, BuildSequence | None]]:
        """The baseline of a branch and the sequence of builds, if these are asked for."""
        if not self.check():
            yield None, None
            return
        from rankgauge.history.repository import git_state
        from rankgauge.history.sequences import NO_BRANCH
        from rankgauge.history.store import History
        from rankgauge.io.byte_streams import source_name

        collection = source_name(judgments) if isinstance(judgments, str) else judgments.name
        with History.open(history_file, create=not is_history(self.against)) as history:
            branch, baseline, sequence = git_state().branch, None, None
            if self.against is not None and is_history(self.against):
                branch, baseline = self._baseline(history, collection, settings)
            if self.online is not None:
                sequence = history.online(
                    branch or NO_BRANCH, collection, builds=self.online, control=self.control, restart=self.restart
                )
            yield baseline, sequence

    def _baseline(self, history: History, collection: str, settings: Settings) -> tuple[str, Baseline]:
        """The branch that is named, and its baseline."""
        from rankgauge.history.baselines import parse_reference

        filter = replace(parse_reference(str(self.against)), collection=collection)
        branch, statistics = str(filter.branch), settings.statistics
        measures = settings.measures or ()
        return branch, history.baseline(branch, filter, measures=measures, alpha=statistics.alpha, seed=statistics.seed)
