"""Secrets, and how they are kept out of everything that is printed, stored or shared.

A report is shared, and an error of foreign code can quote the request that failed. Two things are masked: what looks
like a secret (headers, tokens, keys, passwords, the user of a URL), and every value that was registered, such as that
of an environment variable which a configuration refers to. Text that is neither cannot be recognized.

A part of a secret cannot be recognized either, so text is masked before it is shortened: :func:`mask_start` is the only
way from a text that may quote a secret to the start of it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

MASK = "…"
MIN_SECRET_LENGTH = 4  # a shorter value, such as 1, appears everywhere
MIN_LINE_LENGTH = 8  # of one line of a value that has several
MAX_ERROR_CHARACTERS = 300
MAX_OPEN_CHARACTERS = 4096  # of what looks like a secret only once its end is seen, such as the user of a URL
MAX_NOTATION = 12  # the longest notation of one character: a surrogate pair in JSON

SECRET_NAME_ENDS = ("authorization", "cookie", "key", "token", "secret", "password")  # of headers and parameters
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
_PRIVATE_KEY = re.compile(r"(?s)-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z)")
_URL_USER = re.compile(r"""://(?:[^\s:/@"'<>]{0,100}:(?!\d+(?:[/?\#]|\b))[^\s"'<>]{0,200}@|[^\s/?\#"'<>]*@)""")
_URL_QUERY = re.compile(
    r"""(?ix)([?&;](?:[\w.-]*-)?(?:key|sig|signature|auth|code|credential|pass|pw|sas|sid|session)=)[^\s&\#"'<>]+"""
)
_HEADERS = re.compile(r"""(?ix)(\bheaders["']?\s*(?:[=:]\s*)?(?:\w{1,40}\()?)(?:\{[^}]*(?:\}|\Z)|\[[^\]]*(?:\]|\Z))""")
_ASSIGNED = re.compile(rf"""(?isx)
    ((?:{_NAMES}|(?<!\w)auth(?==)) (?![\w-])
        (?: \\*["']?\s*[=:]\s* | \\*["']\s*,\s* ))            # name: value, "name": value, ("name", value)
    (?: b?\\+"[^"]*(?:"|\Z) | b?\\+'[^']*(?:'|\Z)             # quoted within a quoted text
      | b?"(?:[^"\\]|\\.)*(?:"|\\?\Z) | b?'(?:[^'\\]|\\.)*(?:'|\\?\Z)
      | \([^)]*(?:\)|\Z) | \[[^\]]*(?:\]|\Z)
      | (?:(?:{_SCHEMES})\s+)?
        (?: [\w.-]+=\S+(?:(?<=[,;])\s+[\w.-]+=\S+)*           # the parameters of a header: a=b; c=d
          | [^\s&]*[^\s&,;"'}}\])>] ) )
    """)
_BEARER = re.compile(r"(?i)\b(bearer(?:\s+token)?[\s:=]+)[\w.~+/=-]{6,}")
_BASIC = re.compile(r"\b((?i:basic)\s+)(?=[\w+/-]*[\dA-Z=+/])[\w+/=-]{6,}")
_SHAPES = re.compile(r"""(?x)(?<![\w-])(?:
      sk-(?=[\w-]*\d)[\w-]{8,} | (?:sk|pk|rk)_(?:live|test)_\w{8,} | gh[oprsu]_\w{16,} | github_pat_\w{16,}
    | glpat-[\w-]{12,} | xox[abeoprs]-[\w-]{8,} | (?:AKIA|ASIA)[A-Z0-9]{12,} | AIza[\w-]{20,} | hf_\w{16,} | gsk_\w{16,}
    | pcsk_\w{16,} | nvapi-[\w-]{16,} | npm_\w{16,} | pypi-[\w-]{16,} | ya29\.[\w.-]{16,} | SG\.[\w-]{8,}\.[\w-]{8,}
    | eyJ[\w-]{6,}\.[\w-]{6,}(?:\.[\w-]*)? )""")
