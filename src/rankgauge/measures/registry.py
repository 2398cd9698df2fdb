"""The measures that there are, and the decorator that adds one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from rankgauge.errors import MeasureError
from rankgauge.measures.spec import REQUIRED, Aggregate, Definition, Freeze, Kernel

DEFINITIONS: dict[str, Definition] = {}
NAMES: dict[str, tuple[Definition, Mapping[str, Any]]] = {}


def measure(
    name: str,
    *,
    aliases: tuple[str, ...] = (),
    spelled: Mapping[str, Mapping[str, Any]] | None = None,
    at: str | None = None,
    range: tuple[float, float] = (0.0, 1.0),
    better: Literal["higher", "lower"] | None = "higher",
    aggregate: Aggregate = "mean",
    missing: float | None = 0.0,
    monotone: bool = False,
    judged_only: bool = True,
    formula: str = "",
    reference: str = "",
    freeze: Freeze | None = None,
) -> Callable[[Kernel], Definition]:
    """Declare a measure around its kernel, whose keyword-only parameters become the measure's.

    ``at`` names the parameter behind the ``@``; ``spelled`` gives choices of parameters a name of their own
    (``F1`` for ``F(beta=1)``); ``missing`` is the value for a query that the run does not have (``None``: what the
    kernel gives an empty ranking); ``monotone`` promises that the value never falls as the cutoff grows.
    """

    def declare(kernel: Kernel) -> Definition:
        code = kernel.__code__
        names = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
        defaults = kernel.__kwdefaults__ or {}
        parameters = {parameter: defaults.get(parameter, REQUIRED) for parameter in names}
        if judged_only:
            parameters["judged_only"] = False
        definition = Definition(
            name=name,
            kernel=kernel,
            parameters=parameters,
            at=at,
            aliases=aliases,
            spelled=spelled or {},
            range=range,
            better=better,
            aggregate=aggregate,
            missing=missing,
            monotone=monotone,
            formula=formula,
            reference=reference,
            freeze=freeze,
        )
        register(definition)
        return definition

    return declare


def register(definition: Definition) -> None:
    """Make a definition known under its name and aliases; a name that is taken is an error."""
    names: dict[str, Mapping[str, Any]] = {definition.name: {}}
    names.update((alias, {}) for alias in definition.aliases)
    names.update(definition.spelled)
    for name in names:
        if name in NAMES:
            raise MeasureError(f"the measure name {name} is taken by {NAMES[name][0].name}")
    DEFINITIONS[definition.name] = definition
    for name, fixed in names.items():
        NAMES[name] = (definition, fixed)


def unregister(name: str) -> None:
    """Forget a measure that was added with :func:`measure`."""
    definition = DEFINITIONS.pop(name)
    for known in [known for known, (owner, _) in NAMES.items() if owner is definition]:
        del NAMES[known]
