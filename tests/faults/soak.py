"""``python -m tests.faults.soak --count 300000``: mutated inputs for every reader.

An input is read, or refused with an error of rankgauge: no other exception, nothing that takes seconds or gigabytes,
and, where a plain reader in a few lines of Python accepts the same judgments and run, the same numbers.

Every finding is printed once per reader, exception and line, with the input that caused it as a file in ``--keep``.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import resource
import signal
import struct
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rankgauge.errors import RankgaugeError
from tests.faults.plain_numbers import WrongNumberError
from tests.faults.readers import READERS, Reader, make_seeds

SECONDS = 10  # of CPU time, because other processes may take most of the machine
BYTES = 6 << 30
TOKENS = (
    b"", b" ", b"\t", b"\n", b"\r", b"\r\n", b"\0", b"\xef\xbb\xbf", b"\xff", b"\xed\xa0\x80", b"'", b'"', b"\\", b",",
    b";", b":", b"{", b"}", b"[", b"]", b"[" * 300, b'{"a":' * 300, b"<", b">", b"<DOC>", b"</DOCNO>", b"-1", b"0",
    b"1", b"1e400", b"-1e400", b"nan", b"inf", b"9" * 400, b"0x10", b"1_000", b"true", b"null", b"2147483648",
    b"18446744073709551616", b"=1+1", b"\xe2\x80\x8b", b"a" * 5000, b"\xc3\xa9", b"e\xcc\x81", b"&a", b"*a",
    b"!!python", b"${HOME}", b"../../etc/passwd", b"\x1b[2J", b"q1", b"d1", b"Q0", b"\x80\x04", b"\x1f\x8b",
)  # fmt: skip


def mutated(data: bytes, others: Sequence[bytes], rng: random.Random) -> bytes:
    """A seed after a few changes."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        begin = rng.randrange(len(data) + 1)
        end = min(len(data), begin + rng.choice((0, 1, 1, 2, 5, 20, 200)))
        match rng.randrange(9):
            case 0:
                data = data[:begin] + rng.choice(TOKENS) + data[end:]
            case 1:
                data = data[:begin] + data[end:]
            case 2:
                data = data[:begin] + data[begin:end] * rng.choice((2, 3, 50)) + data[end:]
            case 3:
                data = data[:begin]
            case 4 if data:
                place = rng.randrange(len(data))
                data = data[:place] + bytes([data[place] ^ (1 << rng.randrange(8))]) + data[place + 1 :]
            case 5:
                other = rng.choice(others)
                data = data[:begin] + other[rng.randrange(len(other) + 1) :]
            case 6:
                data = data[:begin] + rng.randbytes(rng.randrange(9)) + data[end:]
            case 7:
                lines = data.split(b"\n")
                rng.shuffle(lines)
                data = b"\n".join(lines)
            case _:
                field = rng.choice(data.split() or [b""])
                data = data.replace(field, rng.choice(TOKENS), rng.choice((1, -1))) if field else data
    if rng.random() < 0.02:
        data = gzip.compress(data)[: None if rng.random() < 0.5 else -rng.randrange(12)]
    if rng.random() < 0.01 and len(data) > 8:  # a length somewhere in a binary header
        place = rng.randrange(len(data) - 8)
        data = data[:place] + struct.pack("<Q", rng.choice((0, 2**31, 2**40, 2**63))) + data[place + 8 :]
    return data[: 1 << 20]


VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**63, 10**400, 0.5, 1e308, float("nan"), "", "a", "é", "\0", "\ud800", "../x", [], {},
    [[]], {"a": 1}, ["a"], [1, "b"], "9" * 50,
)  # fmt: skip


def with_another_value(data: bytes, rng: random.Random) -> bytes:
    """JSON in which one value, or one key, is something else; other content as it is."""
    lines = data.split(b"\n") if data.count(b"\n{") else [data]
    line = rng.randrange(len(lines))
    try:
        document = json.loads(lines[line])
    except ValueError:
        return data
    root: list[Any] = [document]
    places: list[tuple[Any, Any]] = [(root, 0)]
    for container, key in places:  # grows while it is walked
        inner = container[key]
        if isinstance(inner, (dict, list)):
            places += [(inner, name) for name in (inner if isinstance(inner, dict) else range(len(inner)))]
    container, key = rng.choice(places)
    if isinstance(container, dict) and rng.random() < 0.2:
        container[rng.choice(("a", "", "q9", "schema"))] = container.pop(key)
    else:
        container[key] = rng.choice(VALUES)
    lines[line] = json.dumps(root[0]).encode()
    return b"\n".join(lines)


class _TooSlowError(Exception):
    pass


def _ring(*_: object) -> None:
    raise _TooSlowError(f"more than {SECONDS} seconds")


def outcome(reader: Reader, path: Path) -> str | None:
    """What is wrong with how a reader takes a file: an exception and its place; None if nothing."""
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reader.read(path)
    except RankgaugeError:
        return None
    except WrongNumberError as error:
        return f"wrong number: {error}"
    except (Exception, RecursionError) as error:
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "rankgauge" in frame.filename]
        place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"
        return f"{type(error).__name__} at {place}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return None


def soak(names: Iterable[str], count: int, seed: int, keep: Path | None = None) -> dict[str, int]:
    """Feed ``count`` inputs in all to the readers, in turns; each distinct finding, and how often it was made."""
    rng = random.Random(seed)
    found: dict[str, int] = {}
    signal.signal(signal.SIGPROF, _ring)
    with tempfile.TemporaryDirectory(prefix="soak-") as temporary:
        folder = Path(temporary)
        readers = [READERS[name] for name in names]
        seeds = make_seeds(folder)
        everything = [data for group in seeds.values() for _, data in group]
        os.chdir(folder)
        start = time.monotonic()
        for number in range(count):
            reader = readers[number % len(readers)]
            suffix, data = rng.choice(seeds[reader.seeds])
            path = folder / f"input{suffix}"
            change_value = rng.random() < (0.5 if reader.is_json else 0.1)
            path.write_bytes(with_another_value(data, rng) if change_value else mutated(data, everything, rng))
            finding = outcome(reader, path)
            if finding is not None:
                key = f"{reader.name}: {finding}"
                found[key] = found.get(key, 0) + 1
                if found[key] == 1:
                    sys.stdout.write(f"{number}: {key}\n")
                    sys.stdout.flush()
                    if keep is not None:
                        keep.mkdir(parents=True, exist_ok=True)
                        (keep / f"{number}{suffix}").write_bytes(path.read_bytes())
            if number % 10_000 == 9_999:
                sys.stderr.write(f"{number + 1} inputs, {time.monotonic() - start:.0f} s\n")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it; 1 if something was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.soak")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", action="append", choices=list(READERS), help="only this reader; repeatable")
    parser.add_argument("--keep", type=Path, help="a folder for the inputs that found something")
    asked = parser.parse_args(arguments)
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    keep = None if asked.keep is None else asked.keep.resolve()
    found = soak(asked.only or READERS, asked.count, asked.seed, keep)
    for key, times in sorted(found.items()):
        sys.stdout.write(f"{times:6} × {key}\n")
    sys.stdout.write(f"{asked.count} inputs, {len(found)} findings\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
