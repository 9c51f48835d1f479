import pytest

from annotations.actions import data_changed
from annotations.models import CorpusVersion
from leaderboard.actions import stored_answer
from leaderboard.models import Analysis
from tests.annotations.stored import stored, two_systems

pytestmark = pytest.mark.django_db


@pytest.fixture
def version(tmp_path) -> CorpusVersion:
    return stored(two_systems(), tmp_path)


class Counted:
    """An answer that says how often it was computed."""

    times = 0

    def __call__(self):
        self.times += 1
        return {"times": self.times}


def test_an_answer_is_computed_once_for_one_state_of_the_data(version):
    compute = Counted()
    answers = [stored_answer(version, "kind", "question", compute).answer for _ in range(2)]
    assert answers == [{"times": 1}, {"times": 1}]


def test_a_change_of_the_data_makes_the_answer_anew_in_the_same_row(version):
    compute = Counted()
    stored_answer(version, "kind", "question", compute)
    data_changed([version.pk])
    version.refresh_from_db()
    assert stored_answer(version, "kind", "question", compute).answer == {"times": 2}
    assert Analysis.objects.count() == 1


def test_an_answer_of_other_code_is_made_anew(version):
    compute = Counted()
    stored_answer(version, "kind", "question", compute, made_by="older")
    assert stored_answer(version, "kind", "question", compute, made_by="newer").answer["times"] == 2
    assert stored_answer(version, "kind", "question", compute, made_by="newer").answer["times"] == 2


def test_questions_longer_than_the_column_stay_apart(version):
    answers = [
        stored_answer(version, "kind", "q" * 350 + end, lambda end=end: {"end": end}).answer["end"] for end in "ab"
    ]
    assert answers == ["a", "b"]
