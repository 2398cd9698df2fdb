"""trec_eval's names: its families of measures, their parameters, and the sets that have nicknames."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from rankgauge.core.ranking import Compat
from rankgauge.errors import MeasureError, shown
from rankgauge.measures.families import average_precision, counts, ndcg, precision_recall, user_models
from rankgauge.measures.measure import LARGEST_CUTOFF, Definition, Measure

Kind = Literal["none", "cutoffs", "points", "number", "numbers", "recalls", "gains", "p", "text"]
Pairs = tuple[tuple[str, float], ...]

DEFAULT_CUTOFFS = "5,10,15,20,30,100,200,500,1000"
MULTIPLES = ".2,.4,.6,.8,1,1.2,1.4,1.6,1.8,2"
C_INTEGER = re.compile(r"[ \t\n\v\f\r]*([+-]?[0-9]+)")
C_NUMBER = re.compile(r"[ \t\n\v\f\r]*([+-]?(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?)")
C_HEXADECIMAL = re.compile(
    r"[ \t\n\v\f\r]*([+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][+-]?[0-9]+)?)"
)
C_SPECIAL = re.compile(r"[ \t\n\v\f\r]*([+-]?(?:inf|nan))", re.IGNORECASE)
LONG_DIGITS = 30
LARGEST_LONG = 2**63 - 1  # of C's long


@dataclass(frozen=True)
class TrecFamily:
    """A family of measures as trec_eval lists it. ``make`` builds our measure from its parameters."""

    name: str
    make: Definition | None = None
    kind: Kind = "none"
    default: str = ""
    whole: bool = False  # printed without decimals
    summary_only: bool = False
    since: Compat = "trec_eval-9"
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def command(self) -> str:
        """The command that prints it."""
        compat = "" if self.since == "trec_eval-9" else f"--compat {self.since} "
        return f"rankgauge trec_eval {compat}-m {self.name}"


@dataclass(frozen=True)
class TrecRequest:
    """One line of trec_eval's output: the name that it prints and the measure behind it (None for text)."""

    label: str
    family: TrecFamily
    measure: Measure | None
    text: str = ""  # the parameter as written


TREC_FAMILIES: tuple[TrecFamily, ...] = (
    TrecFamily("runid", kind="text"),
    TrecFamily("num_q", counts.num_q, whole=True, summary_only=True),
    TrecFamily("num_ret", counts.num_ret, whole=True),
    TrecFamily("num_rel", counts.num_rel, whole=True),
    TrecFamily("num_rel_ret", counts.num_ret, whole=True, extra={"rel": 1}),
    TrecFamily("map", average_precision.ap),
    TrecFamily("gm_map", average_precision.gmap, summary_only=True),
    TrecFamily("Rprec", precision_recall.rprec),
    TrecFamily("bpref", average_precision.bpref),
    TrecFamily("recip_rank", precision_recall.rr),
    TrecFamily("iprec_at_recall", precision_recall.iprec, "points", "0,.1,.2,.3,.4,.5,.6,.7,.8,.9,1"),
    TrecFamily("P", precision_recall.precision, "cutoffs", DEFAULT_CUTOFFS),
    TrecFamily("relstring", kind="text", default="10"),
    TrecFamily("recall", precision_recall.recall, "cutoffs", DEFAULT_CUTOFFS),
    TrecFamily("infAP", average_precision.inf_ap),
    TrecFamily("gm_bpref", average_precision.gm_bpref, summary_only=True),
    TrecFamily("Rprec_mult", precision_recall.rprec, "points", MULTIPLES),
    TrecFamily("utility", user_models.utility, "numbers"),
    TrecFamily("11pt_avg", precision_recall.iprec_average, "recalls"),
    TrecFamily("binG", user_models.bin_g),
    TrecFamily("G", user_models.g, "gains"),
    TrecFamily("dcg", kind="gains", since="trec_eval-10"),
    TrecFamily("ideal_dcg", kind="gains", since="trec_eval-10"),
    TrecFamily("ndcg", ndcg.ndcg, "gains"),
    TrecFamily("ndcg_rel", ndcg.ndcg_rel, "gains"),
    TrecFamily("Rndcg", ndcg.rndcg, "gains"),
    TrecFamily("ndcg_cut", ndcg.ndcg, "cutoffs", DEFAULT_CUTOFFS),
    TrecFamily("map_cut", average_precision.ap, "cutoffs", DEFAULT_CUTOFFS),
    TrecFamily("relative_P", precision_recall.recall, "cutoffs", DEFAULT_CUTOFFS, extra={"norm": "min"}),
    TrecFamily("success", precision_recall.success, "cutoffs", "1,5,10"),
    TrecFamily("set_P", precision_recall.set_precision),
    TrecFamily("set_relative_P", precision_recall.set_precision, extra={"relative": True}),
    TrecFamily("set_recall", precision_recall.set_recall),
    TrecFamily("set_map", precision_recall.set_ap),
    TrecFamily("set_F", precision_recall.set_f, "number"),
    TrecFamily("num_nonrel_judged_ret", counts.num_nonrel_judged_ret, whole=True),
    TrecFamily("yaap", user_models.yaap),
    TrecFamily("rbp", user_models.rbp, "p", extra={"p": 0.9, "max_rel": "query"}, since="trec_eval-10"),
    TrecFamily("rbp_resid", user_models.rbp_residual, "p", since="trec_eval-10"),
    TrecFamily("unj", counts.unjudged, "cutoffs", "5,10,20", since="trec_eval-10"),
)
FAMILY_BY_NAME = {family.name: family for family in TREC_FAMILIES}

