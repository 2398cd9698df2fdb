"""Record what every command prints and writes for one small data set, to show that a change of code changed nothing.

    python -m scripts.record_outputs BEFORE            # one file per command line
    python -m scripts.record_outputs AFTER
    diff -r BEFORE AFTER

The data set is the bundled collection, with faulty files of every format beside it. Also recorded: every ``--help``,
the public names with their signatures, and what a notebook shows of each result. For rankgauge clocks stand still,
and versions, dates of today and the working folder are replaced, so that two recordings of the same code are the same,
with and without the compiled scanner. Recordings are not kept in the repository.
"""

from __future__ import annotations

import gzip
import hashlib
import inspect
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from rankgauge._version import __version__
from rankgauge.cli.group import LazyGroup, cli
from rankgauge.cli.main import run
from scripts.api_page import NAMESPACES, public_names
from scripts.examples import WIDTH

MAX_NAME = 150  # characters of the name of a recording
MAX_TEXT = 300_000  # characters of an output; of a longer one the digest is recorded
BINARY = {".db", ".sqlite", ".parquet", ".arrow", ".npy", ".npz", ".pkl", ".index"}
EPOCH = "1700000000"  # SOURCE_DATE_EPOCH
GIT = {f"GIT_{who}_{what}": "nobody" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
GIT |= {f"GIT_{who}_DATE": f"{EPOCH} +0000" for who in ("AUTHOR", "COMMITTER")}
GIT |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
VERSIONS = re.compile(r"(\w+==)[\w.+]+|(?<=\"python\": \")[\w.]+")
PACKED = re.compile(r'(<script type="text/plain" id="data">)(.*?)(</script>)', re.DOTALL)
UID = re.compile(r"""(uid["'=: ]+)[0-9a-f]{32}""")  # of an entry of the history: random
MANIFEST_DIGEST = re.compile(r'(\n  "sha256": ")[0-9a-f]{64}("\n\})')  # over the times in it
TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:?\d\d(?::?\d\d)?(?:\.\d+)?(?:Z|\+00:00)?)?")

