"""An HTTP server in this process that answers as a test says."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Request:
    """What the server received."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


@dataclass
class Reply:
    """What the server answers: JSON, or bytes as they are; ``write`` sends them in its own way."""

    content: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    write: Callable[[Any], None] | None = None  # gets the socket file, after which the connection is closed


@contextlib.contextmanager
def serving(answer: Callable[[Request], Reply]) -> Iterator[str]:
    """The address of a server that lives as long as the block."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            pass

        def handle_one_request(self) -> None:
            with contextlib.suppress(ConnectionError):
                super().handle_one_request()

        def respond(self) -> None:
            data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            reply = answer(Request(self.command, self.path, headers, json.loads(data) if data else None))
            if reply.write is not None:
                self.close_connection = True
                reply.write(self.wfile)
                return
            content = reply.content if isinstance(reply.content, bytes) else json.dumps(reply.content).encode()
            self.send_response(reply.status)
            for name, value in {"Content-Length": str(len(content)), **reply.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

    for method in ("GET", "POST", "PUT"):
        setattr(Handler, f"do_{method}", Handler.respond)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
