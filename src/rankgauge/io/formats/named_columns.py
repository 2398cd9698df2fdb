"""Which column of a table contains what, and batches of rows from tables with named columns.

Columns are given by the caller, or detected by their names. Names are compared without case, spaces, hyphens, dots and
underscores: ``Query-ID`` is ``query_id``. If two columns of a table match a role equally well, the reader does not
choose: the error lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Floats
from rankgauge.core.batch import Batch
from rankgauge.core.dataclass import dataclass
from rankgauge.core.formatting import listing
from rankgauge.core.ids import Ids, Ints
from rankgauge.core.qrels import LARGEST_GRADE
from rankgauge.errors import InputError, UsageError, nearest, shown
from rankgauge.io.faults import Faults

Kind = Literal["qrels", "run"]
Columns = Mapping[str, str]  # role → the name of its column
IsByText = Callable[[str], bool]  # whether the results of a query are identified by their ids and their texts


@dataclass(frozen=True)
class Wanted:
    """What a reader of a format is asked for."""

    kind: Kind
    columns: Columns | None = None  # as the caller names them
    names: tuple[str, ...] = ()  # keys that are known from an earlier attempt to read the source
    is_kept: bool = False  # whether all rows are kept in memory, so that batches may be large
    has_iters: bool = False  # whether the column of iters matters, as it does if rows are kept
    fields: tuple[str, ...] = ()  # by which results are identified, if labels have several (``field_labels``)
    is_by_text: IsByText | None = None
    knows_scores: bool = False  # whether it was said what the scores of a list mean


# Role → names in tiers: the certain ones first, then those that are used if no certain one is there.
COLUMN_NAMES: dict[str, tuple[tuple[str, ...], ...]] = {
    "query": (("query_id", "qid", "question_id", "topic_id", "topic", "_qid"), ("query", "q", "question")),
    "doc": (
        ("doc_id", "docno", "document_id", "pid", "passage_id", "corpus_id", "chunk_id", "did", "doc_no"),
        ("doc", "document", "passage", "chunk"),
    ),
    "score": (("score", "sim", "similarity", "retrieval_score", "rsv"), ("value",)),
    "grade": (
        ("relevance", "rel", "label", "grade", "judgment", "judgement", "relevance_label", "rating"),
        ("score", "value"),
    ),
    "rank": (("rank",), ("position",)),
    "iter": (("iter", "iteration", "q0", "subtopic", "subtopic_id"),),
    "tag": (("tag", "run_id", "run_tag", "run_name"), ("run", "system")),
}
ROLES: dict[Kind, tuple[str, ...]] = {
    "qrels": ("query", "iter", "doc", "grade"),
    "run": ("query", "iter", "doc", "rank", "score", "tag"),
}
# Roles that the user may name: those of labels only, and those that labels and results both have.
LABEL_ROLES = ("relevant", "grades", "grade", "id", "evidence", "forbidden")
SHARED_ROLES = ("query", "doc", "iter", "k")
# The names of texts and metadata in results, as logs have them and retrievers return them, the best first.
TEXT_FIELD_NAMES = ("text", "page_content", "content", "raw_text", "contents", "body", "document", "passage")
METADATA_NAMES = ("metadata", "meta", "payload")  # Haystack's documents have meta, Qdrant's points a payload
# The names of ids, titles and texts in files of queries and documents, the best first.
QUERY_ID_NAMES = ("_id", "query_id", "qid", "question_id", "topic_id", "id")
DOC_ID_NAMES = ("_id", "doc_id", "docno", "document_id", "pid", "passage_id", "corpus_id", "chunk_id", "id")
TITLE_NAMES = ("title", "headline", "name")
TEXT_NAMES = ("text", "query", "question", "title", "user_input", "prompt", "contents", "body")
LISTED_NAMES = 12
ASKED_KEY = "requested_k"  # in a log: how many results a live retriever was asked for


def normalize_name(name: str) -> str:
    """A name in the form in which names are compared."""
    return "".join(c for c in name.casefold() if c not in "_-. ").strip()


def has_name(name: str, names: Iterable[str]) -> bool:
    """Whether a column's name is one of some names."""
    return normalize_name(name) in map(normalize_name, names)


def columns_for(names: Sequence[str], role: str) -> list[str]:
    """The columns whose names match a role, of the most certain tier."""
    for tier in COLUMN_NAMES[role]:
        tier_names = {normalize_name(name) for name in tier}
        matches = [name for name in names if normalize_name(name) in tier_names]
        if matches:
            return matches
    return []


def is_header(names: Sequence[str], kind: Kind, columns: Columns | None = None) -> bool:
    """Whether a first row is a header: it names a query and a document column, or one that the caller named."""
    if columns and any(name in names for name in columns.values()):
        return True
    return bool(columns_for(names, "query") and columns_for(names, "doc"))


MEASURE_WORDS = frozenset(
    "recall precision mrr map ndcg dcg hit hits hitrate success accuracy fscore meanreciprocalrank "
    "meanaverageprecision contextprecision contextrecall".split()
)


