"""Descriptions of measures, made from their declarations, for the command line and the documentation."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any

from rankgauge.core.formatting import given
from rankgauge.errors import MeasureError
from rankgauge.measures import registry
from rankgauge.measures import trec_names as trec
from rankgauge.measures.measure import DEFINITIONS, REQUIRED, Definition, Over
from rankgauge.measures.names import COMMON_NAMES, find_definition, parse_measures
from rankgauge.measures.registry import CUTOFF_SETS, DEFAULT_SET_CUTOFF, NAMED_SETS, TREC_SETS


def listing() -> str:
    """All measures and sets of measures, one line each."""
    width = max(map(len, DEFINITIONS)) + 2
    lines = [f"{name:<{width}}{definition.summary}" for name, definition in sorted(DEFINITIONS.items())]
    sets = {
        **{name: " ".join(members) for name, members in NAMED_SETS.items()},
        **{
            f"{name}@k": " ".join(f"{member}@k" for member in members) + f" (default: k = {DEFAULT_SET_CUTOFF})"
            for name, members in CUTOFF_SETS.items()
        },
        **TREC_SETS,
    }
    lines += ["", "sets", *(f"{name:<{width}}{text}" for name, text in sets.items())]
    lines += ["", "`rankgauge measures NAME` explains a measure; names from trec_eval and ir_measures work too."]
    return "\n".join(lines) + "\n"


def describe(name: str) -> str:
    """One measure: definition, formula, parameters, reference, aliases, names in other tools."""
    definition = find(name)
    lines = [definition.name + (f"@{definition.at}" if definition.at else ""), ""]
    paragraphs = [" ".join(paragraph.split()) for paragraph in definition.explanation.split("\n\n")]
    lines += ["\n\n".join(paragraphs), "", f"formula     {definition.formula}"]
    lines += [
        f"parameters  {text}" if not n else f"            {text}" for n, text in enumerate(parameters(definition))
    ]
    lines += [f"range       {range_text(definition)}", f"queries     {over_queries(definition)}"]
    if definition.reference:
        lines.append(f"reference   {definition.reference}")
    other_names = names(definition)
    if other_names:
        lines.append(f"aliases     {', '.join(other_names)}")
    if trec_names(definition):
        lines.append(f"trec_eval   {', '.join(trec_names(definition))}")
    return "\n".join(lines) + "\n"


def find(name: str) -> Definition:
    """The definition behind a name in any notation; a measure that needs a cutoff may be named without one."""
    family = trec.FAMILY_BY_NAME.get(name)
    if family is not None and family.kind == "text":
        raise MeasureError(f"{name} is text, not a measure", hint=f"print it with rankgauge trec_eval -m {name}")
    if "@" not in name and "(" not in name and "." not in name and name not in (*NAMED_SETS, *CUTOFF_SETS):
        with suppress(MeasureError):
            return find_definition(name, "1")[0]
    definitions = {measure.definition for measure in parse_measures(name, compat="trec_eval-10")}
    if len(definitions) != 1:
        raise MeasureError(f"'{name}' names {len(definitions)} measures", hint="name one of them")
    return definitions.pop()


def parameters(definition: Definition) -> list[str]:
    """Each parameter with its default and its choices."""
    out = []
    for name, default in definition.parameters.items():
        text = name if default is REQUIRED else f"{name}={_value(default)}"
        if name in definition.choices:
            text += f" ({' or '.join(map(repr, definition.choices[name]))})"
        out.append(text + (" (required)" if default is REQUIRED else ""))
    return out or ["none"]


def _value(value: Any) -> str:
    return "none" if value is None else repr(value)


def range_text(definition: Definition) -> str:
    """The range, and which end of it is better."""
    low, high = (("−∞" if n < 0 else "∞") if math.isinf(n) else given(n) for n in definition.range)
    better = {"higher": "higher is better", "lower": "lower is better", None: "neither end is better"}
    return f"{low} to {high}, {better[definition.better]}"


OVER: dict[Over, str] = {
    "answerable": "the queries that have an answer; a missing query is not answered",
    "unanswerable": "the queries that have no answer; a missing query is not answered",
    "guarded": "the queries to which a list or rule of forbidden documents applies; missing queries are left out",
    "all": "the queries that have a value",
}


def over_queries(definition: Definition) -> str:
    """How the values of queries are aggregated, and the value of a missing query."""
    aggregate = {"mean": "the mean", "sum": "the sum", "gmean": "the geometric mean"}[definition.aggregate]
    if definition.needs_answers:
        return f"{aggregate} over {OVER[definition.over]}"
    if definition.missing is None:
        missing = "the value of an empty ranking"
    else:
        missing = "null" if math.isnan(definition.missing) else given(definition.missing)
    return f"{aggregate} over all queries; a missing query counts as {missing}"


def names(definition: Definition) -> list[str]:
    """Its other names."""
    common = [word + "@k" for word, name in COMMON_NAMES.items() if registry.MEASURE_NAMES[name][0] is definition]
    variants = [
        f"{name} = {definition.name}({', '.join(f'{key}={value!r}' for key, value in fixed.items())})"
        for name, fixed in definition.variants.items()
    ]
    return [*definition.aliases, *variants, *common]


def trec_names(definition: Definition) -> list[str]:
    """The trec_eval families that correspond to this measure."""
    return [family.name for family in trec.TREC_FAMILIES if family.make is definition]
