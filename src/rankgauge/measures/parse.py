"""One parser for every way of naming a measure, and one canonical name out.

ir_measures' notation (``nDCG@10``, ``AP(rel=2)@100``), trec_eval's names (``ndcg_cut.10``, ``P_5``, ``map``), what
people say (``hit@5``, ``mrr@10``, ``precision@3``), and sets of measures, mixed in one call.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from typing import Any

from rankgauge.core.ranking import Compat
from rankgauge.errors import MeasureError, nearest, shown
from rankgauge.measures import registry
from rankgauge.measures import trec_names as trec
from rankgauge.measures.spec import Definition, Measure

DEFAULT = ("nDCG@10", "AP", "RR@10", "P@10", "R@10", "Success@10")
SETS: dict[str, tuple[str, ...]] = {
    "kpi": ("nDCG@10", "AP@100", "RR@10", "R@50", "R@100", "Success@10"),
    "beir": tuple(f"{name}@{k}" for name in ("nDCG", "AP", "R", "P") for k in (1, 3, 5, 10, 100, 1000)),
}
AT_K: dict[str, tuple[str, ...]] = {"rag": ("P", "R", "F1", "RR", "AP", "nDCG", "Success")}
RAG_K = 5

NOTATION = re.compile(r"(?P<name>[^\s@()]+)(?:\((?P<arguments>.*)\))?(?:@(?P<at>[^@()]+))?", re.DOTALL)
SPOKEN = {"precision": "P", "recall": "R", "map": "AP", "mrr": "RR", "hit": "Success", "f1": "F1"}


def parse_measure(name: str | Measure, *, compat: Compat = "trec_eval-9") -> Measure:
    """The one measure behind a name."""
    found = parse_measures([name], compat=compat)
    if len(found) != 1:
        raise MeasureError(
            f"{shown(str(name))} names {len(found)} measures, expected one",
            hint=f"write {found[0]}, or ask parse_measures for all of them" if found else None,
        )
    return found[0]


def parse_measures(
    names: str | Measure | Iterable[str | Measure], *, compat: Compat = "trec_eval-9"
) -> tuple[Measure, ...]:
    """The measures behind names, sets and lists of them, each once, in the order in which they were asked for."""
    if isinstance(names, (str, Measure)):
        names = [names]
    found: dict[Measure, None] = {}
    for name in names:
        if isinstance(name, Measure):
            found[name] = None
        elif isinstance(name, str):
            for one in split(name):
                found.update(dict.fromkeys(_read(one, compat)))
        else:
            raise MeasureError(f"a measure must be a name, found {type(name).__name__}: {shown(repr(name))}")
    return tuple(found)


def split(text: str) -> list[str]:
    """The names in a text: separated by white space, except within parentheses."""
    names, depth, word = [], 0, ""
    for character in text:
        depth += (character in "({") - (character in ")}")
        if character.isspace() and depth == 0:
            names.append(word)
            word = ""
        else:
            word += character
    return [name for name in [*names, word] if name]


def _read(name: str, compat: Compat) -> Sequence[Measure]:
    if name in SETS:
        return [one for part in SETS[name] for one in _read(part, compat)]
    base, _, at = name.partition("@")
    if base in AT_K:
        return [_measure(part, None, at or str(RAG_K)) for part in AT_K[base]]
    if "@" in name or "(" in name:
        match = NOTATION.fullmatch(name)
        if not match:
            raise MeasureError(f"cannot read {shown(name)}", hint="write nDCG@10 or AP(rel=2)@100")
        points = [match["at"]] if match["at"] is None else match["at"].split(",")
        return [_measure(match["name"], match["arguments"], point) for point in points]
    listed = trec.nickname(name, compat)
    if listed is not None:
        return [one for part in listed for one in _read_trec(trec.BY_NAME[part], None, compat, quiet=True)]
    return _read_plain(name, compat)


def _read_plain(name: str, compat: Compat) -> Sequence[Measure]:
    """A name without an ``@``: trec_eval's, or one of ours that needs no cutoff."""
    if name in trec.BY_NAME:
        return _read_trec(trec.BY_NAME[name], None, compat)
    head, dot, tail = name.partition(".")
    if dot and head in trec.BY_NAME:
        return _read_trec(trec.BY_NAME[head], tail, compat)
    for family in sorted(trec.FAMILIES, key=lambda f: -len(f.name)):
        rest = name.removeprefix(family.name + "_")
        if rest != name and re.fullmatch(r"[0-9.]+", rest):
            return _read_trec(family, rest, compat)
    return [_measure(name, None, None)]


