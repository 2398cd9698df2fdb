"""The SQL of a search in PostgreSQL: one statement per kind.

Scores are single precision and ties are broken by the bytes of the id, descending, as
:mod:`rankgauge.core.ranking` orders them: the list of results and a run written from it have the same order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankgauge.config.postgres import PostgresSection
from rankgauge.retrieval.engines.postgres_client import compose

if TYPE_CHECKING:
    from rankgauge.retrieval.engines.postgres_client import Composed

BEST_FIRST = "ORDER BY score DESC, id DESC"
TSQUERIES = {
    "all": "websearch_to_tsquery({language}::regconfig, %(query)s)",
    # Words of a query are joined with & only, so that this joins them with | instead.
    "any": "replace(plainto_tsquery({language}::regconfig, %(query)s)::text, ' & ', ' | ')::tsquery",
}
WORDS = "documents.{words}"
COMPUTED_WORDS = "to_tsvector({language}::regconfig, documents.{text})"  # an index on this expression is used
LEXICAL = f"""
    SELECT documents.{{id}}::text COLLATE "C" AS id, ts_rank_cd(WORDS, parsed.query, {{normalization}}) AS score
    FROM {{table}} AS documents, (SELECT TSQUERY AS query) AS parsed
    WHERE WORDS @@ parsed.query
    {BEST_FIRST} LIMIT %(depth)s"""
OPERATORS = {"cosine": "<=>", "l2": "<->", "inner-product": "<#>"}
SCORES = {"cosine": "1 - (DISTANCE)", "l2": "-(DISTANCE)", "inner-product": "-(DISTANCE)"}
# An index serves ORDER BY distance only, so that ordering by a score that is computed from it compares every row.
# The distance to a vector of zeros is not a number, which would be the largest.
EXACT = """
    SELECT documents.{id}::text COLLATE "C" AS id, nullif((SCORE)::real, 'NaN') AS score
    FROM {table} AS documents
    ORDER BY score DESC NULLS LAST, id DESC LIMIT %(depth)s"""
NEAREST = """
    SELECT id, nullif((SCORE)::real, 'NaN') AS score
    FROM (
        SELECT documents.{id}::text COLLATE "C" AS id, DISTANCE AS distance
        FROM {table} AS documents ORDER BY DISTANCE LIMIT %(depth)s
    ) AS nearest"""
RANKED = f"SELECT id, row_number() OVER ({BEST_FIRST}) AS rank FROM (RESULTS) AS results WHERE score IS NOT NULL"
HYBRID = f"""
    SELECT id, (
        coalesce(1 / (%(rrf_k)s::float8 + lexical.rank), 0) + coalesce(1 / (%(rrf_k)s::float8 + vector.rank), 0)
    )::real AS score
    FROM ({RANKED.replace("RESULTS", "LEXICAL")}) AS lexical
    FULL JOIN ({RANKED.replace("RESULTS", "VECTOR")}) AS vector USING (id)"""


def search_statement(section: PostgresSection, vector_type: str | None) -> Composed:
    """The query of a section; its parameters are query, vector, depth, k and rrf_k."""
    lexical = LEXICAL.replace("TSQUERY", TSQUERIES[section.match])
    lexical = lexical.replace("WORDS", COMPUTED_WORDS if section.tsvector_column is None else WORDS)
    vector = _vector_template(section, vector_type)
    template = {"lexical": lexical, "vector": vector}.get(
        section.kind.removesuffix("-hnsw"), HYBRID.replace("LEXICAL", lexical).replace("VECTOR", vector)
    )
    template = f"SELECT id, score FROM ({template}) AS results WHERE score IS NOT NULL {BEST_FIRST} LIMIT %(k)s"
    # Constants: an index on an expression serves a query only if the expression has the same constant.
    return compose(template, column_names(section), language=section.language, normalization=section.rank_normalization)


def column_names(section: PostgresSection) -> dict[str, str]:
    """The names that are quoted in a statement."""
    words = {} if section.tsvector_column is None else {"words": section.tsvector_column}
    return {
        "table": section.table,
        "id": section.id_column,
        "text": section.text_column,
        "vector": section.vector_column,
        **words,
    }


def _vector_template(section: PostgresSection, vector_type: str | None) -> str:
    parameter = "%(vector)s::vector" + ("::halfvec" if vector_type == "halfvec" else "")
    distance = f"documents.{{vector}} {OPERATORS[section.distance]} {parameter}"
    score = SCORES[section.distance]
    if section.kind.endswith("-hnsw"):
        return NEAREST.replace("SCORE", score.replace("DISTANCE", "distance")).replace("DISTANCE", distance)
    return EXACT.replace("SCORE", score.replace("DISTANCE", distance))
