"""The difference of two runs as text: the means, and the rankings of the queries that changed most."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from rankgauge.comparison.ranking_difference import QueryDifference, RunDifference
from rankgauge.core.formatting import MISSING, listing, number, percent, plural
from rankgauge.errors import Note, printable
from rankgauge.render.text.grid import Cell, Grid, full
from rankgauge.render.text.records import Record
from rankgauge.render.text.scores import dumped

DIFFERENCE_SCHEMA = "rankgauge.diff/1"
DIFFERENCE_FIELDS = ("query", "overlap", "jaccard", "rbo", "first_run", "second_run", "k", "p")
QUERY_CHARACTERS = 100


def parts(difference: RunDifference, texts: Mapping[str, str], *, top: int) -> list[str | Grid]:
    """What was compared, the means, and the rankings of the queries that changed most, side by side."""
    out: list[str | Grid] = [summary(difference), mean_grid(difference)]
    changed = [query for query in difference.queries if not query.is_same][:top]
    for query in changed:
        text = f": {printable(texts[query.query], QUERY_CHARACTERS)}" if query.query in texts else ""
        values = f"overlap {number(query.overlap, 2)}, RBO {number(query.rbo, 2)}"
        out += [f"{printable(query.query)}{text} ({values})", ranking_grid(difference, query)]
    return out


def summary(difference: RunDifference) -> str:
    """How many queries have the same top k."""
    first, second = map(printable, difference.names)
    count = len(difference.queries)
    changed = count - difference.same
    parts = [f"{first} and {second}: the top {difference.k} of {changed:,} of {plural(count, 'query')} differ"]
    if difference.reordered:
        parts.append(f"{difference.reordered:,} of them only in order")
    for label, queries in zip((first, second), difference.missing, strict=True):
        if queries:
            parts.append(f"{plural(len(queries), 'query')} missing in {label} ({listing(map(printable, queries))})")
    if difference.failed:
        failed = listing(map(printable, difference.failed))
        parts.append(f"{plural(len(difference.failed), 'query')} failed and left out ({failed})")
    return "; ".join(parts) + "."


def mean_grid(difference: RunDifference) -> Grid:
    """The mean of each value, and how many queries have the same ranking."""
    means, count = difference.means, max(1, len(difference.queries))
    head = ["", f"overlap@{difference.k}", f"Jaccard@{difference.k}", f"RBO(p={difference.p:g})", "same top"]
    values = [number(means[key], 3) for key in ("overlap", "jaccard", "rbo")]
    return Grid(head, [[Cell("mean"), *map(Cell, values), Cell(percent(difference.same / count, 1))]])


def ranking_grid(difference: RunDifference, query: QueryDifference) -> Grid:
    """Both rankings side by side, each document with its rank in the other."""
    ranks = [{doc: rank for rank, doc in enumerate(side, 1)} for side in (query.first, query.second)]
    rows = []
    for rank in range(max(len(query.first), len(query.second))):
        cells = [Cell(str(rank + 1))]
        for side, other, words in ((query.first, ranks[1], ("gone", "now")), (query.second, ranks[0], ("new", "was"))):
            if rank >= len(side):
                cells += [Cell(MISSING), Cell("")]
                continue
            other_rank = other.get(side[rank])
            moved = words[0] if other_rank is None else "" if other_rank == rank + 1 else f"{words[1]} {other_rank}"
            cells += [Cell(full(side[rank])), Cell(moved)]
        rows.append(cells)
    first, second = map(full, difference.names)
    return Grid(["rank", first, "", second, ""], rows, words=5)


def as_json(difference: RunDifference, texts: Mapping[str, str], *, notes: Iterable[Note] = ()) -> str:
    """Every query, with full precision and both rankings."""
    warnings = [{"code": note.code, "message": note.message} for note in notes]
    data = difference.to_dict()
    for row in data["per_query"]:
        row["text"] = texts.get(row["query"])
    return dumped({"schema": DIFFERENCE_SCHEMA, **data, "warnings": warnings})


def records(difference: RunDifference) -> Iterator[Record]:
    """One per query."""
    common: Record = {"k": difference.k, "p": difference.p}
    common |= {"first_run": difference.names[0], "second_run": difference.names[1]}
    for query in difference.queries:
        values = {"overlap": query.overlap, "jaccard": query.jaccard, "rbo": query.rbo}
        yield {**common, "query": query.query, **values}
