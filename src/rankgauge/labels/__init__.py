"""Labels: which documents to judge, judging them, and how far the judgments can be trusted.

pooling        which documents to judge; strata and move_to_front are two of the strategies
texts          pooled documents with their texts, and the file of a pool
records        the lines of pools and judgments; reading and judgment_file read and write them
judged         what is judged already
session        one assessor's work in the terminal
machine        judging by a program: judges opens one, verdicts reads its answers
raters         who judged what; agreement compares them
estimates      measures from machine labels and a sample of human ones (prediction-powered)
gold/          labels by text: quotes and spans that survive another chunking
stamping       labels with the hash of the text that was judged; validation.label_rot checks them
export         judgments of a uniform sample as qrels for infAP
sampled        measures from a random sample of each query's documents; sampled_means over queries
"""

from rankgauge.core.lazy import attach

__getattr__, __dir__ = attach(__name__, __file__)
