"""What looks the same is one text to a metric, and what a reader tells apart is not."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.workers.metrics.pairs import score
from workers.metrics.common.configuration import parse
from workers.metrics.common.lexical import normalised_tokens
from workers.metrics.common.tokenisation import Tokenisation
from workers.metrics.common.unicode_folding import fold, folding_report, foldings

LEXICAL = ["word_f1", "bleu_4", "rouge_1", "rouge_2", "rouge_l", "chrf", "chrf_pp"]
GOLD = "I don't think so - it's \"late\", isn't it? Café au lait..."
SAME = {
    "curly": "I don’t think so – it’s “late”, isn’t it? Café au lait…",
    "decomposed": unicodedata.normalize("NFD", GOLD),
    "spaces": GOLD.replace(" ", "\u00a0").replace("so", "s\u00ado"),
    "invisible": "\ufeff" + GOLD.replace("late", "la\u200bte\u200e"),
    "full width": GOLD.replace("I don", "Ｉ　ｄｏｎ").replace("　", " "),
    "guillemets": GOLD.replace('"late"', "«late»").replace(" - ", " — "),
}
strange = st.text(
    st.one_of(
        st.sampled_from("a’\u200d\u200c\ufe0f👨👩❤🔥🏽\u0301क्ू\u0627ﾊﾞ１…\u00ad"),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=12,
)


@pytest.mark.parametrize("name", LEXICAL)
@pytest.mark.parametrize("kind", sorted(SAME))
def test_typography_does_not_change_a_score(name: str, kind: str) -> None:
    assert score(name, SAME[kind], GOLD) == pytest.approx(1.0)
    assert score(name, GOLD, SAME[kind]) == pytest.approx(1.0)


@pytest.mark.parametrize("name", ["bertscore_f1", "simcse", "greedy_matching"])
def test_typography_does_not_change_a_score_of_an_encoder(name: str) -> None:
    assert score(name, SAME["curly"], GOLD) == score(name, SAME["invisible"], GOLD) == 1.0


def test_without_folding_it_does() -> None:
    assert score("word_f1[unicode=none]", SAME["decomposed"], GOLD) < 1
    assert score("word_f1[tokenize=parlai]", SAME["curly"], GOLD) < 1


@given(strange)
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.text(st.characters(max_codepoint=127), max_size=40))
def test_ascii_text_is_cut_as_by_parlai(text: str) -> None:
    default = Tokenisation.of(parse("word_f1").options).analysis(text).tokens
    assert fold(text) == text
    assert (
        list(default)
        == normalised_tokens(text)
        == list(Tokenisation.of(parse("word_f1[tokenize=parlai]").options).analysis(text).tokens)
    )


@pytest.mark.parametrize(
    "different",
    [
        ("ılık", "ilik"),
        ("İ", "I"),
        ("resume", "résumé"),
        ("👨‍👩‍👧", "👨👩👧"),
        ("می‌خواهم", "میخواهم"),
        ("क्‍ष", "क्ष"),
        ("ß", "ss"),
    ],
)
def test_what_a_reader_tells_apart_stays_apart(different: tuple[str, str]) -> None:
    one, other = different
    assert fold(one) != fold(other)
    assert fold(one) == unicodedata.normalize("NFC", one)


def test_an_emoji_is_the_same_with_and_without_its_variation_selector() -> None:
    assert fold("❤️") == fold("❤")
    assert fold("❤️‍🔥") == "❤\u200d🔥"


def test_turkish_capitals_become_turkish_letters() -> None:
    turkish = Tokenisation.of(parse("word_f1").options, "tr")
    assert turkish.analysis("ISPARTA İstanbul").tokens == ("ısparta", "istanbul")
    assert Tokenisation.of(parse("word_f1").options, "en").analysis("ISPARTA").tokens == (
        "isparta",
    )


def test_articles_are_dropped_in_english_alone() -> None:
    assert Tokenisation.of(parse("word_f1").options, "hu").analysis("a kutya").tokens == (
        "a",
        "kutya",
    )


@given(strange)
def test_what_is_folded_is_said_and_nothing_else(text: str) -> None:
    assert bool(foldings(text)) == (fold(text) != text)


@pytest.mark.parametrize(
    "kept",
    ["ılık İ", "👨\u200d👩\u200d👧", "می\u200cخواهم", "🏴\U000e0067\U000e0062\U000e007f", "straße"],
)
def test_what_stays_apart_is_not_said_to_be_folded(kept: str) -> None:
    assert foldings(kept) == []


def test_each_kind_of_folding_is_a_sentence_with_its_count() -> None:
    counts = {"quotes": 212, "dashes": 1, "invisible": 3, "composition": 2}
    assert folding_report(counts) == [
        "Curly quotes in 212 responses are read as straight ones by the metrics.",
        "Long dashes in 1 response are read as hyphens by the metrics.",
        "Invisible characters in 3 responses are passed over by the metrics.",
        "Letters with combining marks in 2 responses are read as composed ones.",
    ]
    assert foldings("I don’t – “no”…\u00a0ﬁ") == [
        "quotes",
        "dashes",
        "ellipses",
        "spaces",
        "widths",
    ]
    assert foldings("cafe\u0301 a\u200db") == ["invisible", "composition"]
