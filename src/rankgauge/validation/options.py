"""The options of a validation."""

from __future__ import annotations

from dataclasses import dataclass

from rankgauge.io.byte_streams import DEFAULT_LIMITS, Limits

TIE_CUTOFFS = (10, 100, 1000)


@dataclass(frozen=True)
class ValidationOptions:
    """What to check beyond the default, and how to read the file.

    ``max_depth`` and ``min_depth`` limit the results per query of a run, ``cutoffs`` are the ranks at which ties are
    reported; ``min_judged`` is the smallest number of judged documents per query, and ``by_subtopic`` allows one
    judgment per subtopic. ``strict`` treats warnings as errors. ``max_places`` limits the places kept of each fault;
    the counts always include all of them. Without ``hashed`` the result has no hash of the file. ``PRESETS`` has the
    options of known workflows.
    """

    max_depth: int | None = None
    min_depth: int | None = None
    cutoffs: tuple[int, ...] = TIE_CUTOFFS
    min_judged: int | None = None
    by_subtopic: bool = False
    strict: bool = False
    max_places: int | None = None
    format: str | None = None
    hashed: bool = True
    limits: Limits = DEFAULT_LIMITS


DEFAULT_OPTIONS = ValidationOptions()
PRESETS = {  # what a workflow demands of a run, by name
    "trec-2025": ValidationOptions(max_depth=100, format="trec"),  # a submission has at most 100 results per query
}
