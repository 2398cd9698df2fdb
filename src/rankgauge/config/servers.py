"""Servers that are searched: the sections of HTTP and PostgreSQL retrievers, and shipped templates of requests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, JsonValue, model_validator
from pydantic_core import PydanticCustomError

from rankgauge.config.json_paths import parse_selector
from rankgauge.config.request_templates import CASE, Placeholder, RequestTemplate, escape_braces, parse_text
from rankgauge.config.retriever_settings import DEFAULT_SETTINGS
from rankgauge.config.section_model import ConfigSection, Text, section_fault
from rankgauge.errors import UsageError, shown
from rankgauge.io.formats.yaml_text import load_yaml
from rankgauge.secrets import is_secret_name

Method = Literal["GET", "POST", "PUT"]
DEFAULT_MAX_RESPONSE_BYTES = 16 << 20


def _checked(check: Callable[[Any], object], expected: str) -> AfterValidator:
    """A validator that says why a value is not what was expected."""

    def validate(value: Any) -> Any:
        try:
            check(value)
        except UsageError as error:
            reason = {"expected": expected, "reason": error.message}
            raise PydanticCustomError("text", "{expected} ({reason})", reason) from None
        return value

    return AfterValidator(validate)


def _check_template(value: Any) -> None:
    """Raise unless every text of a JSON value is a valid template."""
    if isinstance(value, str):
        parse_text(value)
    elif isinstance(value, dict):
        for key, inner in value.items():
            parse_text(key)
            _check_template(inner)
    elif isinstance(value, list):
        for inner in value:
            _check_template(inner)


def _check_address(text: str) -> None:
    parse_text(text)
    if not text.startswith(("http://", "https://", "${")):
        raise UsageError("it starts with neither http:// nor https://")


Path = Annotated[str, _checked(parse_selector, "a path such as hits.hits or $.matches[*].id")]
TemplateText = Annotated[str, _checked(parse_text, "text with {query}, {k}, {vector} or {case.FIELD}")]
Address = Annotated[str, _checked(_check_address, "the URL of a server")]
Body = Annotated[JsonValue, _checked(_check_template, "JSON with {query}, {k}, {vector} or {case.FIELD}")]


class HttpSection(ConfigSection):
    """A search server that is asked over HTTP; ``${NAME}`` in a text is an environment variable."""

    template: Text | None = Field(
        default=None, description="A template that comes with rankgauge, such as opensearch-bm25."
    )
    settings: dict[str, JsonValue] | None = Field(default=None, description="The settings of the template, by name.")
    method: Method | None = Field(
        default=None, description="The HTTP method. By default, POST with a body, GET without one."
    )
    url: Address | None = Field(
        default=None, description="The URL; {query}, {k} and {case.FIELD} in it are percent-encoded."
    )
    headers: dict[str, str] | None = Field(default=None, description="Headers; write a secret as ${NAME}.")
    params: dict[str, TemplateText | int | float | bool] | None = Field(
        default=None, description="The query string of the URL."
    )
    body: Body | None = Field(
        default=None,
        description="JSON in which {query}, {k}, {vector} and {case.FIELD}, a field of the test case, are replaced.",
    )
    results: Path | None = Field(
        default=None, description="The path to the list of results. Without it, the other paths start at the top."
    )
    id: Path | None = Field(default=None, description="The path of the id within a result. The default is id.")
    score: Path | None = Field(default=None, description="The path of the score. Without it, only the order counts.")
    text: Path | None = Field(default=None, description="The path of the text.")
    require: dict[Path, JsonValue] | None = Field(
        default=None, description="Values that a response must have, by path; with any other value, the query fails."
    )
    embedder: Text | None = Field(default=None, description="The embedder for {vector}, as in --embedder.")
    verify: bool | Text = Field(
        default=True, description="Whether to check the certificate, or a file of trusted certificates."
    )
    redirects: bool = Field(
        default=False, description="Whether to follow redirects. Another origin gets none of the headers."
    )
    max_connections: Annotated[int, Field(ge=1)] = Field(default=100, description="Maximum number of open connections.")
    max_response_bytes: Annotated[int, Field(ge=1)] = Field(
        default=DEFAULT_MAX_RESPONSE_BYTES, description="Maximum size of a response, also when it is decompressed."
    )

    @model_validator(mode="before")
    @classmethod
    def _one_timeout(cls, data: Any) -> Any:
        """There is one timeout, that of the retriever."""
        if isinstance(data, dict) and "timeout" in data:
            raise section_fault(
                ("timeout",), "'timeout' beside 'http', not in it: it covers the whole call", "it in 'http'"
            )
        return data

    @model_validator(mode="after")
    def _complete(self) -> HttpSection:
        """Everything that a request needs is there, and secrets come from the environment."""
        for name, value in (self.headers or {}).items():
            if is_secret_name(name) and "${" not in value:
                raise section_fault(("headers", name), f"${{NAME}}, an environment variable, as {name}", "plain text")
        address = urlsplit(self.url or "")
        if "@" in address.netloc and "${" not in address.netloc:
            raise section_fault(("url",), "${NAME}, an environment variable, as user and password", "a user in the URL")
        if self.template is not None and self.template not in template_names():
            raise section_fault(("template",), f"one of {', '.join(template_names())}", shown(self.template))
        try:
            complete = self.resolved()
        except UsageError as error:
            raise section_fault(("settings",), "the settings of a template", error.message) from None
        complete._check_request()
        return self

    def _check_request(self) -> None:
        """Raise unless a resolved section can be asked."""
        if self.url is None:
            raise section_fault(("url",), "the key 'url', or a 'template'", "nothing")
        has_vector = "vector" in RequestTemplate([self.url, self.params, self.body]).placeholders
        if has_vector and self.embedder is None:
            raise section_fault(("embedder",), "the key 'embedder', which makes {vector}", "nothing")
        if self.embedder is not None and not has_vector:
            raise section_fault(("embedder",), "{vector} in the request, for the embedder", "none")
        for name in ("id", "score", "text"):
            path = getattr(self, name)
            if path is None or parse_selector(path).is_list is (self.results is None):
                continue
            expected = "a path within a result, without [*]" if self.results else "'results', or a path with [*]"
            raise section_fault((name,), expected, path)
        if self.results is None and self.id is None:
            raise section_fault(("results",), "the key 'results', the path of the list of results", "nothing")

    def resolved(self) -> HttpSection:
        """The section with the values of its template, which the keys of the section override."""
        if self.template is None:
            if self.settings:
                raise UsageError("settings without a template", hint="name the template: template: opensearch-bm25")
            return self
        own = self.model_dump(exclude_none=True, exclude={"template", "settings"})
        return HttpSection.model_validate({**resolved_values(self.template, self.settings or {}), **own})


# The shipped templates of search servers: the request and the paths of the answer, with a few settings.
#
# In a template, ``<name>`` is the value of a setting: a text that is exactly that becomes the value, of any type, and
# its key is left out if the setting has no value.

SUFFIX = ".yaml"
TEMPLATE_KEYS = ("url", "params", "body")  # whose text has placeholders, so that braces in a setting are escaped
ADDRESS_SETTING = "url"
_TYPES: dict[str, tuple[type, ...]] = {"text": (str,), "number": (int, float), "texts": (list,), "flag": (bool,)}


class TemplateSetting(ConfigSection):
    """A setting of a template; one that is not required and has no default can be left out."""

    meaning: Text
    type: Literal["text", "number", "texts", "flag", "fields"] = "text"
    default: JsonValue = None
    required: bool = False


class ServerTemplate(ConfigSection):
    """A shipped template."""

    summary: Text
    settings: dict[str, TemplateSetting]
    http: dict[str, JsonValue] = Field(description="The keys of an HTTP section.")


@cache
def template_names() -> tuple[str, ...]:
    """The names of the shipped templates."""
    folder = files("rankgauge") / "data" / "templates"
    return tuple(sorted(file.name.removesuffix(SUFFIX) for file in folder.iterdir() if file.name.endswith(SUFFIX)))


@cache
def load_template(name: str) -> ServerTemplate:
    """The template of a name."""
    file = files("rankgauge") / "data" / "templates" / (name + SUFFIX)
    return ServerTemplate.model_validate(load_yaml(file.read_bytes(), file.name).data)


def resolved_values(name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of an HTTP section, from a template and its settings."""
    template = load_template(name)
    unknown = next((setting for setting in settings if setting not in template.settings), None)
    if unknown is not None:
        raise UsageError(f"the template {name} has no setting {shown(unknown)}; it has {', '.join(template.settings)}")
    values = {}
    for setting, definition in template.settings.items():
        value = settings.get(setting)
        value = definition.default if value is None else value
        if value is None and definition.required:
            raise UsageError(f"the template {name} needs the setting '{setting}': {definition.meaning}")
        if value is not None and not _has_type(value, definition.type):
            raise UsageError(
                f"the setting '{setting}' must be {_expected(definition.type)}, found {shown(repr(value))}"
            )
        values[setting] = value.rstrip("/") if setting == ADDRESS_SETTING and isinstance(value, str) else value
    return {key: _replace(value, values, escape=key in TEMPLATE_KEYS) for key, value in template.http.items()}


