"""Whether an object belongs to a library, and calls of its methods as functions of a query and k."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeGuard

Call = Callable[[str, int], Any]  # from a query and k to documents, or to an awaitable of them
Request = Callable[[str, int], Callable[[], Any]]  # from a query and k to a call without arguments


def is_from(item: Any, package: str, class_name: str) -> bool:
    """Whether an object's class, or one that it inherits from, has this name in this package."""
    return any(
        base.__name__ == class_name and base.__module__.partition(".")[0] == package for base in type(item).__mro__
    )


@dataclass(frozen=True)
class LibraryCall:
    """How an object is asked: the request, whether it must be awaited, and whether k reaches the object.

    ``result_key`` is the part of the result that is the answer; None if all of it is.
    """

    request: Request
    is_async: bool = False
    passes_k: bool = True
    result_key: str | None = None

    @property
    def function(self) -> Call:
        """A function that makes each request, a coroutine function if it must be awaited."""
        if not self.is_async:
            return lambda query, k: self._answer(self.request(query, k)())

        async def call(query: str, k: int) -> Any:
            return self._answer(await self.request(query, k)())

        return call

    def _answer(self, result: Any) -> Any:
        return result if self.result_key is None else result[self.result_key]


def is_number(value: object) -> TypeGuard[int]:
    """Whether a value is a number of results."""
    return isinstance(value, int) and not isinstance(value, bool)


def raised(configured: object, k: int) -> int:
    """The number of results to ask for: k, or the object's own number if that is higher."""
    return max(configured, k) if is_number(configured) else k
