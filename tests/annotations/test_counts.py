"""What a corpus version holds is counted once after a change."""

from __future__ import annotations

import pytest
from django.test.utils import CaptureQueriesContext

from annotations.corpora.actions import data_changed, scores_changed
from annotations.corpora.queries import counts_of
from annotations.models import CorpusVersion, Rater, Rating, Response
from tests.campaigns.sets import made_version


@pytest.fixture
def version(db: None) -> CorpusVersion:
    """2 systems × 3 dialogues × 2 turns, and one rating."""
    made = made_version()
    _rated(made, "first")
    return made


def _rated(version: CorpusVersion, name: str) -> None:
    rater = Rater.objects.create(version=version, position=version.raters.count(), name=name)
    response = Response.objects.filter(system__version=version).first()
    Rating.objects.create(rater=rater, aspect="overall", response=response, score=4)


def _present(version: CorpusVersion) -> CorpusVersion:
    return CorpusVersion.objects.get(pk=version.pk)


def _questions(version: CorpusVersion) -> int:
    from django.db import connection

    with CaptureQueriesContext(connection) as captured:
        counts_of(version)
    return len(captured)


def test_a_second_look_counts_nothing(version: CorpusVersion) -> None:
    first = counts_of(_present(version))
    assert (
        first.dialogues,
        first.turns,
        first.systems,
        first.responses,
        first.raters,
        first.ratings,
    ) == (
        3,
        3 * 2,
        2,
        3 * 2 * 2,
        1,
        1,
    )
    seen = _present(version)
    assert _questions(seen) == 0
    assert counts_of(seen) == first


def test_what_metrics_need_is_counted_too(version: CorpusVersion) -> None:
    """In the first of 3 dialogues of 2 turns: a persona, a turn without references, one without a
    context."""
    first = version.dialogues.get(position=0)
    version.dialogues.exclude(pk=first.pk).update(persona=[])
    first.turns.filter(number=0).update(references=[], own_context=[], after=None)
    counts = counts_of(_present(version))
    assert (counts.references, counts.contexts, counts.personas) == (5, 5, 1)


def test_counts_of_an_earlier_release_lack_some_and_are_made_anew(version: CorpusVersion) -> None:
    seen = _present(version)
    seen.counted = {"dialogues": 7}
    assert counts_of(seen).dialogues == 3


def test_after_a_change_it_is_counted_anew(version: CorpusVersion) -> None:
    assert counts_of(_present(version)).ratings == 1
    _rated(version, "second")
    data_changed([version.pk])
    assert counts_of(_present(version)).ratings == 2


def test_an_ended_metric_run_leaves_the_counts(version: CorpusVersion) -> None:
    counts_of(_present(version))
    before = _present(version)
    scores_changed([version.pk])
    after = _present(version)
    assert after.revision == before.revision + 1
    assert after.counted == before.counted


def test_what_was_counted_before_a_change_is_not_kept_after_it(version: CorpusVersion) -> None:
    """Read, then changed by somebody else, then counted and stored: the count may be of before."""
    read = _present(version)
    data_changed([version.pk])
    counts_of(read)
    assert _present(version).counted is None
