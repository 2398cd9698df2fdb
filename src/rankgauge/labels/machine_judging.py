"""Judging by a program: every text is sent once, by the code that asks retrievers, and kept by its content."""

from __future__ import annotations

import hashlib
import inspect
import json
import threading
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from rankgauge.config.retriever_settings import DEFAULT_CALLS, BenchmarkSettings, RetrieverCalls
from rankgauge.core.formatting import plural
from rankgauge.core.progress import reported
from rankgauge.core.settings import Section, check_settings, setting, setting_of
from rankgauge.errors import InputError, RetrieverError, UsageError, shown
from rankgauge.io.formats.judgment_lines import Judgment
from rankgauge.labels.judging_session import Assessor, JudgmentFile
from rankgauge.labels.machine_answers import Verdict, tokens_of, verdict_of, verdicts_of
from rankgauge.labels.pool_files import PoolItem
from rankgauge.retrieval.asking.calls import CallResult, ask_all
from rankgauge.retrieval.asking.failures import NoAnswer, is_too_many, too_many_failures
from rankgauge.retrieval.asking.retriever_functions import CaseRequest, RetrieverFunction, is_awaitable

MACHINE = "machine"
RESUME_HINT = "the judgments so far are saved: the same command asks for the rest"
FAILURES_HINT = f"{RESUME_HINT}; --max-failures N allows failures"
JudgeProgress = Callable[[int, int], None]  # texts judged, and texts in total


@dataclass(frozen=True)
class MachineJudge:
    """A function ``(query, text) → grade or (grade, reason)``, and everything that determines its answers.

    With a ``batch_size`` it is called with lists of queries and of texts, and returns a list. ``again`` is called in
    its place, once, after a result that is not an answer: it states what an answer is.
    """

    name: str
    function: Callable[..., Any]
    identity: Mapping[str, Any] = field(default_factory=dict)
    batch_size: int | None = setting(
        None,
        "Pass N texts in a call: the program gets a list of queries and a list of texts, and returns a list.",
        Section.MACHINE,
        flag="--batch N",
        limits=">=1",
        common=True,
    )
    max_grade: int = setting_of(Assessor, "max_grade")
    again: Callable[[str, str], Any] | None = None

    def __post_init__(self) -> None:
        check_settings(self)

    def key(self, query: str, text: str) -> str:
        """The content that is judged: other instructions, another query or another text is another key."""
        digest = hashlib.sha256(b"rankgauge judgment 1\n")
        for part in (json.dumps({**self.identity, "max_grade": self.max_grade}, sort_keys=True), query, text):
            data = part.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "little") + data)
        return digest.hexdigest()


@dataclass(frozen=True)
class JudgingLimits:
    """When judging stops: after this many failures, calls (with retries) or reported tokens; None is no limit.

    No call is made after a limit is reached. Calls that are in flight then still count, so that a few more tokens than
    ``max_tokens`` may be used.
    """

    max_failures: int | None = setting_of(
        BenchmarkSettings,
        "max_failures",
        section=Section.MACHINE,
    )
    max_calls: int | None = setting(
        None,
        "Stop after N calls, retries included.",
        Section.MACHINE,
        flag="--max-calls N",
        limits=">=1",
        common=True,
    )
    max_tokens: int | None = setting(
        None,
        "Stop once the program has reported N tokens.",
        Section.MACHINE,
        flag="--max-tokens N",
        limits=">=1",
        common=True,
    )

    def __post_init__(self) -> None:
        check_settings(self)


@dataclass
class JudgingCost:
    """What judging cost: calls (with retries), tokens if they were reported, and texts that needed no call."""

    judged: int = 0
    calls: int = 0
    reused: int = 0
    tokens: dict[str, int] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    def add(self, tokens: Mapping[str, int]) -> None:
        """Count the tokens of one result."""
        for key, count in tokens.items():
            self.tokens[key] = self.tokens.get(key, 0) + count

    def limit(self, limits: JudgingLimits) -> str | None:
        """The limit that is reached, in words."""
        if limits.max_calls is not None and self.calls >= limits.max_calls:
            return plural(limits.max_calls, "call")
        if limits.max_tokens is not None and sum(self.tokens.values()) >= limits.max_tokens:
            return plural(limits.max_tokens, "token")
        return None


