from rankgauge.adapters.pipeline.gate_efficiency import gate_efficiency as gate_efficiency
from rankgauge.adapters.pipeline.pipeline_log import evaluate_pipeline as evaluate_pipeline
from rankgauge.adapters.pipeline.reranking import reranking_improvement as reranking_improvement
from rankgauge.adapters.pipeline.routing_accuracy import routing_accuracy as routing_accuracy
from rankgauge.adapters.story.retrieval_quality import RetrievalQuality as RetrievalQuality
from rankgauge.adapters.story.retrieval_quality import retrieval_quality as retrieval_quality
from rankgauge.adapters.story.story import Story as Story
from rankgauge.adapters.story.story import read_story as read_story

__all__: list[str]