def _has_type(value: Any, type_name: str) -> bool:
    if type_name == "fields" and isinstance(value, bool):
        return True
    expected = _TYPES["texts" if type_name == "fields" else type_name]
    if not isinstance(value, expected) or (isinstance(value, bool) and bool not in expected):
        return False
    return not isinstance(value, list) or (bool(value) and all(isinstance(item, str) and item for item in value))


def _expected(type_name: str) -> str:
    names = {"text": "text", "number": "a number", "texts": "a list of texts", "flag": "true or false"}
    return names.get(type_name, "a list of texts, true or false")


def _replace(value: Any, settings: Mapping[str, Any], *, escape: bool) -> Any:
    if isinstance(value, str):
        return _replace_text(value, settings, escape=escape)
    if isinstance(value, list):
        return [_replace(inner, settings, escape=escape) for inner in value]
    if not isinstance(value, dict):
        return value
    kept = {key: inner for key, inner in value.items() if not _is_absent(inner, settings)}
    return {
        str(_replace_text(key, settings, escape=escape)): _replace(inner, settings, escape=escape)
        for key, inner in kept.items()
    }


def _is_absent(value: Any, settings: Mapping[str, Any]) -> bool:
    """Whether a value is only the mark of a setting without a value."""
    return any(value == f"<{name}>" for name, setting in settings.items() if setting is None)