DEFAULT_LIMITS = JudgingLimits()


def judge_by_machine(
    items: Sequence[PoolItem],
    file: JudgmentFile,
    judge: MachineJudge,
    *,
    calls: RetrieverCalls = DEFAULT_CALLS,
    limits: JudgingLimits = DEFAULT_LIMITS,
    reuse: Iterable[Judgment] = (),
    progress: JudgeProgress | None = None,
) -> JudgingCost:
    """Judge every document that this judge has not judged with the same instructions and the same text.

    Judgments are added to the file as they arrive, so that a judge that is interrupted goes on where it was. ``reuse``
    has further judgments whose content may be the same. Raises if a limit is reached before all documents are judged.
    """
    work = _Work(file, judge, [item for item in items if item.sampled], limits)
    work.take_known(reuse)
    requests = [CaseRequest(group[0], number) for number, group in enumerate(work.groups)]
    with reported(progress, "judging", "document", work.total) as work.report:
        ask_all(work.function, requests, calls, work.handle)
    work.check_complete()
    return work.cost


@dataclass(frozen=True)
class _AwaitedVerdicts:
    """The verdicts of a plain function that returned an awaitable."""

    result: Any
    check: Callable[[Any], list[Verdict]]
    forget_call: Callable[[], None]

    def __await__(self) -> Generator[Any, Any, list[Verdict]]:
        result = yield from self.result.__await__()
        return self.check(result)

    def close(self) -> None:
        """Nobody will await it: it is called again."""
        self.forget_call()
        if inspect.iscoroutine(self.result):
            self.result.close()


@dataclass
class _GroupCost:
    """What a group of texts cost so far, with failed attempts."""

    calls: int = 0
    tokens: dict[str, int] = field(default_factory=dict)


