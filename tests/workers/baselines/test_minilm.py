"""The packaged sentence encoder."""

from __future__ import annotations

import numpy as np
import pytest

from workers.encoders import minilm
from workers.encoders.minilm import EncoderMissingError, SentenceEncoder, packaged_minilm


@pytest.fixture(scope="module")
def encoder() -> SentenceEncoder:
    try:
        packaged_minilm()
    except EncoderMissingError as missing:
        pytest.skip(str(missing))
    return SentenceEncoder()


def test_vectors_have_length_one(encoder: SentenceEncoder) -> None:
    vectors = encoder.encode(["A tram.", "A long sentence about a tram that is late again."])
    assert vectors.shape == (2, 384)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1], abs=1e-6)


def test_padding_changes_nothing(encoder: SentenceEncoder) -> None:
    alone = encoder.encode(["A tram."])[0]
    beside_a_longer_one = encoder.encode(["A tram.", "A long sentence about a tram that is late again."])[0]
    assert beside_a_longer_one == pytest.approx(alone, abs=1e-5)


def test_what_means_the_same_lies_nearer(encoder: SentenceEncoder) -> None:
    cat, kitten, invoice = encoder.encode(["The cat is asleep.", "A kitten sleeps.", "Please pay the invoice."])
    assert cat @ kitten > 0.5 > cat @ invoice


def test_no_texts_give_no_rows(encoder: SentenceEncoder) -> None:
    assert encoder.encode([]).shape == (0, 384)


def test_a_missing_package_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(EncoderMissingError, match="make setup"):
        packaged_minilm()
