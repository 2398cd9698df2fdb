"""A small, fast search server in a process of its own, for tests under load: ``python search_server.py PORT LOG MS``.

It answers ``{"query": …, "k": …}`` with k hits after up to MS milliseconds, and appends each query to LOG before that.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import zlib
from pathlib import Path


def hits(query: str, k: int) -> list[str]:
    """The ids that the server returns for a query."""
    return [f"{zlib.crc32(query.encode()) % 1000:03}-{rank}" for rank in range(k)]


def answer(query: str, k: int) -> bytes:
    """The body of a response."""
    found = [{"_id": name, "_score": 1 / (rank + 1)} for rank, name in enumerate(hits(query, k))]
    return json.dumps({"timed_out": False, "hits": {"hits": found}}).encode()


async def serve(port: int, log: int, milliseconds: float) -> None:
    """Serve until the process is killed."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
                request = json.loads(await reader.readexactly(length))
                os.write(log, f"{request['query']}\n".encode())
                await asyncio.sleep(milliseconds / 1000 * (zlib.crc32(request["query"].encode()) % 100) / 100)
                body = answer(request["query"], request["k"])
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", port)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    log_file = os.open(Path(sys.argv[2]), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    asyncio.run(serve(int(sys.argv[1]), log_file, float(sys.argv[3])))
