"""Small rated corpora whose correlations are worked by hand. The metric ``length`` counts a
response's characters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.core.management import call_command

from annotations.models import CorpusVersion
from tests.annotations.stored import Scores, dialogue, rated_corpus, stored
from tests.workers.conftest import odd_metrics  # noqa: F401 (a fixture)
from workers.inference import resources

Rated = Callable[..., CorpusVersion]


@pytest.fixture
def rated(tmp_path: Path, odd_metrics: None) -> Rated:  # noqa: F811
    """Makes and scores a corpus from {(dialogue, turn, system): (human score or None, length of the
    response)}."""

    def make(
        places: dict[tuple[str, int, str], tuple[float | None, int]],
        of_dialogues: dict[tuple[str, str], float] | None = None,
        metrics: str = "length",
    ) -> CorpusVersion:
        turns = {
            name: max(turn for other, turn, _ in places if other == name) + 1
            for name, _, _ in places
        }
        ratings: Scores = {
            place: {"ann": human} for place, (human, _) in places.items() if human is not None
        }
        for (name, system), human in (of_dialogues or {}).items():
            ratings[name, None, system] = {"ann": human}
        records = rated_corpus(
            [dialogue(name, turns=count) for name, count in turns.items()],
            {place: "x" * length for place, (_, length) in places.items()},
            ratings,
        )
        version = stored(records, tmp_path)
        call_command("score", corpus="small", metrics=metrics, inline=True)
        version.refresh_from_db()
        return version

    return make


@pytest.fixture
def home(tmp_path: Path, settings: LazySettings) -> Iterator[Path]:
    """The site's home, with nothing trained in it."""
    settings.HOME = tmp_path / "home"
    before = resources.at_hand()
    resources.use(replace(before, trained_folder=settings.HOME / "trained"))
    yield settings.HOME
    resources.use(before)


FOUR_RESPONSES = {
    ("d0", 0, "echo"): (1, 1),
    ("d1", 0, "echo"): (2, 3),
    ("d2", 0, "echo"): (3, 2),
    ("d0", 0, "dull"): (4, 4),
}
"""Human scores 1, 2, 3, 4 and lengths 1, 3, 2, 4: deviations ∓1.5, ∓0.5, so r = (2.25 − 0.25 − 0.25
+ 2.25) / 5 = 0.8; ranks are the scores, so ρ = 0.8; of six pairs one is turned, so τ = (5 − 1) / 6
= 2/3."""
