"""Calls of the extension: counted, now and then with wrong arguments or with memory that runs out."""

from __future__ import annotations

import ctypes
import inspect
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from operator import attrgetter
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from scripts.compile_scanner import load

ALLOCATIONS = "allocations_left"  # in failing_memory.h
LIMITS = (-(2**63), -(2**31), -1, 0, 1, 7, 23, 24, 25, 2**31, 2**32, 2**63 - 1)
# Not a SystemError: that is what Python makes of a result with an exception set.
REFUSALS = (TypeError, ValueError, OverflowError, BufferError, IndexError)


class Refusal(ValueError):
    """Raised by an argument that refuses to be converted."""


class Refusing:
    """An argument whose every conversion raises."""

    def _refuse(self, *_: object) -> Any:
        raise Refusal

    __bool__ = __index__ = __int__ = __len__ = __getitem__ = __iter__ = __eq__ = __buffer__ = _refuse
    __hash__ = None  # type: ignore[assignment]  # it cannot be a key, too


class Extension:
    """The extension, how often each entry point was called, and how often it returned."""

    def __init__(self, path: Path) -> None:
        self.module = load(path)
        self.returned: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.out_of_memory: Counter[str] = Counter()
        library = ctypes.CDLL(str(path))
        self.allocations_left = (
            ctypes.c_long.in_dll(library, ALLOCATIONS) if hasattr(library, ALLOCATIONS) else ctypes.c_long()
        )

    @property
    def entry_points(self) -> list[str]:
        """All functions, and the methods of all classes."""
        return sorted(_entry_points(self.module))


def _entry_points(module: Any) -> Iterator[str]:
    for name, value in vars(module).items():
        if name.startswith("_") or not callable(value):
            continue
        yield name
        if inspect.isclass(value):
            yield from (f"{name}.{method}" for method in vars(value) if not method.startswith("_"))


class Probe:
    """One case: what is random in it, and the calls it makes."""

    def __init__(self, extension: Extension, seed: str) -> None:
        self.extension, self.rng = extension, Random(seed)

    def call(self, name: str, *arguments: Any) -> Any:
        """The result of an entry point, ``Scanner.scan`` for instance; perhaps after a call that ran out of memory."""
        function = attrgetter(name)(self.extension.module)
        if self.rng.random() < 0.1:
            self.extension.allocations_left.value = self.rng.choice((0, 0, 1, 2, 3, 4, 5, 8))
        try:
            result = function(*arguments)
        except MemoryError:
            self.extension.out_of_memory[name] += 1
            self.extension.allocations_left.value = -1
            result = function(*arguments)
        finally:
            self.extension.allocations_left.value = -1
        self.extension.returned[name] += 1
        return result

    def call_wrongly(self, name: str, *arguments: Any) -> None:
        """Call with some arguments replaced: an exception, or a result that may be anything."""
        wrong = list(arguments)
        if wrong and self.rng.random() < 0.1:  # the same buffer twice
            wrong[self.rng.randrange(len(wrong))] = self.rng.choice(arguments)
        for at in self.rng.sample(range(len(wrong)), self.rng.randrange(min(len(wrong), 2) + 1)):
            if isinstance(wrong[at], tuple) and wrong[at] and self.rng.random() < 0.8:
                part = self.rng.randrange(len(wrong[at]))
                wrong[at] = (*wrong[at][:part], self.spoiled(wrong[at][part]), *wrong[at][part + 1 :])
            else:
                wrong[at] = self.spoiled(wrong[at])
        if self.rng.random() < 0.1:
            wrong = wrong[:-1] if wrong and self.rng.random() < 0.5 else [*wrong, None]
        try:
            attrgetter(name)(self.extension.module)(*wrong)
        except REFUSALS:
            self.extension.refused[name] += 1

    def spoiled(self, value: Any) -> Any:
        """Something else in the place of an argument."""
        if isinstance(value, np.ndarray) and self.rng.random() < 0.8:
            return self._spoiled_array(value)
        if isinstance(value, bytes) and self.rng.random() < 0.5:
            return self.rng.choice((value[:-1], value + b"\0", value * 70, bytearray(value), value.decode("latin-1")))
        if isinstance(value, int) and self.rng.random() < 0.7:
            return self.rng.choice((*LIMITS, value + 1, value - 1, 2**64))
        return self.rng.choice((None, 0, -1, 2**70, 1.5, "text", b"", b"\0" * 24, (), (1, 2, 3), [], {}, Refusing()))

    def _spoiled_array(self, array: np.ndarray[Any, Any]) -> Any:
        how = self.rng.choice((0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7))
        flat = array.ravel()
        if how == 0 and len(flat):
            changed, at = flat.copy(), self.rng.randrange(len(flat))
            if flat.dtype == np.int64:
                before = int(flat[at])
                near = (before - 8, before - 1, before + 1, before + 8, len(flat), len(flat) + 1)
                value = self.rng.choice(near if self.rng.random() < 0.6 else LIMITS)
                changed[at] = min(max(value, LIMITS[0]), LIMITS[-1])
            else:
                changed[at] = 0x41
            return changed
        if how == 1:
            return np.repeat(flat, 2)[::2]  # not contiguous
        if how == 2:
            return flat[: self.rng.randrange(len(flat) + 1)].copy()
        if how == 3:
            return np.concatenate([flat, flat[: self.rng.randrange(1, 4)]])
        if how == 4:
            return np.zeros(len(flat), self.rng.choice(("i1", "i4", "f4", "f8", "i8", "u8", "S3", "O")))
        if how == 5:
            fixed = flat.copy()
            fixed.setflags(write=False)
            return fixed
        if how == 6:
            return memoryview(b"\0" + flat.tobytes())[1:]  # not aligned
        return self.rng.choice((flat.tobytes(), bytearray(flat.tobytes()), flat.tolist(), flat.byteswap()))


Fuzzer = Callable[[Probe], None]
FUZZERS: dict[str, Fuzzer] = {}


def fuzzes(name: str) -> Callable[[Fuzzer], Fuzzer]:
    """Declare the function that makes one case for an entry point."""

    def register(fuzzer: Fuzzer) -> Fuzzer:
        FUZZERS[name] = fuzzer
        return fuzzer

    return register


def run_case(extension: Extension, name: str, seed: int, number: int) -> None:
    """Run one case; it depends on nothing but these arguments."""
    FUZZERS[name](Probe(extension, f"{seed} {zlib.crc32(name.encode())} {number}"))
