"""The page of JSON schemas, from their files, and the schema of an EvaluationReport, a part of a BenchmarkReport."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "docs" / "reference" / "schemas"
BENCHMARK, EVALUATION, MANIFEST = "BenchmarkReport", "EvaluationReport", "ExperimentManifest"
WRITTEN = {
    EVALUATION: "`evaluations/NAME.EvaluationReport.json` of a benchmark, and `rankgauge evaluate --format json`",
    BENCHMARK: "`BenchmarkReport.json` of a benchmark",
    MANIFEST: "`ExperimentManifest.json` of a benchmark, and by `evaluate --manifest FILE`",
}
Schema = dict[str, Any]


def evaluation_schema() -> str:
    """The scores of a BenchmarkReport are an EvaluationReport: its schema is that part, with what it refers to."""
    benchmark = _load(BENCHMARK)
    parts = benchmark["$defs"]
    schema = {
        "$schema": benchmark["$schema"],
        "title": EVALUATION,
        "description": "The scores of runs: rankgauge.scores/1. Fields may be added within this version; none is "
        "renamed or removed.",
        **parts["scores"],
        "$defs": {name: parts[name] for name in ("ci", "run")},
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def schemas_page(made: str) -> str:
    """A section for each schema: where it is written, its fields, and the parts that occur in several places."""
    lines = ["# Schemas", "", made, ""]
    lines += [
        "JSON that rankgauge writes has a `schema` field, such as `rankgauge.scores/1`. Within a version, fields may",
        "be added; none is renamed or removed. These three have JSON Schema files, which the tests check against",
        "real output. All other JSON is described in [The JSON of scores](../concepts/json.md). What rankgauge reads",
        "and writes as a log has a schema as well: [the log](log.md).",
        "",
        "In the tables, `a.b` is the field `b` of the object `a`, `a[]` an item of a list, and `a.*` a value under",
        "any key.",
    ]
    for name, schema in ((EVALUATION, json.loads(evaluation_schema())), (BENCHMARK, None), (MANIFEST, None)):
        schema = schema or _load(name)
        lines += ["", f"## {name}", "", schema["description"], ""]
        lines += [f"Written as {WRITTEN[name]}. Schema: [{name}.schema.json](schemas/{name}.schema.json)."]
        lines += ["", *_table(schema)]
        for part, content in schema.get("$defs", {}).items():
            if name == BENCHMARK and part in ("ci", "scores", "run"):
                continue  # those of an EvaluationReport
            lines += ["", f"### {part}", "", *_table(content)]
    return "\n".join(lines) + "\n"


def _load(name: str) -> Schema:
    loaded: Schema = json.loads((FOLDER / f"{name}.schema.json").read_text(encoding="utf-8"))
    return loaded


def _table(schema: Schema) -> list[str]:
    rows = [
        f"| `{path}` | {_type(field)} | {'yes' if required else '–'} | {_meaning(field)} |"
        for path, field, required in _fields(schema)
    ]
    return ["| field | type | always present | |", "|---|---|---|---|", *rows]


def _fields(schema: Schema, prefix: str = "") -> Iterator[tuple[str, Schema, bool]]:
    """Every field by its path; what is described in a section of its own is not opened."""
    for option in schema.get("oneOf", ()):
        yield from _fields(option, prefix)
    for option in schema.get("allOf", ()):
        yield from _fields(option, prefix)
    if schema.get("type") == "array" and isinstance(schema.get("items"), dict):
        yield from _fields(schema["items"], f"{prefix.removesuffix('.')}[].")
    if isinstance(schema.get("additionalProperties"), dict):
        yield from _fields(schema["additionalProperties"], f"{prefix}*.")
    required = schema.get("required", ())
    properties = schema.get("properties", {})
    for name in [*properties, *(name for name in required if name not in properties)]:
        field = properties.get(name, {})
        yield prefix + name, field, name in required
        yield from _fields(field, f"{prefix}{name}.")


def _type(field: Schema) -> str:
    if "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        return f"[{name}](#{'evaluationreport' if name == 'scores' else name})"
    if "const" in field:
        return f"`{json.dumps(field['const'])}`"
    if "oneOf" in field:
        return " or ".join(_type(option) for option in field["oneOf"])
    if field.get("type") == "array" and "$ref" in field.get("items", {}):
        return f"array of {_type(field['items'])}"
    kind = field.get("type", "")
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def _meaning(field: Schema) -> str:
    return str(field.get("description", "")).replace("|", "\\|")