class _Work:
    """The texts that a judge is asked for, in groups of one or of a batch, each text once."""

    def __init__(
        self, file: JudgmentFile, judge: MachineJudge, items: Sequence[PoolItem], limits: JudgingLimits
    ) -> None:
        self.file, self.judge, self.limits = file, judge, limits
        self.report: JudgeProgress = lambda done, total: None
        self.cost = JudgingCost()
        self.waiting: dict[str, list[PoolItem]] = {}  # by content
        for item in items:
            query, text = _texts(item)
            self.waiting.setdefault(judge.key(query, text), []).append(item)
        self.total = len(items)
        self.groups: list[list[str]] = []
        self._group_costs: dict[int, _GroupCost] = {}
        self._lock = threading.Lock()  # calls are counted in the threads that make them

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
                    self._add(item, key, Verdict(known.grade or 0.0, known.note), None)
        keys, size = list(self.waiting), self.judge.batch_size or 1
        self.groups = [keys[begin : begin + size] for begin in range(0, len(keys), size)]

    @property
    def function(self) -> RetrieverFunction:
        """What is asked: the number of a group gives its verdicts; no verdicts if a limit is reached."""
        judge = self.judge

        def ask(key: str, number: int) -> Any:
            if not self._count_call(number):
                return []
            check = partial(self._checked, number=number)
            try:
                result = judge.function(*self._arguments(number))
                if is_awaitable(result):
                    return _AwaitedVerdicts(result, check, partial(self._forget_call, number))
                return check(result)
            except NoAnswer as error:
                if judge.again is None or error.is_final:
                    raise
            return self._ask_again(number)

        async def ask_async(key: str, number: int) -> Any:
            if not self._count_call(number):
                return []
            return self._checked(await judge.function(*self._arguments(number)), number)

        is_async = inspect.iscoroutinefunction(judge.function)
        return RetrieverFunction(judge.name, ask_async if is_async else ask, k_is_second=True)

    def _ask_again(self, number: int) -> list[Verdict]:
        """Ask once more, with the rule stated; what is not an answer then is a failure."""
        assert self.judge.again is not None
        if not self._count_call(number):
            return []
        try:
            return self._checked(self.judge.again(*self._arguments(number)), number)
        except NoAnswer as error:
            raise NoAnswer(str(error), is_final=True) from None

    def _count_call(self, number: int) -> bool:
        """Count a call; False if no further one may be made."""
        with self._lock:
            if self.cost.limit(self.limits) is not None:
                return False
            self.cost.calls += 1
            self._group_costs.setdefault(number, _GroupCost()).calls += 1
            return True

    def _forget_call(self, number: int) -> None:
        with self._lock:
            self.cost.calls -= 1
            self._group_costs[number].calls -= 1

    def handle(self, number: int, call: CallResult) -> None:
        """Add the verdicts of a group to the file; raise if too many failed."""
        keys = self.groups[number]
        if call.answer is None:
            for key in keys:
                for item in self.waiting[key]:
                    self.cost.failures[f"{item.query} {item.doc}"] = call.error or "failed"
            if is_too_many(len(self.cost.failures), self.limits.max_failures):
                raise too_many_failures(
                    self.cost.failures, self.total, self.limits.max_failures, hint=FAILURES_HINT, noun="judgment"
                )
            return
        verdicts = call.answer.documents
        spent: _GroupCost | None = self._group_costs.get(number)
        for key, verdict in zip(keys, verdicts, strict=True) if verdicts else ():
            for item in self.waiting[key]:
                self._add(item, key, verdict, spent)
                self.cost.judged += 1
                spent = None
        if verdicts and self.limits.max_tokens is not None and not self._group_costs[number].tokens:
            raise UsageError(
                f"judge {shown(self.judge.name)} reports no tokens, so max_tokens cannot be kept",
                hint=f"limit the calls instead: --max-calls N; {RESUME_HINT}",
            )
        self.report(self.cost.judged + self.cost.reused, self.total)

    def check_complete(self) -> None:
        """Raise if a limit kept documents from being judged."""
        left = self.total - self.cost.judged - self.cost.reused - len(self.cost.failures)
        limit = self.cost.limit(self.limits)
        if left and limit is not None:
            raise RetrieverError(
                f"stopped at the limit of {limit}: {left:,} of {plural(self.total, 'document')} not judged; "
                f"made {plural(self.cost.calls, 'call')}, used {plural(sum(self.cost.tokens.values()), 'token')}",
                hint=RESUME_HINT,
            )

    def _arguments(self, number: int) -> tuple[Any, Any]:
        pairs = [_texts(self.waiting[key][0]) for key in self.groups[number]]
        if self.judge.batch_size is None:
            return pairs[0]
        return [query for query, _ in pairs], [text for _, text in pairs]

    def _checked(self, result: Any, number: int) -> list[Verdict]:
        """The verdicts of a group, inside of the call; tokens count whether the result is an answer or not."""
        size = self.judge.batch_size
        for one in [result] if size is None else result if isinstance(result, (list, tuple)) else []:
            tokens = tokens_of(one)
            with self._lock:
                self.cost.add(tokens)
                spent = self._group_costs[number].tokens
                spent |= {key: spent.get(key, 0) + count for key, count in tokens.items()}
        if size is None:
            return [verdict_of(result, self.judge.max_grade)]
        return verdicts_of(result, len(self.groups[number]), self.judge.max_grade)

    def _add(self, item: PoolItem, key: str, verdict: Verdict, spent: _GroupCost | None) -> None:
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
                cost=None if spent is None else {"calls": spent.calls, **spent.tokens},
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
