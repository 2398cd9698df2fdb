"""Little memory, few descriptors, a clock set back, no home, read-only folders, signals: one message, no wrong number.

Each test says what must hold. Most trials are processes of their own, because a limit cannot be taken back.
"""

from __future__ import annotations

import errno
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from rankgauge import Run, evaluate, evaluate_retriever
from rankgauge.benchmark.folder import REPLACED_SUFFIX
from rankgauge.cli import process
from rankgauge.cli.main import main
from rankgauge.config.retriever_settings import RetrieverCalls
from rankgauge.core import public_names
from rankgauge.errors import RankgaugeWarning
from rankgauge.history import GitState, History
from rankgauge.history import folder as history_folder
from rankgauge.io.owned_files import TEMPORARY_SUFFIX
from rankgauge.report.manifest import plain_text
from tests.faults.driver import Ended
from tests.faults.scenarios import GATE_LIVE, write_collection
from tests.needs import ROOT
from tests.warm_process import WarmProcess

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the trials need os.fork")
Command = Callable[..., Any]
MEBIBYTE = 1 << 20
COMMAND = "import sys; from rankgauge.cli.main import run; sys.exit(run())"


class Trials:
    """Runs commands in a folder, each in a process of its own that first does something to itself."""

    def __init__(self, warm: WarmProcess, folder: Path) -> None:
        self._warm, self.folder = warm, folder

    def run(self, *words: str, first: str = "", **variables: str) -> Ended:
        """The exit code of a command, and everything that it prints."""
        environment = {**os.environ, "FAULTS_VERSION": "new", **variables}
        done = self._warm.run(f"{first}\n{COMMAND}", *words, cwd=self.folder, env=environment)
        return Ended(done.returncode, done.stdout + done.stderr)


@pytest.fixture
def trials(warm_rankgauge: WarmProcess, folder: Path) -> Trials:
    """Commands in the folder of the collection."""
    return Trials(warm_rankgauge, folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a small collection, and nothing else in the folder above it."""
    folder = tmp_path / "work"
    folder.mkdir()
    write_collection(folder)
    return folder


def names_in(folder: Path) -> set[str]:
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*")}
    return {name for name in found if "__pycache__" not in name}


# ---------------------------------------------------------------------------------------------------------- memory


ALLOW = """
import resource
with open("/proc/self/statm") as file:
    size = int(file.read().split()[0]) * resource.getpagesize() + {size}
resource.setrlimit(resource.RLIMIT_AS, (size, size))
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs the size of the process")
@pytest.mark.parametrize("name", ["ordered.trec", "scattered.trec", "run.json.gz"])
def test_with_too_little_memory_a_command_succeeds_or_ends_with_71(trials: Trials, name: str) -> None:
    """The same numbers as with enough memory, or none; one message; no page, and no temporary file."""
    folder = trials.folder
    rows = [f"q{n // 300:02} Q0 d{n * 7919 % 10**6} 1 {300 - n % 300} t\n" for n in range(9000)]
    judgments = (" ".join(row.replace("Q0", "0").split()[:3]) + " 1\n" for row in rows[::9])
    (folder / "qrels").write_text("".join(judgments))
    (folder / "ordered.trec").write_text("".join(rows))
    (folder / "scattered.trec").write_text("".join(random.Random(1).sample(rows, len(rows))))
    assert trials.run("convert", "ordered.trec", "run.json.gz").code == 0
    before = names_in(folder)
    words = ("evaluate", "qrels", name, "-m", "AP", "-m", "nDCG@10", "--html", "page.html")
    expected = trials.run(*words)
    assert expected.code == 0, expected.errors
    codes = []
    for size in (0, 2, 400):
        (folder / "page.html").unlink(missing_ok=True)
        ended = trials.run(*words, first=ALLOW.format(size=size * MEBIBYTE))
        codes.append(ended.code)
        if ended.code == 0:
            assert ended.errors == expected.errors
            continue
        assert ended.code == 71, ended.errors
        assert ended.errors.count("error: ") == 1
        assert "error: out of memory\n" in ended.errors or "error: cannot load a library: " in ended.errors
        assert names_in(folder) == before
    assert (codes[0], codes[-1]) == (71, 0)


@pytest.mark.slow
def test_with_too_little_memory_to_load_the_libraries_a_command_ends_with_71(folder: Path) -> None:
    """Not with 1, which would be a failed gate: NumPy's OpenBLAS would exit so, and SciPy's would hang."""
    for size in (48, 80, 112):
        limit = partial(resource.setrlimit, resource.RLIMIT_AS, (size * MEBIBYTE, size * MEBIBYTE))
        done = subprocess.run(
            [sys.executable, "-m", "rankgauge", "gate", "qrels.trec", "old.trec", "--require", "AP>=0"],
            cwd=folder, capture_output=True, text=True, check=False, timeout=60, preexec_fn=limit,
        )  # fmt: skip
        assert (done.returncode, done.stdout) == (71, "")
        assert done.stderr.startswith("error: out of memory\n")


def test_linear_algebra_is_loaded_only_if_there_is_room_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    public_names.check_memory_for_algebra()  # without a limit there is
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1 << 40, 1 << 40))
    public_names.check_memory_for_algebra()
    monkeypatch.setattr(public_names, "ALGEBRA_BYTES", 1 << 60)
    with pytest.raises(MemoryError):
        public_names.check_memory_for_algebra()