# Run in order, in one folder: a command may read what an earlier one wrote.
COMMANDS = """
--version
demo --copy workshop
demo -o demo-folder
init
init --force --ci github --install rankgauge
init --force --ci gitlab --install rankgauge
measures
measures nDCG@10
measures 'AP(rel=2)@100'
measures map
measures hit@5
measures nosuch
measures --kpi trec-2025
completion bash
completion zsh
completion fish

convert my.run my.csv
convert my.run my.tsv
convert my.run my.json
convert my.run my.jsonl
convert my.run my.parquet
convert my.run my.arrow
convert my.run my.msmarco --to msmarco
convert my.run my.trec.gz --to trec
convert qrels.txt qrels.csv
convert qrels.txt qrels.tsv
convert qrels.txt qrels.json
convert qrels.txt qrels.jsonl
convert qrels.txt qrels.parquet
convert qrels.txt qrels.arrow
convert qrels.txt qrels.beir --to beir
convert qrels.txt qrels.msmarco --to msmarco
convert qrels.txt qrels.prefs --to prefs
convert qrels.txt qrels.qrels_prefs --to qrels_prefs
convert qrels.txt qrels.qrels_jg --to qrels_jg
convert qrels.txt qrels.ndeval --to ndeval
convert my.parquet - --to trec
convert my.csv - --to jsonl --escape-formulas
convert qrels.arrow - --to trec
convert - - --from trec --to csv --kind run < my.run
convert my.run my.run
convert my.run my.nosuch
convert my.run out.csv --to nosuch
convert missing.run out.csv
convert queries.jsonl out.csv
convert my.csv out.jsonl --column doc=docid
convert docs out.csv

evaluate qrels.txt my.run
evaluate qrels.txt my.run --format json
evaluate qrels.txt my.run --format trec
evaluate qrels.txt my.run --format csv
evaluate qrels.txt my.run --format jsonl
evaluate qrels.txt my.run --format markdown
evaluate qrels.txt my.run --format latex
evaluate qrels.txt old.run my.run third.run --ci --plot
evaluate qrels.txt old.run my.run third.run --ci --format json
evaluate qrels.txt old.run my.run third.run --ci --format csv
evaluate qrels.txt old.run my.run third.run --ci --format jsonl
evaluate qrels.txt old.run my.run third.run --ci --format markdown
evaluate qrels.txt old.run my.run third.run --ci --format latex
evaluate qrels.txt old.run my.run third.run --ci --format trec
evaluate qrels.txt old.run my.run -q
evaluate qrels.txt old.run my.run -q --format json
evaluate qrels.txt old.run my.run -q --format csv
evaluate qrels.txt old.run my.run -q --format jsonl
evaluate qrels.txt old.run my.run -q --format markdown
evaluate qrels.txt old.run my.run -q --format latex
evaluate qrels.txt my.run -q --format trec -m all_trec
evaluate qrels.txt old.run my.run --queries queries.jsonl --by category --by difficulty --ci
evaluate qrels.txt old.run my.run --queries queries.jsonl --by category --by difficulty --format json
evaluate qrels.txt old.run my.run --queries queries.jsonl --by category --format csv
evaluate qrels.txt old.run my.run --queries queries.jsonl --by category --format markdown
evaluate qrels.txt old.run my.run --queries queries.jsonl --by category --format latex
evaluate qrels.txt old.run my.run third.run --queries queries.jsonl --by category --corpus corpus.jsonl --html all.html
evaluate qrels.txt my.run --html one.html -m kpi
evaluate qrels.txt ties.run --audit --audit
evaluate qrels.txt ties.run --audit --audit --format json
evaluate qrels.txt ties.run --audit --audit --format csv
evaluate qrels.txt ties.run --audit --audit --format markdown
evaluate qrels.txt my.run --kpi trec-2025
evaluate qrels.txt my.run --kpi trec-2025 --format json
evaluate qrels.txt my.run --kpi trec-2025 --format markdown
evaluate qrels.txt my.run -m all_trec
evaluate qrels.txt my.run -m all_trec --format json
evaluate qrels.txt my.run -m rag@5 -m kpi -m official
evaluate qrels.txt my.run -m P.5,10 -m map -m 'AP(rel=2)@100' -m infAP -m Judged@10 -m ERR@10 -m RBP -m bpref
evaluate qrels.txt my.run --rel 2
evaluate qrels.txt my.run --binary --rel 2 --format json
evaluate qrels.txt short.run --query-set both
evaluate qrels.txt short.run
evaluate qrels.txt short.run --no-relevant skip
evaluate qrels.txt my.run --split dev
evaluate qrels.txt my.run --split 'test(dev_share=0.3, seed=7)' --format json
evaluate qrels.txt ties.run --compat trec_eval-10 --format json
evaluate qrels.txt old.run my.run --sort name
evaluate qrels.txt old.run my.run --sort RR@10
evaluate qrels.txt old.run my.run --sort nosuch
evaluate qrels.csv my.csv --format json
evaluate qrels.tsv my.tsv --format json
evaluate qrels.json my.json --format json
evaluate qrels.jsonl my.jsonl --format json
evaluate qrels.parquet my.parquet --format json
evaluate qrels.arrow my.arrow --format json
evaluate qrels.beir my.trec.gz --format json
evaluate qrels.msmarco my.msmarco --format json
evaluate qrels.prefs my.run --qrels-format prefs -m prefs_simp -m prefs_pair --format json
evaluate qrels.qrels_prefs my.run --qrels-format qrels_prefs -m prefs_simp --format json
evaluate qrels.qrels_jg my.run --qrels-format qrels_jg -m map_avgjg --format json
evaluate qrels.ndeval my.run --qrels-format ndeval -m alpha_nDCG@10 -m StRecall@10 --format json
evaluate qrels.txt - --format json < my.run
evaluate - my.run --format json < qrels.txt
evaluate - - < qrels.txt
evaluate qrels.txt scattered.run --format json
evaluate qrels.txt scattered.run --set reading.memory=1M --format json
evaluate qrels.txt scattered.csv --set reading.memory=1M --format json
evaluate qrels.txt several.csv
evaluate qrels.txt several.csv --format json
evaluate qrels.txt runs
evaluate qrels.txt parquet-runs
evaluate qrels.txt named.csv --column query=frage --column doc=dokument --column score=punkte
evaluate qrels.txt named.csv
evaluate qrels.txt duplicate.run
evaluate qrels.txt duplicate.run --on-duplicate first
evaluate log.jsonl
evaluate log.jsonl --format json -q
evaluate real-log.jsonl
evaluate real-log.jsonl --format json -q
evaluate qrels.txt real-log.jsonl
evaluate qrels.txt real-log.jsonl --format json
evaluate my-collection my.run
evaluate qrels.txt my.run --set reading.max_bytes=1000
evaluate qrels.txt my.run --set reading.max_line=10
evaluate qrels.txt my.run --config kpi.yaml
evaluate qrels.txt old.run my.run --config settings.yaml
evaluate qrels.txt old.run my.run --config settings.yaml --format json
evaluate qrels.txt my.run --config wrong.yaml
evaluate qrels.txt my.run --config twice.yaml
evaluate --gold gold.jsonl --chunks chunks.jsonl gold.run
evaluate --gold gold.jsonl gold.run
evaluate --retriever ./search.py:search --cases cases.jsonl
evaluate --retriever ./search.py:search --cases cases.csv --format json -o live.run
evaluate --retriever ./search.py:search --cases cases.csv -q
evaluate --retriever ./search.py:broken --cases cases.csv --max-failures 1
evaluate --retriever ./search.py:broken --cases cases.csv
evaluate --retriever ./search.py:odd --cases cases.csv --k 3
evaluate --retriever ./search.py:nosuch --cases cases.csv
evaluate --retriever ./search.py:search --cases cases.csv --no-code
evaluate qrels.txt
evaluate
evaluate qrels.txt missing.run
evaluate missing.txt my.run
evaluate my.run qrels.txt
evaluate corpus.jsonl my.run
evaluate queries.jsonl my.run
evaluate qrels.txt my.run -m nosuch
evaluate qrels.txt my.run -m nDCG@0
evaluate qrels.txt my.run -m nDCG@x
evaluate qrels.txt my.run -m 'nDCG(nosuch=1)'
evaluate qrels.txt my.run -m recip_rank.10
evaluate qrels.txt my.run --by nosuch --queries queries.jsonl
evaluate qrels.txt my.run --by category
evaluate qrels.txt my.run --html my.run
evaluate qrels.txt my.run --html missing/page.html
evaluate qrels.txt my.run --nosuch
evaluate qrels.txt my.run --format nosuch
evaluate qrels.txt my.run --qrels-format nosuch
evaluate qrels.txt my.run --run-format csv
evaluate qrels.txt my.run my.run
evaluate qrels.txt my.run --engine spark --master nosuch --format nosuch
nosuch

trec_eval qrels.txt my.run
trec_eval -q qrels.txt my.run
trec_eval -q -c -m all_trec qrels.txt my.run
trec_eval -m official -m P.3,4 -m ndcg_cut.10 -l 2 -J -M 20 qrels.txt my.run
trec_eval -n -q -m map qrels.txt my.run
trec_eval -N 1000 -m utility -m runid qrels.txt my.run
trec_eval -m ndcg -m ndcg.1=3,2=5 qrels.txt my.run
trec_eval -R prefs -m all_prefs qrels.prefs my.run
trec_eval -R qrels_prefs -m all_prefs -q qrels.qrels_prefs my.run
trec_eval -R qrels_jg -m qrels_jg -q qrels.qrels_jg my.run
trec_eval -m nosuch qrels.txt my.run
trec_eval -M -1 qrels.txt my.run
trec_eval qrels.txt
trec_eval qrels.txt missing.run
trec_eval my.run qrels.txt
trec_eval --compat trec_eval-10 -q -m rbp -m ndcg qrels.txt ties.run
trec_eval -h
trec_eval -v

compare qrels.txt old.run my.run
compare qrels.txt old.run my.run --format json
compare qrels.txt old.run my.run --format csv
compare qrels.txt old.run my.run --format jsonl
compare qrels.txt old.run my.run --format markdown
compare qrels.txt old.run my.run --format latex
compare qrels.txt old.run my.run third.run --queries queries.jsonl --by category --plot --target-difference 0.05
compare qrels.txt old.run my.run third.run --queries queries.jsonl --by category --format json
compare qrels.txt old.run my.run third.run --queries queries.jsonl --by category --format csv
compare qrels.txt old.run my.run third.run --queries queries.jsonl --by category --format markdown
compare qrels.txt old.run my.run third.run --queries queries.jsonl --by category --format latex
compare qrels.txt old.run my.run third.run -q --format csv -m nDCG@10
compare qrels.txt old.run my.run third.run -q --format jsonl -m nDCG@10
compare qrels.txt old.run my.run third.run --baseline my.run --explain --changes 5 --queries queries.jsonl
compare qrels.txt old.run my.run third.run --html three.html --corpus corpus.jsonl --queries queries.jsonl --by category
compare qrels.txt old.run my.run --html two.html
compare qrels.txt old.run my.run --test t
compare qrels.txt old.run my.run --test t --correction bonferroni --format json
compare qrels.txt old.run my.run third.run --test randomization --resamples 1000
compare qrels.txt old.run my.run third.run --test wilcoxon --correction bh
compare qrels.txt old.run my.run third.run --test sign --correction none
compare qrels.txt old.run my.run third.run --correction tukey --test randomization --resamples 1000
compare qrels.txt old.run my.run --seed 7 --resamples 500 --confidence 0.9 --rope 0.02 --format json
compare qrels.txt old.run my.run --kpi trec-2025
compare qrels.txt old.run my.run --config settings.yaml
compare qrels.parquet old.run my.parquet
compare qrels.txt several.csv
compare qrels.txt old.run short.run
compare qrels.txt old.run ties.run --rel 2 --query-set both
compare --gold gold.jsonl --chunks chunks.jsonl gold.run gold.run
compare qrels.txt old.run
compare qrels.txt old.run missing.run
compare qrels.txt old.run my.run --baseline nosuch
compare qrels.txt old.run my.run --test nosuch
compare qrels.txt old.run duplicate.run
compare qrels.txt old.run old.run

gate qrels.txt my.run --require 'nDCG@10 >= 0.30'
gate qrels.txt my.run --require 'nDCG@10 >= 0.99' --require 'RR>0.1'
gate qrels.txt my.run --require 'nDCG@10 >= 0.99' --format json
gate qrels.txt my.run --require 'nDCG@10 >= 0.99' --format junit
gate qrels.txt my.run --require 'nDCG@10 >= 0.99' --format markdown
gate qrels.txt old.run --write-baseline baseline.json
gate qrels.txt my.run --baseline baseline.json --summary summary.md
gate qrels.txt my.run --baseline baseline.json --format json
gate qrels.txt my.run --baseline baseline.json --format junit
gate qrels.txt my.run --baseline baseline.json --format markdown
gate qrels.txt worse.run --baseline baseline.json --queries queries.jsonl --html gate.html --corpus corpus.jsonl
gate qrels.txt worse.run --baseline baseline.json --format json
gate qrels.txt worse.run --baseline baseline.json --format junit
gate qrels.txt worse.run --baseline baseline.json --format markdown
gate qrels.txt worse.run --baseline old.run --margin 0.5
gate qrels.txt worse.run --baseline old.run --two-sided -m nDCG@10 --correction holm --test t
gate qrels.txt worse.run --baseline old.run --kpi trec-2025
gate qrels.txt my.run --write-baseline baseline.json --append
gate qrels.txt worse.run --baseline baseline.json
gate other-qrels.txt worse.run --baseline baseline.json
gate empty.qrels my.run --require 'nDCG@10 >= 0.30'
gate stamped-changed.jsonl my.run --baseline old.run --corpus corpus.jsonl
gate qrels.txt renamed.run --baseline old.run --corpus corpus.jsonl
gate qrels.txt my.run --config settings.yaml --baseline old.run
gate qrels.txt my.run --baseline changed-baseline.json
gate qrels.txt my.run --baseline qrels.txt
gate qrels.txt my.run --baseline missing.json
gate qrels.txt my.run --require 'nosuch >= 0.30'
gate qrels.txt my.run --require 'nDCG@10'
gate qrels.txt my.run
gate qrels.txt
gate qrels.txt duplicate.run --baseline old.run

diff old.run my.run
diff old.run my.run --queries queries.jsonl --top 5 --k 5 --p 0.8
diff old.run my.run --format json
diff old.run my.run --format csv
diff old.run my.run --format jsonl
diff old.run my.run --format markdown
diff old.run my.run --format latex
diff old.run my.run --html diff.html --corpus corpus.jsonl --queries queries.jsonl
diff my.csv my.parquet
diff old.run ./search.py:search --queries queries.jsonl
diff old.run
diff old.run missing.run
diff old.run qrels.txt
agreement qrels.txt other-qrels.txt old.run my.run third.run
agreement qrels.txt other-qrels.txt old.run my.run third.run --format json
agreement qrels.txt other-qrels.txt old.run my.run third.run --format csv
agreement qrels.txt other-qrels.txt old.run my.run third.run --format jsonl
agreement qrels.txt other-qrels.txt old.run my.run third.run --format markdown
agreement qrels.txt other-qrels.txt old.run my.run third.run --format latex
agreement qrels.txt other-qrels.txt old.run

fuse old.run my.run -o fused.run
fuse old.run my.run third.run -o weighted.run --method weighted --weights 0.5,0.3,0.2 --normalization z-score --k 5
fuse old.run my.csv -o combmnz.run --method combmnz --tag ours
fuse old.run my.parquet -o borda.run --method borda
fuse old.run my.run -o isr.run --method isr --k 3
fuse old.run my.run -o combmin.run --method combmin --normalization rank --k 3
fuse old.run my.run -o combmed.run --method combmed --k 3
fuse old.run my.run -o wrong.run --weights 1
fuse old.run my.run -o old.run
fuse old.run -o wrong.run
tune qrels.txt old.run my.run -o tuned.run
tune qrels.txt old.run my.run third.run -m AP@100 --steps 4 --format json
tune qrels.txt old.run my.run --method rrf --dev dev.txt --test test.txt --queries queries.jsonl
tune qrels.txt old.run my.run --dev missing.txt

chunk docs -o chunks-headings.jsonl --by headings
chunk docs -o chunks-characters.jsonl --by characters --size 40 --overlap 10
chunk corpus.jsonl -o chunks-sentences.jsonl --size 200
chunk docs -o chunks-tokens.jsonl --by tokens --size 8
chunk missing -o chunks-none.jsonl
runs fetch --corpus corpus.jsonl --queries queries.jsonl -o lexical.run --k 20 --manifest fetch.json
runs fetch --corpus corpus.jsonl --queries queries.jsonl -o bow.run --mode vector --embedder bow --k 10
runs fetch --corpus corpus.jsonl --queries queries.jsonl -o hybrid.run --mode hybrid --embedder bow --k 10
runs fetch --corpus my-collection -o gated.run --config gated.yaml --log gated.jsonl --k 5 --rerank sentences
runs fetch --mode ./search.py:search --queries queries.jsonl -o mine.run --latency 5
runs fetch --config benchmark.yaml --retriever mine -o configured.run
runs fetch --mode ./search.py:broken --queries queries.jsonl -o broken.run
runs fetch --mode nosuch --queries queries.jsonl -o nosuch.run
pipeline gated.jsonl --qrels qrels.txt
pipeline pipeline.jsonl
pipeline pipeline.jsonl --format json
pipeline log.jsonl --qrels qrels.txt -m RR@10
pipeline qrels.txt
rq story.md questions.jsonl
rq story.md questions.jsonl --k 10 --threshold 0.4 --format json
rq story.md questions.jsonl --profile bow
rq story.md queries.jsonl
rq missing.md questions.jsonl

pool old.run my.run --depth 5 --corpus corpus.jsonl --queries queries.jsonl -o pool.jsonl
pool old.run my.run --strategy stratified --budget 120 --corpus corpus.jsonl --queries queries.jsonl -o stratified.jsonl
pool old.run my.run --strategy uniform --budget 120 --corpus corpus.jsonl --queries queries.jsonl -o uniform.jsonl
pool old.run my.run --strategy rrf --budget 20 -o rrf.jsonl --judged sample.qrels
pool old.run my.run --strategy move-to-front --budget 20 -o front.jsonl --judged sample.qrels
pool old.run ./search.py:search --queries queries.jsonl --sample-queries 5 --depth 3 -o live.jsonl
pool old.run missing.run -o none.jsonl
judge pool.jsonl -o machine.jsonl --judge ./judge.py:judge
judge stratified.jsonl -o stratified-judged.jsonl --judge ./judge.py:judge --assessor ann
judge uniform.jsonl -o uniform-judged.jsonl --judge ./judge.py:batch --batch 8 --assessor ann
judge pool.jsonl -o machine.jsonl --judge ./judge.py:judge
judge pool.jsonl -o other.jsonl --judge ./judge.py:other --assessor bob
judge pool.jsonl -o broken.jsonl --judge ./judge.py:broken
judge pool.jsonl -o terminal.jsonl
judge qrels.txt -o none.jsonl --judge ./judge.py:judge
labels agree machine.jsonl qrels.txt
labels agree qrels.txt other-qrels.txt --run old.run --run my.run --queries queries.jsonl --by category
labels agree qrels.txt other-qrels.txt --format json
labels agree qrels.txt other-qrels.txt --format csv
labels agree qrels.txt other-qrels.txt --format markdown
labels agree qrels.txt other-qrels.txt --format latex
labels agree machine.jsonl other.jsonl --format jsonl
labels agree qrels.txt
labels estimate sample.qrels my.run --machine qrels.txt
labels estimate sample.qrels old.run my.run --machine qrels.txt --format json
labels estimate sample.qrels my.run --machine qrels.txt --format markdown
labels estimate stratified-judged.jsonl old.run my.run
labels estimate stratified-judged.jsonl old.run my.run --format json
labels estimate stratified-judged.jsonl old.run my.run --format csv
labels estimate stratified-judged.jsonl old.run my.run --format latex
labels estimate qrels.txt my.run
convert uniform-judged.jsonl sampled.qrels --pool uniform.jsonl
convert machine.jsonl sampled-none.qrels --pool pool.jsonl
evaluate sampled.qrels my.run -m infAP
labels check qrels.txt --corpus corpus.jsonl --stamp stamped.jsonl
labels check stamped.jsonl --corpus corpus.jsonl
labels check stamped-changed.jsonl --corpus corpus.jsonl
labels check stamped-changed.jsonl --corpus corpus.jsonl --format json
labels check stamped-changed.jsonl --corpus corpus.jsonl --format csv
labels check stamped-changed.jsonl --corpus corpus.jsonl --format markdown
labels check qrels.txt --corpus corpus.jsonl
labels resolve gold.jsonl --chunks chunks.jsonl -o resolved.qrels
labels resolve gold.jsonl --chunks chunks.jsonl -o plain.qrels --plain
labels resolve gold.jsonl --chunks missing.jsonl -o none.qrels

qrels validate qrels.txt --runs my.run --queries queries.jsonl
qrels validate qrels.txt other-qrels.txt qrels.csv qrels.parquet
qrels validate qrels.txt --min-judged 15 --format json
qrels validate qrels.ndeval --qrels-format ndeval
qrels validate missing.txt qrels.txt
runs validate my.run --qrels qrels.txt
runs validate old.run my.csv my.parquet ties.run
runs validate ties.run --cutoff 3 --format json
runs validate ties.run duplicate.run --strict
runs validate duplicate.run --fix fixed.run
runs validate short.run --preset trec-2025 --queries queries.jsonl
runs validate my.run --max-depth 10 --min-depth 20
runs validate scattered.run
runs validate qrels.txt

benchmark run --corpus my-collection --mode lexical --mode ./search.py:search --latency 3 -o benchmark
benchmark run benchmark.yaml -o configured --html configured.html
benchmark run --corpus my-collection --mode nosuch -o none
benchmark run missing.yaml
report html benchmark -o benchmark.html
report html benchmark/BenchmarkReport.json -o benchmark-again.html
report html missing
report verify benchmark
report verify benchmark --format json
report verify docs

evaluate qrels.txt old.run --save --save-run --date 2020-01-02 --tag release-1
evaluate qrels.txt old.run my.run --save --date 2020-01-03T10:00:00Z --format json
evaluate qrels.txt old.run --save --save-run --date 2020-01-04
evaluate qrels.txt worse-named.run --save --save-run --date 2020-01-05
evaluate qrels.txt worse-named.run --save --save-run --date 2020-01-06
evaluate other-qrels.txt worse-named.run --save --save-run --date 2020-01-07
compare qrels.txt old.run my.run --save --date 2020-01-08
gate qrels.txt my.run --baseline old.run --save --date 2020-01-09
gate qrels.txt my.run --baseline history:main
gate qrels.txt my.run --baseline history
evaluate qrels.txt my.run --save --date nosuch
evaluate qrels.txt my.run --tag x
history list
history list -n 2 -m nDCG@10
history list --format json
history show
history show release-1 -q
history show latest -q --format json
history show nosuch
history compare release-1 2020-01-05
history compare release-1 2020-01-05 --format json
history compare release-1 2020-01-07
history compare release-1 nosuch
history trend --system lexical --collection qrels.txt
history trend --system lexical --collection qrels.txt --format json
history trend --system lexical
history trend -m nosuch
history check --since 2020-01-01 --dry-run
history check --since 2020-01-01 --format json
history check --since 2020-01-01
history tag latest release-2
history tag latest release-2 --remove
history export -o exported
history export --openmetrics
history import exported --history other.db
history list --history other.db
history prune --keep 1 --dry-run
history prune --keep 1
history prune
report html --history .rankgauge/history.db -o history.html
history list --history missing.db
history list --history qrels.txt
index corpus.jsonl --to pg.yaml
"""

