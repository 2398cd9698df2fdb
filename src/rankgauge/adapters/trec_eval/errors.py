"""How the drop-in stops: with trec_eval's exit codes."""

from __future__ import annotations

from rankgauge.errors import RankgaugeError


class TrecEvalError(RankgaugeError):
    """An error with trec_eval's exit code for it."""

    def __init__(self, code: int, message: str, *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.exit_code = code


TREC_USAGE_ERROR = 1  # a bad option or an unknown measure
TREC_FILE_ERROR = 2  # a file or a parameter that cannot be read
TREC_COMPUTE_ERROR = 4  # a query that cannot be evaluated
TREC_NO_QUERIES = 7  # no query in both files
TREC_ZSCORE_ERROR = 255  # a file of -Z that cannot be read
