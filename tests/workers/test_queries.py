import pytest
from django.utils import timezone

from annotations.models import Dialogue, Turn
from tests.annotations.stored import stored, two_systems
from workers.models import MetricRun
from workers.runs.queries import turn_scores_at, turns_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def version(tmp_path):
    return stored(two_systems(), tmp_path)


def finished(system, configuration, scores, undefined=None):
    return MetricRun.objects.create(
        system=system,
        metric=configuration,
        metric_version="1",
        configuration=configuration,
        queue="cpu",
        state=MetricRun.State.DONE,
        finished_at=timezone.now(),
        signature="metric:made",
        system_score=0.5,
        turn_scores=scores,
        undefined=undefined or {},
    )


def test_each_system_has_its_scores_at_the_turn_with_the_reason_where_there_is_none(version):
    first, second = version.systems.order_by("position")
    turns = list(
        Turn.objects.filter(dialogue__version=version).order_by("dialogue__position", "number")
    )
    rest = [0.0] * (len(turns) - 2)
    finished(first, "b", [0.1, 0.25, *rest])
    finished(first, "a", [0.3, None, *rest], {"1": "no word"})
    finished(second, "a", [0.5, 1.0, *rest])
    assert turn_scores_at(version, turns[1]) == {
        first.pk: [("a", None, "no word", ""), ("b", 0.25, "", "")],
        second.pk: [("a", 1.0, "", "")],
    }


def test_a_remark_stands_beside_its_own_turn_s_score(version):
    system = version.systems.first()
    turns = list(
        Turn.objects.filter(dialogue__version=version).order_by("dialogue__position", "number")
    )
    finished(system, "a", [0.5] * len(turns))
    system.metric_runs.update(remarks={"1": "cut at 512 tokens"})
    assert turn_scores_at(version, turns[0])[system.pk] == [("a", 0.5, "", "")]
    assert turn_scores_at(version, turns[1])[system.pk] == [("a", 0.5, "", "cut at 512 tokens")]


def test_a_metric_without_turn_scores_has_none_at_any_turn(version):
    system = version.systems.first()
    finished(system, "fbd", [])
    turn = Turn.objects.filter(dialogue__version=version).first()
    assert turn_scores_at(version, turn) == {}


def test_more_dialogues_are_read_than_one_statement_can_name(version):
    """SQLite takes 1,000 conditions in a row."""
    first = version.dialogues.count()
    more = Dialogue.objects.bulk_create(
        Dialogue(version=version, position=place, external_id=f"more {place}")
        for place in range(first, first + 1_001)
    )
    Turn.objects.bulk_create(Turn(dialogue=one, number=0, references=["yes"]) for one in more)
    found = turns_of(version.pk)
    assert len(found) == Turn.objects.filter(dialogue__version=version).count()
    assert (found[-1].dialogue_id, found[-1].references) == (f"more {first + 1_000}", ("yes",))
