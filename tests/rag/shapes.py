"""Documents in the shapes of the libraries that people use, without the libraries."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class LangChainDocument:
    """langchain_core.documents.Document: the id is None unless somebody sets it."""

    page_content: str
    metadata: dict[str, Any] = field(default_factory=dict)
    id: str | None = None


@dataclass
class TextNode:
    """llama_index.core.schema.TextNode."""

    id_: str
    text: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)
    ref_doc_id: str | None = None

    @property
    def node_id(self) -> str:
        return self.id_


@dataclass
class NodeWithScore:
    """llama_index.core.schema.NodeWithScore."""

    node: TextNode
    score: float | None = None
