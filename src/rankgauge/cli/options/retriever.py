"""The options that describe a retriever and its collection: each is also a key of ``rankgauge.yaml``."""

from __future__ import annotations

import click

from rankgauge.cli.options.asking import ANSWER_OPTIONS, CALL_OPTIONS
from rankgauge.cli.options.groups import Option
from rankgauge.retrieval.embedders.named import EMBEDDER_NAMES
from rankgauge.retrieval.engines.bm25 import BM25_VARIANTS
from rankgauge.retrieval.engines.gate import GATE_RULES
from rankgauge.retrieval.engines.hybrid import LEXICAL_VECTOR_FUSION
from rankgauge.retrieval.engines.rerank import DEFAULT_RERANK_DEPTH
from rankgauge.retrieval.engines.vector import DEFAULT_CENTER
from rankgauge.retrieval.fusion.fusion import DEFAULT_RRF_K
from rankgauge.retrieval.fusion.methods import FUSION_METHODS
from rankgauge.retrieval.fusion.normalization import NORMALIZATIONS

HYBRID_WEIGHTS = ",".join(f"{weight:g}" for weight in LEXICAL_VECTOR_FUSION.weights)
COLLECTION_OPTIONS: tuple[Option, ...] = (
    click.option(
        "--corpus",
        type=click.Path(),
        metavar="PATH",
        help="Read documents from JSON Lines, CSV, TSV, Parquet, TREC SGML, a folder of .txt and .md files, or a BEIR "
        "folder.",
    ),
    click.option(
        "--queries",
        type=click.Path(),
        metavar="PATH",
        help="Read queries, in any format.  [default: those in the BEIR folder]",
    ),
)
LEXICAL_OPTIONS: tuple[Option, ...] = (
    click.option("--k1", type=float, default=1.2, show_default=True, metavar="NUMBER", help="Set k1 of BM25."),
    click.option("--b", type=float, default=0.75, show_default=True, metavar="NUMBER", help="Set b of BM25."),
    click.option(
        "--variant",
        type=click.Choice(BM25_VARIANTS),
        default="lucene",
        show_default=True,
        help="Choose the variant of BM25.",
    ),
    click.option(
        "--stemmer",
        default="english",
        show_default=True,
        metavar="LANGUAGE",
        help="Stem words with a Snowball stemmer, or none.",
    ),
    click.option(
        "--stopwords",
        default="english",
        show_default=True,
        metavar="NAME|FILE",
        help="Remove stopwords: english, none, or a file with one word per line.",
    ),
)
VECTOR_OPTIONS: tuple[Option, ...] = (
    click.option(
        "--embedder", default="wordllama", show_default=True, metavar="NAME", help=f"Embed texts with {EMBEDDER_NAMES}."
    ),
    click.option("--vectors", type=click.Path(), metavar="FILE", help="Read precomputed document vectors (.npy)."),
    click.option("--query-vectors", type=click.Path(), metavar="FILE", help="Read precomputed query vectors (.npy)."),
    click.option(
        "--center",
        type=click.FloatRange(0, 1),
        default=DEFAULT_CENTER,
        show_default=True,
        metavar="SHARE",
        help="Subtract SHARE of the corpus's mean vector.",
    ),
    click.option(
        "--search",
        default="exact",
        show_default=True,
        metavar="NAME",
        help="Search vectors by exact, faiss, or faiss:FACTORY.",
    ),
)
HYBRID_OPTIONS: tuple[Option, ...] = (
    click.option(
        "--fusion",
        type=click.Choice(list(FUSION_METHODS)),
        help=f"Choose how hybrid combines lexical and vector.  [default: {LEXICAL_VECTOR_FUSION.method}]",
    ),
    click.option(
        "--weights",
        metavar="W,W",
        help=f"Weight lexical and vector in hybrid.  [default: {HYBRID_WEIGHTS} with {LEXICAL_VECTOR_FUSION.method}, "
        "else equal weights]",
    ),
    click.option(
        "--normalization",
        type=click.Choice(list(NORMALIZATIONS)),
        help="Choose how scores are made comparable, for methods that add scores.  "
        f"[default: {LEXICAL_VECTOR_FUSION.normalization}]",
    ),
    click.option(
        "--rrf-k", type=float, default=DEFAULT_RRF_K, show_default=True, metavar="K", help="Set the constant of rrf."
    ),
)
STEP_OPTIONS: tuple[Option, ...] = (
    click.option("--rerank", metavar="NAME", help="Rerank with sentences, cross-encoder/MODEL, or module:callable."),
    click.option(
        "--rerank-top",
        type=click.IntRange(min=1),
        default=DEFAULT_RERANK_DEPTH,
        show_default=True,
        metavar="N",
        help="Rerank the top N documents.",
    ),
    click.option("--gate", metavar="RULE", help=f"Choose which queries to retrieve for: {GATE_RULES}."),
    click.option("--shadow", is_flag=True, help="Retrieve for skipped queries too, for the log of the gate."),
    click.option(
        "--expert", "experts", multiple=True, metavar="NAME=PATH", help="Add an expert and its corpus; repeatable."
    ),
    click.option(
        "--router",
        metavar="NAME",
        help="Route queries to experts with a module:callable.  [default: nearest centroid]",
    ),
    click.option("--index", type=click.Path(), metavar="DIR", help="Keep indexes in DIR for the next time."),
)
RETRIEVER_OPTIONS: tuple[Option, ...] = (
    click.option(
        "--mode",
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
