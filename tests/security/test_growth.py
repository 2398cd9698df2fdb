"""No text makes a regular expression, or a reader, take more than about linear time."""

from __future__ import annotations

import ast
import re
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import pytest

import rankgauge
from rankgauge import RankgaugeError, RankgaugeWarning, read_corpus, read_qrels, read_queries, read_run
from rankgauge.adapters.story.story import read_story
from rankgauge.history.entry_files import read_summary
from rankgauge.io.formats.score_tables import is_scores, read_scores
from rankgauge.io.reading_options import DEFAULT_READING

SOURCE = Path(rankgauge.__file__).parent
# Repeated, between a beginning and an end, these are the texts that make a regular expression try again and again.
UNITS = """a A 1 0 . , - + / \\ < > ( ) @ = : & # ~ ' " _ * { [ ^ | ` $ ! ; a= a/ /a a. 1, 1. e1 a: a@ <a #a {# ::
           a- x\u00e9 token token= bearer scene 1:1 file:/ a://""".split()
UNITS += [" ", "\t", "\n", "\r", "a ", " a", "# ", " #", "#\n", "a\n", " \n", "\t ", "bearer ", "password: ", "- "]
BEGINNINGS = ("", "a", "# ", "a://", "scene 1 ", "{#", "~")
ENDS = ("", "\0", "x", " !")
SMALL, DOUBLINGS = 480, 3
# Time for three doublings grows 8 times if it is linear, 64 times if it is quadratic.
MAX_GROWTH = 32.0
NEGLIGIBLE = 0.002  # seconds of processor time; below it, nothing can be said about growth
METHODS: dict[str, Callable[[re.Pattern[Any], Any], object]] = {
    "match": lambda pattern, text: pattern.match(text),
    "fullmatch": lambda pattern, text: pattern.fullmatch(text),
    "search": lambda pattern, text: pattern.search(text),
    "split": lambda pattern, text: pattern.split(text),
    "sub": lambda pattern, text: pattern.sub(text[:0], text),
    "subn": lambda pattern, text: pattern.subn(text[:0], text),
    "findall": lambda pattern, text: pattern.findall(text),
    "finditer": lambda pattern, text: list(pattern.finditer(text)),
}
HOPELESS = 1.0  # seconds, for sizes that take milliseconds
USER_PATTERNS = {  # of the user's own configuration, of a secret, or of test cases: these only as long as they may take
    "secrets.py",
    "io/formats/expected_text.py",
}
# An escaped name, or one character, and a literal.
LITERAL_PREFIXES = {"validation/findings.py", "io/formats/delimited.py"}
PATTERN_TABLES = {"io/formats/detection.py": "TEXTS"}  # whose keys are patterns: they are tested here, too


def processor_time(work: Callable[[], Any], attempts: int = 1) -> float:
    """The least processor time of some attempts: other processes of the machine do not count."""
    times = []
    for _ in range(attempts):
        start = time.thread_time()
        work()
        times.append(time.thread_time() - start)
    return min(times)


def grows_too_fast(work: Callable[[int], Callable[[], Any]], size: int) -> str | None:
    """How the time grows over three doublings of the size, if that is more than linear."""
    large = 0.0
    for doublings in range(DOUBLINGS + 1):
        large = processor_time(work(size << doublings))
        if large > HOPELESS:
            return f"{large:.1f} s for a size of {size << doublings}"
    if large < NEGLIGIBLE:
        return None
    small = processor_time(work(size), attempts=5)
    if large <= MAX_GROWTH * small:
        return None
    large = min(large, processor_time(work(size << DOUBLINGS), attempts=2))
    return f"{small:.5f} s → {large:.5f} s" if large > MAX_GROWTH * max(small, NEGLIGIBLE / MAX_GROWTH) else None


