"""The measures that were asked for, with their parameters as trec_eval reads them, however odd."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rankgauge.core.ranking import Compat
from rankgauge.measures import trec_names as trec

WHOLE_NUMBER = re.compile(r"[+-]?[0-9]+")
SHARED_GAINS = ("dcg", "ideal_dcg", "ndcg")  # in the order in which trec_eval 10 reads their gains
POINT_LABEL_ROOM = 9  # characters after the name of a family with recall points; the rest is cut


@dataclass(frozen=True)
class Request:
    """A family of measures and its parameters; ``labels`` are the names of its lines."""

    family: trec.TrecFamily
    labels: tuple[bytes, ...]
    numbers: tuple[float, ...] = ()  # cutoffs, points, or the numbers of one measure
    pairs: trec.Pairs = ()  # gains by grade, and p

    @property
    def name(self) -> str:
        """The name of the family."""
        return self.family.name


def read_request(family: trec.TrecFamily, text: str | None, compat: Compat) -> Request:
    """The family with its parameters; a parameter that trec_eval refuses is an error."""
    name, kind = family.name, family.kind
    if kind == "cutoffs":
        depths = trec.cutoffs(family, text or family.default)
        return Request(family, tuple(f"{name}_{depth}".encode() for depth in depths), tuple(depths))
    if kind == "points":
        points = trec.points(family, text or family.default)
        suffixes = (f"_{point:3.2f}"[:POINT_LABEL_ROOM] for point in points)
        return Request(family, tuple((name + suffix).encode() for suffix in suffixes), tuple(points))
    if name == "runid" or kind == "none":
        return Request(family, (name.encode(),))
    label = f"{name}_{text}" if text else name
    labels = (label.encode("utf-8", "surrogateescape"),)
    if kind in ("gains", "p"):
        pairs = trec.pairs(family, text) if text else ()
        if compat == "trec_eval-10":
            pairs = tuple((key, value) for key, value in pairs if key == "p" or WHOLE_NUMBER.fullmatch(key))
        return Request(family, labels, pairs=pairs)
    text = text or family.default
    return Request(family, labels, tuple(trec.real(item) for item in text.split(",")) if text else ())


def share_gains(requests: Sequence[Request]) -> list[Request]:
    """The requests with the gains that dcg, ideal_dcg and ndcg of trec_eval 10 share: those read last.

    A label has the gains that had been read when its measure was.
    """
    suffix, pairs = b"", next((r.pairs for r in reversed(requests) if r.name in SHARED_GAINS and r.pairs), ())
    shared = []
    for request in requests:
        if request.name in SHARED_GAINS:
            suffix = request.labels[0].removeprefix(request.name.encode()) or suffix
            request = replace(request, labels=(request.name.encode() + suffix,), pairs=pairs)
        shared.append(request)
    return shared
