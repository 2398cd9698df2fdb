"""Judging by a program: every text is sent once, by the code that asks retrievers, and kept by its content."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from rankgauge.config.retriever_settings import DEFAULT_CALLS, RetrieverCalls
from rankgauge.core.progress import reported
from rankgauge.errors import InputError, shown
from rankgauge.labels.judgment_file import JudgmentFile
from rankgauge.labels.records import Judgment, PoolItem
from rankgauge.labels.session import DEFAULT_MAX_GRADE
from rankgauge.labels.verdicts import TOKEN_KEYS, Verdict, verdict_of, verdicts_of
from rankgauge.retrieval.asking.calls import CallResult, ask_all
from rankgauge.retrieval.asking.failures import check_max_failures, is_too_many, too_many_failures
from rankgauge.retrieval.asking.functions import RetrieverFunction, is_awaitable

MACHINE = "machine"
RESUME_HINT = "the judgments so far are saved: the same command asks for the rest; --max-failures N allows failures"
JudgeProgress = Callable[[int, int], None]  # texts judged, and texts in total


@dataclass(frozen=True)
class MachineJudge:
    """A function ``(query, text) → grade or (grade, reason)``, and everything that determines its answers.

    With a ``batch_size`` it is called with lists of queries and of texts, and returns a list.
    """

    name: str
    function: Callable[..., Any]
    identity: Mapping[str, Any] = field(default_factory=dict)
    batch_size: int | None = None
    max_grade: int = DEFAULT_MAX_GRADE

    def key(self, query: str, text: str) -> str:
        """The content that is judged: other instructions, another query or another text is another key."""
        digest = hashlib.sha256(b"rankgauge judgment 1\n")
        for part in (json.dumps({**self.identity, "max_grade": self.max_grade}, sort_keys=True), query, text):
            data = part.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "little") + data)
        return digest.hexdigest()


@dataclass
class JudgingCost:
    """What judging cost: calls (with retries), tokens if they were reported, and texts that needed no call."""

    judged: int = 0
    calls: int = 0
    reused: int = 0
    tokens: dict[str, int] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    def add_tokens(self, tokens: Mapping[str, int] | None) -> None:
        """Count the tokens of one verdict."""
        for key in TOKEN_KEYS:
            if tokens and key in tokens:
                self.tokens[key] = self.tokens.get(key, 0) + tokens[key]


def judge_by_machine(
    items: Sequence[PoolItem],
    file: JudgmentFile,
    judge: MachineJudge,
    *,
    calls: RetrieverCalls = DEFAULT_CALLS,
    max_failures: int | None = 0,
    reuse: Iterable[Judgment] = (),
    progress: JudgeProgress | None = None,
) -> JudgingCost:
    """Judge every document that this judge has not judged with the same instructions and the same text.

    Judgments are added to the file as they arrive, so that a judge that is interrupted goes on where it was. ``reuse``
    has further judgments whose content may be the same.
    """
    check_max_failures(max_failures)
    work = _Work(file, judge, [item for item in items if item.sampled], max_failures)
    work.take_known(reuse)
    requests = [(group[0], number) for number, group in enumerate(work.groups)]
    with reported(progress, "judging", "document", work.total) as work.report:
        ask_all(work.function, requests, calls, work.handle)
    return work.cost


@dataclass(frozen=True)
class _AwaitedVerdicts:
    """The verdicts of a plain function that returned an awaitable."""

    result: Any
    check: Callable[[Any], list[Verdict]]

    def __await__(self) -> Generator[Any, Any, list[Verdict]]:
        result = yield from self.result.__await__()
        return self.check(result)

    def close(self) -> None:
        """Nobody will await it."""
        if inspect.iscoroutine(self.result):
            self.result.close()


class _Work:
    """The texts that a judge is asked for, in groups of one or of a batch, each text once."""

    def __init__(
        self,
        file: JudgmentFile,
        judge: MachineJudge,
        items: Sequence[PoolItem],
        max_failures: int | None,
    ) -> None:
        self.file, self.judge, self.max_failures = file, judge, max_failures
        self.report: JudgeProgress = lambda done, total: None
        self.cost = JudgingCost()
        self.waiting: dict[str, list[PoolItem]] = {}  # by content
        for item in items:
            query, text = _texts(item)
            self.waiting.setdefault(judge.key(query, text), []).append(item)
        self.total = len(items)
        self.groups: list[list[str]] = []

    def take_known(self, reuse: Iterable[Judgment]) -> None:
        """Take grades that are known for their content, and group what is left."""
        own = {(known.query, known.doc): known for known in self.file.judgments if known.assessor == self.judge.name}
        known_by_key = {known.key: known for known in reuse if known.key and known.grade is not None}
        known_by_key |= {known.key: known for known in self.file.judgments if known.key and known.grade is not None}
        for key in [key for key in self.waiting if key in known_by_key]:
            known = known_by_key[key]
            for item in self.waiting.pop(key):
                self.cost.reused += 1
                current = own.get((item.query, item.doc))
                if current is None or current.key != key or current.grade is None:
                    self._add(item, key, Verdict(known.grade or 0.0, known.note), 0)
        keys, size = list(self.waiting), self.judge.batch_size or 1
        self.groups = [keys[begin : begin + size] for begin in range(0, len(keys), size)]

    @property
    def function(self) -> RetrieverFunction:
        """What is asked: the number of a group gives its verdicts."""
        judge = self.judge

        def ask(key: str, number: int) -> Any:
            result = judge.function(*self._arguments(number))
            check = partial(self._checked, number=number)
            return _AwaitedVerdicts(result, check) if is_awaitable(result) else check(result)

        async def ask_async(key: str, number: int) -> Any:
            return self._checked(await judge.function(*self._arguments(number)), number)

        is_async = inspect.iscoroutinefunction(judge.function)
        return RetrieverFunction(judge.name, ask_async if is_async else ask, k_is_second=True)

    def handle(self, number: int, call: CallResult) -> None:
        """Add the verdicts of a group to the file; raise if too many failed."""
        self.cost.calls += call.attempts
        keys = self.groups[number]
        if call.answer is None:
            for key in keys:
                for item in self.waiting[key]:
                    self.cost.failures[f"{item.query} {item.doc}"] = call.error or "failed"
            if is_too_many(len(self.cost.failures), self.max_failures):
                raise too_many_failures(
                    self.cost.failures, self.total, self.max_failures, hint=RESUME_HINT, noun="judgment"
                )
            return
        for position, (key, verdict) in enumerate(zip(keys, call.answer.documents, strict=True)):
            self.cost.add_tokens(verdict.tokens)
            for copy, item in enumerate(self.waiting[key]):
                self._add(item, key, verdict, call.attempts if position == copy == 0 else 0)
                self.cost.judged += 1
        self.report(self.cost.judged + self.cost.reused, self.total)

    def _arguments(self, number: int) -> tuple[Any, Any]:
        pairs = [_texts(self.waiting[key][0]) for key in self.groups[number]]
        if self.judge.batch_size is None:
            return pairs[0]
        return [query for query, _ in pairs], [text for _, text in pairs]

    def _checked(self, result: Any, number: int) -> list[Verdict]:
        """The verdicts of a group, inside of the call: an answer that is none is asked for again."""
        if self.judge.batch_size is None:
            return [verdict_of(result, self.judge.max_grade)]
        return verdicts_of(result, len(self.groups[number]), self.judge.max_grade)

    def _add(self, item: PoolItem, key: str, verdict: Verdict, calls: int) -> None:
        self.file.add(
            Judgment(
                item.query,
                item.doc,
                verdict.grade,
                self.judge.name,
                MACHINE,
                text_sha256=item.text_sha256,
                note=verdict.reason,
                inclusion=item.inclusion,
                key=key,
                cost={"calls": calls, **(verdict.tokens or {})} if calls else None,
            )
        )


def _texts(item: PoolItem) -> tuple[str, str]:
    """The text of the query and of the document; an error if one is missing."""
    if item.query_text is None or item.text is None:
        what = "query" if item.query_text is None else "document"
        raise InputError(
            f"the {what} of ({shown(item.query)}, {shown(item.doc)}) has no text to judge",
            hint="pool with --queries and --corpus, or add the keys query and text to each line",
        )
    return item.query_text, item.full_text
