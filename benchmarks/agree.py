"""Do the tools find the same numbers? A fast wrong answer is not a result."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.jobs import Job
from benchmarks.measure import Figures


def disagreements(job: Job, figures: Sequence[Figures]) -> dict[str, str]:
    """Tool → in which measure it is furthest from the yardstick, where that is further than it may be."""
    found = {one.tool: one.means for one in figures if one.means}
    if not found:
        return {}
    exact = [tool.name for tool in job.tools if tool.name in found]
    reference = job.yardstick if job.yardstick in found else exact[0]
    tolerances = {tool.name: tool.tolerance for tool in job.tools}
    out = {}
    for name, means in found.items():
        allowed = max(tolerances[name], tolerances[reference])
        # Not (difference <= allowed), so that NaN is a disagreement.
        off = {m: abs(means[m] - value) for m, value in found[reference].items()}
        wrong = {m: difference for m, difference in off.items() if not difference <= allowed}
        if wrong:
            worst = max(wrong, key=lambda m: wrong[m])
            out[name] = f"{worst} is {means[worst]:.6f}, {reference}'s {found[reference][worst]:.6f}"
    return out
