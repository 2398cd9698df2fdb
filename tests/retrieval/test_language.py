"""Texts that are plainly not English are reported once; English ones never."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankgauge.config.retriever_settings import RetrieverSettings
from rankgauge.io.corpus.corpus import InMemoryCorpus
from rankgauge.io.corpus.corpus_files import open_collection
from rankgauge.retrieval.language import foreign_evidence, language_notes
from rankgauge.retrieval.open_retriever import RETRIEVER_MODES

DEFAULTS = [RetrieverSettings(mode=mode) for mode in RETRIEVER_MODES]
FOREIGN = {
    "French": [
        "Avant de changer la chambre à air, il faut desserrer le frein et sortir la roue du cadre avec précaution.",
        "La chaîne doit être nettoyée une fois par mois, puis huilée sans excès pour éviter que la poussière y colle.",
        "Si les vitesses sautent en montée, tournez la vis de réglage d'un quart de tour et essayez encore une fois.",
        "Une selle trop basse fatigue les genoux ; la jambe est presque tendue quand la pédale est en bas.",
    ],
    "German": [
        "Bevor man den Schlauch wechselt, löst man die Bremse und nimmt das Rad vorsichtig aus dem Rahmen.",
        "Die Kette wird einmal im Monat gereinigt und danach sparsam geölt, damit sie keinen Staub anzieht.",
        "Springen die Gänge am Berg, dreht man die Stellschraube um eine Vierteldrehung und probiert es noch einmal.",
        "Ein zu niedriger Sattel ermüdet die Knie; unten am Pedal ist das Bein fast gestreckt.",
    ],
    "Dutch": [
        "Voordat je de binnenband vervangt, maak je de rem los en haal je het wiel voorzichtig uit het frame.",
        "De ketting moet één keer per maand worden schoongemaakt en daarna licht geolied, zodat er geen stof blijft.",
        "Als de versnellingen op een helling overslaan, draai dan de stelschroef een kwartslag en probeer het opnieuw.",
        "Een zadel dat te laag staat is slecht voor de knieën; het been is onderaan bijna gestrekt.",
    ],
    "Russian": [
        "Перед заменой камеры ослабьте тормоз и осторожно снимите колесо с рамы.",
        "Цепь чистят раз в месяц, а затем смазывают совсем немного, чтобы к ней не липла пыль.",
    ],
    "Chinese": ["更换内胎之前，先松开刹车，再小心地把车轮从车架上取下来。", "链条每个月清洗一次，然后上少量的油。"],
}  # fmt: skip
ENGLISH_KEYWORDS = [
    "swollen battery", "presta valve adapter", "chain wear gauge", "saddle height knee pain", "brake fluid DOT 5.1",
    "tubeless sealant dries", "spoke tension meter", "bottom bracket creak", "derailleur hanger bent", "rim tape width",
    "dynamo light flicker", "headset loose", "torque wrench carbon stem", "freehub noise", "puncture repair kit",
    "cassette lockring tool", "hydraulic brake bleed", "pedal thread direction", "tire pressure winter",
]  # fmt: skip


@pytest.mark.parametrize("language", FOREIGN)
def test_texts_in_another_language_are_recognized(language: str) -> None:
    corpus = InMemoryCorpus({f"d{number}": text for number, text in enumerate(FOREIGN[language])})
    (note,) = language_notes(DEFAULTS, corpus, ["how do I clean the chain"])
    assert note.code == "language"
    assert note.message.startswith("the documents do not look English (")
    assert "stemmer english and stopwords english and embedder wordllama expect English" in note.message
    (note,) = language_notes(DEFAULTS, InMemoryCorpus({"d": "clean the chain"}), FOREIGN[language])
    assert note.message.startswith("the queries do not look English (")


@pytest.mark.parametrize("name", ["cranfield", "medline", "cisi", "vaswani"])
def test_english_collections_are_not_reported(name: str, collections: Path) -> None:
    collection = open_collection(collections / name)
    texts = [text or "" for text in collection.queries.texts]
    assert language_notes(DEFAULTS, collection.documents, texts) == ()
    for text in list(texts)[:40]:
        assert foreign_evidence([text]) is None


def test_what_may_be_english_is_not_reported() -> None:
    assert foreign_evidence([]) is None
    assert foreign_evidence(ENGLISH_KEYWORDS) is None  # keywords have few function words in any language
    assert foreign_evidence(["x = α + β", "Δt → 0", "ε"]) is None
    assert foreign_evidence(["kb-001 17 42"] * 50) is None


def test_only_what_is_made_for_english_is_reported() -> None:
    corpus = InMemoryCorpus({f"d{number}": text for number, text in enumerate(FOREIGN["German"])})

    def options(**settings: Any) -> str:
        return "".join(note.message for note in language_notes([RetrieverSettings(**settings)], corpus, []))

    assert options(mode="lexical", stemmer="german", stopwords="none") == ""
    assert "but stopwords english expects English" in options(mode="lexical", stemmer="german")
    assert options(mode="vector", embedder="hashed") == ""
    assert "but embedder wordllama expects English" in options(mode="vector")
    assert options(mode="my_app:search") == ""


def test_commands_say_it_once(tmp_path: Path, command: Callable[..., Any]) -> None:
    pytest.importorskip("bm25s")
    texts = FOREIGN["German"]
    lines = [json.dumps({"_id": f"d{number}", "text": text}) for number, text in enumerate(texts)]
    (tmp_path / "corpus.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "queries.jsonl").write_text('{"_id": "q", "text": "Sattel"}\n', encoding="utf-8")
    (tmp_path / "qrels.trec").write_text("q 0 d3 1\n", encoding="utf-8")
    fetched = command("runs", "fetch", "--corpus", tmp_path, "-o", tmp_path / "run.trec")
    assert fetched.err.count("the documents do not look English") == 1
    done = command(
        *["benchmark", "run", "--corpus", tmp_path, "--latency", 0, "-o", tmp_path / "out"],
        *["--retriever", "lexical", "--retriever", "vector", "--embedder", "hashed"],
    )
    assert done.err.count("the documents do not look English") == 1
    assert "[language]" in done.err
