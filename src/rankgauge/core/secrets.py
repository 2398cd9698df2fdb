"""Secrets, and how they are kept out of everything that is printed, stored or shared.

A report is shared, and an error of foreign code can quote the request that failed. Two things are masked: what looks
like a secret (headers, tokens, keys, passwords, the user of a URL), and every value that was registered, such as that
of an environment variable which a configuration refers to. Text that is neither cannot be recognized.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote, quote_plus

MASK = "…"
MIN_SECRET_LENGTH = 4  # a shorter value, such as 1, appears everywhere
MIN_LINE_LENGTH = 8  # of one line of a value that has several
MAX_ERROR_CHARACTERS = 300

_KEY_KINDS = "api|access|secret|private|account|admin|auth|functions|master|service|signing|storage|subscription"
_NAMES = (
    rf"(?<!unexpected\ )token|secret|password|passwd|passphrase|pwd|credentials?|(?:{_KEY_KINDS})[_-]?key(?:[_-]?id)?"
    r"|authorization|cookie|session[_-]?id|connection[_-]?string|signature|jwt"
)
_SCHEMES = "bearer|basic|digest|token|negotiate|ntlm|apikey|aws4-hmac-sha256"
_SECRET_KEY = re.compile(rf"(?ix)(?:{_NAMES})$")
_HEADERS_KEY = re.compile(r"(?i)headers$")
_OPEN_HEADER = re.compile(r"(?i)(?:accept(?:-\w+)?|content-type|host|user-agent)$")
_ONLY_REFERENCE = re.compile(r"(?:\w+ )?\$\{[A-Za-z_]\w*\}")  # Bearer ${NAME} tells no secret
_REFERENCE = re.compile(r"\$\{([A-Za-z_]\w*)")

# Each is one pass: nothing before the name is matched, so that long text costs no more than its length.
_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z)", re.S
)
_URL_USER = re.compile(r"""://(?:[^\s:/@"'<>]{0,100}:(?!\d+(?:[/?\#]|\b))[^\s"'<>]{0,200}@|[^\s/?\#"'<>]*@)""")
_URL_QUERY = re.compile(
    r"""(?ix)([?&;](?:[\w.-]*-)?(?:key|sig|signature|auth|code|credential|pass|pw|sas|sid|session)=)[^\s&\#"'<>]+"""
)
_HEADERS = re.compile(r"""(?ix)(\bheaders["']?\s*(?:[=:]\s*)?(?:\w{1,40}\()?)(?:\{[^}]*(?:\}|\Z)|\[[^\]]*(?:\]|\Z))""")
_ASSIGNED = re.compile(
    rf"""(?isx)
    ((?:{_NAMES}|(?<!\w)auth(?==)) (?![\w-])
        (?: \\*["']?\s*[=:]\s* | \\*["']\s*,\s* ))            # name: value, "name": value, ("name", value)
    (?: b?\\+"[^"]*(?:"|\Z) | b?\\+'[^']*(?:'|\Z)             # quoted within a quoted text
      | b?"(?:[^"\\]|\\.)*(?:"|\\?\Z) | b?'(?:[^'\\]|\\.)*(?:'|\\?\Z)
      | \([^)]*(?:\)|\Z) | \[[^\]]*(?:\]|\Z)
      | (?:(?:{_SCHEMES})\s+)?
        (?: [\w.-]+=\S+(?:(?<=[,;])\s+[\w.-]+=\S+)*           # the parameters of a header: a=b; c=d
          | [^\s&]*[^\s&,;"'}}\])>] ) )
    """
)
_BEARER = re.compile(r"(?i)\b(bearer(?:\s+token)?[\s:=]+)[\w.~+/=-]{6,}")
_BASIC = re.compile(r"\b((?i:basic)\s+)(?=[\w+/-]*[\dA-Z=+/])[\w+/=-]{6,}")
_SHAPES = re.compile(
    r"""(?x)(?<![\w-])(?:
      sk-(?=[\w-]*\d)[\w-]{8,} | (?:sk|pk|rk)_(?:live|test)_\w{8,} | gh[oprsu]_\w{16,} | github_pat_\w{16,}
    | glpat-[\w-]{12,} | xox[abeoprs]-[\w-]{8,} | (?:AKIA|ASIA)[A-Z0-9]{12,} | AIza[\w-]{20,} | hf_\w{16,} | gsk_\w{16,}
    | pcsk_\w{16,} | nvapi-[\w-]{16,} | npm_\w{16,} | pypi-[\w-]{16,} | ya29\.[\w.-]{16,} | SG\.[\w-]{8,}\.[\w-]{8,}
    | eyJ[\w-]{6,}\.[\w-]{6,}(?:\.[\w-]*)? )"""
)
_REGISTERED: set[str] = set()


