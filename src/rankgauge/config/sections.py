"""What all sections of a configuration share."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

Text = Annotated[str, Field(min_length=1)]


class ConfigSection(BaseModel):
    """What all sections share: no value is converted, no unknown key is accepted, nothing changes."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def section_fault(path: tuple[str, ...], expected: str, found: str) -> ValidationError:
    """The fault of a section whose keys contradict each other, to be raised while it is validated."""
    kind = PydanticCustomError("section", "{expected}", {"expected": expected})
    return ValidationError.from_exception_data("section", [InitErrorDetails(type=kind, loc=path, input=found)])
