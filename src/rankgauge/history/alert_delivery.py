"""How a report of changed quality is delivered: to a program (``--exec``), or to a webhook.

A report is JSON. A webhook's URL is a secret, because whoever has it can post: messages name its host only.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from rankgauge.errors import InputError, UsageError, printable, shown
from rankgauge.secrets import mask_secrets, register_secret

WEBHOOK_VARIABLE = "RANKGAUGE_WEBHOOK"
WEBHOOK_SECONDS, PROGRAM_SECONDS = 30.0, 60.0
MIN_TOKEN_LENGTH = 12
AGAIN = "the changes are reported again by the next check"


def command_words(command: str) -> list[str]:
    """A command line as the words of a program; no shell reads it."""
    try:
        words = shlex.split(command) if os.name != "nt" else _windows_words(command)
    except ValueError as error:
        raise UsageError(f"--exec: {shown(command)} is not a command: {error}") from None
    if not words:
        raise UsageError("--exec: expected a command, found nothing")
    return words


def _windows_words(command: str) -> list[str]:
    """The words of a command in which a backslash is part of a path."""
    return [word.strip('"') for word in shlex.split(command, posix=False)]


def run_program(words: list[str], message: Mapping[str, Any]) -> str:
    """Run a program with the message on its standard input, and return what it prints."""
    import subprocess

    name = printable(words[0])
    try:
        done = subprocess.run(
            words,
            input=encoded(message),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=PROGRAM_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise InputError(f"--exec: {name} did not end within {PROGRAM_SECONDS:g} s", hint=AGAIN) from None
    except OSError as error:
        raise InputError(f"--exec: cannot run {name}: {error.strerror}", hint=AGAIN) from None
    output = mask_secrets(done.stdout.decode("utf-8", "replace"))
    if done.returncode:
        last = next((line.strip() for line in reversed(output.splitlines()) if line.strip()), "it printed nothing")
        raise InputError(f"--exec: {name} ended with code {done.returncode}: {printable(last)}", hint=AGAIN)
    return output


def checked_webhook(url: str) -> str:
    """The URL of a webhook, which is not shown from now on."""
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        is_address = False
    if not is_address:
        raise UsageError("--webhook: expected a URL that starts with https:// or http://")
    register_secret(url)
    for part in (*parts.path.split("/"), *parts.query.split("&"), parts.password or ""):
        if len(part) >= MIN_TOKEN_LENGTH:  # a shorter one is a word, such as the name of a branch
            register_secret(part)
    return url


def post_message(url: str, message: Mapping[str, Any]) -> None:
    """Send the message to a webhook; any answer of success will do, and redirects are not followed."""
    from rankgauge.retrieval.engines.http_client import HttpFailure, HttpTimeout, post_json

    host = printable(urlsplit(checked_webhook(url)).netloc.rpartition("@")[2])
    try:
        status = post_json(url, encoded(message), timeout=WEBHOOK_SECONDS, purpose="webhooks")
    except (HttpFailure, HttpTimeout) as error:
        raise InputError(f"--webhook: cannot reach {host}: {error}", hint=AGAIN) from None
    if not 200 <= status < 300:
        raise InputError(f"--webhook: {host} answered with status {status}", hint=AGAIN)


def encoded(message: Mapping[str, Any]) -> bytes:
    """JSON in ASCII, on one line."""
    return json.dumps(message, allow_nan=False).encode("ascii") + b"\n"
