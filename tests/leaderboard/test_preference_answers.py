"""What is stored of preferences, computed from stored corpora."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from django.core.management import call_command

from annotations.corpora.queries import NotFound
from annotations.formats.records import (
    DialogueRecord,
    PreferenceRecord,
    RaterRecord,
    Record,
    ResponseRecord,
    TurnRecord,
    Utterance,
)
from annotations.models import System
from leaderboard.queries.preference_board import ONE_RATER, preference_leaderboard
from leaderboard.queries.preference_metrics import preference_metrics
from leaderboard.queries.preferences import preference_questions
from leaderboard.results.kinds import all_kinds
from tests.annotations.stored import stored, two_systems
from tests.leaderboard.preferred import preferred_corpus, preferred_version
from tests.leaderboard.statistics.preferences.tables import reference, rows_of

pytestmark = pytest.mark.django_db


def test_strengths_order_systems_and_slots_are_balanced(tmp_path: Path) -> None:
    found = preference_leaderboard(preferred_version(tmp_path))
    assert [system.system for system in found.systems] == ["brief", "fair", "full"]
    values = [system.strength.value for system in found.systems]
    assert values == sorted(values)
    assert sum(values) == pytest.approx(0)
    assert (found.votes, found.conversations, found.raters) == (72, 12, 2)
    assert all(system.strength.ci and system.rank for system in found.systems)
    assert found.slot.p is not None
    assert found.questions[0].votes == 72
    # Each pair met 24 times; the two rates of a meeting are shares of it.
    assert [one.battles for one in found.meetings] == [24, 24, 24]


def test_an_answer_reads_back(tmp_path: Path) -> None:
    version = preferred_version(tmp_path)
    call_command("score", corpus="small", metrics="response_length,word_f1", inline=True)
    for kind, answer in (
        ("preferences", preference_leaderboard(version)),
        ("preference-metrics", preference_metrics(version)),
    ):
        registered = all_kinds()[kind]
        assert registered.from_json(registered.to_json(answer)) == answer


def test_an_undefeated_system_leaves_no_strength(tmp_path: Path) -> None:
    found = preference_leaderboard(preferred_version(tmp_path, undefeated="full"))
    assert "full won every battle against the others" in found.reason
    assert {system.strength.value for system in found.systems} == {None}
    assert found.systems[2].win_rate.value == 1
    assert found.systems[2].rank is None
    assert found.slot.value is None


def test_whole_dialogues_are_another_question(tmp_path: Path) -> None:
    found = preference_leaderboard(preferred_version(tmp_path, of_whole=True))
    assert found.level == "dialogue"
    assert found.style[0].effect.value is not None


def test_one_rater_has_no_interval_over_raters(tmp_path: Path) -> None:
    found = preference_leaderboard(preferred_version(tmp_path, raters=1))
    assert found.systems[0].by_rater.ci is None
    assert found.systems[0].by_rater.reason == ONE_RATER
    version = preferred_version(tmp_path, raters=1, slug="again")
    assert preference_metrics(version).people.with_ties.value is None


def test_two_samples_of_one_system_are_no_battle(tmp_path: Path) -> None:
    records: list[Record] = []
    for record in preferred_corpus(dialogues=3):
        records.append(record)
        if isinstance(record, ResponseRecord) and record.system == "brief":
            records.append(ResponseRecord(record.dialogue_id, 0, "brief", "another", sample=1))
    records.append(PreferenceRecord("d2", 0, "brief", "brief", "a", "p0", sample_b=1))
    found = preference_leaderboard(stored(records, tmp_path))
    assert (found.votes, found.same_system) == (18, 1)


def test_a_withheld_system_s_votes_do_not_count(tmp_path: Path) -> None:
    version = preferred_version(tmp_path)
    System.objects.filter(version=version, name="full").update(withheld=True)
    found = preference_leaderboard(version)
    assert [system.system for system in found.systems] == ["brief", "fair"]
    assert (found.votes, found.questions[0].votes) == (24, 24)


def test_no_preferences_is_refused(tmp_path: Path) -> None:
    version = stored(two_systems(), tmp_path)
    assert preference_questions(version) == []
    with pytest.raises(NotFound):
        preference_leaderboard(version)
    with pytest.raises(NotFound):
        preference_leaderboard(preferred_version(tmp_path, slug="other"), aspect="humour")


def test_longer_is_what_these_people_prefer(tmp_path: Path) -> None:
    version = preferred_version(tmp_path)
    call_command("score", corpus="small", metrics="response_length,word_f1", inline=True)
    found = preference_metrics(version)
    rows = {row.metric: row for row in found.rows}
    assert found.baseline is not None
    assert rows["response_length"].accuracy == found.baseline.accuracy
    assert rows["response_length"].accuracy.value > 0.5
    assert rows["response_length"].accuracy.ci is not None
    assert found.people.accuracy.value is not None
    assert found.people.pairs == 36
    assert rows["word_f1"].groups
    whole = preference_metrics(preferred_version(tmp_path, slug="whole", of_whole=True))
    assert whole.baseline is not None
    assert whole.baseline.accuracy == found.baseline.accuracy


def test_a_metric_with_half_its_scores_says_so(tmp_path: Path) -> None:
    version = preferred_version(tmp_path)
    call_command(
        "score", corpus="small", metrics="response_length", inline=True, systems=["brief", "fair"]
    )
    (row,) = preference_metrics(version).rows
    assert (row.votes, row.coverage) == (24, pytest.approx(1 / 3))


def test_who_contradicts_themselves_in_both_orders_has_called_a_tie(tmp_path: Path) -> None:
    records = preferred_corpus(dialogues=1, raters=2, systems=("brief", "full"))
    votes = [one for one in records if isinstance(one, PreferenceRecord)]
    rest = [one for one in records if not isinstance(one, PreferenceRecord)]
    said = [
        ("p0", "brief", "full", "a"),
        ("p0", "full", "brief", "a"),
        ("p1", "brief", "full", "a"),
    ]
    assert len(votes) == 2
    found = preference_metrics(
        stored(
            [*rest, *(PreferenceRecord("d0", 0, a, b, won, rater) for rater, a, b, won in said)],
            tmp_path,
        )
    )
    # A tie and a vote for brief: one pair, which does not agree.
    assert (found.people.pairs, found.people.with_ties.value) == (1, 0)


def test_usr_s_strengths_are_the_reference_s(golden: Path, tmp_path: Path) -> None:
    """Stored and read back, votes are the table's."""
    rows = rows_of(golden, "usr_overall_pairs")
    names = sorted({row["system_a"] for row in rows} | {row["system_b"] for row in rows})
    records = preferred_corpus(dialogues=0, raters=0, systems=tuple(names))
    records += [RaterRecord(rater) for rater in sorted({row["rater"] for row in rows})]
    for dialogue in sorted({row["dialogue"] for row in rows}):
        turn = TurnRecord(0, (Utterance("A", "so?"),), ())
        records.append(DialogueRecord(dialogue, (), (), (turn,)))
        records += [ResponseRecord(dialogue, 0, name, "well") for name in names]
        records += [
            PreferenceRecord(
                dialogue, 0, row["system_a"], row["system_b"], row["winner"], row["rater"]
            )
            for row in rows
            if row["dialogue"] == dialogue
        ]
    found = preference_leaderboard(stored(records, tmp_path))
    expected = reference(golden, "bradley_terry")["tables"]["usr_overall_pairs"]["bradley_terry"]
    by_name = {system.system: system for system in found.systems}
    values = [by_name[name].strength.value for name in names]
    assert values == pytest.approx(expected["log_strength"], abs=1e-8)
    ends = np.array([by_name[name].strength.ci for name in names])
    shown = expected["recommended_interval95"]
    assert ends[:, 0] == pytest.approx(np.array(shown["low"]), abs=1e-8)
    assert ends[:, 1] == pytest.approx(np.array(shown["high"]), abs=1e-8)
    assert [by_name[name].rank for name in names] == shown["rank_range"]["best"]
