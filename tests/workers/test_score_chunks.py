"""The chunks of a run's scores that the database keeps beside its lists."""

from __future__ import annotations

import random

import pytest
from django.db import connection
from django.utils import timezone

from annotations.models import Dialogue, Turn
from tests.annotations.stored import stored, two_systems
from workers.models import MetricRun, ScoreChunk
from workers.runs.queries import dialogue_scores_at, turn_scores_at

pytestmark = pytest.mark.django_db
RANDOM = random.Random(0)
SCORES = [None if place % 7 == 0 else RANDOM.gauss(0, 10) for place in range(250)]


@pytest.fixture
def version(tmp_path):
    return stored(two_systems(), tmp_path)


def finished(system, **more):
    return MetricRun.objects.create(
        system=system,
        metric="made",
        metric_version="1",
        configuration="made",
        queue="cpu",
        state=MetricRun.State.DONE,
        finished_at=timezone.now(),
        signature="metric:made",
        system_score=0.5,
        **more,
    )


def joined(run, level="turn"):
    """The scores of its chunks, in order."""
    chunks = ScoreChunk.objects.filter(run=run, level=level).order_by("number")
    assert [chunk.number for chunk in chunks] == list(range(len(chunks)))
    return [chunk.scores[str(index)] for chunk in chunks for index in range(len(chunk.scores))]


def test_chunks_hold_the_very_scores_a_hundred_in_each(version):
    run = finished(version.systems.first(), turn_scores=SCORES)
    assert joined(run) == SCORES
    sizes = [len(chunk.scores) for chunk in run.chunks.order_by("number")]
    assert sizes == [100, 100, 50]


def test_scores_stored_anew_take_the_place_of_the_old_ones(version):
    run = finished(version.systems.first(), turn_scores=SCORES)
    MetricRun.objects.filter(pk=run.pk).update(turn_scores=[], dialogue_scores=[0.25, None])
    assert (joined(run), joined(run, "dialogue")) == ([], [0.25, None])


def test_another_column_s_update_leaves_the_chunks_as_they_are(version):
    run = finished(version.systems.first(), turn_scores=SCORES)
    before = list(run.chunks.order_by("pk").values_list("pk", flat=True))
    MetricRun.objects.filter(pk=run.pk).update(examples_done=3, remarks={"1": "cut"})
    assert list(run.chunks.order_by("pk").values_list("pk", flat=True)) == before


def test_chunks_go_with_their_run_also_where_a_program_does_not_know_them(version):
    first, second = version.systems.all()
    gone, stays = (finished(one, turn_scores=SCORES) for one in (first, second))
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM workers_metricrun WHERE id = %s", [gone.pk])
    assert set(ScoreChunk.objects.values_list("run", flat=True)) == {stays.pk}


def test_a_score_is_found_in_the_chunk_that_holds_it(version):
    system, count = version.systems.first(), Turn.objects.filter(dialogue__version=version).count()
    dialogue = Dialogue.objects.create(version=version, position=99, external_id="long")
    Turn.objects.bulk_create(Turn(dialogue=dialogue, number=number) for number in range(150))
    scores = [place / 8 for place in range(count + 150)]
    finished(system, turn_scores=scores)
    for place in (99, 100, 101):
        turn = dialogue.turns.get(number=place - count)
        assert turn_scores_at(version, turn) == {system.pk: [("made", place / 8, "", "")]}


def test_a_dialogue_s_score_is_none_of_a_turn(version):
    system, dialogue = version.systems.first(), version.dialogues.order_by("position").first()
    finished(system, dialogue_scores=[0.5, None], undefined={"1": "too short"})
    assert turn_scores_at(version, dialogue.turns.first()) == {}
    assert dialogue_scores_at(version, dialogue) == {system.pk: [("made", 0.5, "", "")]}


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL keeps large values apart")
def test_large_columns_stand_behind_those_that_pages_read():
    """SQLite reads a row to the column that is wanted."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM pragma_table_info('workers_metricrun') ORDER BY cid")
        columns = [name for (name,) in cursor.fetchall()]
    assert columns[-5:] == ["remarks", "details", "undefined", "dialogue_scores", "turn_scores"]
