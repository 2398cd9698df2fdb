"""The names of entries, made of date and commit, and those of tags."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rankgauge.errors import UsageError, shown

COMMIT_CHARACTERS = 7  # of a commit's hash in a name
LATEST = "latest"
ENTRY_NAME = re.compile(r"\d{4}-\d{2}-\d{2}(-[0-9a-f]{7})?(-\d{1,9})?")
DATE = re.compile(r"\d{4}-\d{2}-\d{2}.*", re.DOTALL)
TAG = re.compile(r"[^\W_][\w.+/=@-]{0,99}")


def base_name(saved: str, commit: str | None) -> str:
    """``2026-11-02-abc1234`` for what was saved on that day at that commit; only the date without a commit."""
    day = saved[:10]
    return day if commit is None else f"{day}-{commit[:COMMIT_CHARACTERS]}"


def is_name_of(name: str, saved: str, commit: str | None) -> bool:
    """Whether a name is that of an entry saved at this time and commit, with or without a number."""
    return ENTRY_NAME.fullmatch(name) is not None and f"{name}-".startswith(f"{base_name(saved, commit)}-")


def free_name(base: str, taken: Iterable[str]) -> str:
    """The name itself, or with the first number from 2 on that is free."""
    names = set(taken)
    name, number = base, 1
    while name in names:
        number += 1
        name = f"{base}-{number}"
    return name


def checked_tag(tag: str) -> str:
    """A tag; raises if it could be taken for the name of an entry, or is not one word."""
    if tag == LATEST or DATE.fullmatch(tag) or not TAG.fullmatch(tag):
        raise UsageError(
            f"{shown(tag)} cannot be a tag",
            hint=f"a tag is one word of letters, digits and . + / = @ _ -; it is not {LATEST!r} and not a date",
        )
    return tag
