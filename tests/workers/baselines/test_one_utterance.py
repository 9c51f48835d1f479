"""What is left of a language model's text."""

from __future__ import annotations

import pytest

from workers.baselines.language_model import one_utterance


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("Fine, thanks.", "Fine, thanks."),
        ("B: Fine, thanks.", "Fine, thanks."),
        ("Speaker B: Fine.", "Fine."),
        ("\n\n  Fine.\nA: And you?", "Fine."),
        ("Fine. A: And you? B: Too.", "Fine."),
        ('"Fine, thanks."', "Fine, thanks."),
        ("One. Two! Three?", "One. Two!"),
        ("One is done. The next was cut off in the mid", "One is done."),
        ("no full stop at all", "no full stop at all"),
        ("It costs 3.50 today. Yes.", "It costs 3.50 today. Yes."),
        ("", ""),
        ("B:", ""),
    ],
)
def test_one_utterance(written: str, said: str) -> None:
    assert one_utterance(written) == said
