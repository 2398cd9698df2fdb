"""Sequences of gated builds, over which errors are controlled: one for each branch and collection.

A build takes its number and level before it is tested, and its outcome is recorded after; what runs between is of no
consequence to others. Levels count only alarms that are recorded, so builds that run at the same time get levels that
are at most too small. A build that is killed has spent its number.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from rankgauge.comparison.gate.online import OnlineBuild
from rankgauge.errors import InputError, UsageError, shown
from rankgauge.history.times import time_text
from rankgauge.stats.online import ONLINE_CONTROLS, OnlineControl, online_level

if TYPE_CHECKING:
    from rankgauge.history.store import History

DEFAULT_BUILDS = 200
NO_BRANCH = "(no branch)"


@dataclass
class BuildSequence:
    """The builds of a branch and a collection, in periods of ``builds``."""

    history: History
    branch: str
    collection: str
    builds: int = DEFAULT_BUILDS
    control: OnlineControl = "any"
    restart: bool = False  # whether the sequence of before has ended, and a new one begins

    def __post_init__(self) -> None:
        if self.builds < 1:
            raise UsageError(f"a period has at least 1 build, found {self.builds}")
        if self.control not in ONLINE_CONTROLS:
            raise UsageError(f"control must be one of {', '.join(ONLINE_CONTROLS)}, found {shown(str(self.control))}")

    def claim(self, key: str, alpha: float) -> OnlineBuild:
        """The next build; the same one as before if this test was made already."""
        with self.history.database.transaction() as connection:
            sequence = self._sequence(connection, alpha)
            known = connection.execute(
                "SELECT number, level, alarms FROM builds WHERE sequence = ? AND key = ?", (sequence, key)
            ).fetchone()
            if known is not None:
                return self._build(key, alpha, *known, repeated=True)
            (last,) = connection.execute(
                "SELECT coalesce(max(number), 0) FROM builds WHERE sequence = ?", (sequence,)
            ).fetchone()
            (alarms,) = connection.execute(
                "SELECT count(*) FROM builds WHERE sequence = ? AND number > ? AND failed = 1",
                (sequence, last // self.builds * self.builds),
            ).fetchone()
            level = online_level(alpha, self.builds, alarms, self.control)
            connection.execute(
                "INSERT INTO builds (sequence, number, key, started, level, alarms) VALUES (?, ?, ?, ?, ?, ?)",
                (sequence, last + 1, key, time_text(datetime.now(UTC)), level, alarms),
            )
        return self._build(key, alpha, last + 1, level, alarms)

    def record(self, build: OnlineBuild, *, failed: bool) -> None:
        """What became of a build."""
        number = (build.period - 1) * build.builds + build.number
        with self.history.database.transaction() as connection:
            connection.execute(
                "UPDATE builds SET failed = ? WHERE number = ? AND key = ? AND sequence = "
                "(SELECT id FROM sequences WHERE branch = ? AND collection = ? AND ended IS NULL)",
                (int(failed), number, build.key, self.branch, self.collection),
            )

    def _build(
        self, key: str, alpha: float, number: int, level: float, alarms: int, *, repeated: bool = False
    ) -> OnlineBuild:
        period, place = divmod(number - 1, self.builds)
        return OnlineBuild(
            self.branch,
            self.collection,
            place + 1,
            period + 1,
            self.builds,
            alpha,
            self.control,
            level,
            alarms,
            repeated,
            key,
        )

    def _sequence(self, connection: sqlite3.Connection, alpha: float) -> int:
        """The sequence that has not ended; a new one if there is none. Its promise cannot change on the way."""
        names = (self.branch, self.collection)
        row = connection.execute(
            "SELECT id, builds, alpha, control FROM sequences WHERE branch = ? AND collection = ? AND ended IS NULL",
            names,
        ).fetchone()
        if row is not None and self.restart:
            connection.execute("UPDATE sequences SET ended = ? WHERE id = ?", (time_text(datetime.now(UTC)), row[0]))
            row = None
        self.restart = False
        if row is None:
            inserted = connection.execute(
                "INSERT INTO sequences (branch, collection, started, builds, alpha, control) VALUES (?, ?, ?, ?, ?, ?)",
                (*names, time_text(datetime.now(UTC)), self.builds, alpha, self.control),
            )
            return int(inserted.lastrowid or 0)
        number, builds, stored_alpha, control = row
        if (builds, stored_alpha, control.decode()) != (self.builds, alpha, self.control):
            raise InputError(
                f"the sequence of {shown(self.branch)} and {shown(self.collection)} has periods of {builds:,} builds, "
                f"alpha {stored_alpha:g} and the control {control.decode()}; found {self.builds:,}, {alpha:g} and "
                f"{self.control}",
                hint="keep these settings, or begin a new sequence, with errors of its own, with --online-restart",
            )
        return int(number)