OUTSIDE_ALL = ("dcg", "ideal_dcg", "yaap")  # families that are in no set
OFFICIAL = ("runid num_q num_ret num_rel num_rel_ret map gm_map Rprec bpref recip_rank iprec_at_recall P").split()
SET = "runid num_q num_ret num_rel num_rel_ret utility set_P set_relative_P set_recall set_map set_F".split()


def nickname(name: str, compat: Compat) -> list[str] | None:
    """The families behind one of trec_eval's own nicknames; None if the name is not one."""
    if name == "official":
        return OFFICIAL
    if name == "set":
        return SET
    if name == "all_trec":
        return [f.name for f in TREC_FAMILIES if f.name not in OUTSIDE_ALL and is_available(f, compat)]
    return None


def is_available(family: TrecFamily, compat: Compat) -> bool:
    """Whether this version of trec_eval has the family."""
    return family.since == "trec_eval-9" or compat == "trec_eval-10"


def expand(family: TrecFamily, text: str | None, compat: Compat) -> list[TrecRequest]:
    """The lines that a family prints for a parameter text, in trec_eval's order."""
    text = text or ""
    name, make = family.name, family.make
    if make is None:
        return [TrecRequest(f"{name}_{text}" if text else name, family, None, text or family.default)]
    extra = dict(family.extra)
    if compat == "trec_eval-10" and name in ("iprec_at_recall", "11pt_avg"):
        extra["round"] = "nearest"
    if family.kind == "cutoffs":
        depths = cutoffs(family, text or family.default)
        return [TrecRequest(f"{name}_{depth}", family, make(cutoff=bounded(depth), **extra)) for depth in depths]
    if family.kind == "points":
        key = "recall" if name == "iprec_at_recall" else "mult"
        return [
            TrecRequest(f"{name}_{x:3.2f}", family, make(**{key: x}, **extra))
            for x in points(family, text or family.default)
        ]
    if not text or family.kind == "none":
        return [TrecRequest(name, family, make(**extra))]
    return [TrecRequest(f"{name}_{text}", family, make(**{**extra, **parameters(family, text)}))]


def parameters(family: TrecFamily, text: str) -> dict[str, Any]:
    """The parameters of a family that are given as one text."""
    if family.kind == "number":
        return {"weight": reals(text)[0]}
    if family.kind == "numbers":
        names = ("relevant", "nonrelevant", "missed", "rest")
        values = reals(text)
        if len(values) != len(names):
            raise MeasureError(f"{family.name} takes four numbers, found {shown(text)}")
        return dict(zip(names, values, strict=True))
    if family.kind == "recalls":
        return {"recalls": reals(text)}
    if family.kind == "p":
        value = text.partition("=")[2] if text.startswith("p=") else text
        return {"p": reals(value)[0]}
    gains = [item.partition("=") for item in text.split(",")]
    if not all(sep and C_INTEGER.fullmatch(grade) and C_NUMBER.fullmatch(gain) for grade, sep, gain in gains):
        raise MeasureError(
            f"{family.name} takes gains as grade=gain, found {shown(text)}", hint=f"write {family.name}.1=3,2=9"
        )
    return {"gains": {whole(grade): float(gain) for grade, _, gain in gains}}


def pairs(family: TrecFamily, text: str) -> Pairs:
    """Parameters written as name=number, separated by commas."""
    items = [item.split("=") for item in text.split(",")]
    if any(len(item) != 2 for item in items):
        raise MeasureError(
            f"{family.name} takes parameters as name=number, such as grade=gain, found {shown(text)}",
            hint=f"write {family.name}.{'p=0.8' if family.kind == 'p' else '1=3,2=9'}",
        )
    return tuple((name, real(number)) for name, number in items)


def cutoffs(family: TrecFamily, text: str) -> list[int]:
    """Cutoffs as trec_eval reads them: any text that begins with digits is accepted; sorted, above 0, unique."""
    depths = sorted(whole(item) for item in text.split(","))
    if depths[0] <= 0:
        raise MeasureError(f"cutoffs of {family.name} must be above 0, found {shown(text)}")
    if len(set(depths)) < len(depths):
        raise MeasureError(f"cutoffs of {family.name} must be unique, found {shown(text)}")
    return depths


def points(family: TrecFamily, text: str) -> list[float]:
    """Points as trec_eval reads them: sorted, unique."""
    values = sorted(real(item) for item in text.split(","))
    if any(math.isnan(value) for value in values):
        raise MeasureError(f"points of {family.name} must be numbers, found {shown(text)}")
    if len(set(values)) < len(values):
        raise MeasureError(f"points of {family.name} must be unique, found {shown(text)}")
    return values


def bounded(cutoff: int) -> int:
    """The cutoff, at most the largest that a measure accepts; no ranking is that deep."""
    return min(cutoff, LARGEST_CUTOFF)


def whole(text: str) -> int:
    """A whole number as read by C's atol."""
    match = C_INTEGER.match(text)
    if match is None:
        return 0
    digits = match[1].lstrip("+-").lstrip("0")
    size = int(digits or 0) if len(digits) < LONG_DIGITS else LARGEST_LONG + 1  # Python converts no 4,300 digits
    return max(-LARGEST_LONG - 1, -size) if match[1].startswith("-") else min(LARGEST_LONG, size)


def real(text: str) -> float:
    """The number at the beginning of a text, as read by C's atof: 0 if there is none."""
    if match := C_SPECIAL.match(text):
        return float(match[1])
    if match := C_HEXADECIMAL.match(text):
        try:
            return float.fromhex(match[1])
        except OverflowError:
            return -math.inf if match[1].startswith("-") else math.inf
    match = C_NUMBER.match(text)
    return float(match[1]) if match else 0.0


def reals(text: str) -> Sequence[float]:
    """Numbers separated by commas."""
    return [real(item) for item in text.split(",")]
