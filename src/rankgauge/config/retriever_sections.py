"""A retriever in a configuration: a mode and its options, or how to make one of the user's own."""

from __future__ import annotations

import json
import re
from itertools import product
from typing import Annotated, Any

from pydantic import Field, ValidationError, model_validator

from rankgauge.config.retriever_settings import Bm25Parameters, RetrieverCalls, RetrieverSettings
from rankgauge.config.section_model import ConfigSection, Text, section_fault, with_settings
from rankgauge.config.servers import HttpSection, PostgresSection
from rankgauge.errors import nearest, printable

Weights = Annotated[list[Annotated[float, Field(ge=0)]], Field(min_length=2)]
SOURCE_KEYS = ("mode", "call", "http", "postgres")  # what is asked, in one of these ways
SERVER_KEYS = ("http", "postgres")
NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._+-]")


@with_settings(Bm25Parameters, RetrieverSettings, RetrieverCalls, optional=True)
class RetrieverSection(ConfigSection):
    """One retriever; a key that is left out has the default of its declaration."""

    mode: Text | None = Field(default=None, description="lexical, vector, hybrid, or module:callable.")
    call: Text | None = Field(
        default=None, description="Instead of mode, a function that makes the retriever: module:make or ./FILE.py:make."
    )
    params: dict[str, Any] | None = Field(default=None, description="The keyword arguments of call.")
    http: HttpSection | None = Field(default=None, description="Instead of mode, a server that is asked over HTTP.")
    postgres: PostgresSection | None = Field(default=None, description="Instead of mode, a table of PostgreSQL.")
    sweep: Annotated[dict[str, Annotated[list[Any], Field(min_length=1)]], Field(min_length=1)] | None = Field(
        default=None,
        description="Values to try, by parameter: of call, http or postgres if there is one, else keys of this "
        "section. Every combination is a retriever of its own.",
    )
    chunking: Text | None = Field(
        default=None, description="The one chunking that it searches in a benchmark. Default: every one."
    )
    stopwords: Text | None = Field(
        default=None,
        description="The stop words of lexical search: english, none, or a file with one per line. Default: english.",
    )
    weights: Weights | None = Field(
        default=None, description="The weights of lexical and vector in hybrid. Default: equal weights."
    )

    @model_validator(mode="after")
    def _one_source(self) -> RetrieverSection:
        """At most one of the keys that say what is asked; parameters only where something takes them."""
        named = [key for key in SOURCE_KEYS if getattr(self, key) is not None]
        if len(named) > 1:
            raise section_fault((named[1],), f"one of {', '.join(SOURCE_KEYS)}", f"{named[0]} and {named[1]}")
        if self.params is not None and self.call is None:
            raise section_fault(("params",), "params together with call", "params alone")
        for key, values in ({} if self.call is not None else self.sweep or {}).items():
            self._check_swept(key, values)
        return self

    @property
    def is_own(self) -> bool:
        """Whether it describes a retriever of the user's own, other than by its mode."""
        return any(getattr(self, key) is not None for key in SOURCE_KEYS if key != "mode")

    def swept(self) -> dict[str, RetrieverSection]:
        """Every combination of the values of ``sweep``, by its parameters: ``alpha=0.3,beta=2``."""
        if self.sweep is None:
            return {"": self}
        sections = {}
        for combination in product(*self.sweep.values()):
            chosen = dict(zip(self.sweep, combination, strict=True))
            name = ",".join(f"{key}={_value_text(value)}" for key, value in chosen.items())
            if name in sections:
                raise section_fault(("sweep",), "each combination once", name)
            sections[name] = self._changed(chosen)
        return sections

    def _changed(self, chosen: dict[str, Any]) -> RetrieverSection:
        """The section with other values: of the parameters of ``call``, of its server, or of its own keys."""
        values = self.model_dump(exclude_unset=True, exclude={"sweep"})
        part = "params" if self.call is not None else next((key for key in SERVER_KEYS if values.get(key)), None)
        changed = chosen if part is None else {part: {**(values.get(part) or {}), **chosen}}
        return RetrieverSection.model_validate({**values, **changed})

    def _check_swept(self, key: str, values: list[Any]) -> None:
        """Raise if there is no such key, or if it does not take each of the values."""
        server = next((part for name in SERVER_KEYS if (part := getattr(self, name)) is not None), None)
        keys = list(type(server or self).model_fields)
        if key not in keys or key in ("params", "sweep"):
            close = nearest(key, keys)
            raise section_fault(("sweep", key), "a key of the retriever" + (f" ({close}?)" if close else ""), key)
        for value in values:
            try:
                self._changed({key: value})
            except ValidationError as error:
                fault = error.errors()[0]
                expected = fault["msg"].removeprefix("Input should be ")
                if fault["type"] == "setting":
                    expected = fault["ctx"]["expected"]
                raise section_fault(("sweep", key), f"{expected} as {key}", printable(repr(value))) from None


def _value_text(value: Any) -> str:
    """A value as it appears in the name of a retriever, which is also that of a file."""
    text = value if isinstance(value, str) else json.dumps(value, separators=("+", ":"))
    return NOT_IN_NAMES.sub("", text) or "none"