# A pattern, what replaces its matches, and words of which a text with a match has one: to look for those is quick.
_RULES = (
    (_PRIVATE_KEY, MASK, ("-----begin ",)),
    (_URL_USER, "://", ("://",)),
    (_URL_QUERY, rf"\1{MASK}", ("key=", "sig", "auth=", "code=", "credential=", "pass=", "pw=", "sas=", "sid=",
                                "session=")),
    (_HEADERS, rf"\1{{{MASK}}}", ("headers",)),
    (_ASSIGNED, rf"\1{MASK}", ("token", "secret", "passw", "passp", "pwd", "credential", "key", "auth", "cookie",
                               "session", "connection", "signature", "jwt")),
    (_BEARER, rf"\1{MASK}", ("bearer",)),
    (_BASIC, rf"\1{MASK}", ("basic",)),
    (_SHAPES, MASK, ("sk-", "k_live_", "k_test_", "gh", "glpat-", "xox", "akia", "asia", "aiza", "hf_", "gsk_", "pcsk_",
                     "nvapi-", "npm_", "pypi-", "ya29.", "sg.", "eyj")),
)  # fmt: skip

# How a character can be written in base64 or in HTML, besides the notations that all characters have.
_BASE64_SIGNS = {"+": "-", "/": "_"}
_BASE64_SHARED = r"(?:[\w+/-]|%(?:25)*2[bBfF])?"
_BASE64_END = r"(?:=|%(?:25)*3[dD])*"
_NAMED_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
_LETTER_ESCAPES = {"\a": "a", "\b": "b"}
_BACKSLASHES = r"\\*+"
_UNITS = re.compile(r"(?s)\s+|\\+|.")

_REGISTERED: set[str] = set()
_IGNORED: ContextVar[bool] = ContextVar("registered_secrets_ignored", default=False)


def register_secret(value: str) -> None:
    """Mask a value from now on wherever text is masked, also as JSON, Python, a URL, HTML or base64 writes it.

    The password of a URL is a secret of its own, and so is each long line of a value.
    """
    parts = [value.strip(), *(line.strip() for line in value.splitlines() if len(line.strip()) >= MIN_LINE_LENGTH)]
    password = value.partition("://")[2].rpartition("@")[0].partition(":")[2]
    if password:
        from urllib.parse import unquote

        parts += [password, unquote(password)]
    _REGISTERED.update(part for part in parts if len(part) >= MIN_SECRET_LENGTH)


def register_references(text: str) -> None:
    """Register the value of every environment variable that a text refers to as ``${NAME}``."""
    for name in _REFERENCE.findall(text):
        register_secret(os.environ.get(name, ""))


@contextmanager
def registered_secrets_ignored() -> Iterator[None]:
    """Mask only what looks like a secret, for results that must depend on stored files alone.

    What was stored is masked already. The same files give the same results whatever the environment is.
    """
    token = _IGNORED.set(True)
    try:
        yield
    finally:
        _IGNORED.reset(token)


def mask_secrets(text: str) -> str:
    """A text without secrets: registered values, and what looks like one."""
    if _REGISTERED and not _IGNORED.get():
        for value in sorted(_REGISTERED, key=len, reverse=True):  # one may be a part of another
            text = _notations_of(value).sub(MASK, text)
    folded = text.casefold()  # masking adds no word
    for pattern, replacement, words in _RULES:
        if any(word in folded for word in words):
            text = pattern.sub(replacement, text)
    return text


def mask_start(text: str | bytes, limit: int) -> str:
    """At most ``limit`` characters from the start of a masked text; bytes that are not UTF-8 are surrogates.

    Only a window of a long text is masked. It may cut a secret in two, but that is beyond what is returned.
    """
    reach = max(MAX_OPEN_CHARACTERS, MAX_NOTATION * max(map(len, _REGISTERED), default=0))
    size = 4 * limit + reach
    while True:
        window = text[:size]
        masked = mask_secrets(window if isinstance(window, str) else window.decode("utf-8", "surrogateescape"))
        if size >= len(text) or len(masked) >= limit + reach:
            return masked[:limit]
        size *= 2


def first_line(text: str | bytes, limit: int) -> str:
    """The first line of a text that is not blank, masked and shortened."""
    start = mask_start(text.lstrip(), limit + 1)
    line = next(iter(start.splitlines()), "").strip()
    return line if len(line) <= limit else f"{line[:limit]}{MASK}"


