"""The options that describe a retriever and its collection: each is also a key of ``rankgauge.yaml``."""

from __future__ import annotations

import click

from rankgauge.cli.options.asking import ANSWER_OPTIONS, CALL_OPTIONS
from rankgauge.cli.options.groups import Option, Section, option
from rankgauge.retrieval.embedders.named import EMBEDDER_NAMES
from rankgauge.retrieval.engines.bm25 import BM25_VARIANTS
from rankgauge.retrieval.engines.gate import GATE_RULES
from rankgauge.retrieval.engines.rerank import DEFAULT_RERANK_DEPTH
from rankgauge.retrieval.engines.vector import DEFAULT_CENTER
from rankgauge.retrieval.fusion.fusion import DEFAULT_METHOD, DEFAULT_NORMALIZATION, DEFAULT_RRF_K
from rankgauge.retrieval.fusion.methods import FUSION_METHODS
from rankgauge.retrieval.fusion.normalization import NORMALIZATIONS

COLLECTION_OPTIONS: tuple[Option, ...] = (
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
)
LEXICAL_OPTIONS: tuple[Option, ...] = (
    option(
        "--k1",
        section=Section.LEXICAL,
        type=float,
        default=1.2,
        show_default=True,
        metavar="NUMBER",
        help="Set k1 of BM25.",
    ),
    option(
        "--b",
        section=Section.LEXICAL,
        type=float,
        default=0.75,
        show_default=True,
        metavar="NUMBER",
        help="Set b of BM25.",
    ),
    option(
        "--variant",
        section=Section.LEXICAL,
        type=click.Choice(BM25_VARIANTS),
        default="lucene",
        show_default=True,
        help="Choose the variant of BM25.",
    ),
    option(
        "--stemmer",
        section=Section.LEXICAL,
        default="english",
        show_default=True,
        metavar="LANGUAGE",
        help="Stem words with a Snowball stemmer, or none.",
    ),
    option(
        "--stopwords",
        section=Section.LEXICAL,
        default="english",
        show_default=True,
        metavar="NAME|FILE",
        help="Remove stopwords: english, none, or a file with one word per line.",
    ),
)
VECTOR_OPTIONS: tuple[Option, ...] = (
    option(
        "--embedder",
        section=Section.VECTOR,
        default="wordllama",
        show_default=True,
        metavar="NAME",
        help=f"Embed texts with {EMBEDDER_NAMES}.",
    ),
    option(
        "--vectors",
        section=Section.VECTOR,
        type=click.Path(),
        metavar="FILE",
        help="Read precomputed document vectors by id: Parquet, JSON Lines, or .npy with FILE.ids.txt.",
    ),
    option(
        "--query-vectors",
        section=Section.VECTOR,
        type=click.Path(),
        metavar="FILE",
        help="Read precomputed query vectors by id.",
    ),
    option(
        "--center",
        section=Section.VECTOR,
        type=click.FloatRange(0, 1),
        default=DEFAULT_CENTER,
        show_default=True,
        metavar="SHARE",
        help="Subtract SHARE of the corpus's mean vector.",
    ),
    option(
        "--search",
        section=Section.VECTOR,
        default="exact",
        show_default=True,
        metavar="NAME",
        help="Search vectors by exact, faiss, or faiss:FACTORY.",
    ),
)
HYBRID_OPTIONS: tuple[Option, ...] = (
    option(
        "--fusion",
        section=Section.HYBRID,
        type=click.Choice(list(FUSION_METHODS)),
        default=DEFAULT_METHOD,
        show_default=True,
        metavar="METHOD",
        help=f"Choose how hybrid combines lexical and vector: {', '.join(FUSION_METHODS)}.",
    ),
    option(
        "--weights",
        section=Section.HYBRID,
        metavar="W,W",
        help="Weight lexical and vector in hybrid: 0.7,0.3.  [default: equal weights]",
    ),
    option(
        "--normalization",
        section=Section.HYBRID,
        type=click.Choice(list(NORMALIZATIONS)),
        default=DEFAULT_NORMALIZATION,
        show_default=True,
        help="Choose how scores are made comparable, for methods that add scores.",
    ),
    option(
        "--rrf-k",
        section=Section.HYBRID,
        type=float,
        default=DEFAULT_RRF_K,
        show_default=True,
        metavar="K",
        help="Set the constant of rrf.",
    ),
)
STEP_OPTIONS: tuple[Option, ...] = (
    option(
        "--rerank",
        section=Section.STEPS,
        metavar="NAME",
        help="Rerank with sentences, cross-encoder/MODEL, or module:callable.",
    ),
    option(
        "--rerank-top",
        section=Section.STEPS,
        type=click.IntRange(min=1),
        default=DEFAULT_RERANK_DEPTH,
        show_default=True,
        metavar="N",
        help="Rerank the top N documents.",
    ),
    option(
        "--gate", section=Section.STEPS, metavar="RULE", help=f"Choose which queries to retrieve for: {GATE_RULES}."
    ),
    option(
        "--shadow",
        section=Section.STEPS,
        is_flag=True,
        help="Retrieve for skipped queries too, for the log of the gate.",
    ),
    option(
        "--expert",
        "experts",
        section=Section.STEPS,
        multiple=True,
        metavar="NAME=PATH",
        help="Add an expert and its corpus; repeatable.",
    ),
    option(
        "--router",
        section=Section.STEPS,
        metavar="NAME",
        help="Route queries to experts with a module:callable.  [default: nearest centroid]",
    ),
    option(
        "--index",
        section=Section.RETRIEVER,
        type=click.Path(),
        metavar="DIR",
        help="Keep indexes in DIR for the next time.",
    ),
)
RETRIEVER_OPTIONS: tuple[Option, ...] = (
    option(
        "--mode",
        section=Section.RETRIEVER,
        default="lexical",
        show_default=True,
        metavar="MODE",
        help="Retrieve with lexical, vector, hybrid, module:callable, ./FILE.py:name, or FILE.yaml.",
    ),
    *COLLECTION_OPTIONS,
    *LEXICAL_OPTIONS,
    *VECTOR_OPTIONS,
    *HYBRID_OPTIONS,
    *STEP_OPTIONS,
    *ANSWER_OPTIONS,
    *CALL_OPTIONS,
)
