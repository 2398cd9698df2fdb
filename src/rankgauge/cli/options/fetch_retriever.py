"""The retrievers that ``rankgauge runs fetch`` asks: their options, and their keys in a configuration or ``--set``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from rankgauge.cli.options.declared_options import (
    RETRIEVER_SET,
    Option,
    configuration,
    configuration_folder,
    declared_options,
    is_given,
    option,
    retriever_values,
)
from rankgauge.cli.options.inputs import ANSWER_OPTIONS, CALL_OPTIONS
from rankgauge.config.retriever_sections import SOURCE_KEYS, RetrieverSection
from rankgauge.config.retriever_settings import RetrieverSettings
from rankgauge.core.settings import Section
from rankgauge.errors import UsageError
from rankgauge.retrieval.embedders import EMBEDDER_NAMES
from rankgauge.retrieval.open_retriever import (
    ASKING_OPTIONS,
    OWN_MODE,
    is_own_retriever,
    is_retriever_file,
    named_retrievers,
    section_in_folder,
    section_of_file,
)

RETRIEVER_OPTIONS: tuple[Option, ...] = (
    option(
        "--corpus",
        section=Section.INPUT,
        type=click.Path(),
        metavar="PATH",
        help="Read documents from JSON Lines, CSV, TSV, Parquet, TREC SGML, a folder of .txt and .md files, or a BEIR "
        "folder.",
    ),
    option(
        "--queries",
        section=Section.INPUT,
        type=click.Path(),
        metavar="PATH",
        help="Read queries, in any format.  [default: those in the BEIR folder]",
    ),
    *declared_options(RetrieverSettings, "embedder", help=f"Embed texts with {EMBEDDER_NAMES}."),
    *declared_options(RetrieverSettings, "rerank", "index"),
    RETRIEVER_SET,
    *ANSWER_OPTIONS,
    *CALL_OPTIONS,
)

PATH_KEYS = ("corpus", "queries", "vectors", "query_vectors", "index")


@dataclass(frozen=True, eq=False)
class ChosenRetriever:
    """A retriever that a command runs, and every key of it, with its collection."""

    name: str
    options: Mapping[str, Any]
    is_named: bool  # by a configuration or a file, whose name its run gets

    @property
    def is_own(self) -> bool:
        """Whether it is one of the user's own."""
        return self.options.get("source") is not None or is_own_retriever(self.options["mode"])

    def without(self, keys: tuple[str, ...]) -> ChosenRetriever:
        """The retriever without some options."""
        options = {key: value for key, value in self.options.items() if key not in keys}
        return ChosenRetriever(self.name, options, self.is_named)


def chosen_retrievers(options: Mapping[str, Any], texts: tuple[str, ...]) -> list[ChosenRetriever]:
    """The retrievers that ``--retriever`` names; without it those of the configuration, or the lexical engine.

    For each, options that are given come first, then ``--set``, then its file or the configuration. How a retriever is
    asked applies to the user's own, if there are any.
    """
    config, folder = configuration(), configuration_folder() or Path()
    sections = {} if config is None else config.retrievers
    collection = {} if config is None else _found_from(folder, _keys(config.collection.model_dump()))
    sets = RetrieverSection.model_validate(retriever_values())
    given = {name: value for name, value in options.items() if is_given(name)}
    chosen = []
    for name, text in named_retrievers(texts or tuple(sections) or ("lexical",), list(sections)).items():
        if text in sections:
            values = _configured(sections[text], folder)
        elif is_retriever_file(text):
            values = _option_values(section_of_file(text), Path(text).parent)
        else:
            values = {"mode": text}
            if texts:
                _check_one_source(text, sets)
        keys = {"mode": "lexical", **options, **collection, **values, **_option_values(sets, Path()), **given}
        chosen.append(ChosenRetriever(name, keys, text in sections or is_retriever_file(text)))
    if any(one.is_own for one in chosen):
        chosen = [one if one.is_own else one.without(ASKING_OPTIONS) for one in chosen]
    return chosen


def _check_one_source(text: str, sets: RetrieverSection) -> None:
    """Raise if ``--set`` names another retriever than ``--retriever`` does."""
    key = next((key for key in SOURCE_KEYS if getattr(sets, key) is not None), None)
    if key is not None:
        raise UsageError(
            f"--retriever {text} and --set retriever.{key} both say which retriever to run", hint="keep one of the two"
        )


def _configured(section: RetrieverSection, folder: Path) -> dict[str, Any]:
    """The keys of a retriever in a configuration."""
    if section.sweep is not None:
        raise UsageError("only a benchmark runs a sweep", hint="use `rankgauge benchmark run`, or leave it out")
    if section.chunking is not None:
        raise UsageError(
            "only a benchmark splits documents", hint="use `rankgauge benchmark run`, or leave out chunking"
        )
    return _option_values(section_in_folder(section, folder), folder)


def _option_values(section: RetrieverSection, folder: Path) -> dict[str, Any]:
    """The keys that a section sets; ``source`` is the section if it describes a retriever itself."""
    values = _found_from(folder, _keys(section.model_dump()))
    return {**values, "source": section, "mode": OWN_MODE} if section.is_own else values


def _keys(section: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of a section that have a value."""
    return {key: value for key, value in section.items() if value is not None}


def _found_from(folder: Path, values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: str(folder / value) if key in PATH_KEYS else value for key, value in values.items()}
