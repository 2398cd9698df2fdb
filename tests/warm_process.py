"""A process without threads that runs Python code in forks of itself, so that libraries are imported only once.

Code has what it would have in a process of its own: folder, environment, arguments, standard streams and exit code. A
request comes through a socket, with the streams; the answer is the exit code.
"""

from __future__ import annotations

import atexit
import gc
import marshal
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
import warnings
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import ModuleType

LIBRARIES = ("scipy.stats", "scipy.optimize", "click", "jinja2", "pydantic", "yaml", "bm25s", "Stemmer", "httpx")
Request = tuple[str, list[str], str, str, dict[str, str], str]  # the parameters of `run`
# A program for PATH. It is started often, and imports next to nothing.
PROGRAM = """\
#!{python} -ISE
import _socket, marshal, os, sys
connection = _socket.socket(_socket.AF_UNIX)
connection.connect({address!r})
streams = b"".join(number.to_bytes(4, sys.byteorder) for number in range(3))
connection.sendmsg([b"."], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
request = marshal.dumps(({code!r}, sys.argv[1:], {path!r}, os.getcwd(), dict(os.environ), ""))
connection.sendall(len(request).to_bytes(8, "little") + request)
os._exit(connection.recv(1)[0])
"""
RANKGAUGE = "import sys; from rankgauge.cli.main import main; sys.argv[0] = 'rankgauge'; sys.exit(main())"


class WarmProcess:
    """Starts the process, which first imports libraries and these modules, and runs code in forks of it."""

    def __init__(self, *modules: str) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self._address = str(self.folder / "socket")
        self._process = subprocess.Popen(
            [sys.executable, "-P", __file__, self._address, *LIBRARIES, *modules],
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # a process with threads must not be forked
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"ready\n"

    def make_program(self, name: str, code: str) -> None:
        """Put a program that runs this code into the folder."""
        program, path = self.folder / name, str(Path(sys.executable).parent)
        text = PROGRAM.format(python=sys.executable, address=self._address, code=code, path=path)
        program.write_text(text, encoding="utf-8")
        program.chmod(0o755)

    def on_path(self, variables: Mapping[str, str] = os.environ) -> dict[str, str]:
        """An environment in which the programs of the folder are found first."""
        return {**variables, "PATH": f"{self.folder}{os.pathsep}{variables['PATH']}"}

    def run(
        self, code: str, *arguments: str, cwd: Path, env: Mapping[str, str] | None = None, on_warning: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """Run code as ``python -W on_warning -c code arguments`` does."""
        environment = dict(os.environ if env is None else env)
        request = marshal.dumps((code, [*arguments], "", str(cwd), environment, on_warning))
        with (
            socket.socket(socket.AF_UNIX) as connection,
            Path(os.devnull).open("rb") as nothing,
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as err,
        ):
            connection.connect(self._address)
            socket.send_fds(connection, [b"."], [stream.fileno() for stream in (nothing, out, err)])
            connection.sendall(len(request).to_bytes(8, "little") + request)
            code_of_exit = connection.recv(1)[0]
            for stream in (out, err):
                stream.seek(0)
            texts = [stream.read().decode("utf-8", "surrogateescape") for stream in (out, err)]
        return subprocess.CompletedProcess([*arguments], code_of_exit, *texts)

    def close(self) -> None:
        """End the process."""
        self._process.terminate()
        self._process.communicate()
        shutil.rmtree(self.folder)


def serve(address: str, *modules: str) -> None:
    """Answer requests, each in a fork."""
    for name in modules:
        with suppress(ImportError):
            import_module(name)
    gc.freeze()  # a collection in a fork would copy the memory of all libraries
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while True:
            connection, _ = listening.accept()
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            if os.fork():
                connection.close()
                continue
            break
    with connection:
        _, streams, _, _ = socket.recv_fds(connection, 1, 3)
        size = int.from_bytes(_received(connection, 8), "little")
        request: Request = marshal.loads(_received(connection, size))
        if child := os.fork():
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            connection.sendall(bytes([code % 256 if code >= 0 else 128 - code]))
            os._exit(0)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os._exit(run(*request))  # at the end of an interpreter, too, everything would be copied


def _received(connection: socket.socket, size: int) -> bytes:
    parts = []
    while size and (part := connection.recv(size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def run(code: str, arguments: list[str], path: str, folder: str, variables: dict[str, str], on_warning: str) -> int:
    """Become a process that runs this code, with ``path`` as the first entry of ``sys.path``; returns its exit code."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    sys.argv = ["-c", *arguments]
    sys.path.insert(0, path)
    if on_warning:
        sys.warnoptions.append(on_warning)
        warnings.simplefilter(on_warning)  # type: ignore[arg-type]  # the name of an action
    module = sys.modules["__main__"] = ModuleType("__main__")
    try:
        exec(compile(code, "<string>", "exec"), module.__dict__)
        exit_code = 0
    except SystemExit as end:
        if isinstance(end.code, str):
            sys.stderr.write(f"{end.code}\n")
        exit_code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        exit_code = 1
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    return exit_code


if __name__ == "__main__":
    serve(*sys.argv[1:])