def register_secret(value: str) -> None:
    """Mask a value from now on wherever text is masked, also as JSON, Python or a URL writes it."""
    parts = [value.strip(), *(line.strip() for line in value.splitlines() if len(line.strip()) >= MIN_LINE_LENGTH)]
    for part in parts:
        if len(part) >= MIN_SECRET_LENGTH:
            forms = (part, json.dumps(part)[1:-1], repr(part)[1:-1], quote(part, safe=""), quote_plus(part))
            _REGISTERED.update(forms)


def register_references(text: str) -> None:
    """Register the value of every environment variable that a text refers to as ``${NAME}``."""
    for name in _REFERENCE.findall(text):
        register_secret(os.environ.get(name, ""))


def mask_secrets(text: str) -> str:
    """A text without secrets: registered values, and what looks like one."""
    for value in sorted(_REGISTERED, key=len, reverse=True):  # one may be a part of another
        text = text.replace(value, MASK)
    text = _PRIVATE_KEY.sub(MASK, text)
    text = _URL_QUERY.sub(rf"\1{MASK}", _URL_USER.sub("://", text))
    text = _ASSIGNED.sub(rf"\1{MASK}", _HEADERS.sub(rf"\1{{{MASK}}}", text))
    return _SHAPES.sub(MASK, _BASIC.sub(rf"\1{MASK}", _BEARER.sub(rf"\1{MASK}", text)))


def mask_values(value: Any, clean: Callable[[str], str] = mask_secrets) -> Any:
    """Structured data in which every text is cleaned, and everything under the name of a secret is masked."""
    if isinstance(value, Mapping):
        return {key: _masked(inner, key) or mask_values(inner, clean) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [mask_values(inner, clean) for inner in value]
    return clean(value) if isinstance(value, str) else value


def _masked(value: Any, key: object) -> Any:
    """What is under the name of a secret, masked; None under any other name, and if nothing is there."""
    if _HEADERS_KEY.search(str(key)) and isinstance(value, Mapping):
        return {name: text if _OPEN_HEADER.match(str(name)) else _mask_all(text) for name, text in value.items()}
    return _mask_all(value) if _SECRET_KEY.search(str(key)) or _HEADERS_KEY.search(str(key)) else None


def _mask_all(value: Any) -> Any:
    """A mask for each value: how many there are is not a secret, nor is the name of an environment variable."""
    if isinstance(value, Mapping):
        return {key: _mask_all(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_mask_all(inner) for inner in value]
    is_open = value is None or isinstance(value, bool) or value == "" or _ONLY_REFERENCE.fullmatch(str(value))
    return value if is_open else MASK


def error_text(error: BaseException) -> str:
    """An error of foreign code for a message or a report: its type and the first line of its text, masked."""
    name, line = type(error).__name__, error_message(error)
    return f"{name}: {line}" if line else name


def error_message(error: BaseException) -> str:
    """The first line of an error's text, masked and shortened."""
    try:
        text = str(error)
    except Exception:  # foreign code again
        return ""
    line = mask_secrets(next((line.strip() for line in text.splitlines() if line.strip()), ""))
    return line if len(line) <= MAX_ERROR_CHARACTERS else f"{line[:MAX_ERROR_CHARACTERS]}{MASK}"
