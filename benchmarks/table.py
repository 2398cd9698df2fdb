"""The table: what each tool needed, and how many times that of the yardstick."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.results import Result, Row

HEAD = ("job", "tool", "CPU s", "×", "peak MB", "×", "compared with", "means")


def table(results: Sequence[Result]) -> str:
    """One line a tool, a warning under it where its numbers are not those of the others."""
    cells: list[tuple[str, ...]] = [HEAD]
    warnings: dict[int, str] = {}
    for result in results:
        for number, row in enumerate(result.rows):
            cells.append((result.job if number == 0 else "", *_line(row, result.yardstick)))
            if row.warning:
                warnings[len(cells) - 1] = row.warning
    widths = [max(len(line[column]) for line in cells) for column in range(len(HEAD))]
    out = []
    for number, line in enumerate(cells):
        if number == 1 or (number > 1 and line[0]):
            out.append("-" * (sum(widths) + 2 * len(widths) - 2))
        pads = (
            _pad(text, width, right=2 <= column <= 5)
            for column, (text, width) in enumerate(zip(line, widths, strict=True))
        )
        out.append("  ".join(pads).rstrip())
        if number in warnings:
            out.append(" " * (widths[0] + 2) + f"warning: {warnings[number]}")
    return "\n".join(out)


def _line(row: Row, yardstick: str) -> tuple[str, ...]:
    return (
        row.tool,
        "–" if row.cpu is None else f"{row.cpu:.3f}",
        _times(row.cpu_ratio),
        "–" if row.peak is None else f"{row.peak:,.0f}",
        _times(row.peak_ratio),
        yardstick if row.cpu_ratio is not None else "",
        {True: "agree", False: "DIFFER", None: ""}[row.agrees],
    )


def _times(ratio: float | None) -> str:
    return "–" if ratio is None else f"{ratio:.2f}"


def _pad(text: str, width: int, *, right: bool) -> str:
    return text.rjust(width) if right else text.ljust(width)
