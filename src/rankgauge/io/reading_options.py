"""How judgments and runs are read: one object from the command line, a configuration or Python down to the readers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, Literal

from rankgauge.core.dataclass import dataclass
from rankgauge.core.run import OnDuplicate, ScoreMeaning
from rankgauge.core.settings import Section, check_settings, setting
from rankgauge.io.byte_streams import DEFAULT_LIMITS, Limits
from rankgauge.io.formats.named_columns import Columns, IsByText

MatchRule = Literal["exact", "suffix", "contains", "text"]
MATCH_RULES: tuple[MatchRule, ...] = ("exact", "suffix", "contains", "text")
ReadProgress = Callable[[int, int], None]  # bytes read, and bytes in total (0 if unknown)


@dataclass(frozen=True)
class Reading:
    """How files are read. Formats that are not named are detected from the content."""

    qrels_format: str | None = setting(
        None,
        "Set the format of the judgments, if detection is wrong; ndeval must be named.",
        Section.FILES,
        flag="reading.qrels_format",
    )
    run_format: str | None = setting(
        None, "Set the format of the runs, if detection is wrong.", Section.FILES, flag="reading.run_format"
    )
    on_duplicate: OnDuplicate = setting(
        "error",
        "Refuse a document that appears twice in a ranking, or keep the first.",
        Section.FILES,
        choices=("error", "first"),
        flag="reading.on_duplicate",
    )
    forbidden: str | None = setting(
        None,
        "Read documents that must not be returned, for Leak: a query and a document on each line.",
        Section.FILES,
        flag="reading.forbidden",
        kind="path",
    )
    match: MatchRule = setting(
        "exact",
        "Match labels with results by the same id, by the end of a path (at a /), by a part of the id, or by the text "
        "of results; a test case can have a key match of its own.",
        Section.INPUT,
        choices=MATCH_RULES,
    )
    ignore_case: bool = setting(False, "Ignore case in --match suffix, contains and text.", Section.INPUT)
    match_fields: tuple[str, ...] = setting(
        (),
        "Match labels by fields, of objects or of test cases, and say where a result has each: "
        "doc_id,clause=metadata.clause; start..end=from..to is a range, which must overlap.",
        Section.INPUT,
        flag="--match-field FIELD=PATH",
    )
    limits: Limits = DEFAULT_LIMITS
    fingerprint: bool = False  # whether runs are hashed, which costs about half as much as reading them
    scores: ScoreMeaning | None = None  # what the scores of a list mean, in a log and in Python; None: its order counts
    keep_rankings: bool = False  # whether complete runs stay in memory, to be stored or shown
    keep_top: int = 0  # how many documents of each ranking stay in memory, to be shown
    parallel: bool = True  # whether several large files may be read at the same time
    columns: Columns | None = None  # of runs in named columns: role → name, for those that are not detected
    memory: int = setting(
        1 << 29,
        "About how much memory a run with scattered queries may use; beyond it, temporary files are used.",
        Section.FILES,
        kind="size",
        flag="reading.memory",
    )
    progress: ReadProgress | None = field(default=None, compare=False)
    is_by_text: IsByText | None = field(default=None, compare=False)  # of results that are identified by text, too

    def __post_init__(self) -> None:
        check_settings(self)

    @property
    def matches_ids(self) -> bool:
        """Whether labels are the ids of results, so that judgments and runs are read as they are."""
        return self.match == "exact" and not self.match_fields


DEFAULT_READING = Reading()


@dataclass(frozen=True)
class PassageMatching:
    """Which texts labels by text are compared with, how much must be retrieved, and how exactly texts must agree."""

    coverage: float = setting(
        0.5,
        "Count a gold passage as found at the rank where the chunks so far contain this share of it.",
        Section.GOLD,
        flag="reading.coverage",
        limits="0<x<=1",
    )
    tolerance: float = setting(
        0.1,
        "Match a quote that is in no chunk exactly up to this edit distance, as a share of its length.",
        Section.GOLD,
        flag="reading.tolerance",
        limits="0<=x<=0.3",
    )

    chunks: tuple[str, ...] = setting(
        (),
        "For labels by text, read the texts of the chunks, if results have none: one file, or one for each result.",
        Section.GOLD,
        kind="paths",
        flag="reading.chunks",
    )

    def __post_init__(self) -> None:
        check_settings(self)


DEFAULT_MATCHING = PassageMatching()


@dataclass(frozen=True)
class Asking:
    """How live retrievers are asked; an option that is not here is that of the retriever's file, or the default."""

    options: Mapping[str, Any] = field(default_factory=dict)  # id, unit, scores, and those of the calls
    k: int | None = None  # instead of what the measures need
    max_failures: int | None = 0
    out: str | None = None  # where the run will be written
    resume: bool | None = None  # whether answers that the journal has are used, however old; None: those of a day
    fields: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # of test cases, by query
    keeps_partial: bool = False  # whether the caller wants what was answered, although too many queries failed
    journal: Path | None = None  # keeps answers until they are written; whoever writes them deletes it