def regex_calls(path: Path) -> Iterator[tuple[ast.expr, str]]:
    """The patterns that a file gives to the module ``re``, and the function it gives them to."""
    text = path.read_text(encoding="utf-8")
    if not re.search(r"\bre\.", text):
        return
    for node in ast.walk(ast.parse(text)):
        function = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
        if isinstance(node, ast.Call) and function.startswith("re.") and function[3:] in {"compile", *METHODS}:
            yield node.args[0], function[3:]


def patterns() -> dict[str, tuple[re.Pattern[Any], set[str]]]:
    """Every regular expression of the package, and the methods that are called of it."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(SOURCE.rglob("*.py"))}
    called: dict[str, set[str]] = {}
    for text in texts.values():
        for name, method in re.findall(r"\b([A-Z_]{2,})\.(\w+)", text):
            called.setdefault(name, set()).add(method)
    found: dict[str, tuple[re.Pattern[Any], set[str]]] = {}
    for path in texts:
        calls = list(regex_calls(path))
        place = path.relative_to(SOURCE).as_posix()
        for pattern, function in calls:
            if function != "compile" and isinstance(pattern, ast.Constant):
                literal = re.compile(cast("str", pattern.value))
                found[f"{place}: {literal.pattern[:60]!r}"] = (literal, {function})
        if not any(function == "compile" for _, function in calls):
            continue
        module = import_module(f"rankgauge.{place.removesuffix('.py').replace('/', '.')}")
        for begin in getattr(module, PATTERN_TABLES[place]) if place in PATTERN_TABLES else ():
            found[f"{place}: {begin[:60]!r}"] = (re.compile(begin), {"match"})
        for name, value in vars(module).items():
            if isinstance(value, re.Pattern):
                found[f"{place}: {name}"] = (value, (called.get(name) or set(METHODS)) & set(METHODS))
    return found


PATTERNS = patterns()


def test_every_pattern_is_a_constant_that_is_tested_here() -> None:
    unknown = set()
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        for pattern, _ in regex_calls(path):
            is_constant = isinstance(pattern, (ast.Constant, ast.JoinedStr)) or (
                isinstance(pattern, ast.Name) and pattern.id.isupper()
            )
            if not is_constant:
                unknown.add(name)
    assert unknown == {*USER_PATTERNS, *PATTERN_TABLES} | (unknown & LITERAL_PREFIXES)
    assert len(PATTERNS) > 40


def use(pattern: re.Pattern[Any], methods: set[str], text: str) -> Callable[[], None]:
    """Everything that the package does with a pattern."""
    data: Any = text.encode() if isinstance(pattern.pattern, bytes) else text

    def work() -> None:
        for method in methods:
            METHODS[method](pattern, data)

    return work


@pytest.mark.parametrize("name", PATTERNS)
def test_no_regular_expression_grows_faster_than_its_text(name: str) -> None:
    pattern, methods = PATTERNS[name]
    slowest: list[tuple[float, str, str, str]] = []
    for unit in UNITS:
        for begin in BEGINNINGS:
            for end in ENDS:
                text = begin + unit * (SMALL // 4 // len(unit)) + end
                seconds = processor_time(use(pattern, methods, text))
                assert seconds < 1, f"{begin!r} + {unit!r} * {SMALL // 4} + {end!r} takes {seconds:.1f} s"
                slowest.append((seconds, begin, unit, end))
    for _, begin, unit, end in sorted(slowest, reverse=True)[:4]:

        def work(size: int, begin: str = begin, unit: str = unit, end: str = end) -> Callable[[], None]:
            return use(pattern, methods, begin + unit * (size // len(unit)) + end)

        growth = grows_too_fast(work, SMALL)
        assert growth is None, f"{begin!r} + {unit!r} * n + {end!r}: {growth}"


def corpus_of(suffix: str) -> Callable[[Path], object]:
    return lambda path: list(read_corpus(path.rename(path.with_suffix(suffix))))


def folder_corpus(path: Path) -> object:
    path.rename(path.with_suffix(".md"))
    return list(read_corpus(path.parent))


READERS: dict[str, Callable[[Path], object]] = {
    "run": read_run,
    "qrels": read_qrels,
    "queries": read_queries,
    "SGML corpus": corpus_of(".sgml"),
    "JSON Lines corpus": corpus_of(".jsonl"),
    "CSV corpus": corpus_of(".csv"),
    "folder of Markdown": folder_corpus,
    "story": lambda path: read_story(path.rename(path.with_suffix(".md"))),
    "what may be scores": lambda path: is_scores(path, DEFAULT_READING),
    "scores": lambda path: read_scores(path, DEFAULT_READING),
    "entry of a history": read_summary,
}
DOC, TEXT = "<DOC><DOCNO>a</DOCNO><TEXT>", "</TEXT></DOC>"
HOSTILE: dict[str, Callable[[int], str]] = {
    "spaces after DOCNO": lambda n: "<DOC><DOCNO>" + " " * n + "</DOC>",
    "open DOCNO": lambda n: "<DOC>" + "<DOCNO>" * (n // 7) + "</DOC>",
    "open brackets": lambda n: DOC + "<" * n + TEXT,
    "open comments": lambda n: DOC + "<!--" * (n // 4) + TEXT,
    "entities": lambda n: DOC + "&#" + "9" * n + TEXT,
    "open topics": lambda n: "<top>\n<num> Number: 1\n" * (n // 20),
    "spaces in a topic": lambda n: "<top>\n<num>" + " " * n + "\n<title>" + " " * n + "</top>\n",
    "a heading with spaces": lambda n: "# a" + " " * n + "b",
    "headings": lambda n: "# a\n" * (n // 4),
    "emphasis": lambda n: "# a\n" + "a" + "_" * n + "x",
    "anchors": lambda n: "# " + "{#" * (n // 2),
    "digits": lambda n: "1 Q0 a 1 " + "1" * n + "@ x\n",
    "grade": lambda n: "1 0 a " + "1" * n + "@\n",
    "brackets of JSON": lambda n: '{"schema": "rankgauge.scores/1", "a": ' + "[" * n,
    "rows of scores": lambda n: "query,RR\n" + "".join(f"q{row},0.5\n" for row in range(n // 8)),
    "columns of scores": lambda n: "query" + ",a" * (n // 8) + "\nq" + ",1" * (n // 8) + "\n",
    "systems of scores": lambda n: "system,query,RR\n" + "".join(f"s{row},q,1\n" for row in range(n // 8)),
    "long scores": lambda n: "query,measure,value\n" + "".join(f"q,m{row},1\n" for row in range(n // 32)),
    "one line of scores": lambda n: "{" + ",".join(f'"q{row}": {{"RR": 1}}' for row in range(n // 16)) + "}",
    "quotes": lambda n: 'id,text\n"' + '""' * (n // 2) + "\n",
    "repeated keys": lambda n: "{" + ",".join(f'"{key % 97}": {{}}' for key in range(n // 8)) + "}",
    "carriage returns": lambda n: "id,text\n" + "\r" * n,
    "blank lines": lambda n: "\n" * n + "1 Q0 a 1 1 x\n",
}


@pytest.mark.parametrize("content", HOSTILE)
@pytest.mark.parametrize("reader", READERS)
def test_no_reader_grows_faster_than_its_file(tmp_path: Path, reader: str, content: str) -> None:
    numbers = iter(range(1000))

    def work(size: int) -> Callable[[], None]:
        text = HOSTILE[content](size)

        def read() -> None:
            folder = tmp_path / str(next(numbers))
            folder.mkdir()
            (folder / "file").write_text(text, encoding="utf-8")
            with suppress(RankgaugeError), warnings.catch_warnings():
                warnings.simplefilter("ignore", RankgaugeWarning)
                READERS[reader](folder / "file")

        return read

    assert grows_too_fast(work, 8_000) is None
