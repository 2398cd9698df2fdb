"""The sections of servers that a retriever can be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, JsonValue, model_validator
from pydantic_core import PydanticCustomError

from rankgauge.config.filling import RequestTemplate, parse_text
from rankgauge.config.sections import ConfigSection, Text, section_fault
from rankgauge.config.selectors import parse_selector
from rankgauge.config.templates import resolved_values, template_names
from rankgauge.errors import UsageError, shown

Method = Literal["GET", "POST", "PUT"]
SECRET_HEADERS = ("authorization", "cookie", "key", "token", "secret", "password")  # how their names end
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
TemplateText = Annotated[str, _checked(parse_text, "text with {query}, {k} or {vector}")]
Address = Annotated[str, _checked(_check_address, "the URL of a server")]
Body = Annotated[JsonValue, _checked(_check_template, "JSON with {query}, {k} or {vector}")]


class HttpSection(ConfigSection):
    """A search server that is asked over HTTP; ``${NAME}`` in a text is an environment variable."""

    template: Text | None = Field(
        default=None, description="A template that comes with rankgauge, such as opensearch-bm25."
    )
    settings: dict[str, JsonValue] | None = Field(default=None, description="The settings of the template, by name.")
    method: Method | None = Field(
        default=None, description="The HTTP method. By default, POST with a body, GET without one."
    )
    url: Address | None = Field(default=None, description="The URL; {query} and {k} in it are percent-encoded.")
    headers: dict[str, str] | None = Field(default=None, description="Headers; write a secret as ${NAME}.")
    params: dict[str, TemplateText | int | float | bool] | None = Field(
        default=None, description="The query string of the URL."
    )
    body: Body | None = Field(default=None, description="JSON in which {query}, {k}, and {vector} are replaced.")
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
            if name.lower().endswith(SECRET_HEADERS) and "${" not in value:
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