@pytest.mark.parametrize(
    ("error", "message"),
    [(MemoryError(), "out of memory"), (OSError(errno.EMFILE, "Too many open files"), "too many open files")],
    ids=["memory", "descriptors"],
)
def test_what_a_system_lacks_is_reported_even_if_nothing_more_can_be_imported(
    error: Exception, message: str, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    import rankgauge.cli.commands.measures as module

    def fail() -> str:
        raise error

    monkeypatch.setattr(module, "listing", fail)
    outcome = command("measures")
    assert (outcome.code, outcome.out) == (71, "")
    assert outcome.err.startswith(f"error: {message}\nhint: ")
    monkeypatch.setattr(process, "report_failure", lambda _: fail())
    outcome = command("measures")
    assert (outcome.code, outcome.out) == (71, "")
    assert message in outcome.err.lower()
    assert outcome.err.count("\n") == 1


# ----------------------------------------------------------------------------------------------------- descriptors


FEW_DESCRIPTORS = """
import os, resource, rankgauge.cli.main
os.closerange(3, 1000)
resource.setrlimit(resource.RLIMIT_NOFILE, ({count}, {count}))
"""
SAVED_NAME = re.compile(r"\d{4}-\d\d-\d\dT\S+-[0-9a-f]{8}")  # of an entry
LIVE = """
import asyncio

async def find(query, k=10):
    await asyncio.sleep(0.001)
    return ["d1", "d2"]
"""


@pytest.mark.parametrize("kind", ["runs", "spilled", "folder", "live", "benchmark", "save"])
def test_sixteen_descriptors_are_enough(trials: Trials, kind: str) -> None:
    """A file is open only while it is read: 30 runs, 30 Parquet files, spills, 32 calls in flight."""
    folder = trials.folder
    words: tuple[str, ...]
    if kind in ("runs", "spilled"):
        rows = (folder / "old.trec").read_text().splitlines(keepends=True)
        for number in range(30):
            random.Random(number).shuffle(rows)
            (folder / f"{number}.trec").write_text("".join(rows))
        words = ("evaluate", "qrels.trec", *(f"{number}.trec" for number in range(30)), "-m", "AP")
        words = (*words, "--set", "reading.memory=1") if kind == "spilled" else words
    elif kind == "folder":
        pytest.importorskip("pyarrow")
        (folder / "parts").mkdir()
        assert trials.run("convert", "old.trec", "parts/0.parquet").code == 0
        for number in range(1, 30):
            (folder / f"parts/{number}.parquet").write_bytes((folder / "parts/0.parquet").read_bytes())
        words = ("evaluate", "qrels.trec", "parts", "-m", "AP", "--set", "reading.on_duplicate=first")
    elif kind == "live":
        (folder / "live_search.py").write_text(LIVE)
        words = ("evaluate", "cases.jsonl", "live_search:find", "--set", "retriever.concurrency=32")
    elif kind == "benchmark":
        words = ("benchmark", "run", "benchmark.yaml", "--latency", "0", "-o", "out")
    else:
        words = ("evaluate", "qrels.trec", "old.trec", "-m", "AP", "--save", "--save-run", "--history", "history")
        for number in range(30):  # which are read for the time of the next
            assert number or trials.run(*words).code == 0
            (entry,) = [*(folder / "history").glob("2*-old-????????.jsonl")][:1]
            shutil.copy(entry, entry.with_name(f"{entry.name[:20]}-copy-{number:08}.jsonl"))
    expected = trials.run(*words)
    assert expected.code == 0, expected.errors
    ended = trials.run(*words, first=FEW_DESCRIPTORS.format(count=16))
    assert ended.code == 0, ended.errors
    if kind not in ("live", "benchmark"):  # which measure times
        one, other = (SAVED_NAME.sub("NAME", outcome.errors) for outcome in (ended, expected))
        assert one == other


def test_with_too_few_descriptors_there_is_one_error_and_nothing_is_left(trials: Trials) -> None:
    before = names_in(trials.folder)
    for count in (3, 4):
        ended = trials.run("convert", "old.trec", "out.csv", first=FEW_DESCRIPTORS.format(count=count))
        assert (ended.code in (2, 71), names_in(trials.folder)) == (True, before), ended.errors
        assert ended.errors.count("error: ") == 1
        assert "Too many open files" in ended.errors


# ----------------------------------------------------------------------------------------------------------- clock


def test_no_duration_is_measured_with_a_clock_that_can_be_set() -> None:
    """Only two dates are compared with the time of day, and entries of the same second are ordered by it.

    That of ``Retry-After`` is waited for a minute at most, and an answer of a journal that is in the future is new.
    """
    source = ROOT / "src/rankgauge"
    clock = re.compile(r"\btime\.time\b|\btime_ns\b|^\s*from time import", re.MULTILINE)
    users = [path for path in source.rglob("*.py") if clock.search(path.read_text(encoding="utf-8"))]
    assert sorted(users) == [
        source / "history/folder.py", source / "retrieval/asking/failures.py", source / "retrieval/journal.py",
    ]  # fmt: skip


def test_a_clock_that_jumps_back_changes_no_latency_and_stops_no_call(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [2e9]

    def earlier() -> float:
        now[0] -= 3600.0
        return now[0]

    monkeypatch.setattr(time, "time", earlier)
    cases = [{"query": f"q{n}", "relevant_ids": ["d1"]} for n in range(10)]

    def find(query: str, k: int) -> list[str]:
        time.time()
        if query == "q3":
            time.sleep(0.4)
        return ["d1"]

    calls = RetrieverCalls(timeout=0.2, retries=0, concurrency=4)
    result = evaluate_retriever(find, cases, calls=calls, max_failures=None, measures="RR", progress=lambda *_: None)
    assert list(result.failures) == ["q3"]
    latencies = [one.latency for one in result.per_query_metrics if one.latency is not None]
    assert len(latencies) == 9
    assert all(0 <= seconds < 5 for seconds in latencies)


def test_an_entry_saved_after_the_clock_was_set_back_is_the_latest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within an hour; an entry from farther in the future stays the latest."""
    labels = {"q1": {"a": 1}}
    now = [datetime(2026, 11, 17, 12, tzinfo=UTC)]

    class Clock(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]  # of this class in the type's words
            return now[0]

    monkeypatch.setattr(history_folder, "datetime", Clock)
    history = History.open(tmp_path / "history")
    for back, score in ((0, 1.0), (30, 2.0), (20, 3.0)):
        now[0] = datetime(2026, 11, 17, 12, tzinfo=UTC) - timedelta(minutes=back)
        saved = history.save(evaluate(labels, {"q1": {"a": score, "b": 2 - score}}, "RR"), git=GitState())
        assert saved.saved == "2026-11-17T12:00:00Z"
        assert history.summary("latest").name == saved.name
        assert [entry.name for entry in history.entries()][-1] == saved.name
    now[0] = datetime(2026, 11, 17, 12, tzinfo=UTC) - timedelta(minutes=90)
    early = history.save(evaluate(labels, {"q1": {"a": 1.0}}, "RR"), git=GitState())
    assert early.saved == "2026-11-17T10:30:00Z"
    assert history.summary("latest").name == saved.name
    assert history.entries()[0].name == early.name
    now[0] = datetime(2026, 11, 15, 12, tzinfo=UTC)  # far enough that the newest entry is from the future
    with pytest.warns(RankgaugeWarning, match="is from the future: check the clock, or delete the file"):
        assert history.summary("latest").name == saved.name


def test_entries_of_the_same_second_are_in_the_order_of_saving_whatever_their_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    history, ticks = History.open(tmp_path / "history"), iter(range(10**9, 10**9 + 12))
    monkeypatch.setattr(time, "time_ns", lambda: next(ticks))
    runs = [Run.from_dict({"q1": {"a": 1.0}}, name=f"s{(n * 7) % 12:02}") for n in range(12)]
    date = datetime(2026, 11, 1, tzinfo=UTC)
    names = [history.save(evaluate({"q1": {"a": 1}}, run, "RR"), date=date, git=GitState()).name for run in runs]
    assert [entry.name for entry in history.entries()] == names
    assert sorted(names) != names


# ------------------------------------------------------------------------------------------------------------ home


UNKNOWN_USER = """
import os, pwd

def unknown(_):
    raise KeyError("uid not found")

pwd.getpwuid = unknown
del os.environ["HOME"]
"""


@pytest.mark.parametrize("home", ["/proc/nowhere", None], ids=["unwritable", "unknown"])
def test_nothing_needs_a_home_unless_it_is_asked_for(trials: Trials, home: str | None) -> None:
    """Results, a project's history and reports work; a file in the folder of an unknown user is an error and a hint."""
    folder, first = trials.folder, UNKNOWN_USER if home is None else ""
    names = ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR")
    variables = dict.fromkeys(names, home or "")
    (folder / "other.yaml").write_text("gate: {baseline: ~nobody-here/base.jsonl}\n")
    for words in [
        ("evaluate", "qrels.trec", "old.trec", "--save", "--html", "page.html"),
        ("history", "list"),
        ("benchmark", "run", "benchmark.yaml", "--latency", "0", "-o", "out"),
    ]:
        ended = trials.run(*words, first=first, **variables)
        assert ended.code == 0, ended.errors
    ended = trials.run("gate", "qrels.trec", "old.trec", "--config", "other.yaml", first=first, **variables)
    assert ended.code == 2, ended.errors
    error, hint = ended.errors.splitlines()
    assert error.startswith("error: ")
    assert hint.startswith("hint: ")


def test_a_message_is_shown_although_the_working_folder_was_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert plain_text("found nothing in /some/place/file.txt") == "found nothing in file.txt"


# ------------------------------------------------------------------------------------------------- read-only folders


# Root may write what nobody may write, unless it gives up CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH.
OBEY_PERMISSIONS = """
import ctypes, os
if os.geteuid() == 0:
    libc = ctypes.CDLL(None)
    header, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    assert libc.capget(header, sets) == 0
    sets[0] &= ~0b110  # effective
    sets[1] &= ~0b110  # permitted
    assert libc.capset(header, sets) == 0
"""
FETCH = ("runs", "fetch", "--queries", "queries.jsonl", "--k", "3")
WRITING = {
    "convert": ("convert", "old.trec", "closed/out.csv"),
    "page": ("evaluate", "qrels.trec", "old.trec", "--html", "closed/page.html"),
    "gated log": (*GATE_LIVE, "-o", "closed/gated.jsonl"),
    "summary": ("gate", "qrels.trec", "old.trec", "--require", "AP>=0", "--summary", "closed/summary.md"),
    "fuse": ("fuse", "old.trec", "new.trec", "-o", "closed/fused.trec"),
    "pool": ("pool", "old.trec", "-o", "closed/pool.jsonl"),
    "judge": ("judge", "one.jsonl", "-o", "closed/j.jsonl", "--assessor", "a", "--judge", "faults_search:grade"),
    "fetch": (*FETCH, "--retriever", "faults_search:find", "-o", "closed/run.trec"),
    "live": ("evaluate", "cases.jsonl", "faults_search:find", "-o", "closed/live.trec"),
    "benchmark": ("benchmark", "run", "benchmark.yaml", "--latency", "0", "-o", "closed/out"),
    "new history": ("evaluate", "qrels.trec", "old.trec", "--save", "--history", "closed/new"),
    "history": ("evaluate", "qrels.trec", "old.trec", "--save", "--history", "closed/history"),
    "history of a gate": (
        *("gate", "qrels.trec", "old.trec", "--require", "AP>=0", "--save", "--save-run"),
        *("--history", "closed/history"),
    ),
    "page of a history": ("history", "trend", "--history", "closed/history", "--html", "closed/page.html"),
}
READING = {
    "log": ("gate", "qrels.trec", "old.trec", "--baseline", "closed/base.jsonl", "-m", "nDCG@5"),
    "scores": ("gate", "qrels.trec", "old.trec", "--baseline", "closed/base.json"),
    "saved": ("gate", "qrels.trec", "old.trec", "--baseline", "history:old", "--history", "closed/history"),
    "list": ("history", "list", "--history", "closed/history"),
    "show": ("history", "show", "latest", "--history", "closed/history"),
    "trend": ("history", "trend", "--history", "closed/history", "-m", "AP"),
    "check": ("history", "check", "--history", "closed/history"),
}


@pytest.fixture
def closed(trials: Trials) -> Path:
    """A folder in which nothing can be written, with a history, a log and scores."""
    closed = trials.folder / "closed"
    closed.mkdir()
    for words in (
        ("evaluate", "qrels.trec", "old.trec", "-m", "AP", "-m", "nDCG@5", "--save", "--history", "closed/history"),
        (*GATE_LIVE, "-o", "closed/base.jsonl"),
    ):
        ended = trials.run(*words)
        assert ended.code == 0, ended.errors
    (entry,) = (closed / "history").iterdir()
    shutil.copy(entry, closed / "base.json")
    for path in (entry, entry.parent, *closed.iterdir()):
        path.chmod(0o555 if path.is_dir() else 0o444)
    closed.chmod(0o555)
    return closed


def content_of(folder: Path) -> dict[str, bytes]:
    """All files in a folder."""
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_read_only_folder_is_one_error_before_the_work_and_stays_as_it_is(trials: Trials, closed: Path) -> None:
    before = content_of(closed)
    for name, words in WRITING.items():
        ended = trials.run(*words, first=OBEY_PERMISSIONS)
        assert ended.code == 2, (name, ended.errors)
        lines = [line for line in ended.errors.splitlines() if not line.startswith("loading code")]
        assert lines[0].startswith("error: "), (name, ended.errors)
        assert "closed/" in lines[0], (name, ended.errors)
        assert [line[:6] for line in lines[1:]] in ([], ["hint: "]), (name, ended.errors)
        assert content_of(closed) == before, name
    assert not [name for name in names_in(trials.folder) if name.endswith((TEMPORARY_SUFFIX, ".journal", ".partial"))]


def test_what_is_in_a_read_only_folder_can_be_read(trials: Trials, closed: Path) -> None:
    before = names_in(trials.folder)
    for name, words in READING.items():
        ended = trials.run(*words, first=OBEY_PERMISSIONS)
        assert ended.code == 0, (name, ended.errors)
        assert "error: " not in ended.errors, name
    assert names_in(trials.folder) == before


def test_init_in_a_read_only_folder_names_the_file(closed: Path, warm_rankgauge: WarmProcess) -> None:
    before = names_in(closed)
    ended = Trials(warm_rankgauge, closed).run("init", first=OBEY_PERMISSIONS)
    assert ended.code == 2
    assert re.search(r"error: \S+: cannot write: ", ended.errors)
    assert names_in(closed) == before


# --------------------------------------------------------------------------------------------------------- signals

INTERRUPT = f"""
import sys
sys.path.append({str(ROOT)!r})
from tests.faults.injection import Fault, inject
inject(Fault({{index}}, "before", "interrupt"))
"""


@pytest.mark.slow
def test_init_that_is_interrupted_leaves_nothing_or_everything(tmp_path: Path, warm_rankgauge: WarmProcess) -> None:
    """At whichever operation: one message, and all files are written or none is left, so that it can be repeated."""
    whole, index, codes = tmp_path / "whole", 0, []
    whole.mkdir()
    assert Trials(warm_rankgauge, whole).run("init").code == 0
    while 0 not in codes:  # until there are no more operations
        folder = tmp_path / str(index)
        folder.mkdir()
        ended = Trials(warm_rankgauge, folder).run("init", first=INTERRUPT.format(index=index))
        codes.append(ended.code)
        assert ended.code == 0 or (ended.code, ended.errors.splitlines()[-1]) == (130, "interrupted")
        assert names_in(folder) in (set(), names_in(whole)), index
        index += 1
    assert codes.count(130) > 10


STOPPING = """
import os, signal

calls = []

def find(query, k=10):
    calls.append(query)
    if len(calls) == 3 and "STOPPED_BY" in os.environ:
        os.kill(os.getpid(), int(os.environ.pop("STOPPED_BY")))
    return [f"d{len(query) % 9}", "d1"]
"""


HEED_SIGNALS = """
import signal
from rankgauge.cli.process import handle_signals
signal.signal(signal.SIGINT, signal.default_int_handler)
for other in (signal.SIGTERM, signal.SIGHUP):
    signal.signal(other, signal.SIG_DFL)
handle_signals()
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_in_a_benchmark_keeps_the_old_folder_and_what_was_fetched(trials: Trials, name: str) -> None:
    """One line, the exit code of the signal, no temporary file; the next run resumes, with the same result."""
    folder, number = trials.folder, getattr(signal, name)
    (folder / "faults_search.py").write_text(STOPPING)
    words = ("benchmark", "run", "benchmark.yaml", "--latency", "0", "-o", "out")
    assert trials.run(*words).code == 0
    old = {path: (folder / path).read_bytes() for path in names_in(folder) if (folder / path).is_file()}
    ended = trials.run(*words, first=HEED_SIGNALS, STOPPED_BY=str(int(number)))
    assert ended.code == 128 + number
    assert ended.errors.splitlines()[-1] == ("interrupted" if name == "SIGINT" else f"ended by {name}")
    assert "Traceback" not in ended.errors
    assert {path: (folder / path).read_bytes() for path in old} == old
    left = names_in(folder) - set(old)
    assert not [path for path in left if path.endswith(TEMPORARY_SUFFIX)]
    assert "out.partial/runs/find.jsonl.journal" in left
    assert trials.run(*words).code == 0
    assert (folder / "out/runs/find.jsonl").read_bytes() == old["out/runs/find.jsonl"]
    assert not (folder / "out.partial").exists()


def test_the_entry_point_reports_a_signal_that_comes_before_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("rankgauge.cli.main.start_fast", interrupted)
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 130


KILL_AFTER = """
import os, pathlib
list_folder, unlink, count = pathlib.Path.iterdir, os.unlink, [{deleted}]

def manifest_first(folder):
    return iter(sorted(list_folder(folder), key=lambda path: "Manifest" not in path.name))

def killed(path, **options):
    if "replaced" in str(path) or options.get("dir_fd") is not None:
        count[0] -= 1
        if count[0] < 0:
            os._exit(77)
    unlink(path, **options)

pathlib.Path.iterdir, os.unlink = manifest_first, killed
"""


@pytest.mark.slow
def test_what_a_killed_benchmark_did_not_delete_is_deleted_by_the_next(trials: Trials) -> None:
    """Whichever file the system lists first: without its manifest, nobody would know that the rest is a benchmark."""
    words = ("benchmark", "run", "benchmark.yaml", "--latency", "0", "-o", "out")
    assert trials.run(*words).code == 0
    target, left = trials.folder / "out", trials.folder / f".out{REPLACED_SUFFIX}"
    for deleted in (1, 9):
        ended = trials.run(*words, first=KILL_AFTER.format(deleted=deleted))
        assert (ended.code, left.exists()) == (77, True), ended.errors
        assert trials.run(*words).code == 0
        assert not left.exists()
        assert trials.run("benchmark", "verify", "out").code == 0
    shutil.rmtree(target)
    left.mkdir()  # killed before its last operation
    assert trials.run(*words).code == 0
    assert not left.exists()
