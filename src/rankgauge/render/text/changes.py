"""Recent changes of quality as text: one line per change."""

from __future__ import annotations

from collections.abc import Sequence

from rankgauge.core.formatting import plural
from rankgauge.history.checks import QualityChange, QualityCheck, alert_message
from rankgauge.render.text.grid import Lines, TerminalPart
from rankgauge.render.text.scores import dumped
from rankgauge.secrets import mask_secrets


def as_json(check: QualityCheck, changes: Sequence[QualityChange]) -> str:
    """The changes that are reported, as they are sent, and how they were looked for."""
    return dumped({**alert_message(changes), "found": len(check.changes), "series": check.series, "alpha": check.alpha})


def terminal_parts(check: QualityCheck, changes: Sequence[QualityChange]) -> list[TerminalPart]:
    """One line per change, then how many there are."""
    known = len(check.changes) - len(changes)
    before = f", {known:,} reported before" if known else ""
    lines = [mask_secrets(change.description) for change in changes]
    count = plural(len(changes), "new change") if changes else "no new change"
    lines.append(f"{count}{before}; {plural(check.series, 'series', 'series')} checked, alpha {check.alpha:.2g} each")
    return [Lines(lines)]