def are_measures(names: Iterable[str]) -> bool:
    """Whether all names are those of measures: recall@5, mrr, ndcg_at_10."""
    names = list(names)
    words = ["".join(c for c in name.casefold() if c.isalpha()) for name in names]
    is_clear = len(set(names)) > 1 or any("@" in name for name in names)  # one document may be called "map"
    return is_clear and all(word in MEASURE_WORDS or word.removesuffix("k").removesuffix("at") in MEASURE_WORDS
                               for word in words)  # fmt: skip


def names_labels(columns: Columns | None) -> bool:
    """Whether the user names a column that labels have, alone or as results do."""
    return any(role in (*LABEL_ROLES, *SHARED_ROLES) for role in columns or {})


def find_columns(source: str, names: Sequence[str], kind: Kind, columns: Columns | None = None) -> dict[str, str]:
    """Role → column, for every role that has one; raises if a required one is missing or ambiguous."""
    columns = columns or {}
    check_roles(columns, ROLES[kind])
    columns_by_role: dict[str, str] = {}
    for role in ROLES[kind]:
        if role in columns:
            columns_by_role[role] = _check_column(source, names, role, columns[role])
            continue
        matches = [name for name in columns_for(names, role) if name not in columns.values()]
        if len(matches) > 1:
            raise InputError.at(
                source,
                None,
                f"expected one column for the {role}, found {len(matches)}: {_list_names(matches)}",
                hint=f"choose one: columns={{{role!r}: {matches[0]!r}}}, --column {role}={matches[0]}",
            )
        if matches:
            columns_by_role[role] = matches[0]
    for role in ("query", "doc", "grade") if kind == "qrels" else ("query", "doc"):
        if role not in columns_by_role:
            raise _missing_column(source, names, role)
    if kind == "run" and "score" not in columns_by_role and "rank" not in columns_by_role:
        raise _missing_column(source, names, "score")
    return columns_by_role


def check_roles(columns: Columns, roles: Sequence[str]) -> None:
    """Raise if the caller names a role that does not exist."""
    for role in columns:
        if role not in roles:
            suggestion = nearest(role, roles)
            raise UsageError(
                f"unknown column role {shown(role)}, expected one of {', '.join(roles)}",
                hint=f"did you mean {suggestion}?" if suggestion else None,
            )


def _check_column(source: str, names: Sequence[str], role: str, name: str) -> str:
    if name in names:
        return name
    suggestion = nearest(name, list(names))
    raise InputError.at(
        source,
        None,
        f"expected a column {shown(name)} for the {role}, found {_list_names(names)}",
        hint=f"did you mean {suggestion}?" if suggestion else None,
    )


def _missing_column(source: str, names: Sequence[str], role: str) -> InputError:
    known_names = ", ".join(name for tier in COLUMN_NAMES[role] for name in tier)
    hint = f"name it: columns={{{role!r}: …}}, --column {role}=NAME"
    if are_measures(names):
        return InputError.at(
            source,
            None,
            f"this looks like a file of metrics: {_list_names(names)}",
            hint="expected labels or results here",
        )
    if {"_id", "text"} <= set(names):  # as BEIR writes both
        hint = "is this a file of queries or documents? expected judgments or a run here"
    return InputError.at(
        source,
        None,
        f"expected a column for the {role} ({known_names}), found {_list_names(names)}",
        hint=hint,
    )


def _list_names(names: Sequence[str]) -> str:
    return listing(map(shown, names), LISTED_NAMES) or "none"


# Batches of rows from any table with named columns: delimited text, JSON Lines, Arrow, data frames.

SPACE = 0x20


class CellColumns(Protocol):
    """Columns by name. A cell that cannot be read becomes a fault, and an empty id or a NaN."""

    @property
    def line(self) -> Ints:
        """The line of each row; zeros if there are no lines."""

    def ids(self, faults: Faults, name: str, what: str) -> Ids:
        """A column of ids, none of them empty."""

    def texts(self, name: str) -> Ids:
        """A column of texts, possibly empty."""

    def numbers(self, faults: Faults, name: str, what: str) -> Floats:
        """A column of numbers."""


class NamedColumns(CellColumns, Protocol):
    """A table that knows the names of all its columns."""

    @property
    def names(self) -> Sequence[str]:
        """The names of the columns."""


def batch_of_table(faults: Faults, table: NamedColumns, wanted: Wanted) -> Batch:
    """The rows of a table whose columns are found by their names, with a fault for each row that is wrong."""
    return batch_from_columns(
        faults, table, wanted.kind, find_columns(faults.source, table.names, wanted.kind, wanted.columns)
    )


