from rankgauge.config.retriever_settings import RetrieverCalls as RetrieverCalls
from rankgauge.rag.cases import read_cases as read_cases
from rankgauge.rag.evaluator import RetrievalEvaluator as RetrievalEvaluator
from rankgauge.rag.live import evaluate_retriever as evaluate_retriever
from rankgauge.rag.live import evaluate_retriever_async as evaluate_retriever_async
from rankgauge.rag.retrieval_result import QueryMetrics as QueryMetrics
from rankgauge.rag.retrieval_result import RetrievalResult as RetrievalResult
from rankgauge.retrieval.asking.documents import Document as Document

__all__: list[str]