def _read_trec(family: trec.TrecFamily, text: str | None, compat: Compat, *, quiet: bool = False) -> Sequence[Measure]:
    """A family of trec_eval's, strictly: what trec_eval would ignore or misread is an error."""
    if family.kind == "text":
        if quiet:
            return []
        raise MeasureError(
            f"{family.name} is text, not a number", hint=f"ask for it with rankgauge trec_eval -m {family.name}"
        )
    if text:
        if family.kind == "none":
            cut = {"recip_rank": "RR", "map": "AP", "ndcg": "nDCG"}.get(family.name)
            raise MeasureError(
                f"{family.name} takes no parameter, found {shown(text)}",
                hint=f"write {cut}@{text}" if cut and text.isdigit() else None,
            )
        if family.kind == "cutoffs":
            parts = text.split(",")
            bad = next((part for part in parts if not (part.isascii() and part.isdigit() and int(part))), None)
            if bad is not None:
                raise MeasureError(f"cutoffs of {family.name} must be whole numbers of at least 1, found {shown(bad)}")
            text = ",".join(dict.fromkeys(str(int(part)) for part in parts))
        elif family.kind in ("points", "recalls", "number", "numbers"):
            bad = next((part for part in text.split(",") if not trec.REAL.fullmatch(part)), None)
            if bad is not None:
                raise MeasureError(f"parameters of {family.name} must be numbers, found {shown(bad)}")
    return [asked.measure for asked in trec.expand(family, text, compat) if asked.measure is not None]


def _measure(name: str, arguments: str | None, at: str | None) -> Measure:
    definition, fixed = look_up(name, at)
    given: dict[str, Any] = {**fixed, **_arguments(name, arguments)}
    if at is not None:
        if definition.at is None:
            raise MeasureError(f"{definition.name} has no cutoff, found {shown(name + '@' + at)}")
        if definition.at in given:
            raise MeasureError(f"{definition.at} of {definition.name} is given twice")
        given[definition.at] = _literal(at)
    if given.get("dcg") in ("log2", "exp-log2") and definition.name == "nDCG":
        given["gain"] = "linear" if given.pop("dcg") == "log2" else "exp"
    return definition(**given)


def look_up(name: str, at: str | None) -> tuple[Definition, Any]:
    """The definition behind a name without parameters, and the parameters that the name itself fixes."""
    if name in registry.NAMES:
        return registry.NAMES[name]
    folded = name.casefold()
    spoken = SPOKEN.get(folded)
    if spoken:
        return registry.NAMES[spoken]
    alike = {id(entry[0]): entry for known, entry in registry.NAMES.items() if known.casefold() == folded}
    if len(alike) == 1:
        return next(iter(alike.values()))
    family = trec.BY_NAME.get(name)
    if family is not None and family.make is not None:
        if family.kind == "none" and at is not None and "cutoff" in family.make.parameters:  # type: ignore[attr-defined]  # a family is made by a definition
            return registry.NAMES[family.make.name]  # type: ignore[attr-defined]
        if family.kind == "cutoffs":
            return registry.NAMES[family.make.name][0], family.extra  # type: ignore[attr-defined]
    close = nearest(name, [*registry.NAMES, *trec.BY_NAME, *SETS, *AT_K, *SPOKEN, "official", "all_trec"])
    raise MeasureError(
        f"unknown measure {shown(name)}",
        hint=(f"did you mean {close}{'@' + at if at else ''}? " if close else "")
        + "`rankgauge measures` lists them all",
    )


def _arguments(name: str, arguments: str | None) -> dict[str, Any]:
    if not arguments:
        return {}
    wrong = MeasureError(f"cannot read the parameters of {shown(name)}: {shown(arguments)}", hint="write AP(rel=2)@100")
    try:
        call = ast.parse(f"f({arguments})", mode="eval").body
        if not isinstance(call, ast.Call) or call.args:
            raise wrong
        return {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        raise wrong from None


def _literal(text: str) -> Any:
    """What stands behind the ``@``: a number, or the name of a query column."""
    if re.fullmatch(r"[0-9]+", text, re.ASCII):
        return int(text[:20])
    if re.fullmatch(r"[0-9]*\.[0-9]+", text, re.ASCII):
        return float(text)
    return text