def _replace_text(text: str, settings: Mapping[str, Any], *, escape: bool) -> Any:
    """A text with the values of its marks."""
    parts: list[str] = []
    position = 0
    while (start := text.find("<", position)) >= 0:
        end = text.index(">", start)
        value = settings[text[start + 1 : end]]
        if start == 0 and end == len(text) - 1 and not isinstance(value, str):
            return value
        parts += [text[position:start], escape_braces(str(value)) if escape else str(value)]
        position = end + 1
    return "".join([*parts, text[position:]])


# The section of a retriever that searches PostgreSQL.

MAX_IDENTIFIER_BYTES = 63  # PostgreSQL shortens longer names without an error
PostgresKind = Literal["lexical", "vector", "vector-hnsw", "hybrid", "hybrid-hnsw"]
PostgresDistance = Literal["cosine", "l2", "inner-product"]


def _check_identifier(name: str) -> str:
    """A name of a table or column as PostgreSQL stores it; it is always quoted, so every other character is valid."""
    if not 0 < len(name.encode("utf-8", "replace")) <= MAX_IDENTIFIER_BYTES or "\0" in name:
        raise PydanticCustomError("identifier", f"a name of 1 to {MAX_IDENTIFIER_BYTES} bytes")
    return name


def _check_table(name: str) -> str:
    parts = name.split(".")
    if len(parts) > 2:
        raise PydanticCustomError("identifier", "TABLE or SCHEMA.TABLE")
    for part in parts:
        _check_identifier(part)
    return name


