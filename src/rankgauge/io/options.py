"""How judgments and runs are read: one object from the command line, a configuration or Python down to the readers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

from rankgauge.core.dataclass import dataclass
from rankgauge.core.run import OnDuplicate
from rankgauge.io.byte_streams import DEFAULT_LIMITS, Limits
from rankgauge.io.formats.names import Columns

DEFAULT_MEMORY = 1 << 29
ReadProgress = Callable[[int, int], None]  # bytes read, and bytes in total (0 if unknown)


@dataclass(frozen=True)
class Reading:
    """How files are read. Formats that are not named are detected from the content."""

    qrels_format: str | None = None
    run_format: str | None = None
    on_duplicate: OnDuplicate = "error"  # a document that appears twice in a ranking
    limits: Limits = DEFAULT_LIMITS
    fingerprint: bool = False  # whether runs are hashed, which costs about half as much as reading them
    keep_rankings: bool = False  # whether complete runs stay in memory, to be stored or shown
    keep_top: int = 0  # how many documents of each ranking stay in memory, to be shown
    parallel: bool = True  # whether several large files may be read at the same time
    columns: Columns | None = None  # of runs in named columns: role → name, for those that are not detected
    memory: int = DEFAULT_MEMORY  # bytes, about: runs with scattered queries use temporary files beyond it
    progress: ReadProgress | None = field(default=None, compare=False)


DEFAULT_READING = Reading()
