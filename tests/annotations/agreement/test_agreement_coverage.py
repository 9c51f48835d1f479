"""A small version of ``python -m bench.coverage --agreement``; docs/statistics_agreement.md has the
whole."""

from __future__ import annotations

import pytest

from bench import agreement_coverage
from bench.agreement_coverage import Plan, simulate


@pytest.mark.slow
def test_intervals_of_agreement_hold_about_95_percent(monkeypatch: pytest.MonkeyPatch) -> None:
    """200 corpora of ten sets of raters; the standard error of a coverage is 1.5 points."""
    monkeypatch.setattr(agreement_coverage, "TRUE_DIALOGUES", 4000)
    counts = simulate(
        Plan(dialogues=20, responses=5, raters=4, each=3), corpora=200, worlds=10, seed=3
    )
    assert len(counts) == 4 + 3 + 1 + 2 + 3
    for what, one in counts.items():
        made = one["held"] + one["missed"]
        assert made == 200, what
        assert 0.90 <= one["held"] / made <= 0.995, (what, one)