FAULTS: list[tuple[str, Callable[[bytes], bytes]]] = [  # to put into the examples of each text format
    ("truncated", lambda data: data[: len(data) * 2 // 3]),
    ("no final newline", lambda data: data.rstrip(b"\n")),
    ("last line twice", lambda data: data + data.splitlines(keepends=True)[-1]),
    ("score abc", lambda data: data.replace(b"1.5", b"abc").replace(b"d2", b"d2 x")),
    ("score as text", lambda data: data.replace(b"1.5", b'"1.5"')),
    ("score nan", lambda data: data.replace(b"1.5", b"nan").replace(b"NaN", b"nan")),
    ("score infinite", lambda data: data.replace(b"2.5", b"1e400")),
    ("score null", lambda data: data.replace(b"2.5", b"null").replace(b"2", b"null")),
    ("grade too large", lambda data: data.replace(b"2", b"2000")),
    ("fractional grade", lambda data: re.sub(rb"([,: ])2", rb"\g<1>2.25", data)),
    ("empty id", lambda data: data.replace(b"d9", b"").replace(b"d2", b"")),
    ("id with a space", lambda data: data.replace(b"d9", b"d 9").replace(b"d2", b" d2")),
    ("id with a NUL", lambda data: data.replace(b"d9", b"d\x009").replace(b"d2", b"d\x002")),
    ("id with an escaped NUL", lambda data: data.replace(b"d9", b"d\\u00009").replace(b"d2", b"d\\u00002")),
    ("id with a lone surrogate", lambda data: data.replace(b"d9", b"d\\ud8009").replace(b"d2", b"d\\ud8002")),
    ("id of Latin-1", lambda data: data.replace(b"d9", b"d\xe9").replace(b"d2", b"d\xe9")),
    ("invisible character", lambda data: data.replace(b"d9", b"d\xe2\x80\x8b9").replace(b"d2", b"d\xc2\xa02")),
    ("numbers as ids", lambda data: data.replace(b'"d9"', b"9").replace(b'"d2"', b"2").replace(b'"q1"', b"1")),
    ("document twice", lambda data: data.replace(b"d9", b"d1").replace(b"d2", b"d1")),
    ("another query", lambda data: data.replace(b"q2", b"q1")),
    ("other ids", lambda data: data.replace(b"q1", b"Q1").replace(b"d1", b"D1")),
    ("byte order mark", lambda data: b"\xef\xbb\xbf" + data),
    ("UTF-16", lambda data: data.decode().encode("utf-16")),
    ("CRLF", lambda data: data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")),
    ("lone CR", lambda data: data.replace(b"\r\n", b"\n").replace(b"\n", b"\r")),
    ("blank line", lambda data: data.replace(b"\n", b"\n\n", 1)),
    ("comment", lambda data: b"# by us\n" + data),
    ("one more column", lambda data: data.replace(b"\n", b"\tx\n", 1)),
    ("quotation mark", lambda data: data.replace(b"d9", b'd"9').replace(b"d2", b'd"2')),
    ("a field missing", lambda data: re.sub(rb"\t[^\t\n]*\n|,[^,\n]*\n|, \"[^\"]*\": [^,}]*}\n", b"\n", data, count=1)),
    ("wrong column names", lambda data: re.sub(rb"docno|doc_id|PID", b"foo", data)),
    ("braces", lambda data: data.replace(b"}", b"]", 1)),
    ("not a record", lambda data: data + b"[1, 2]\n"),
    ("gzip cut", lambda data: gzip.compress(data)[:-12]),
    ("gzip", lambda data: gzip.compress(data)),
    ("random bytes", lambda data: bytes(range(256)) + data),
    ("nothing", lambda data: b""),
]  # fmt: skip

FILES = {
    "search.py": """
def search(text, k=10):
    return [f"kb-{(len(text) * 7 + place * 13) % 216 + 1:03}" for place in range(k)]

def broken(text):
    if "tyre" in text:
        raise OSError("gone")
    return [("kb-001", 2.0), ("kb-002", 1.0)]

def odd(text):
    return [{"id": "kb-002", "score": 1.0}, {"id": "kb-001", "score": 2.0}, {"id": "kb-002", "score": 0.5}]
""",
    "judge.py": """
def judge(query, text):
    return len(text) % 4

def other(query, text):
    return (len(text) * len(query)) % 4, "a reason"

def batch(queries, texts):
    return [len(text) % 3 for text in texts]

def broken(query, text):
    return "high"
""",
    "benchmark.yaml": """
collection: {corpus: corpus.jsonl, queries: queries.jsonl, qrels: qrels.txt}
retrievers:
  mine: {mode: "./search.py:search"}
  bow: {mode: vector, embedder: bow}
benchmark: {latency: 2}
""",
    "settings.yaml": """
retrieval_metrics:
  enabled_metrics: [hit@1, ndcg@10, mrr]
  graded_relevance: false
  statistical_analysis: {confidence_intervals: true, significance_testing: true, alpha_level: 0.1}
""",
    "gated.yaml": "retrievers: {gated: {gate: words>=6, shadow: true}}\n",
    "kpi.yaml": "retrieval_metrics: {enabled_metrics: [ndcg@10], statistical_analysis: {confidence_intervals: true}}\n",
    "wrong.yaml": "retrieval_metrics:\n  enabled_metric: [ndcg@10]\n  statistical_analysis: {alpha_level: high}\n",
    "twice.yaml": "retrieval_metrics: {}\nretrieval_metrics: {}\n",
    "pg.yaml": "postgres: {dsn: '${NO_SUCH_DATABASE}', table: docs, kind: lexical}\n",
    "cases.csv": "id,query,relevant_ids\nc1,tyre size,kb-001;kb-002\nc2,saddle height,kb-128\nc3,brake pads,kb-044\n",
    "chunks.jsonl": '{"_id": "c1", "text": "A squealing brake needs cleaning."}\n'
    '{"_id": "c2", "text": "Clean the chain with a brush."}\n',
    "gold.run": "q1 Q0 c1 1 2 gold\nq1 Q0 c2 2 1 gold\n",
    "empty.qrels": "q01 0 kb-001 0\nq02 0 kb-001 0\n",
    "pipeline.jsonl": '{"query_id": "q1", "expert": "auth", "optimal_expert": "auth", "skipped": false, '
    '"needs_retrieval": true, "retrieved_ids": ["a", "b"], "reranked_ids": ["b", "a"], "relevant_ids": ["b"]}\n'
    '{"query_id": "q2", "expert": "auth", "optimal_expert": "billing", "skipped": true, '
    '"needs_retrieval": true, "retrieved_ids": ["c", "d"], "reranked_ids": ["c", "d"], "relevant_ids": ["c"]}\n',
}


def main(arguments: list[str]) -> int:
    """Write a recording into the folder that is named, which must not exist or be empty."""
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 64
    target = Path(arguments[0]).resolve()
    target.mkdir(parents=True, exist_ok=True)
    if any(target.iterdir()):
        print(f"{target} is not empty", file=sys.stderr)
        return 2
    prepare_process()
    begin = os.times().elapsed
    with tempfile.TemporaryDirectory(prefix="recording") as folder:
        for record in PARTS:
            record_in(record, Recorder(target), Path(folder, record.__name__))
    print(f"{sum(path.is_file() for path in target.rglob('*'))} files in {os.times().elapsed - begin:.0f} s")
    return 0


def prepare_process() -> None:
    """Let clocks stand still for rankgauge, and let nothing of the environment into its outputs."""
    for name in [name for name in os.environ if name.startswith(("RANKGAUGE_", "GITHUB_"))]:
        if name != "RANKGAUGE_SCANNER":
            del os.environ[name]
    os.environ.update(COLUMNS=WIDTH, NO_COLOR="1", LOGNAME="assessor", SOURCE_DATE_EPOCH=EPOCH)
    gzip.compress = partial(gzip.compress, mtime=0)
    for clock in ("monotonic", "perf_counter"):
        setattr(time, clock, _standing(getattr(time, clock)))


def _standing(clock: Callable[[], float]) -> Callable[[], float]:
    def read() -> float:
        is_ours = str(sys._getframe(1).f_globals.get("__name__")).startswith("rankgauge.")
        return 0.0 if is_ours else clock()

    return read


def record_in(record: Callable[[Recorder], None], recorder: Recorder, folder: Path) -> None:
    """Record in an empty working folder, with a cache of its own."""
    folder.mkdir()
    recorder.folder, recorder.part = folder, record.__name__.removeprefix("record_")
    before = Path.cwd()
    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
    os.chdir(folder)
    try:
        record(recorder)
    finally:
        os.chdir(before)


class Recorder:
    """Runs command lines and writes what they print, how they end, and the files that they change."""

    folder: Path
    part: str

    def __init__(self, target: Path) -> None:
        self.target = target

    def write(self, name: str, text: str) -> None:
        """Write a recording; one with the same name gets a number."""
        name = re.sub(r"[^\w@.,=+-]+", "_", name)[:MAX_NAME].strip("_-")
        path, number = self.target / self.part / name, 1
        while path.exists():
            number += 1
            path = self.target / self.part / f"{name}-{number}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.stable(text).encode("utf-8", "surrogateescape"))

    def command(self, line: str, *, name: str | None = None) -> None:
        """Record a command line; ``< FILE`` at its end is its standard input."""
        self.write(name or line, self.outcome(line))

    def outcome(self, line: str) -> str:
        """What a command line prints and writes, and how it ends."""
        words, _, stdin = line.partition(" < ")
        before = self._files()
        with captured(Path(stdin) if stdin else None) as outputs:
            try:
                code: object = run(shlex.split(words))
            except BaseException:  # a bug: the recording shows it, and the next command runs
                code = traceback.format_exc()
        parts = [f"$ rankgauge {line}", f"exit {code}"]
        parts += [f"--- {name}\n{_shortened(text)}" for name, text in outputs.items() if text]
        for path, state in self._files().items():
            if before.get(path) != state:
                parts.append(f"--- file {path.relative_to(self.folder)}\n{_shortened(_content(path))}")
        return "\n".join(parts) + "\n"

    def stable(self, text: str) -> str:
        """Text without what another machine, another day or another folder would change."""
        text = text.replace(str(self.folder), "FOLDER").replace(__version__, "VERSION")
        text = MANIFEST_DIGEST.sub(r"\1DIGEST\2", UID.sub(r"\1UID", VERSIONS.sub(r"\1VERSION", text)))
        return TIMESTAMP.sub(_old_time, text)

    def _files(self) -> dict[Path, tuple[int, int]]:
        files = (
            path for path in sorted(self.folder.rglob("*")) if path.is_file() and not {"cache", ".git"} & {*path.parts}
        )
        return {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in files}


@contextmanager
def captured(stdin: Path | None) -> Iterator[dict[str, str]]:
    """Standard output and error of what runs inside, by name: filled when it ends."""
    outputs: dict[str, str] = {}
    saved, input_stream = [os.dup(number) for number in range(3)], sys.stdin
    sys.stdout.flush()
    sys.stderr.flush()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, Path(stdin or os.devnull).open("rb") as data:
        for number, stream in enumerate((data, out, err)):
            os.dup2(stream.fileno(), number)
        sys.stdin = io.TextIOWrapper(io.FileIO(0, closefd=False), encoding="utf-8")
        try:
            yield outputs
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            sys.stdin = input_stream
            for number, descriptor in enumerate(saved):
                os.dup2(descriptor, number)
                os.close(descriptor)
            for name, stream in (("stdout", out), ("stderr", err)):
                stream.seek(0)
                outputs[name] = stream.read().decode("utf-8", "surrogateescape")


def _content(path: Path) -> str:
    """The text of a file; the digest of a binary one; a page with its data unpacked."""
    from tests.render.html.unpacking import data_of

    data = path.read_bytes()
    if path.suffix in BINARY:
        return "(binary)"
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    text = data.decode("utf-8", "surrogateescape")
    if path.suffix != ".html" or not PACKED.search(text):
        return text
    page = PACKED.sub(r"\1PACKED\3", text)
    return f"{page}\n--- data\n{json.dumps(data_of(text), indent=1, default=str)}"


def _shortened(text: str) -> str:
    if len(text) <= MAX_TEXT:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
    return f"{text[:1000]}\n… {len(text)} characters, SHA-256 {digest}"


def _old_time(match: re.Match[str]) -> str:
    """A time of the data; of the present only that it is there."""
    now = datetime.now(UTC)
    recent = [(now + timedelta(days=days)).date().isoformat() for days in range(-8, 3)]
    return "NOW" if match[0][:10] in recent else match[0]


def record_help(recorder: Recorder) -> None:
    """Every ``--help``."""
    recorder.command("--help")
    for words in _command_names(cli):
        recorder.command(f"{' '.join(words)} --help")


def _command_names(group: LazyGroup, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name in group.lazy:
        yield (*words, name)
        command = group.get_command(click.Context(group), name)
        if isinstance(command, LazyGroup):
            yield from _command_names(command, (*words, name))


def record_names(recorder: Recorder) -> None:
    """The public names of each namespace, with their signatures and members."""
    for namespace in NAMESPACES:
        lines = []
        for name in public_names(namespace):
            value = getattr(import_module(namespace), name)
            lines.append(f"{name}{_signature(value)}")
            if inspect.isclass(value):
                members = (member for member in sorted(vars(value)) if not member.startswith("_"))
                lines += [f"  .{member}{_signature(getattr(value, member, None))}" for member in members]
        recorder.write(namespace, "\n".join(lines) + "\n")


def _signature(value: Any) -> str:
    try:
        text = str(inspect.signature(value))
    except (TypeError, ValueError):
        return ""
    return re.sub(r" at 0x\w+", "", text)


def record_commands(recorder: Recorder) -> None:
    """Every command in every output format, and its errors."""
    write_files()
    for line in COMMANDS.strip().splitlines():
        if line:
            recorder.command(line)
            change_files()


def record_branch(recorder: Recorder) -> None:
    """Entries of the commits of a branch, and a gate against them."""
    write_files()
    subprocess.run(["git", "init", "-q", "-b", "main"], check=True)
    lines = [
        "evaluate qrels.txt old.run --save --date 2020-01-02",
        "evaluate qrels.txt old.run --save --date 2020-01-03 --format json",
        "gate qrels.txt old.run --baseline history:main",
        "gate qrels.txt worse-named.run --baseline history:main --save --date 2020-01-04",
        "gate qrels.txt worse-named.run --baseline history:main --format json",
        "history list",
        "history trend",
        "history show --format json",
    ]
    for line in lines:
        words = ["git", "commit", "-q", "--allow-empty", "-m", line]
        subprocess.run(words, env={**os.environ, **GIT}, check=True)
        recorder.command(line)


def record_widths(recorder: Recorder) -> None:
    """Tables on a narrow and a wide terminal, and in a pipe."""
    write_files()
    lines = (
        "evaluate qrels.txt old.run my.run third.run --ci -m kpi",
        "compare qrels.txt old.run my.run third.run --queries queries.jsonl --by category",
        "gate qrels.txt worse.run --baseline old.run",
        "diff old.run my.run",
    )
    for width in ("40", "120", ""):
        os.environ["COLUMNS"] = width
        for line in lines:
            recorder.command(line, name=f"{width or 'pipe'} {line}")
    os.environ["COLUMNS"] = WIDTH


def write_files() -> None:
    """Write the data set: the bundled collection, and variants of its runs and judgments."""
    from tests.cli.example_files import write_example_files

    write_example_files()
    Path("rankgauge.yaml").unlink()
    for name, text in FILES.items():
        Path(name).write_text(text, encoding="utf-8")
    rows = [line.split() for line in Path("my.run").read_text(encoding="utf-8").splitlines()]
    old = [line.split() for line in Path("old.run").read_text(encoding="utf-8").splitlines()]
    _write_run("third.run", [[*row[:4], f"{float(row[4]) * (3 + hash_of(row[2]) % 5):.5f}", "third"] for row in rows])
    _write_run("ties.run", [[*row[:4], f"{float(row[4]):.1f}", "ties"] for row in rows])
    _write_run("short.run", [row for row in rows if row[0] < "q40"] + [["q99", *row[1:]] for row in rows[:3]])
    _write_run("worse.run", [[*row[:4], f"{-float(row[4])}", "worse"] for row in old])
    _write_run("worse-named.run", [[*row[:4], f"{-float(row[4])}", "lexical"] for row in old])
    _write_run("renamed.run", [[*row[:2], f"x-{row[2]}", *row[3:]] for row in rows])
    _write_run("duplicate.run", [*rows, rows[0], rows[70]])
    scattered = sorted(rows, key=lambda row: hash_of(row[0] + row[2]))
    _write_run("scattered.run", scattered)
    table = ["query_id,doc_id,score,run", *(f"{row[0]},{row[2]},{row[4]},{row[5]}" for row in [*old, *rows])]
    Path("several.csv").write_text("\n".join(table) + "\n", encoding="utf-8")
    Path("scattered.csv").write_text(
        "\n".join(["query_id,doc_id,score", *(f"{row[0]},{row[2]},{row[4]}" for row in scattered)]), encoding="utf-8"
    )
    named = ["frage,dokument,punkte", *(f"{row[0]},{row[2]},{row[4]}" for row in rows)]
    Path("named.csv").write_text("\n".join(named) + "\n", encoding="utf-8")
    Path("runs").mkdir()
    for name in ("old.run", "my.run"):
        shutil.copy(name, Path("runs", name))
    queries = list(dict.fromkeys(row[0] for row in rows))
    Path("dev.txt").write_text("\n".join(queries[::2]) + "\n", encoding="utf-8")
    Path("test.txt").write_text("\n".join(queries[1::2]) + "\n", encoding="utf-8")
    judged: dict[str, list[str]] = {}
    for query, _, doc, grade in (line.split() for line in Path("qrels.txt").read_text(encoding="utf-8").splitlines()):
        judged.setdefault(query, []).extend([doc] * (int(grade) > 1))
    entries = [
        {"query_id": query, "retrieved_ids": [row[2] for row in rows if row[0] == query], "relevant_ids": docs}
        for query, docs in judged.items()
    ]
    Path("real-log.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")


def _write_run(name: str, rows: list[list[str]]) -> None:
    Path(name).write_text("".join(f"{' '.join(row)}\n" for row in rows), encoding="utf-8")


def hash_of(text: str) -> int:
    """A number that is the same in every process."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


def change_files() -> None:
    """Make the variants of files that commands wrote, once these are there."""
    if Path("baseline.json").exists() and not Path("changed-baseline.json").exists():
        text = Path("baseline.json").read_text(encoding="utf-8")
        Path("changed-baseline.json").write_text(re.sub(r"/\d+\"", '/99"', text, count=1), encoding="utf-8")
    if Path("my.parquet").exists() and not Path("parquet-runs").exists():
        Path("parquet-runs").mkdir()
        shutil.copy("my.parquet", Path("parquet-runs", "part-1.parquet"))
    if not Path("stamped-changed.jsonl").exists():
        with captured(None):
            run(["labels", "stamp", "qrels.txt", "--corpus", "corpus.jsonl", "-o", "stamped-changed.jsonl"])
        lines = Path("stamped-changed.jsonl").read_text(encoding="utf-8").splitlines()
        changed = [
            re.sub(r'(sha256": ?")\w{8}', r"\g<1>00000000", line) if n % 9 else line for n, line in enumerate(lines)
        ]
        Path("stamped-changed.jsonl").write_text("\n".join(changed) + "\n", encoding="utf-8")


def record_faults(recorder: Recorder) -> None:
    """Bad, hostile and odd files of every format, each evaluated, validated and converted."""
    from tests import test_bad_inputs
    from tests.io.examples import FILES as EXAMPLES
    from tests.validation import generated, test_mutations

    for case in test_bad_inputs.CASES:
        lines = ["evaluate qrels run -m RR --format json", "evaluate qrels run -m RR --strict"]
        lines += ["evaluate qrels run -m RR", "gate qrels run --require RR>=0.1", "trec_eval qrels run"]
        lines += ["runs validate run --qrels qrels", "qrels validate qrels --runs run", "convert run - --to csv"]
        _record_lines(recorder, f"bad {case.row} {case.what}", {"qrels": case.qrels, "run": case.run}, lines)
    for kind, cases in (("run", test_mutations.RUNS), ("qrels", test_mutations.QRELS)):
        for number, (code, mutation, _, options) in enumerate(cases):
            files = {"run": generated.text(generated.run_lines()), "qrels": generated.text(generated.qrels_lines())}
            files[kind] = generated.text(mutation(generated.run_lines() if kind == "run" else generated.qrels_lines()))
            files["queries"] = "".join(f"{query}\ttext\n" for query in generated.QUERIES).encode()
            words = [f"{kind[:3]}s validate {kind}" if kind == "run" else "qrels validate qrels"]
            words += ["--qrels qrels"] * ("qrels" in options) + ["--runs run"] * ("runs" in options)
            words += ["--queries queries"] * ("queries" in options)
            words += [f"--cutoff {cutoff}" for cutoff in options.get("cutoffs", ())]
            flags = ("max_depth", "min_depth", "min_judged")
            words += [f"--{flag.replace('_', '-')} {options[flag]}" for flag in flags if flag in options]
            words += [f"--qrels-format {options.get('format')}"] * ("format" in options)
            words += ["--by-subtopic"] * ("by_subtopic" in options)
            line = " ".join(words)
            lines = [line, f"{line} --format json", f"{line} --fix fixed", "evaluate qrels run", "diff run run"]
            _record_lines(recorder, f"validate {kind} {number} {code}", files, lines)
    good = {"qrels": b"q1 0 d1 2\nq1 0 d2 0\nq2 0 d3 1\n", "run": b"q1 Q0 d1 1 2 t\nq2 Q0 d3 1 1 t\n"}
    for kind, format_name, data in EXAMPLES:
        for what, damage in [("good", bytes), *FAULTS]:
            lines = ["evaluate qrels run --format json", f"evaluate qrels run --{kind}-format {format_name}"]
            lines += [f"{'runs' if kind == 'run' else 'qrels'} validate {kind}", f"convert {kind} - --to csv"]
            _record_lines(recorder, f"format {kind} {format_name} {what}", {**good, kind: damage(data)}, lines)


def _record_lines(recorder: Recorder, name: str, files: dict[str, bytes], lines: list[str]) -> None:
    """Several command lines on the same small files, in one recording."""
    for old in recorder.folder.iterdir():
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    for file, data in files.items():
        Path(file).write_bytes(data)
    recorder.write(name, "\n".join(recorder.outcome(line) for line in lines))


def record_trec_eval(recorder: Recorder) -> None:
    """The cases of the drop-in."""
    from tests.adapters.trec_eval import test_groups
    from tests.adapters.trec_eval.test_cases import CASES, FOLDER

    for case in CASES:
        source = FOLDER / f"{case['case']:03d}"
        files = {name: (source / name).read_bytes() for name in ("qrels", "run")}
        words = shlex.join(case["args"])
        lines = [f"trec_eval --compat trec_eval-{version} {words} qrels run" for version in (9, 10)]
        lines += ["evaluate qrels run --format trec -q", "evaluate qrels run --strict"]
        _record_lines(recorder, f"case {case['case']:03d}", files, lines)
    run_bytes = test_groups.RUN.encode()
    for format_name, text in (("prefs", test_groups.PREFERENCES), ("qrels_jg", test_groups.GROUPS)):
        line = f"trec_eval -q -R {format_name} -m {'all_prefs' if format_name == 'prefs' else 'qrels_jg'} qrels run"
        _record_lines(recorder, f"groups {format_name}", {"qrels": text.encode(), "run": run_bytes}, [line])


def record_views(recorder: Recorder) -> None:
    """What a notebook shows of a result of each type, and its short form."""
    from tests.render.formats.results import results

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, result in results(recorder.folder).items():
            recorder.write(f"{name} html", result._repr_html_())
            recorder.write(f"{name} repr", re.sub(r" at 0x\w+", "", repr(result)))


PARTS = (
    record_help,
    record_names,
    record_commands,
    record_branch,
    record_widths,
    record_faults,
    record_trec_eval,
    record_views,
)

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
