"""Rules that forbid documents: ``tenant != case.tenant``, ``status = retired``, ``id not under docs/{case.product}/``.

A rule compares the id of a result, or a field of its metadata, with a text or with a column of the query. It says what
is forbidden: equality, inequality, or a prefix. Nothing is executed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Literal

from rankgauge.core.dataclass import dataclass
from rankgauge.core.formatting import listing
from rankgauge.errors import InputError, UsageError, nearest, shown

Operator = Literal["=", "!=", "under", "not under"]
RULE = re.compile(
    r"\s*(?P<field>[^\s=!]+)\s*(?P<operator>!=|==?|\s(?:not\s+)?under(?=\s))\s*(?P<value>\S(?:.*\S)?)\s*", re.DOTALL
)
CASE_FIELD = re.compile(r"\{case\.([^{}]+)\}")
CASE = "case."
ID = "id"
EXAMPLES = "'tenant != case.tenant', 'status = retired', 'id not under docs/{case.product}/'"
MAX_FIELDS = 6


@dataclass(frozen=True)
class ForbiddingRule:
    """What makes a result forbidden: a field of it, an operator, and a text with ``{case.NAME}`` for columns."""

    text: str
    field: str
    operator: Operator
    value: str

    @property
    def case_fields(self) -> list[str]:
        """The columns of the query that it refers to."""
        return CASE_FIELD.findall(self.value)

    @property
    def is_about_ids(self) -> bool:
        """Whether it forbids ids that it names, whatever the query is."""
        return self.field == ID and self.operator in ("=", "under") and not self.case_fields

    def value_for(self, case: Mapping[str, Any]) -> str | None:
        """What the field is compared with; None if the query lacks a column, so that the rule does not apply."""
        values = {name: plain_text(case.get(name)) for name in self.case_fields}
        if any(value is None for value in values.values()):
            return None
        return CASE_FIELD.sub(lambda match: str(values[match[1]]), self.value)

    def forbids(self, document: str, metadata: Mapping[str, Any] | None, value: str) -> bool:
        """Whether a result is forbidden. One without the field is: nobody knows that it is allowed."""
        if self.field == ID and (metadata is None or ID not in metadata):
            found = [document]
        else:
            found = field_texts(metadata or {}, self.field)
            if not found:
                return True
        if self.operator in ("=", "!="):
            return (value in found) == (self.operator == "=")
        return any(text.startswith(value) for text in found) == (self.operator == "under")


def parse_rule(text: str) -> ForbiddingRule:
    """Parse a rule; an error says what a rule is."""
    match = RULE.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise UsageError(
            f"a rule must be a field, one of =, !=, under, not under, and a value, found {shown(str(text))}",
            hint=f"write {EXAMPLES}",
        )
    field, value = match["field"], match["value"]
    operator = " ".join(match["operator"].split()).replace("==", "=")
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        value = value[1:-1]
    elif value.startswith(CASE):
        value = f"{{{value}}}"
    if field.startswith(CASE):
        raise UsageError(
            f"a rule begins with a field of the result, found {shown(field)}", hint=f"turn it around: {EXAMPLES}"
        )
    return ForbiddingRule(text.strip(), field.removeprefix("result."), operator, value)  # type: ignore[arg-type]  # the pattern has these four


def check_fields(
    rules: Sequence[ForbiddingRule],
    documents: Sequence[str],
    metadata: Mapping[str, Mapping[str, Any]],
    columns: Mapping[str, Any],
    source: str,
) -> None:
    """Raise if no result has the field of a rule, or no query the column: the rule would say nothing."""
    for rule in rules:
        for name in rule.case_fields:
            if name not in columns:
                raise InputError(
                    f"no query has {shown(name)}, which the rule {shown(rule.text)} compares with",
                    hint=_hint(name, columns, "columns of the queries"),
                )
        if rule.field == ID or not documents:
            continue
        if not any(field_texts(metadata.get(doc, {}), rule.field) for doc in documents):
            known = dict.fromkeys(name for values in metadata.values() for name in values)
            raise InputError(
                f"{source}: no result has {shown(rule.field)}, which the rule {shown(rule.text)} needs",
                hint=_hint(rule.field, known, "fields of the results")
                if known
                else 'results need metadata: {"id": "…", "metadata": {"tenant": "…"}}',
            )


def _hint(name: str, known: Mapping[str, Any], what: str) -> str:
    close = nearest(name, list(known))
    return f"did you mean {close}?" if close else f"{what}: {listing(known, MAX_FIELDS) or 'none'}"


def field_texts(metadata: Mapping[str, Any], name: str) -> list[str]:
    """The texts of a field, which may be a dotted path; those of a list, each; none if there is no such field."""
    value: Any = metadata.get(name)
    if value is None and "." in name:
        value = metadata
        for part in name.removeprefix("metadata.").split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
    values = value if isinstance(value, (list, tuple)) else [value]
    return [text for text in map(plain_text, values) if text is not None]


def plain_text(value: Any) -> str | None:
    """A plain value as text, so that 1 is 1.0 and true is true; None for what is not one."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value) if isinstance(value, (str, int, float)) and value == value and value != "" else None


