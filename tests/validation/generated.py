"""Clean files to put faults into: every document judged and retrieved, every score different."""

from __future__ import annotations

from collections.abc import Callable, Sequence

QUERIES = ("q1", "q2", "q3")
DEPTH = 12
Lines = list[str]
Mutation = Callable[[Lines], Lines]


def run_lines(queries: Sequence[str] = QUERIES, depth: int = DEPTH) -> Lines:
    """Twelve results for each of three queries: line 13 is the first of the second."""
    return [
        f"{query} Q0 {document(query, rank)} {rank} {100 - rank}.5 bm25" for query in queries for rank in ranks(depth)
    ]


def qrels_lines(queries: Sequence[str] = QUERIES, depth: int = DEPTH) -> Lines:
    """The same documents, judged 1, 2, 3, 1, …"""
    return [f"{query} 0 {document(query, rank)} {1 + rank % 3}" for query in queries for rank in ranks(depth)]


def ranks(depth: int) -> range:
    return range(1, depth + 1)


def document(query: str, rank: int) -> str:
    return f"doc-{query}-{rank}é" if rank == 4 else f"{700 + rank}" if rank == 5 else f"doc-{query}-{rank}"


def text(lines: Lines) -> bytes:
    return "".join(line + "\n" for line in lines).encode("utf-8", "surrogateescape")


def put(line: int, column: int, value: str) -> Mutation:
    """Another value in a column; both are counted from 1."""

    def mutate(lines: Lines) -> Lines:
        fields = lines[line - 1].split(" ")
        fields[column - 1] = value
        return [*lines[: line - 1], " ".join(fields), *lines[line:]]

    return mutate


def insert(line: int, value: str) -> Mutation:
    return lambda lines: [*lines[: line - 1], value, *lines[line - 1 :]]


def remove(*numbers: int) -> Mutation:
    return lambda lines: [line for number, line in enumerate(lines, start=1) if number not in numbers]


def swap(line: int, other: int, column: int) -> Mutation:
    """The values of a column on two lines exchanged."""

    def mutate(lines: Lines) -> Lines:
        one, two = lines[line - 1].split(" ")[column - 1], lines[other - 1].split(" ")[column - 1]
        return put(other, column, one)(put(line, column, two)(lines))

    return mutate


def then(*mutations: Mutation) -> Mutation:
    def mutate(lines: Lines) -> Lines:
        for mutation in mutations:
            lines = mutation(lines)
        return lines

    return mutate