def _check_condition(text: str) -> str:
    """A condition of SQL whose only placeholders are fields of test cases."""
    try:
        names = [part.name for part in parse_text(text) if isinstance(part, Placeholder)]
        other = next((f"{{{name}}}" for name in names if not name.startswith(CASE)), None)
        reason = "it is empty" if not text.strip() else f"{other} is not a field of a test case" if other else None
    except UsageError as error:
        reason = error.message
    if reason is not None:
        raise PydanticCustomError("text", "a condition of SQL ({reason})", {"reason": reason})
    return text


Column = Annotated[str, AfterValidator(_check_identifier)]
Condition = Annotated[str, AfterValidator(_check_condition)]
Table = Annotated[str, AfterValidator(_check_table)]


class PostgresSection(ConfigSection):
    """Full-text and vector search in a table of PostgreSQL; the default columns are those of `rankgauge index`."""

    dsn: Text = Field(description="Connection string, usually from the environment: ${DATABASE_URL}.")
    table: Table = Field(description="TABLE or SCHEMA.TABLE.")
    kind: PostgresKind = Field(
        default="lexical",
        description="lexical, vector (compares every row), vector-hnsw (uses the HNSW index), or hybrid and "
        "hybrid-hnsw, which fuse lexical and vector by rank.",
    )
    id_column: Column = Field(default="id", description="The id of a document, of any type.")
    text_column: Column = Field(default="text", description="The text, which is searched without a tsvector_column.")
    tsvector_column: Column | None = Field(
        default="words", description="The tsvector of the text; null computes it from text_column in every query."
    )
    vector_column: Column = Field(default="embedding", description="The vector, of type vector or halfvec.")
    language: Text = Field(default="english", description="The text search configuration (regconfig).")
    where: Condition | None = Field(
        default=None,
        description="Search only rows that meet a condition of SQL, such as tenant = {case.tenant}; {case.FIELD} is a "
        "field of the test case, sent as a parameter.",
    )
    match: Literal["all", "any"] = Field(
        default="all",
        description="all reads the query with websearch_to_tsquery: every word must match; any: at least one word.",
    )
    rank_normalization: Annotated[int, Field(ge=0, le=63)] = Field(
        default=0, description="The normalization flags of ts_rank_cd."
    )
    embedder: Text | None = Field(
        default=None,
        description="What embeds queries, and documents in `rankgauge index`. Default: wordllama; none for lexical.",
    )
    distance: PostgresDistance = Field(default="cosine", description="How vectors are compared.")
    ef_search: Annotated[int, Field(ge=1, le=1000)] | None = Field(
        default=None, description="hnsw.ef_search. Default: 40, or the number of results if that is larger."
    )
    rrf_k: Annotated[float, Field(gt=0)] = Field(
        default=DEFAULT_SETTINGS.rrf_k, description="The constant of reciprocal rank fusion."
    )
    candidates: Annotated[int, Field(ge=1)] = Field(
        default=100, description="Results of each side that hybrid fuses, at least as many as are requested."
    )
    pool_size: Annotated[int, Field(ge=1)] = Field(default=32, description="Connections at the same time, at most.")
    connect_timeout: Annotated[float, Field(gt=0)] = Field(default=10, description="Seconds to wait for a connection.")
    statement_timeout: Annotated[float, Field(gt=0)] = Field(
        default=30, description="Seconds after which the server cancels a query."
    )

    @property
    def has_vectors(self) -> bool:
        """Whether a search compares vectors."""
        return self.kind != "lexical"

    @property
    def embedder_name(self) -> str | None:
        """The embedder, by default that of the other retrievers; None if nothing is embedded."""
        return self.embedder or ("wordllama" if self.has_vectors else None)
