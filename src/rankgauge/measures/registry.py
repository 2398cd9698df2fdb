"""All measures by name, the decorator that adds one, and lists of them: the default, and sets that have names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rankgauge.core.qrels import JudgmentKind, Qrels, expects_nothing
from rankgauge.errors import MeasureError
from rankgauge.measures.measure import DEFINITIONS, REQUIRED, Aggregate, Definition, Freeze, Kernel, MeasureScale, Over

# What a measure needs that counts relevant documents among the retrieved ones only, and not all there are.
ANY_RELEVANT: tuple[JudgmentKind, ...] = ("grades", "subtopics", "labels", "evidence")
MEASURE_NAMES: dict[str, tuple[Definition, Mapping[str, Any]]] = {}  # with the parameters that a name sets


def measure(
    name: str,
    *,
    aliases: Sequence[str] | Mapping[str, Mapping[str, Any]] = (),
    at: str | None = None,
    scale: MeasureScale | None = None,
    aggregate: Aggregate = "mean",
    missing: float | None = 0.0,
    monotone: bool = False,
    judged_only: bool = True,
    freeze: Freeze | None = None,
) -> Callable[[Kernel], Definition]:
    """Declare a measure around its kernel, whose keyword-only parameters become those of the measure.

    The kernel's docstring explains the measure; its paragraphs ``Formula: …`` and ``Reference: …`` are shown apart.

    ``at`` names the parameter after the ``@``. ``aliases`` are other names, or a mapping from names to the parameters
    they set (``{"F1": {"beta": 1}}``). ``scale`` is the range, 0 to 1 unless given, and which end is better.
    ``missing`` is the value of a query that is not in the run (``None``: that of an empty ranking). ``monotone``
    promises that the value never decreases as the cutoff grows. ``judged_only`` adds that parameter. ``freeze`` takes
    parameters from the whole collection.
    """

    def declare(kernel: Kernel) -> Definition:
        code = kernel.__code__
        names = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
        defaults = kernel.__kwdefaults__ or {}
        parameters = {parameter: defaults.get(parameter, REQUIRED) for parameter in names}
        if judged_only:
            parameters["judged_only"] = False
        settings = aliases if isinstance(aliases, Mapping) else {alias: {} for alias in aliases}
        definition = Definition(
            name=name,
            kernel=kernel,
            parameters=parameters,
            at=at,
            aliases=tuple(alias for alias, fixed in settings.items() if not fixed),
            variants={alias: fixed for alias, fixed in settings.items() if fixed},
            scale=scale or MeasureScale(),
            aggregate=aggregate,
            missing=missing,
            monotone=monotone,
            freeze=freeze,
        )
        register(definition)
        return definition

    return declare


def needs(*judgments: JudgmentKind | None) -> Callable[[Kernel], Kernel]:
    """Say, below ``measure``, which kinds of judgments a kernel can use if not grades; None: any."""

    def mark(kernel: Kernel) -> Kernel:
        kernel.__dict__["judgments"] = judgments
        return kernel

    return mark


def over(queries: Over) -> Callable[[Kernel], Kernel]:
    """Say, below ``measure``, that a kernel needs the answers of a run, and of which queries it has values."""

    def mark(kernel: Kernel) -> Kernel:
        kernel.__dict__["over"] = queries
        return kernel

    return mark


def register(definition: Definition) -> None:
    """Add a definition under its name and aliases; a name that is already in use is an error."""
    names: dict[str, Mapping[str, Any]] = {definition.name: {}}
    names.update((alias, {}) for alias in definition.aliases)
    names.update(definition.variants)
    for name in names:
        if name in MEASURE_NAMES:
            raise MeasureError(f"the measure name {name} is already used by {MEASURE_NAMES[name][0].name}")
    DEFINITIONS[definition.name] = definition
    for name, fixed in names.items():
        MEASURE_NAMES[name] = (definition, fixed)


def unregister(name: str) -> None:
    """Remove a measure that was added with :func:`measure`."""
    definition = DEFINITIONS.pop(name)
    for alias in [alias for alias, (owner, _) in MEASURE_NAMES.items() if owner is definition]:
        del MEASURE_NAMES[alias]


# Lists of measures: the default of every command, and the sets that can be requested by name.

DEFAULT_MEASURES = ("nDCG@10", "RR@10", "R@10")  # of evaluate, compare and gate
CASE_MEASURES = (*DEFAULT_MEASURES, "Success@10")  # of evaluate on test cases: with the hit rate beside recall
ANSWER_MEASURES = ("RightAnswer@10", "WrongRefusal", "FalseAnswer")  # besides, if some queries have no answer
LEAK_MEASURES = ("Leak@10",)  # besides, if documents are forbidden
EVIDENCE_MEASURES = ("EvidenceAll@10", "StRecall@10", "RR@10")  # if queries list evidence and no relevant documents
GOLD_MEASURES = ("alpha_nDCG@10", "StRecall@10")  # by text


def default_measures(
    labels: Qrels | None = None, *, are_cases: bool = False, has_rules: bool = False
) -> tuple[str, ...]:
    """The measures of every command that is asked for none: those that the labels are made for, if these are known."""
    base = CASE_MEASURES if are_cases else DEFAULT_MEASURES
    if labels is None:
        return (*base, *(LEAK_MEASURES if has_rules else ()))
    if labels.judgments == "evidence":
        base = EVIDENCE_MEASURES
    elif labels.lists_evidence:
        base = (*base, "StRecall@10")
    if expects_nothing(labels.columns, len(labels.queries)).any():
        base = (*base, *ANSWER_MEASURES)
    return (*base, *(LEAK_MEASURES if has_rules or labels.forbidden else ()))


NAMED_SETS: dict[str, tuple[str, ...]] = {
    "kpi": ("nDCG@10", "MAP@100", "MRR@10", "Recall@50", "Recall@100", "HitRate@10"),
    "beir": tuple(f"{name}@{k}" for name in ("nDCG", "AP", "R", "P") for k in (1, 3, 5, 10, 100, 1000)),
}
CUTOFF_SETS: dict[str, tuple[str, ...]] = {"rag": ("P", "R", "F1", "RR", "AP", "nDCG", "Success")}  # as in rag@5
DEFAULT_SET_CUTOFF = 5  # of a set that is requested without one
TREC_SETS: dict[str, str] = {
    "official": "the measures that trec_eval prints by default",
    "all_trec": "all measures of trec_eval",
    "set": "trec_eval's measures of the retrieved set",
}
