"""The page of the Python API, from signatures and docstrings: every public name, once."""

from __future__ import annotations

import dataclasses
import inspect
import re
from importlib import import_module
from typing import Any

NAMESPACES = (
    "rankgauge",
    "rankgauge.evaluation",
    "rankgauge.distributed.spark",
    "rankgauge.comparison",
    "rankgauge.stats",
    "rankgauge.measures",
    "rankgauge.io",
    "rankgauge.validation",
    "rankgauge.config",
    "rankgauge.retrieval",
    "rankgauge.lists",
    "rankgauge.rag",
    "rankgauge.labels",
    "rankgauge.adapters",
    "rankgauge.report",
    "rankgauge.history",
    "rankgauge.render",
    "rankgauge.benchmark",
    "rankgauge.errors",
)
MAX_ONE_LINE = 100


def api_page(header: str) -> str:
    """One section per namespace; a name of the top level is documented there and linked from its namespace."""
    lines = ["# Python API", "", header, ""]
    lines += [
        "Everything below is public; anything else may change without notice. Names are imported on first use.",
        "",
    ]
    documented: dict[int, str] = {}
    for namespace in NAMESPACES:
        module = import_module(namespace)
        lines += [f"## {namespace}", "", _first_sentence(module), ""]
        elsewhere = []
        for name in public_names(namespace):
            value = getattr(module, name)
            if id(value) in documented:
                elsewhere.append(f"`{documented[id(value)]}`")
                continue
            documented[id(value)] = f"{namespace}.{name}"
            lines += [f"### {name}", "", *_entry(name, value), ""]
        if elsewhere:
            lines += [f"Also here, documented above: {', '.join(elsewhere)}.", ""]
    return "\n".join(lines)


def public_names(namespace: str) -> list[str]:
    """The names that a namespace lists in ``__all__``; of the errors, every class."""
    module = import_module(namespace)
    if namespace == "rankgauge.errors":
        return [name for name, value in vars(module).items() if _is_own_error(value)]
    return list(module.__all__)


def _is_own_error(value: Any) -> bool:
    return inspect.isclass(value) and issubclass(value, Exception) and value.__module__ == "rankgauge.errors"


def _entry(name: str, value: Any) -> list[str]:
    if inspect.isclass(value):
        return [*_signature(name, value), *_doc(value), *_members(value)]
    if callable(value):
        return [*_signature(name, value), *_doc(value)]
    return [f"`{value!r}`", "", *_doc(value)]


def _signature(name: str, value: Any) -> list[str]:
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return []
    if inspect.isclass(value) and issubclass(value, Exception):
        return []
    text = f"{name}{_plain(str(signature))}"
    if len(text) > MAX_ONE_LINE:
        parameters = [f"    {_plain(str(parameter))}," for parameter in _with_markers(signature)]
        returns = "" if signature.return_annotation is signature.empty else f" -> {_plain(_returns(signature))}"
        text = "\n".join([f"{name}(", *parameters, f"){returns}"])
    return ["```text", text, "```", ""]


def _with_markers(signature: inspect.Signature) -> list[str]:
    """The parameters as text, with the star before keyword-only ones."""
    out, starred = [], False
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            starred = True
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            out.append("*")
            starred = True
        out.append(str(parameter))
    return out


def _returns(signature: inspect.Signature) -> str:
    annotation = signature.return_annotation
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))


def _plain(text: str) -> str:
    """Annotations without quotes and module paths, defaults without addresses."""
    text = re.sub(r": '([^']*)'", r": \1", text)
    text = re.sub(r"-> '([^']*)'", r"-> \1", text)
    return re.sub(r"<factory>", "…", re.sub(r"<(?:function|class) [^>]*>|<[\w.]+ object at [^>]*>", "…", text))


def _doc(value: Any) -> list[str]:
    paragraphs = (inspect.getdoc(value) or "").split("\n\n")
    return "\n\n".join(
        f"```pycon\n{paragraph}\n```" if paragraph.startswith(">>>") else _markdown(paragraph)
        for paragraph in paragraphs
    ).splitlines()


def _members(value: type) -> list[str]:
    """The documented methods and properties that the class defines itself, one line each."""
    skipped = {field.name for field in dataclasses.fields(value)} if dataclasses.is_dataclass(value) else set()
    lines = []
    for name, member in vars(value).items():
        if name.startswith("_") or name in skipped:
            continue
        function = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
        doc = inspect.getdoc(function)
        if not doc:
            continue
        call = f"{name}()" if inspect.isfunction(function) else name
        lines.append(f"- `{call}`: {_markdown(doc.splitlines()[0])}")
    return ["", *lines] if lines else []


def _first_sentence(module: Any) -> str:
    return _markdown((inspect.getdoc(module) or "").split("\n\n")[0].replace("\n", " "))


def _markdown(text: str) -> str:
    return re.sub(r":\w+:`([^`]*)`", r"`\1`", text).replace("``", "`")
