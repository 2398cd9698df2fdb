"""A measure in words, made from its declaration: for the command line and for the documentation."""

from __future__ import annotations

import math
from typing import Any

from rankgauge.errors import MeasureError
from rankgauge.measures import registry
from rankgauge.measures import trec_names as trec
from rankgauge.measures.parse import AT_K, RAG_K, SETS, SPOKEN, look_up, parse_measures
from rankgauge.measures.spec import REQUIRED, Definition


def listing() -> str:
    """All measures, a line each, and the sets."""
    width = max(map(len, registry.DEFINITIONS)) + 2
    lines = [f"{name:<{width}}{definition.summary}" for name, definition in sorted(_sorted())]
    sets = {
        **{name: " ".join(members) for name, members in SETS.items()},
        **{f"{name}@k": " ".join(f"{m}@k" for m in members) + f" (k = {RAG_K})" for name, members in AT_K.items()},
        "official": "what trec_eval prints by default",
        "all_trec": "everything that trec_eval has",
        "set": "trec_eval's measures of the retrieved set",
    }
    lines += ["", "sets", *(f"{name:<{width}}{text}" for name, text in sets.items())]
    lines += ["", "`rankgauge measures NAME` explains one; names of trec_eval and ir_measures are understood."]
    return "\n".join(lines) + "\n"


def _sorted() -> list[tuple[str, Definition]]:
    return sorted(registry.DEFINITIONS.items(), key=lambda item: item[0].casefold())


def describe(name: str) -> str:
    """One measure: definition, formula, parameters, reference, aliases, other tools' names."""
    definition = find(name)
    lines = [definition.name + (f"@{definition.at}" if definition.at else ""), ""]
    lines += [definition.explanation, "", f"formula     {definition.formula}"]
    lines += [
        f"parameters  {text}" if not n else f"            {text}" for n, text in enumerate(parameters(definition))
    ]
    lines += [f"range       {span(definition)}", f"over        {over_queries(definition)}"]
    if definition.reference:
        lines.append(f"reference   {definition.reference}")
    others = names(definition)
    if others:
        lines.append(f"also        {', '.join(others)}")
    if trec_names(definition):
        lines.append(f"trec_eval   {', '.join(trec_names(definition))}")
    return "\n".join(lines) + "\n"


def find(name: str) -> Definition:
    """The definition behind a name in any notation; a measure that needs a cutoff may be named without one."""
    family = trec.BY_NAME.get(name)
    if family is not None and family.kind == "text":
        raise MeasureError(f"{name} is text, not a measure", hint="rankgauge trec_eval -m prints it")
    if "@" not in name and "(" not in name and "." not in name and name not in (*SETS, *AT_K):
        try:
            return look_up(name, "1")[0]
        except MeasureError:
            if family is None and trec.nickname(name, "trec_eval-10") is None:
                raise
    found = {measure.definition for measure in parse_measures(name, compat="trec_eval-10")}
    if len(found) != 1:
        raise MeasureError(f"'{name}' names {len(found)} measures", hint="name one of them")
    return found.pop()


def parameters(definition: Definition) -> list[str]:
    """Each parameter with its default and what it may be."""
    out = []
    for name, default in definition.parameters.items():
        text = name if default is REQUIRED else f"{name}={_value(default)}"
        if name in definition.choices:
            text += f" ({' or '.join(map(repr, definition.choices[name]))})"
        out.append(text + (" (required)" if default is REQUIRED else ""))
    return out or ["none"]


def _value(value: Any) -> str:
    return "none" if value is None else repr(value)


def span(definition: Definition) -> str:
    """The range, and which end of it is better."""
    low, high = (("−∞" if n < 0 else "∞") if math.isinf(n) else f"{n:g}" for n in definition.range)
    better = {"higher": "higher is better", "lower": "lower is better", None: "neither end is better"}
    return f"{low} to {high}, {better[definition.better]}"


def over_queries(definition: Definition) -> str:
    """How queries are taken together, and what a missing one counts."""
    how = {"mean": "the mean", "sum": "the sum", "gmean": "the geometric mean"}[definition.aggregate]
    if definition.missing is None:
        missing = "what an empty ranking has"
    else:
        missing = "null" if math.isnan(definition.missing) else f"{definition.missing:g}"
    return f"{how} of all queries; a missing query counts {missing}"


def names(definition: Definition) -> list[str]:
    """The other names under which it can be asked for."""
    spoken = [word + "@k" for word, name in SPOKEN.items() if registry.NAMES[name][0] is definition]
    spelled = [
        f"{name} = {definition.name}({', '.join(f'{key}={value!r}' for key, value in fixed.items())})"
        for name, fixed in definition.spelled.items()
    ]
    return [*definition.aliases, *spelled, *spoken]


def trec_names(definition: Definition) -> list[str]:
    """trec_eval's families that are this measure."""
    return [family.name for family in trec.FAMILIES if family.make is definition]
