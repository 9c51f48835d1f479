"""GPT2-Coherency of the packaged model on USR, beside what others' code reached with the same
weights."""

import json

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr

from annotations.formats.records import Utterance
from tests.ci import IS_LONG
from workers.metrics.base import Example
from workers.metrics.common.configuration import parse

pytestmark = pytest.mark.slow

PERSONA = "your persona:"
NEAR = 0.01
"""The reference was computed in bfloat16."""
ROUNDING = 0.002


@pytest.fixture(scope="module")
def rated(data):
    """The 300 examples, and what three raters gave each overall, as mean."""
    examples, overall = [], []
    for number, one in enumerate(
        json.loads((data / "usr" / "pc_usr_data.json").read_text(encoding="utf-8"))
    ):
        said = [line for line in one["context"].splitlines() if line.strip()]
        speakers = "AB" if len(said) % 2 else "BA"  # the other has the last word
        context = tuple(Utterance(speakers[place % 2], text) for place, text in enumerate(said))
        persona = tuple(
            line.removeprefix(PERSONA).strip() for line in one["fact"].splitlines() if line.strip()
        )
        for answer in one["responses"]:
            examples.append(Example(str(number), 0, persona, (), context, (), answer["response"]))
            overall.append(float(np.mean(answer["Overall"])))
    return examples, overall


EVERY_60TH = [-3.27998, -4.01085, -4.09957, -3.25504, -2.89134]
"""Of the 300 examples, by the code and weights that agree with the reference as the test below
asks, in float32."""


def test_gpt2_coherency_is_what_it_was_when_it_agreed_with_the_reference(rated):
    examples, _ = rated
    scorer = parse("gpt2_coherency").scorer()
    scores = scorer.score(examples[::60])
    rounding = ROUNDING if dict(scorer.account().facts)["dtype"] == "float32" else 0.1
    assert scores == pytest.approx(EVERY_60TH, abs=rounding)


@pytest.mark.skipif(not IS_LONG, reason="minutes of a language model: with DIALEVAL_LONG=1")
def test_gpt2_coherency_agrees_with_people_as_the_reference_does(rated, golden):
    """PMI does the same through a worker: tests/leaderboard/test_reference_numbers_neural.py. Once
    is enough: each asks the language model for minutes."""
    examples, overall = rated
    assert len(examples) == 300
    scorer = parse("gpt2_coherency").scorer()
    scores = scorer.score(examples)
    found = [pearsonr(scores, overall)[0], spearmanr(scores, overall)[0]]
    results = json.loads((golden / "llm.json").read_text())["correlations"]["results"][
        "usr_personachat"
    ]
    reference = results["ll_tags_nopersona_mean"]
    assert found == pytest.approx([reference["pearson"], reference["spearman"]], abs=NEAR)
    if dict(scorer.account().facts)["dtype"] == "float32":
        assert found == pytest.approx([-0.2445, -0.2777], abs=ROUNDING)
