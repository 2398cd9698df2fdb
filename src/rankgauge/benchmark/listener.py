"""What a caller learns of a benchmark while it runs."""

from __future__ import annotations

from rankgauge.errors import Note
from rankgauge.retrieval.fetch.fetch import FetchProgress
from rankgauge.validation.findings import Validation


class BenchmarkListener:
    """Receive the progress of a benchmark. This one ignores it."""

    def validated(self, validation: Validation) -> None:
        """The judgments were validated."""

    def noted(self, note: Note) -> None:
        """A caveat about the collection and all systems."""

    def started(self, system: str) -> FetchProgress | None:
        """A system starts; returns what its progress is reported to."""

    def finished(self, system: str, error: str | None) -> None:
        """A system is finished, or failed with an error."""

    def warned(self, system: str, note: Note) -> None:
        """A warning about a system that did not fail."""
