"""An answer is read where it is stored for the present data, and made anew where the data has changed since."""

from __future__ import annotations

import pytest
from django.db import OperationalError

from annotations.actions import data_changed
from annotations.models import CorpusVersion
from dialeval_site.settings import VERSION
from leaderboard.actions import stored_answer
from leaderboard.models import Analysis
from tests.leaderboard.conftest import FOUR_RESPONSES, Rated

pytestmark = pytest.mark.django_db


class Question:
    """Counts how often it is computed."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> dict[str, int]:
        self.times += 1
        return {"times": self.times}


@pytest.fixture
def version(rated: Rated) -> CorpusVersion:
    return rated(FOUR_RESPONSES)


def test_a_second_look_reads_what_is_stored(version: CorpusVersion) -> None:
    question = Question()
    answers = [stored_answer(version, "test", "q", question).answer for _ in range(2)]
    assert (answers, question.times) == ([{"times": 1}, {"times": 1}], 1)


def test_changed_data_is_asked_anew_and_replaces_the_old_answer(version: CorpusVersion) -> None:
    question = Question()
    stored_answer(version, "test", "q", question)
    data_changed([version.pk])
    version.refresh_from_db()
    assert stored_answer(version, "test", "q", question).answer == {"times": 2}
    assert Analysis.objects.filter(kind="test").count() == 1


def test_an_answer_made_while_the_data_changed_is_made_again(version: CorpusVersion) -> None:
    question = Question()

    def interrupted() -> dict[str, int]:
        data_changed([version.pk])
        return question()

    stored_answer(version, "test", "q", interrupted)
    version.refresh_from_db()
    assert stored_answer(version, "test", "q", question).answer == {"times": 2}


def test_another_question_kind_or_version_is_another_answer(version: CorpusVersion) -> None:
    question = Question()
    stored_answer(version, "test", "q", question)
    stored_answer(version, "test", "other", question)
    stored_answer(version, "other", "q", question)
    assert question.times == 3


def test_questions_about_other_data_follow_their_own_count_of_writes(version: CorpusVersion) -> None:
    """A campaign's ratings change while its corpus version does not."""
    question = Question()
    for writes in (7, 7, 8):
        stored = stored_answer(version, "test", "q", question, revision=writes)
    data_changed([version.pk])
    version.refresh_from_db()
    stored_answer(version, "test", "q", question, revision=8)
    assert (question.times, stored.revision) == (2, 8)


def test_an_answer_that_other_code_made_is_made_again(version: CorpusVersion) -> None:
    question = Question()
    for made_by in ("charts 1", "charts 1", "charts 2"):
        stored = stored_answer(version, "test", "q", question, made_by)
    assert (question.times, stored.made_by) == (2, f"dialeval {VERSION} charts 2")


def test_an_answer_of_another_release_is_made_again(version: CorpusVersion, settings) -> None:
    question = Question()
    for release in ("0.1.0", "0.1.0", "0.2.0"):
        settings.VERSION = release
        stored_answer(version, "test", "q", question)
    assert question.times == 2


def test_questions_longer_than_the_column_are_told_apart(version: CorpusVersion) -> None:
    question = Question()
    for last in ("a", "b", "a"):
        stored_answer(version, "test", "system,".join(["q"] * 100) + last, question)
    assert question.times == 2


def test_an_answer_that_cannot_be_stored_is_given_all_the_same(version: CorpusVersion, monkeypatch) -> None:
    """A long import holds SQLite's only write lock."""

    def locked(**_: object) -> None:
        raise OperationalError("database is locked")

    monkeypatch.setattr(Analysis.objects, "update_or_create", locked)
    found = stored_answer(version, "test", "q", Question())
    assert (found.answer, found.pk, found.computed_at is None) == ({"times": 1}, None, False)


def test_a_corpus_takes_its_stored_answers_with_it(version: CorpusVersion) -> None:
    stored_answer(version, "test", "q", Question())
    version.corpus.delete()
    assert not Analysis.objects.exists()
