"""Labels by text, which ``evaluate``, ``compare`` and ``gate`` accept instead of judgments, and the queries' texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from rankgauge.cli.options.declared import Option, is_given, option, option_group
from rankgauge.cli.options.view import QUERIES
from rankgauge.core.dataclass import dataclass
from rankgauge.core.settings import Section
from rankgauge.errors import UsageError

if TYPE_CHECKING:
    from rankgauge.config.settings import Settings
    from rankgauge.evaluation.evaluate import AnyRun, Evaluation
    from rankgauge.io.options import Reading
    from rankgauge.labels.gold.evaluation import GoldInputs, JudgedRuns

COVERAGE: Option = option(
    "--coverage",
    section=Section.GOLD,
    rare=True,
    type=click.FloatRange(0, 1, min_open=True),
    default=0.5,
    show_default=True,
    metavar="SHARE",
    help="Count a gold passage as found at the rank where the chunks so far contain this share of it.",
)
TOLERANCE: Option = option(
    "--tolerance",
    section=Section.GOLD,
    rare=True,
    type=click.FloatRange(0, 0.3),
    default=0.1,
    show_default=True,
    metavar="SHARE",
    help="Match a quote that is in no chunk exactly up to this edit distance, as a share of its length.",
)
DOCUMENTS: Option = option(
    "--documents",
    section=Section.GOLD,
    rare=True,
    type=click.Path(),
    metavar="PATH",
    help="Read the documents that spans of the labels count in.",
)
GOLD_OPTIONS: tuple[Option, ...] = (
    QUERIES,
    option(
        "--gold",
        section=Section.GOLD,
        type=click.Path(),
        metavar="LABELS",
        help="Score on labels by text instead of judgments: name only runs.",
    ),
    option(
        "--chunks",
        section=Section.GOLD,
        type=click.Path(),
        multiple=True,
        metavar="PATH",
        help="Read the texts of the chunks, if runs have none; repeatable, once per run.",
    ),
    DOCUMENTS,
    COVERAGE,
    TOLERANCE,
)


@dataclass(frozen=True)
class LabelSources:
    """The queries' texts, and labels by text if a user has them."""

    queries: str | None
    gold: str | None
    chunks: tuple[str, ...]
    documents: str | None
    coverage: float
    tolerance: float

    def check(self, *, needs_join: bool = False) -> None:
        """Raise if an option is given without labels by text, or one that runs on several chunkings cannot use."""
        if needs_join and len(set(self.chunks)) > 1:
            raise UsageError(
                "--html and --audit are for runs on the same chunks",
                hint="write a page for each chunking, or compare chunkings with `rankgauge benchmark run`",
            )
        for name in ("chunks", "documents", "coverage", "tolerance"):
            if self.gold is None and is_given(name):
                raise UsageError(f"--{name} applies to labels by text", hint="name them: --gold LABELS")

    @property
    def files(self) -> tuple[str, ...]:
        """Every file that is named."""
        return tuple(name for name in (self.queries, self.gold, *self.chunks, self.documents) if name is not None)

    @property
    def inputs(self) -> GoldInputs:
        """Labels by text, and how they are matched."""
        from rankgauge.labels.gold.evaluation import GoldInputs
        from rankgauge.labels.gold.options import GoldOptions

        assert self.gold is not None
        options = GoldOptions(self.coverage, self.tolerance)
        return GoldInputs(self.gold, list(self.chunks) or None, self.documents, options)

    def evaluate(self, runs: tuple[str, ...], settings: Settings, reading: Reading) -> Evaluation:
        """Score runs on labels by text."""
        from rankgauge.labels.gold.evaluation import evaluate_gold_runs

        return evaluate_gold_runs(
            self.inputs,
            runs,
            settings.measures,
            conventions=settings.conventions,
            reading=reading,
            queries=self.queries,
        )

    def judge(self, runs: Sequence[AnyRun], reading: Reading) -> JudgedRuns:
        """Judgments by text of runs on the same chunks."""
        from rankgauge.labels.gold.evaluation import judge_runs

        if len(self.chunks) > 1:
            raise UsageError("a gate has one --chunks", hint="store a baseline for runs on other chunks")
        return judge_runs(self.inputs, runs, reading=reading, queries=self.queries)[0]


gold_options = option_group("sources", LabelSources, *GOLD_OPTIONS)
