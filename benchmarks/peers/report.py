"""The table: how many numbers and names agree, and every reason why others do not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from benchmarks.peers.checks import Check, Recording
from benchmarks.peers.outcomes import Evaluator, Outcome, name_outcome
from benchmarks.peers.reasons import reason_for
from rankgauge import Conventions
from rankgauge.measures.names import reason_not_implemented

# Which queries a peer averages if the run lacks some of the judged ones.
CONVENTIONS = {"ir_measures": Conventions(), "pytrec_eval": Conventions(query_set="both")}
HEAD = "| | numbers | names | for the same number |\n|---|---|---|---|"
UNEXPLAINED = "**unexplained**"
Row = tuple[str, str]  # what it says, and what to write instead


def outcomes(peer: str, recording: Recording) -> dict[Row, list[Outcome]]:
    """All outcomes, by the row of the table that they are in."""
    evaluator = Evaluator(recording.inputs, CONVENTIONS[peer])
    checked = [*map(evaluator.outcome, recording.checks), *map(name_outcome, recording.names)]
    rows: dict[Row, list[Outcome]] = {}
    for outcome in checked:
        rows.setdefault(_row(peer, evaluator, outcome), []).append(outcome)
    return rows


def table(rows: dict[Row, list[Outcome]]) -> str:
    """Agreement first, then differences, then what is not here."""
    kinds = ("agree", "differ", "unsupported", "error")
    lines = [HEAD]
    for kind in kinds:
        of_kind = {row: found for row, found in rows.items() if found[0].kind == kind}
        lines.append(_line(f"**{kind}**", (one for found in of_kind.values() for one in found)))
        for (text, remedy), found in sorted(of_kind.items(), key=lambda item: -len(item[1])):
            if kind != "agree":
                names = f": {_counted(found)}" if kind == "unsupported" else ""
                lines.append(_line(f"{text}{names}", found, remedy))
    return "\n".join(lines)


def unexplained(rows: dict[Row, list[Outcome]]) -> list[Outcome]:
    """Differences without a reason."""
    return [outcome for (text, _), found in rows.items() if text == UNEXPLAINED for outcome in found]


def _row(peer: str, evaluator: Evaluator, outcome: Outcome) -> Row:
    if outcome.kind == "agree":
        return "agree", ""
    if outcome.kind == "differ":
        reason = reason_for(peer, evaluator, outcome)
        return (UNEXPLAINED, "") if reason is None else (reason.convention, reason.remedy)
    name = _name(outcome)
    if outcome.kind == "unsupported" and (text := reason_not_implemented(name)):
        return text, ""
    message = re.sub(r"'[^']*' |, found .*", "", outcome.message).removeprefix(name).strip()
    return message, "" if outcome.kind == "unsupported" else outcome.hint or ""


def _name(outcome: Outcome) -> str:
    check = outcome.check
    return re.split(r"[@(]", check.value.measure)[0] if isinstance(check, Check) else " ".join(check.requested)


def _counted(found: Sequence[Outcome]) -> str:
    return ", ".join(f"`{name}` {count}" for name, count in Counter(map(_name, found)).items())


def _line(text: str, found: Iterable[Outcome], remedy: str = "") -> str:
    found = list(found)
    numbers = sum(isinstance(one.check, Check) for one in found)
    return f"| {text} | {numbers or '–'} | {len(found) - numbers or '–'} | {remedy} |"