# Lists of forbidden documents: ids, and folders, which end in "/" and are no id.

SLASH, EXTENSION = "/", re.compile(r"\.[a-z]{1,5}$")


def unseen_entries(entries: Collection[str], seen: Collection[str], source: str) -> list[str]:
    """The entries that are no id, and no folder of one; raises if one is nearly an id or a folder: the list means that.

    Nearly is but for case, slashes at the beginning or the end, or an extension that only one of them has.
    """
    unseen = [entry for entry in entries if entry not in seen and not _has_one(entry, seen)]
    if not unseen:
        return []
    plain = _plain_forms(seen)
    bare = {EXTENSION.sub("", form): name for form, name in plain.items()}
    for entry in unseen:
        form = _plain(entry)
        close = plain.get(form) or plain.get(EXTENSION.sub("", form)) or bare.get(form)
        if close is not None:
            raise _nearly(source, f"the forbidden {shown(entry)}", close)
    return unseen


def check_rules(
    rules: Iterable[ForbiddingRule],
    seen: Collection[str],
    metadata: Mapping[str, Mapping[str, Any]],
    source: str,
) -> None:
    """Raise if what a rule forbids, which forbade nothing, is nearly an id, a folder, or a value of its field."""
    for rule in rules:
        if rule.case_fields or rule.operator not in ("=", "under"):
            continue
        if rule.field == ID:
            is_there = rule.value in seen or (rule.operator == "under" and any(map(_begins(rule.value), seen)))
            close = None if is_there else _plain_forms(seen).get(_plain(rule.value))
        else:
            values = {text for fields in metadata.values() for text in field_texts(fields, rule.field)}
            near = [text for text in sorted(values) if text.casefold() == rule.value.casefold()]
            close = None if rule.value in values or not near else near[0]
        if close is not None:
            raise _nearly(source, f"what the rule {shown(rule.text)} forbids", close)


def _begins(text: str) -> Callable[[str], bool]:
    return lambda name: name.startswith(text)


def _nearly(source: str, what: str, close: str) -> InputError:
    return InputError(
        f"{source}: nothing is {what}, but {shown(close)} is nearly the same",
        hint="write forbidden documents as the results have them, and folders with / at the end",
    )


def _plain_forms(names: Iterable[str]) -> dict[str, str]:
    """Each id and each folder of one, by its plain form."""
    forms: dict[str, str] = {}
    for name in names:
        end = name.find(SLASH)
        while end >= 0:
            forms.setdefault(_plain(name[:end]), name[: end + 1])
            end = name.find(SLASH, end + 1)
        forms[_plain(name)] = name
    forms.pop("", None)
    return forms


def _has_one(entry: str, seen: Collection[str]) -> bool:
    return entry.endswith(SLASH) and any(name.startswith(entry) for name in seen)


def _plain(name: str) -> str:
    return name.casefold().replace("\\", SLASH).removeprefix("./").strip(SLASH)
