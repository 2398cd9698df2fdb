"""Real participants' runs of TREC 2003 with NIST's own scores."""

from __future__ import annotations

from pathlib import Path

from rankgauge import evaluate, read_qrels


def test_map_and_rprec_are_nists(collections: Path) -> None:
    folder = collections / "robust03"
    qrels = read_qrels(folder / "qrels.trec")
    lines = (folder / "official.tsv").read_text().splitlines()[1:]
    assert len(lines) == 5
    for line in lines:
        name, mean, rprec = line.split("\t")
        scores = evaluate(qrels, folder / "runs" / f"input.{name}.gz", "map Rprec")
        # NIST cut one of the ten numbers off instead of rounding it.
        for measure, official in (("map", mean), ("Rprec", rprec)):
            value = scores[measure]
            assert value is not None
            assert abs(value - float(official)) <= 0.0001, (name, measure)
