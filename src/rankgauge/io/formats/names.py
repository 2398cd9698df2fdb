"""Which column of a table contains what: given by the caller, or detected by its name.

Names are compared without case, spaces, hyphens, dots and underscores: ``Query-ID`` is ``query_id``. If two columns of
a table match a role equally well, the reader does not choose: the error lists them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from rankgauge.core.dataclass import dataclass
from rankgauge.core.formatting import listing
from rankgauge.errors import InputError, UsageError, nearest, shown

Kind = Literal["qrels", "run"]
Columns = Mapping[str, str]  # role → the name of its column


@dataclass(frozen=True)
class Wanted:
    """What a reader of a format is asked for."""

    kind: Kind
    columns: Columns | None = None  # as the caller names them
    names: tuple[str, ...] = ()  # keys that are known from an earlier attempt to read the source
    is_kept: bool = False  # whether all rows are kept in memory, so that batches may be large
    has_iters: bool = False  # whether the column of iters matters, as it does if rows are kept


# Role → names in tiers: the certain ones first, then those that are used if no certain one is there.
COLUMN_NAMES: dict[str, tuple[tuple[str, ...], ...]] = {
    "query": (("query_id", "qid", "question_id", "topic_id", "topic", "_qid"), ("query", "q", "question")),
    "doc": (
        ("doc_id", "docno", "document_id", "pid", "passage_id", "corpus_id", "chunk_id", "did", "doc_no"),
        ("doc", "document", "passage", "chunk"),
    ),
    "score": (("score", "sim", "similarity", "retrieval_score", "rsv"), ("value",)),
    "grade": (("relevance", "rel", "label", "grade", "judgment", "judgement", "relevance_label"), ("score", "value")),
    "rank": (("rank",), ("position",)),
    "iter": (("iter", "iteration", "q0", "subtopic", "subtopic_id"),),
    "tag": (("tag", "run_id", "run_tag", "run_name"), ("run", "system")),
}
ROLES: dict[Kind, tuple[str, ...]] = {
    "qrels": ("query", "iter", "doc", "grade"),
    "run": ("query", "iter", "doc", "rank", "score", "tag"),
}
# The names of ids, titles and texts in files of queries and documents, the best first.
QUERY_ID_NAMES = ("_id", "query_id", "qid", "question_id", "topic_id", "id")
DOC_ID_NAMES = ("_id", "doc_id", "docno", "document_id", "pid", "passage_id", "corpus_id", "chunk_id", "id")
TITLE_NAMES = ("title", "headline", "name")
TEXT_NAMES = ("text", "query", "question", "title", "user_input", "prompt", "contents", "body")
LISTED_NAMES = 12


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
