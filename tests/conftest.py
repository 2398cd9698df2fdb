from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from pkgutil import iter_modules

import pytest
from hypothesis import HealthCheck, settings

import rankgauge.cli.commands
from rankgauge import secrets
from rankgauge.cli.main import run
from tests.needs import ROOT, require
from tests.postgres_server import PostgresServer, ServerUnavailable
from tests.warm_process import RANKGAUGE, WarmProcess

settings.register_profile("default", max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", settings.get_profile("default"), max_examples=1000)
settings.load_profile("default")
os.environ.pop("COLUMNS", None)  # a parallel runner sets it, and output in a pipe would be wrapped


@pytest.fixture(autouse=True)
def no_secrets_of_other_tests() -> Iterator[None]:
    """A value that a test registers as a secret is masked in no other test."""
    before = set(secrets._REGISTERED)
    yield
    secrets._REGISTERED.clear()
    secrets._REGISTERED.update(before)


@pytest.fixture
def collections() -> Path:
    """A folder of real collections, which is not part of the project: RANKGAUGE_DATA, or beside the checkout."""
    folder = Path(os.environ.get("RANKGAUGE_DATA", ROOT.parent / "shared" / "data"))
    require("collections", folder.is_dir())
    return folder


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A running PostgreSQL with pgvector; one per process of the tests."""
    try:
        server = PostgresServer()
    except ServerUnavailable as error:
        require("postgres", present=False, remedy=str(error))
        raise  # require ends the test
    yield server
    server.close()


@pytest.fixture
def postgres_dsn(postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> str:
    """The connection string of a new database, which is also the value of DATABASE_URL."""
    dsn = postgres_server.new_database()
    monkeypatch.setenv("DATABASE_URL", dsn)
    return dsn


@pytest.fixture(scope="session")
def warm_python() -> Iterator[WarmProcess]:
    """Runs Python code in processes that have imported libraries, but nothing of rankgauge."""
    process = WarmProcess()
    yield process
    process.close()


@pytest.fixture(scope="session")
def warm_rankgauge() -> Iterator[WarmProcess]:
    """Runs code in processes that have imported all commands; the program rankgauge in its folder does so, too."""
    commands = [f"rankgauge.cli.commands.{module.name}" for module in iter_modules(rankgauge.cli.commands.__path__)]
    process = WarmProcess(
        *commands, "rankgauge.cli.command_tree", "rankgauge.cli.process", "rankgauge.render.html.page"
    )
    process.make_program("rankgauge", RANKGAUGE)
    yield process
    process.close()


class Outcome:
    """What a command printed and how it ended."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def command(capfdbinary: pytest.CaptureFixture[bytes]) -> Callable[..., Outcome]:
    """Run a rankgauge command line in this process."""

    def call(*arguments: object) -> Outcome:
        code = run([str(argument) for argument in arguments])
        out, err = capfdbinary.readouterr()
        return Outcome(code, out.decode("utf-8", "surrogateescape"), err.decode("utf-8", "surrogateescape"))

    return call
