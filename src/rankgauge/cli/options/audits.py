"""The options that ask how far a number can be trusted, and what they print."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from rankgauge.cli.options.common import bands_of, kpi_option
from rankgauge.cli.options.forms import PAGES, ROWS
from rankgauge.core.hits import Joined
from rankgauge.core.qrels import Qrels
from rankgauge.errors import UsageError
from rankgauge.evaluation.evaluate import Scores

if TYPE_CHECKING:
    from rankgauge.config.bands.bands import Bands
    from rankgauge.evaluation.audit.ties import TieAudit
    from rankgauge.evaluation.audit.unjudged import UnjudgedAudit


def audit_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--ties``, ``--unjudged`` and ``--kpi``, which the command gets as one argument, ``audits``."""

    @click.option("--ties", is_flag=True, help="Worst, expected and best value over all orders of tied documents.")
    @click.option("--unjudged", is_flag=True, help="What documents that nobody judged could make of each value.")
    @kpi_option
    @wraps(command)
    def wrapped(*args: Any, ties: bool, unjudged: bool, kpi: str | None, **options: Any) -> Any:
        return command(*args, audits=Asked(ties, unjudged, kpi), **options)

    return wrapped


@dataclass(frozen=True)
class Asked:
    """Which audits a user wants."""

    ties: bool
    unjudged: bool
    kpi: str | None

    @property
    def audits(self) -> bool:
        """Whether any is wanted."""
        return self.ties or self.unjudged

    def check(self, form: str) -> None:
        """Raise where there is no place for what was asked."""
        if form in (*ROWS, "trec") and (self.audits or self.kpi is not None):
            raise UsageError(f"--format {form} has no audits and no bands", hint="use --format json or table")
        if form in PAGES and self.audits:
            raise UsageError(f"--format {form} has no audits", hint="use --format json or table")

    def bands(self, config: str | None = None) -> Bands | None:
        """The target bands, read before the files: a wrong name is told at once."""
        return bands_of(self.kpi, config)

    def of(self, qrels: Qrels, joined: Sequence[Joined], scores: Sequence[Scores], bands: Bands | None) -> Audits:
        """Make them."""
        if not self.audits:
            return Audits(bands=bands)
        from rankgauge.evaluation.audit.ties import ties_of
        from rankgauge.evaluation.audit.unjudged import top_grade, unjudged_of

        pairs = [(one, join.hits) for one, join in zip(scores, joined, strict=True)]
        return Audits(
            ties=[ties_of(one, hits) for one, hits in pairs] if self.ties else (),
            unjudged=[unjudged_of(one, hits, top_grade(qrels)) for one, hits in pairs] if self.unjudged else (),
            bands=bands,
        )


@dataclass(frozen=True)
class Audits:
    """What was found, one a run; empty where it was not asked for."""

    ties: Sequence[TieAudit] = ()
    unjudged: Sequence[UnjudgedAudit] = ()
    bands: Bands | None = None

    def texts(self, *, colour: bool) -> list[str]:
        """A table for each audit and run."""
        if not self.ties and not self.unjudged:
            return []
        from rankgauge.render.text.audit import ties_table, unjudged_table

        return [
            *(ties_table(audit, colour=colour) for audit in self.ties),
            *(unjudged_table(audit, colour=colour) for audit in self.unjudged),
        ]

    def added(self, data: dict[str, Any], scores: Sequence[Scores], *, per_query: bool) -> dict[str, Any]:
        """The JSON of scores with audits and bands."""
        from rankgauge.render.text.audit import with_audits
        from rankgauge.render.text.bands import with_bands

        full = with_audits(data, ties=self.ties, unjudged=self.unjudged, per_query=per_query)
        return with_bands(full, scores, self.bands)


NONE = Audits()
