"""How the drop-in stops: with trec_eval's exit codes."""

from __future__ import annotations

from rankgauge.errors import RankgaugeError


class Stop(RankgaugeError):
    """An error with the exit code that trec_eval has for it."""

    def __init__(self, code: int, message: str, *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.exit_code = code


USAGE = 1  # a bad option or an unknown measure
FILE = 2  # a file or a parameter that cannot be read
COMPUTE = 4  # a query that cannot be evaluated
NO_QUERIES = 7  # no query in both files
