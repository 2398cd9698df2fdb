"""How documents are split, in a configuration."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from rankgauge.config.sections import ConfigSection, section_fault
from rankgauge.errors import UsageError
from rankgauge.io.corpus.chunking.options import Chunking, SplitBy


class ChunkingSection(ConfigSection):
    """A way to split the documents; each key is the option of `rankgauge chunk` with that name."""

    by: SplitBy = Field(default="sentences", description="What documents are split by.")
    size: Annotated[int, Field(ge=1)] | None = Field(
        default=None,
        description="The maximum characters of a chunk, or tokens. Default: 800, or 200 tokens; whole sections by "
        "headings.",
    )
    overlap: Annotated[int, Field(ge=0)] = Field(
        default=0, description="How many of these a chunk repeats of the one before."
    )

    @model_validator(mode="after")
    def _possible(self) -> ChunkingSection:
        try:
            self.chunking()
        except UsageError as error:
            raise section_fault(("overlap",), "an overlap smaller than the size", error.message) from None
        return self

    def chunking(self) -> Chunking:
        """What the section describes."""
        return Chunking(self.by, self.size, self.overlap)
