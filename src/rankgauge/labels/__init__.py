"""Labels: which documents to judge, judging them, and how far the judgments can be trusted.

pooling          which documents to judge, by strategy and budget
pool_files       what a pool leaves out, its texts, its file, and its qrels for infAP
judging_session  one assessor's work in the terminal, and the file that judgments are appended to
machine_judging  judging by a program: every text asked once and kept by its content
judges           open the judge that a text names: a function, or a model behind an address
machine_answers  what a judge answered: a grade, why, and what it cost
assessors        who judged what, and how closely they agree
estimates        measures from few labels: prediction-powered, or from a random sample of each pool
gold/            labels by text: quotes and spans that survive another chunking
"""

from rankgauge.core.public_names import attach

__getattr__, __dir__ = attach(__name__, __file__)
