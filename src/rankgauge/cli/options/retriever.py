"""The options that describe a retriever and its collection; all of its keys can be set with ``--set``."""

from __future__ import annotations

import click

from rankgauge.cli.options.asking import ANSWER_OPTIONS, CALL_OPTIONS
from rankgauge.cli.options.declared import RETRIEVER_SET, Option, option
from rankgauge.core.settings import Section
from rankgauge.retrieval.embedders.named import EMBEDDER_NAMES

RETRIEVER_OPTIONS: tuple[Option, ...] = (
    option(
        "--mode",
        section=Section.RETRIEVER,
        metavar="MODE",
        help="Retrieve with lexical, vector, hybrid, module:callable, ./FILE.py:name, or FILE.yaml.  "
        "[default: lexical]",
    ),
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
    option(
        "--embedder",
        section=Section.RETRIEVER,
        metavar="NAME",
        help=f"Embed texts with {EMBEDDER_NAMES}.  [default: wordllama]",
    ),
    option(
        "--rerank",
        section=Section.RETRIEVER,
        metavar="NAME",
        help="Rerank with sentences, cross-encoder/MODEL, or module:callable.",
    ),
    option(
        "--index",
        section=Section.RETRIEVER,
        type=click.Path(),
        metavar="DIR",
        help="Keep indexes in DIR for the next time.",
    ),
    RETRIEVER_SET,
    *ANSWER_OPTIONS,
    *CALL_OPTIONS,
)
