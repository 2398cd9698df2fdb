"""Which column of a table holds what: given by the caller, or known by its name.

A name counts without case, blanks, hyphens, dots and underscores: ``Query-ID`` is ``query_id``. Where the best names
stand in a table twice, the reader does not choose: the error lists them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from rankgauge.errors import InputError, UsageError, nearest, shown

Kind = Literal["qrels", "run"]
Columns = Mapping[str, str]  # role → the name of its column

# Role → names, the sure ones first, then those that are taken where no sure one is there.
NAMES: dict[str, tuple[tuple[str, ...], ...]] = {
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


def plain(name: str) -> str:
    """A name as it is compared."""
    return "".join(c for c in name.casefold() if c not in "_-. ").strip()


def candidates(names: Sequence[str], role: str) -> list[str]:
    """The columns whose name fits a role, of the surest kind that is there."""
    for tier in NAMES[role]:
        known = {plain(name) for name in tier}
        found = [name for name in names if plain(name) in known]
        if found:
            return found
    return []


def is_header(names: Sequence[str], kind: Kind, given: Columns | None = None) -> bool:
    """Whether a first row holds names, not data: a query and a document column are there, or one the caller named."""
    if given and any(name in names for name in given.values()):
        return True
    return bool(candidates(names, "query") and candidates(names, "doc"))


def find(source: str, names: Sequence[str], kind: Kind, given: Columns | None = None) -> dict[str, str]:
    """Role → column, for every role that has one; raises where a needed one is missing or could be several."""
    given = given or {}
    check_roles(given, ROLES[kind])
    found: dict[str, str] = {}
    for role in ROLES[kind]:
        if role in given:
            found[role] = _named(source, names, role, given[role])
            continue
        fitting = [name for name in candidates(names, role) if name not in given.values()]
        if len(fitting) > 1:
            raise InputError.at(
                source,
                None,
                f"expected one column for the {role}, found {len(fitting)}: {_listed(fitting)}",
                hint=f"say which: columns={{{role!r}: {fitting[0]!r}}}, --column {role}={fitting[0]}",
            )
        if fitting:
            found[role] = fitting[0]
    for role in ("query", "doc", "grade") if kind == "qrels" else ("query", "doc"):
        if role not in found:
            raise _missing(source, names, role)
    if kind == "run" and "score" not in found and "rank" not in found:
        raise _missing(source, names, "score")
    return found


def check_roles(given: Columns, roles: Sequence[str]) -> None:
    """Raise where the caller speaks of a role that there is not."""
    for role in given:
        if role not in roles:
            close = nearest(role, roles)
            raise UsageError(
                f"no column is called {shown(role)} here, expected one of {', '.join(roles)}",
                hint=f"did you mean {close}?" if close else None,
            )


def _named(source: str, names: Sequence[str], role: str, name: str) -> str:
    if name in names:
        return name
    close = nearest(name, list(names))
    raise InputError.at(
        source,
        None,
        f"expected a column {shown(name)} for the {role}, found {_listed(names)}",
        hint=f"did you mean {close}?" if close else None,
    )


def _missing(source: str, names: Sequence[str], role: str) -> InputError:
    known = ", ".join(name for tier in NAMES[role] for name in tier)
    return InputError.at(
        source,
        None,
        f"expected a column for the {role} ({known}), found {_listed(names)}",
        hint=f"say which: columns={{{role!r}: …}}, --column {role}=NAME",
    )


def _listed(names: Sequence[str]) -> str:
    some = ", ".join(shown(name) for name in names[:12])
    return some + (", …" if len(names) > 12 else "") if names else "none"