@lru_cache(maxsize=1024)
def _notations_of(value: str) -> re.Pattern[str]:
    """A pattern for a registered value in any notation."""
    return re.compile(
        "|".join([f"(?i:{_in_any_notation(value)})", *(_in_base64(value, before) for before in range(3))])
    )


def _in_any_notation(value: str) -> str:
    """A pattern for a value as it is, or partly or wholly escaped, also several times over; white space may be folded.

    Every repetition is of one kind of sign, and possessive or bounded by another, so that a search takes linear time.
    """
    units = _UNITS.findall(value)
    return _notations(units[0], r"\\") + "".join(_notations(unit, _BACKSLASHES) for unit in units[1:])


def _notations(unit: str, backslashes: str) -> str:
    """A pattern for a character, or for a run of backslashes or of white space, as any notation writes it."""
    character, code = unit[0], ord(unit[0])
    if character.isascii() and character.isalnum():
        return unit  # no notation escapes it
    if character.isspace():
        signs = sorted(set(unit))
        spaces = "|".join(rf"u{_hex(ord(sign), 4)}|x{_hex(ord(sign) & 0xFF, 2)}" for sign in signs)
        return rf"(?:[\s+]|{'|'.join(map(_percent, [*signs, '+']))}|\\++(?:[nrtvf]|{spaces}))+"
    utf16 = character.encode("utf-16-be", "surrogatepass")
    numbers = [_hex(int.from_bytes(utf16[at : at + 2], "big"), 4) for at in range(0, len(utf16), 2)]
    escapes = [rf"\\*+u{number}" for number in numbers]
    escapes[0] = f"u{numbers[0]}"
    named = [_NAMED_ESCAPES[character]] if character in _NAMED_ESCAPES else []
    sign, run = (r"(?<!\\)\\++", "++") if character == "\\" else (re.escape(character), "")
    forms = [
        sign,
        rf"{backslashes}(?:{'|'.join([sign, ''.join(escapes), f'x{_hex(code & 0xFF, 2)}', f'U{_hex(code, 8)}'])})",
        *([rf"{backslashes}{_LETTER_ESCAPES[character]}"] if character in _LETTER_ESCAPES else []),
        *(f"(?:{form}){run}" for form in (_percent(character), f"&#0*{code};", f"&#[xX]0*{_hex(code, 1)};")),
        *named,
    ]
    return f"(?:{'|'.join(forms)})"


def _percent(character: str) -> str:
    return "".join(f"%(?:25)*{_hex(byte, 2)}" for byte in character.encode("utf-8", "surrogateescape"))


def _hex(code: int, digits: int) -> str:
    """A pattern for a hexadecimal number in either case."""
    return "".join(digit if digit.isdigit() else f"[{digit}{digit.upper()}]" for digit in f"{code:0{digits}x}")


def _in_base64(value: str, before: int) -> str:
    """A pattern for a value in base64, also for URLs, with ``before`` bytes more than a multiple of three before it.

    A character that a byte beside the value shares with it is masked too.
    """
    from base64 import b64encode

    content = value.encode("utf-8", "surrogateescape")
    end = before + len(content)
    inner = b64encode(b"\0" * before + content + b"\0" * (-end % 3)).decode("ascii")
    inner = inner[(8 * before + 5) // 6 : 8 * end // 6]
    signs = "".join(
        f"(?:{_notations(sign, _BACKSLASHES)}|{_BASE64_SIGNS[sign]})" if sign in _BASE64_SIGNS else sign
        for sign in inner
    )
    return f"{_BASE64_SHARED if before else ''}{signs}{_BASE64_SHARED + _BASE64_END if end % 3 else ''}"


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


def is_secret_name(name: str) -> bool:
    """Whether a header or a parameter of a URL holds a secret, by its name."""
    return name.lower().endswith(SECRET_NAME_ENDS)


def public_url(url: str) -> str:
    """The address without user, password, and parameters that are secrets."""
    from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit  # which most commands do without

    parts = urlsplit(url)
    query = urlencode([(name, value) for name, value in parse_qsl(parts.query, True) if not is_secret_name(name)])
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, query, ""))


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
    return first_line(text, MAX_ERROR_CHARACTERS)
