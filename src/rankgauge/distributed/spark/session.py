"""pyspark: only this file imports it. Sessions are started here, and errors of workers become errors of rankgauge."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from rankgauge.distributed import transport
from rankgauge.errors import InputError, MissingExtraError, RankgaugeError, location, shown

if TYPE_CHECKING:
    from pyspark.sql import DataFrame as DataFrame
    from pyspark.sql import SparkSession as SparkSession

PYTHON_VARIABLE = "PYSPARK_PYTHON"
QUIET = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
FORMATS = {".parquet": "parquet", ".orc": "orc"}  # by the end of a name
LOG_LINES = 3  # of Spark's log that are shown if it does not start


def library() -> Any:
    """The package ``pyspark.sql``, or an error that says how to get it."""
    try:
        from pyspark import sql
    except ModuleNotFoundError:
        raise MissingExtraError("Spark needs the library pyspark", hint="pip install 'rankgauge[spark]'") from None
    return sql


def start_session(
    master: str | None = None, *, settings: Mapping[str, str] | None = None, log: IO[bytes] | None = None
) -> SparkSession:
    """Start a Spark session, or take the current one.

    Workers on this machine (``local[2]``, …) run the Python of this process, even if its virtual environment is not
    activated; ``PYSPARK_PYTHON`` overrides that. ``settings`` are Spark's own. If Spark starts now, everything that it
    logs goes to ``log`` instead of standard error.
    """
    builder = library().SparkSession.builder.appName("rankgauge")
    if master is not None:
        builder = builder.master(master)
    if master is None or master.startswith("local"):
        os.environ.setdefault(PYTHON_VARIABLE, sys.executable)
    for name, value in {**(QUIET if log is not None else {}), **(settings or {})}.items():
        builder = builder.config(name, value)
    try:
        with _standard_error_to(log):
            session: SparkSession = builder.getOrCreate()
    except Exception as error:  # Java is missing, the master does not answer, a setting is wrong, …
        raise _start_error(error, log) from None
    return session


@contextmanager
def _standard_error_to(log: IO[bytes] | None) -> Iterator[None]:
    """Let programs that are started here inherit a file as standard error."""
    if log is None:
        yield
        return
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        os.dup2(log.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _start_error(error: Exception, log: IO[bytes] | None) -> RankgaugeError:
    lines = [] if log is None else Path(log.name).read_text(errors="replace").strip().splitlines()[-LOG_LINES:]
    reason = "; ".join(shown(line, 200) for line in lines) or shown(_first_line(error), 200)
    return RankgaugeError(f"Spark did not start: {reason}", hint="Spark needs Java 17 (JAVA_HOME, or java on the PATH)")


def read_frame(session: SparkSession, path: str, format: str | None = None) -> DataFrame:
    """A table that Spark can read; the format is that of the file's name, else Spark's default, Parquet."""
    if format == "table":
        return session.table(path)
    known = format or FORMATS.get(Path(path).suffix)
    reader = session.read if known is None else session.read.format(known)
    return reader.load(path)


@contextmanager
def input_errors() -> Iterator[None]:
    """Within it, an input error of a worker or of Spark is raised as such, without a stack trace of Java."""
    try:
        yield
    except Exception as error:
        found = transport.error_of_worker(str(error))
        if found is None and _is_analysis(error):
            found = InputError(_first_line(error))
        if found is None:
            raise
        raise found from None


@contextmanager
def spark_errors(source: str) -> Iterator[None]:
    """Within it, whatever Spark raises becomes an error that names what it read, without a stack trace of Java."""
    try:
        with input_errors():
            yield
    except InputError as error:
        raise type(error)(f"{location(source, None)}{error.message}", hint=error.hint) from None
    except RankgaugeError:
        raise
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark", "py4j")):
            raise
        raise RankgaugeError(f"{location(source, None)}Spark failed: {shown(_first_line(error), 200)}") from None


def _is_analysis(error: Exception) -> bool:
    """Whether Spark could not make sense of a path, a table or a column."""
    from pyspark.errors import AnalysisException

    return isinstance(error, AnalysisException)


def _first_line(error: Exception) -> str:
    """The line of an error that says why; that of Java is the last cause in its stack trace."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    causes = [line for line in lines if line.startswith("Caused by: ")]
    return (causes or lines or [type(error).__name__])[-1 if causes else 0].removeprefix("Caused by: ")
