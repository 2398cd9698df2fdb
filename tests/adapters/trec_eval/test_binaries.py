"""Calls in which the drop-in once differed from trec_eval, with the exit code and the bytes that trec_eval prints."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

TWENTY = [*range(1, 7), *range(10, 66, 4)]  # ranks of the relevant documents: six on top, then one in four
FILES = {
    "q": "1 0 a 1\n1 0 b 0\n2 0 c 1\n2 0 d 2\n",
    "r": "1 Q0 a 1 2 t\n1 Q0 x 2 1 t\n",
    "qg": "1 0 a 3\n1 0 b 2\n1 0 c 1\n1 0 e 0\n",
    "rg": "1 Q0 c 1 5 t\n1 Q0 a 2 4 t\n1 Q0 x 3 3 t\n1 Q0 b 4 2 t\n",
    "qi": "1 0 a 1\n1 0 c 1\n1 0 e 1\n",
    "z": "1 num_rel 1 1\n2 num_rel 1 2\n",
    "z20": "1 iprec_at_recall_0.30 .5 .1\n1 zzz 0 1\n",
    "znan": "1 map nan 1\n1 zzz 0 1\n2 map -nan 1\n2 zzz 0 1\n",
    "znext": "1 aaa 0 1\n1 bbb 0 1\n2 map 0.5 0.25\n2 zzz 0 1\n",
    "zbad": "1 map\n",
    "qn": "1 0 a 1\n1 0 b 2\n2 0 a -1\n2 0 c -1\n3 0 a -1\n3 0 b -3\n4 0 a 1\n",  # 2 and 3: all negative
    "rn": "1 Q0 b 1 3 t\n1 Q0 x 2 2 t\n2 Q0 x 1 3 t\n2 Q0 a 2 2 t\n3 Q0 b 1 3 t\n4 Q0 a 1 1 t\n",
    "ro": "9 Q0 a 1 2 t\n",
    "rc": "  # note\n1 Q0 a 1 2 t\n\t#1 Q0 b 1 3 t\n2 Q0 c 1 1 t\n",
    "qc": "# a comment\n1 0 a 1\n# first\n# 0 b 1\n2 0 c 1\n",
    "r2": "1 Q0 a 1 2 t\n2 Q0 c 1 1 t\n2 Q0 x 1 3 t\n",
    "qdup": "1 0 a 100\n1 0 b 1\n",
    "rdup": "1 Q0 a 1 3 t\n1 Q0 a 2 2 t\n1 Q0 b 3 1 t\n",
    "zmap": "1 map 0.5 0.25\n1 zzz 0 1\n2 map 0.5 0.25\n2 zzz 0 1\n",
    "q20": "".join(f"1 0 d{rank:02d} 1\n" for rank in TWENTY),
    "r20": "".join(f"1 Q0 d{rank:02d} {rank} {100 - rank} t\n" for rank in range(1, 70)),
    "ri": "".join(f"1 Q0 {document} 1 {score} t\n" for document, score in zip("abcde", (9, 8, 7, 6, 5), strict=True)),
}


@pytest.mark.parametrize(
    ("version", "call", "code", "text"),
    [
        (
            "9",
            "-m G.3=9,2=1,1=4 -m Rndcg.3=9,2=1,1=4 -m ndcg_rel.3=9,2=1,1=4 qg rg",
            0,
            (
                "G_3=9,2=1,1=4         \tall\t0.7897\n"
                "ndcg_rel_3=9,2=1,1=4  \tall\t0.7084\n"
                "Rndcg_3=9,2=1,1=4     \tall\t0.6964\n"
            ),
        ),
        (
            "10",
            "-m G.3=9,2=1,1=4 -m Rndcg.3=9,2=1,1=4 -m ndcg_rel.3=9,2=1,1=4 qg rg",
            0,
            (
                "G_3=9,2=1,1=4         \tall\t0.7897\n"
                "ndcg_rel_3=9,2=1,1=4  \tall\t0.7084\n"
                "Rndcg_3=9,2=1,1=4     \tall\t0.6964\n"
            ),
        ),
        (
            "9",
            "-m iprec_at_recall.0.3,0.305 q20 r20",
            0,
            ("iprec_at_recall_0.30  \tall\t1.0000\niprec_at_recall_0.30  \tall\t0.7000\n"),
        ),
        (
            "9",
            "-q -n -Z z20 -m iprec_at_recall.0.3,0.305 q20 r20",
            0,
            ("Ziprec_at_recall_0.30  \t1\t5.0000\nZiprec_at_recall_0.30  \t1\t2.0000\n"),
        ),
        *(
            (
                version,
                "-q -m ndcg.-1=2 qn rn",
                0,
                (
                    "ndcg_-1=2             \t1\t1.2398\n"
                    "ndcg_-1=2             \t2\t0.7602\n"
                    "ndcg_-1=2             \t3\t0.0000\n"
                    "ndcg_-1=2             \t4\t1.0000\n"
                    "ndcg_-1=2             \tall\t0.7500\n"
                ),
            )
            for version in ("9", "10")
        ),
        *(
            (
                version,
                "-q -m ndcg.-2=3 qn rn",
                0,
                (
                    "ndcg_-2=3             \t1\t0.7602\n"
                    "ndcg_-2=3             \t2\t0.7194\n"
                    "ndcg_-2=3             \t3\t1.1403\n"
                    "ndcg_-2=3             \t4\t1.0000\n"
                    "ndcg_-2=3             \tall\t0.9050\n"
                ),
            )
            for version in ("9", "10")
        ),
        (
            "10",
            "-q -n -m ideal_dcg qn rn",
            0,
            (
                "ideal_dcg             \t1\t2.6309\n"
                "ideal_dcg             \t2\t2.6309\n"
                "ideal_dcg             \t3\t2.6309\n"
                "ideal_dcg             \t4\t1.0000\n"
            ),
        ),
        ("9", "-c -m num_rel -Z z q r", 0, "Znum_rel               \tall\t3.0000\n"),
        ("9", "-m 11pt_avg.0.8,0.5,0.2 qi ri", 0, "11pt_avg_0.8,0.5,0.2  \tall\t1.0000\n"),
        ("10", "-m 11pt_avg.0.8,0.5,0.2 qi ri", 0, "11pt_avg_0.8,0.5,0.2  \tall\t1.0000\n"),
        ("10", "-c -m yaap q r", 0, "yaap                  \tall\t-0.2027\n"),
        ("10", "-c -m utility.1,-1,1,0 -m utility q r", 0, "utility_1,-1,1,0      \tall\t0.5000\n"),
        ("10", "-c -m utility q r", 0, "utility               \tall\t0.0000\n"),
        (
            "10",
            "-q -c -m rbp_resid.p=0.5 q r",
            0,
            (
                "rbp_resid_p=0.5       \t1\t0.5000\n"
                "rbp_resid_p=0.5       \t2\t1.0000\n"
                "rbp_resid_p=0.5       \tall\t0.7500\n"
            ),
        ),
        (
            "10",
            "-q -c -m rbp_resid q r",
            0,
            (
                "rbp_resid             \t1\t0.9000\n"
                "rbp_resid             \t2\t0.0000\n"
                "rbp_resid             \tall\t0.4500\n"
            ),
        ),
        (
            "10",
            "-q -c -J -m iprec_at_recall.0,.5 -m num_ret q r",
            0,
            (
                "num_ret               \t1\t1\n"
                "iprec_at_recall_0.00  \t1\t1.0000\n"
                "iprec_at_recall_0.50  \t1\t1.0000\n"
                "num_ret               \t2\t0\n"
                "iprec_at_recall_0.00  \t2\t  -nan\n"
                "iprec_at_recall_0.50  \t2\t0.0000\n"
                "num_ret               \tall\t1\n"
                "iprec_at_recall_0.00  \tall\t  -nan\n"
                "iprec_at_recall_0.50  \tall\t0.5000\n"
            ),
        ),
        ("10", "-q -c -m relstring.1 q r", 0, ("relstring_1           \t1\t'1'\nrelstring_1           \t2\t'-'\n")),
        ("10", "-q -c -m relstring q r", 0, ("relstring             \t1\t'1-'\nrelstring             \t2\t''\n")),
        (
            "10",
            "-q -c -m map -Z zmap q r",
            0,
            (
                "Zmap                   \t1\t2.0000\n"
                "Zmap                   \t2\t-2.0000\n"
                "Zmap                   \tall\t0.0000\n"
            ),
        ),
        ("10", "-c -m map q ro", 0, "map                   \tall\t0.0000\n"),
        ("10", "-m map q ro", 4, ""),
        ("9", "-m map q ro", 7, ""),
        (
            "10",
            "-m unj.5 -m rbp -m yaap -m set_P -c q r",
            0,
            (
                "set_P                 \tall\t0.2500\n"
                "yaap                  \tall\t-0.2027\n"
                "rbp                   \tall\t0.0500\n"
                "unj_5                 \tall\t0.1000\n"
            ),
        ),
        (
            "9",
            "-m yaap -m num_nonrel_judged_ret q r",
            0,
            ("num_nonrel_judged_ret \tall\t0\nyaap                  \tall\t0.6931\n"),
        ),
        (
            "10",
            "-q -m map q rc",
            0,
            (
                "map                   \t1\t1.0000\n"
                "map                   \t2\t0.5000\n"
                "map                   \tall\t0.7500\n"
            ),
        ),
        (
            "10",
            "-q -c -m map qc r2",
            0,
            (
                "map                   \t#\t0.0000\n"
                "map                   \t1\t1.0000\n"
                "map                   \t2\t0.5000\n"
                "map                   \tall\t0.5000\n"
            ),
        ),
        ("9", "-q -m map qc r2", 2, ""),
        ("9", "-q -m all_trec qdup rdup", 4, ""),
        ("10", "-q -m all_trec qdup rdup", 4, ""),
        ("9", "-m num_q qdup rdup", 0, "num_q                 \tall\t1\n"),
        (
            "9",
            "-m Rprec_mult.0 -m iprec_at_recall.2,-1 -m set_F.-0.5 qi ri",
            0,
            (
                "iprec_at_recall_-1.00 \tall\t1.0000\n"
                "iprec_at_recall_2.00  \tall\t0.0000\n"
                "Rprec_mult_0.00       \tall\t0.0000\n"
                "set_F_-0.5            \tall\t0.4286\n"
            ),
        ),
        (
            "9",
            "-m iprec_at_recall.1,1e10,inf qi ri",
            0,
            (
                "iprec_at_recall_1.00  \tall\t1.0000\n"
                "iprec_at_recall_10000000\tall\t1.0000\n"
                "iprec_at_recall_inf   \tall\t1.0000\n"
            ),
        ),
        (
            "9",
            "-m ndcg.-1=2,0=-3 -m G.-1=2 -m ndcg_rel.1=-3 qg rg",
            0,
            (
                "G_-1=2                \tall\t   inf\n"
                "ndcg_-1=2,0=-3        \tall\t0.9984\n"
                "ndcg_rel_1=-3         \tall\t0.0000\n"
            ),
        ),
        ("9", "-m ndcg.1=4,1=9 qg rg", 0, "ndcg_1=4,1=9          \tall\t0.9799\n"),
        ("10", "-m ideal_dcg.3=9 qg rg", 0, "ideal_dcg_3=9         \tall\t10.7619\n"),
        ("10", "-m dcg qg rg", 0, "dcg                   \tall\t3.7541\n"),
        ("10", "-m ndcg.x=5,1=4 qg rg", 0, "ndcg_x=5,1=4          \tall\t0.9799\n"),
        ("9", "-m ndcg.x=5,1=4 qg rg", 0, "ndcg_x=5,1=4          \tall\t0.6833\n"),
        ("9", "-m runid.1 q r", 0, "runid                 \tall\tt\n"),
        (
            "9",
            "-q -m map -Z znan q r2",
            0,
            (
                "Zmap                   \t1\t   nan\n"
                "Zmap                   \t2\t  -nan\n"
                "Zmap                   \tall\t  -nan\n"
            ),
        ),
        ("9", "-q -n -m map -Z znext q r", 0, "Zmap                   \t1\t2.0000\n"),
        ("9", "-m map -Z zbad q r", 255, ""),
        ("9", "-m utility.1,2 q r", 4, ""),
        ("9", "-m map. q r", 1, ""),
        ("9", "-n -q -m relstring.1e0 q r", 0, "relstring_1e0         \t1\t'1'\n"),
        (
            "9",
            "-m set.5 q r",
            0,
            (
                "runid                 \tall\tt\n"
                "num_q                 \tall\t1\n"
                "num_ret               \tall\t2\n"
                "num_rel               \tall\t1\n"
                "num_rel_ret           \tall\t1\n"
                "utility               \tall\t0.0000\n"
                "set_P                 \tall\t0.5000\n"
                "set_relative_P        \tall\t1.0000\n"
                "set_recall            \tall\t1.0000\n"
                "set_map               \tall\t0.5000\n"
                "set_F                 \tall\t0.6667\n"
            ),
        ),
        ("9", "-v", 0, ""),
        ("9", "-m P.5,5 -Z zbad q r", 255, ""),
    ],
)
def test_the_same_bytes_and_exit_code_as_trec_eval(
    command: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    version: str,
    call: str,
    code: int,
    text: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    outcome = command("trec_eval", "--compat", f"trec_eval-{version}", *call.split())
    assert (outcome.code, outcome.out) == (code, text)