def batch_from_columns(faults: Faults, table: CellColumns, kind: Kind, names: Columns) -> Batch:
    """The rows of a table or of a part of one; ``names`` has the column of each role.

    Ranks without scores stay ranks (``has_ranks_only``), because a query may continue in the next part.
    """
    query = table.ids(faults, names["query"], "query id")
    doc = table.ids(faults, names["doc"], "document id")
    report_surrounding_spaces(faults, query, table.line, "query id")
    report_surrounding_spaces(faults, doc, table.line, "document id")
    is_valid = (query.length > 0) & (doc.length > 0)
    if kind == "qrels":
        value = table.numbers(faults, names["grade"], "grade")
        is_valid &= grades_within_limits(faults, value, table.line, query, doc)
    elif "score" in names:
        value = table.numbers(faults, names["score"], "score")
        report_infinite_scores(faults, value, table.line, query, doc)
        is_valid &= ~np.isnan(value)
    else:
        value = table.numbers(faults, names["rank"], "rank")
        is_valid &= ~np.isnan(value)
    optional = {role: table.texts(names[role]) for role in ("iter", "rank", "tag") if role in names}
    return Batch(
        table.line,
        query,
        doc,
        value,
        iters=optional.get("iter"),
        rank=optional.get("rank"),
        tag=optional.get("tag"),
        has_ranks_only=kind == "run" and "score" not in names,
    ).select(is_valid)


def grades_within_limits(faults: Faults, grades: Floats, line: Ints, query: Ids, doc: Ids) -> NDArray[np.bool_]:
    """Which grades are within the limits, with a fault for each that is not; NaN has its fault already."""
    bad_rows = np.flatnonzero(np.abs(grades) > LARGEST_GRADE)
    faults.add(
        "grade",
        line[bad_rows],
        expected=f"a number from {-LARGEST_GRADE} to {LARGEST_GRADE} as grade",
        found=lambda at: f"{grades[bad_rows[at]]:g}" + _describe_row(faults, query, doc, int(bad_rows[at])),
    )
    return np.abs(grades) <= LARGEST_GRADE


def report_infinite_scores(faults: Faults, scores: Floats, line: Ints, query: Ids, doc: Ids) -> None:
    """Add a warning for infinite scores: they can be ordered, but seldom mean anything."""
    infinite_rows = np.flatnonzero(np.isinf(scores))
    faults.add(
        "infinite-score",
        line[infinite_rows],
        expected="a finite score",
        found=lambda at: f"{scores[infinite_rows[at]]:g}" + _describe_row(faults, query, doc, int(infinite_rows[at])),
        severity="warning",
    )


def report_surrounding_spaces(faults: Faults, ids: Ids, line: Ints, what: str) -> None:
    """Add a warning for ids with leading or trailing spaces: ids are exact, and match only ids with the same spaces."""
    if not len(ids) or ids.has_visible_ascii_only:
        return
    last_bytes = ids.buffer[ids.start + np.maximum(ids.length - 1, 0)]
    spaced_rows = np.flatnonzero((ids.length > 0) & ((ids.buffer[ids.start] == SPACE) | (last_bytes == SPACE)))
    faults.add(
        "blank-around-id",
        line[spaced_rows],
        expected=f"a {what} without leading or trailing spaces",
        found=lambda at: f"{shown(ids[int(spaced_rows[at])])}, used as it is",
        severity="warning",
    )


def scores_from_ranks(faults: Faults, rows: Batch) -> Batch:
    """Rows of whole queries whose value is a rank, with scores in that order: the deepest rank of a query gets 1."""
    rank, group = rows.value, rows.group(by_tag=True)
    bad_rows = np.flatnonzero((rank < 0) | (rank != np.floor(rank)) | (rank > 2**53))
    faults.add(
        "rank",
        rows.line[bad_rows],
        expected="a whole number as rank",
        found=lambda at: f"{rank[bad_rows[at]]:g}" + _describe_row(faults, rows.query, rows.doc, int(bad_rows[at])),
    )
    order = np.lexsort((rank, group))
    is_repeated = (rank[order][1:] == rank[order][:-1]) & (group[order][1:] == group[order][:-1])
    repeated_rows = order[1:][is_repeated]
    faults.add(
        "duplicate-rank",
        rows.line[repeated_rows],
        expected="each rank once per query",
        found=lambda at: (
            f"rank {rank[repeated_rows[at]]:.0f} again for query {shown(rows.query[int(repeated_rows[at])])}"
        ),
    )
    deepest = np.zeros(int(group.max(initial=-1)) + 1)
    np.maximum.at(deepest, group, rank)
    with np.errstate(invalid="ignore"):  # an infinite rank is a fault already
        return replace(rows, value=deepest[group] + 1 - rank, has_ranks_only=False)


def _describe_row(faults: Faults, query: Ids, doc: Ids, row: int) -> str:
    """The query and document of a row, if the source has no lines."""
    return "" if faults.has_lines else f" for document {shown(doc[row])} of query {shown(query[row])}"


def optional_columns(rows: Batch) -> list[tuple[str, Ids]]:
    """Those of iter, rank and tag that rows have, by their names."""
    columns = (("iter", rows.iters), ("rank", rows.rank), ("tag", rows.tag))
    return [(name, column) for name, column in columns if column]
