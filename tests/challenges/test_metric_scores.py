"""A file of metric scores on its way: received, checked by a worker, stored as a metric or refused,
withdrawn."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from threading import Barrier
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction

from annotations.models import AuditEntry, CorpusVersion
from leaderboard.challenges import execution
from leaderboard.challenges.actions import scores as score_actions
from leaderboard.challenges.actions import work
from leaderboard.challenges.actions.receiving import NotTaken, Received
from leaderboard.challenges.actions.scores import NotYours, receive_scores, withdraw
from leaderboard.challenges.models import Submission
from leaderboard.challenges.uploads import incoming_folder
from leaderboard.models import SubmittedMetric, SubmittedScores
from tests.campaigns.sets import made_user
from tests.challenges.sets import open_round, small_version, upload_of
from tests.stored_uploads import uploads_folder

State = Submission.State
BOTH = ("alpha", "beta")


def lines(rows: Iterable[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def turn_scores(version: CorpusVersion, systems: Iterable[str] = BOTH) -> bytes:
    """Every turn's score: its place among the turns, a system's letters beside it to tell the
    systems apart."""
    return lines(
        {
            "dialog_id": dialogue.external_id,
            "turn": turn.number,
            "system": system,
            "score": place + len(system) / 10,
        }
        for system in systems
        for place, (dialogue, turn) in enumerate(
            (dialogue, turn)
            for dialogue in version.dialogues.all()
            for turn in dialogue.turns.order_by("number")
        )
    )


def send(version: CorpusVersion, user: Any, data: bytes | None = None, **fields: Any) -> Received:
    given = {"name": "mine", "level": "turn", "higher_is_better": True, "link": "", **fields}
    return receive_scores(
        version,
        user,
        upload=upload_of(turn_scores(version) if data is None else data, "scores.jsonl"),
        **given,
    )


def processed(received: Received) -> Submission:
    execution.process(received.submission.pk)
    return Submission.objects.get(pk=received.submission.pk)


def code_of(version: CorpusVersion, user: Any, data: bytes | None = None, **fields: Any) -> str:
    """The code of the refusal, after which no file and no row is left."""
    before = (
        set(uploads_folder().iterdir()),
        set(incoming_folder().iterdir()),
        Submission.objects.count(),
    )
    with pytest.raises(NotTaken) as refused:
        send(version, user, data, **fields)
    assert (
        set(uploads_folder().iterdir()),
        set(incoming_folder().iterdir()),
        Submission.objects.count(),
    ) == before
    return refused.value.code


@pytest.fixture
def version() -> CorpusVersion:
    return small_version(dialogues=2, turns=2, systems=BOTH)


@pytest.fixture
def ann() -> Any:
    return made_user("ann")


# --- taken in -------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_turn_scores_are_stored_in_the_order_of_turns(version, ann) -> None:
    revision = version.revision
    done = processed(send(version, ann, link="https://example.org/paper", higher_is_better=False))
    assert done.state == State.SCORED, done.problems
    metric = done.metric
    assert (metric.name, metric.level, metric.higher_is_better, metric.owner) == (
        "mine",
        "turn",
        False,
        ann,
    )
    assert (metric.link, metric.sha256) == ("https://example.org/paper", done.sha256)
    stored = {
        one.system.name: (one.scores, one.system_score)
        for one in metric.scores.select_related("system")
    }
    assert stored["alpha"] == ([0.5, 1.5, 2.5, 3.5], 2.0)  # (0.5 + 1.5 + 2.5 + 3.5) / 4
    assert stored["beta"] == ([0.4, 1.4, 2.4, 3.4], pytest.approx(1.9))
    version.refresh_from_db()
    assert version.revision == revision + 1


@pytest.mark.django_db
def test_dialogue_scores_are_stored_in_the_order_of_dialogues(version, ann) -> None:
    rows = [
        {"dialog_id": "file-1", "system": "beta", "score": 3},
        {"dialog_id": "file-0", "system": "beta", "score": 1},
        {"dialog_id": "file-1", "system": "alpha", "score": 2},
    ]
    done = processed(send(version, ann, lines(rows), level="dialogue"))
    stored = {
        one.system.name: (one.scores, one.system_score)
        for one in done.metric.scores.select_related("system")
    }
    assert stored == {"beta": ([1.0, 3.0], 2.0), "alpha": ([None, 2.0], 2.0)}
    assert "3 of 4 scores, of 2 of 2 systems" in " ".join(done.log.values_list("text", flat=True))


@pytest.mark.django_db
def test_scores_of_an_export_can_be_handed_in_again(version, ann, tmp_path) -> None:
    """The rows of the metric's own level, with the id's name as it is in files to hand in."""
    given = [json.loads(line) for line in turn_scores(version).splitlines()]
    given[2]["score"], given[3]["score"] = None, 0.1 + 0.2
    first = processed(send(version, ann, lines(given[:-1]))).metric
    call_command("export_corpus", version.corpus.slug, to=tmp_path / "out", stdout=io.StringIO())
    exported = map(
        json.loads, (tmp_path / "out" / "scores.jsonl").read_text(encoding="utf-8").splitlines()
    )
    again = [
        {
            "dialog_id": row["dialogue_id"],
            **{name: row[name] for name in ("turn", "system", "score")},
        }
        for row in exported
        if row["level"] == "turn"
    ]
    second = processed(send(version, ann, lines(again), name="again")).metric
    of_first, of_second = (
        list(metric.scores.order_by("system").values_list("system", "scores", "system_score"))
        for metric in (first, second)
    )
    assert of_second == of_first


@pytest.mark.django_db
def test_a_dialogue_without_turns_keeps_its_place(version, ann) -> None:
    version.dialogues.get(position=0).turns.all().delete()
    rows = [{"dialog_id": "file-1", "system": "beta", "score": 3}]
    done = processed(send(version, ann, lines(rows), level="dialogue"))
    assert done.metric.scores.get().scores == [None, 3.0]


@pytest.mark.django_db
def test_system_scores_have_no_parts(version, ann) -> None:
    rows = [{"system": "alpha", "score": 0.25}, {"system": "beta", "score": None}]
    done = processed(send(version, ann, lines(rows), level="system"))
    assert [
        (one.system.name, one.scores, one.system_score) for one in done.metric.scores.all()
    ] == [("alpha", [], 0.25)]


@pytest.mark.django_db
def test_a_csv_that_a_spreadsheet_cannot_run_is_read_back(ann) -> None:
    version = small_version(dialogues=1, turns=1, systems=("=evil()",))
    done = processed(send(version, ann, b"system,score\r\n'=evil(),0.5\r\n", level="system"))
    assert done.metric.scores.get().system_score == 0.5


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"dialog_id": "file-0", "turn": 0, "system": "gamma", "score": 1}, "there is no system"),
        ({"dialog_id": "file-9", "turn": 0, "system": "alpha", "score": 1}, "there is no dialogue"),
        ({"dialog_id": "file-0", "turn": 7, "system": "alpha", "score": 1}, "none of the turns"),
        (
            {"dialog_id": "file-0", "turn": 0, "system": "alpha", "score": "high"},
            "must be a number",
        ),
        ({"dialog_id": "file-0", "turn": 0, "system": "alpha"}, "is missing"),
    ],
)
def test_a_faulty_file_is_invalid_with_its_line_and_stores_nothing(version, ann, row, says) -> None:
    done = processed(send(version, ann, turn_scores(version, ["beta"]) + lines([row])))
    assert (done.state, done.problems[0]["where"]) == (State.INVALID, 5)
    assert says in done.problems[0]["message"]
    assert (done.day_place, SubmittedMetric.objects.count(), SubmittedScores.objects.count()) == (
        None,
        0,
        0,
    )


@pytest.mark.django_db
def test_a_withheld_system_is_unknown(version, ann) -> None:
    version.systems.filter(name="beta").update(withheld=True)
    done = processed(send(version, ann))
    assert done.state == State.INVALID
    assert "there is no system" in done.problems[0]["message"]


@pytest.mark.django_db
def test_of_two_files_with_one_name_the_first_that_is_read_gets_it(version, ann) -> None:
    first = send(version, ann)
    second = send(version, ann, turn_scores(version, ["alpha"]), name="other")
    # As if both had come at once
    Submission.objects.filter(pk=second.submission.pk).update(name="MINE")
    assert processed(first).state == State.SCORED
    late = processed(second)
    assert (late.state, late.problems[0]["field"]) == (State.INVALID, "name")
    assert SubmittedMetric.objects.count() == 1


@pytest.mark.django_db
def test_a_worker_that_lost_the_file_stores_nothing(version, ann, monkeypatch) -> None:
    received = send(version, ann)
    read = execution.validation.layout_of

    def cancelled_meanwhile(version_id: int) -> Any:
        work.cancel(received.submission, ann)
        return read(version_id)

    monkeypatch.setattr("leaderboard.challenges.score_intake.layout_of", cancelled_meanwhile)
    assert processed(received).state == State.CANCELLED
    assert not SubmittedMetric.objects.exists()


@pytest.mark.django_db
def test_a_second_delivery_changes_nothing(version, ann) -> None:
    received = send(version, ann)
    first = processed(received)
    assert processed(received).metric == first.metric
    assert SubmittedMetric.objects.count() == 1


# --- refused at the door --------------------------------------------------------------------------


@pytest.mark.django_db
@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "a b",
        "-a",
        "word_f1",
        "WORD_F1",
        "x" * 81,
        "a,b",
        "a[b=1]",
        "<b>",
        "=cmd()",
        "naïve",
        "a\0b",
        "a/../b",
    ],
)
def test_a_name_that_cannot_stand_beside_the_others_is_refused(version, ann, name) -> None:
    assert code_of(version, ann, name=name) == "name"


@pytest.mark.django_db
def test_a_name_that_is_there_is_refused_in_whatever_case(version, ann) -> None:
    processed(send(version, ann))
    assert code_of(version, made_user("bob"), b"other", name="MINE") == "name"


@pytest.mark.django_db
@pytest.mark.parametrize(
    "link", ["javascript:alert(1)", "ftp://example.org", "nowhere", "https://" + "x" * 300]
)
def test_a_link_that_is_no_address_is_refused(version, ann, link) -> None:
    assert code_of(version, ann, link=link) == "link"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "empty"),
        (b"PK\x03\x04zip", "not_text"),
        (b"a\0b", "not_text"),
        (b"x" * 101, "too_large"),
    ],
)
def test_what_is_no_text_is_refused(version, ann, settings, data, code) -> None:
    settings.MAX_UPLOAD_BYTES = 100
    assert code_of(version, ann, data) == code


@pytest.mark.django_db
def test_a_level_that_is_none_is_refused(version, ann) -> None:
    assert code_of(version, ann, level="word") == "level"


@pytest.mark.django_db
def test_a_corpus_with_hidden_references_takes_no_scores(version, ann) -> None:
    open_round(version, references="hidden")
    assert code_of(version, ann) == "hidden"


# --- the same bytes, and the limit ----------------------------------------------------------------


@pytest.mark.django_db
def test_the_same_bytes_are_known(version, ann) -> None:
    first = send(version, ann)
    again = send(version, ann)
    assert (again.is_new, again.submission.pk) == (False, first.submission.pk)
    assert not any(incoming_folder().iterdir())
    assert send(version, made_user("bob"), name="bobs").is_new  # whoever else hands them in


@pytest.mark.django_db
@pytest.mark.parametrize(
    "other",
    [
        {"name": "another"},
        {"level": "dialogue"},
        {"higher_is_better": False},
        {"link": "https://example.org/"},
    ],
)
@pytest.mark.parametrize("is_read", [True, False])
def test_the_same_bytes_said_to_be_something_else_are_refused(version, ann, other, is_read) -> None:
    """Answered as known they would pass for corrected, and the leaderboard would go on with the old
    direction."""
    first = send(version, ann)
    if is_read:
        processed(first)
    assert code_of(version, ann, **other) == "known"


@pytest.mark.django_db
def test_after_a_withdrawal_the_same_bytes_are_new(version, ann) -> None:
    metric = processed(send(version, ann)).metric
    withdraw(metric, ann, "wrong direction")
    again = send(version, ann, higher_is_better=False)
    assert again.is_new
    assert processed(again).state == State.SCORED


@pytest.mark.django_db
def test_a_user_hands_in_as_many_files_a_day_as_the_setting_says(version, ann, settings) -> None:
    settings.SCORE_FILES_PER_DAY = 2
    for number in range(2):
        send(version, ann, f"{number}".encode(), name=f"m{number}")
    assert code_of(version, ann, b"2", name="m2") == "limit_day"
    assert send(version, made_user("bob"), name="bobs").is_new


@pytest.mark.django_db
def test_an_invalid_file_gives_its_place_back(version, ann, settings) -> None:
    settings.SCORE_FILES_PER_DAY = 1
    processed(send(version, ann, b"no scores"))
    assert send(version, ann).is_new


@pytest.mark.django_db
def test_an_organiser_tries_a_file_again_and_it_gets_a_place(version, ann, settings) -> None:
    settings.SCORE_FILES_PER_DAY = 1
    failed = processed(send(version, ann, b"no scores"))
    send(version, ann)
    work.retry(failed, made_user("olga", "organiser"))
    failed.refresh_from_db()
    assert (failed.state, failed.day_place, failed.day_limit) == (State.RECEIVED, 2, 2)


@pytest.mark.django_db
@pytest.mark.parametrize("change", [{"day_place": None}, {"day_place": 1}, {"day_place": 3}])
def test_the_database_refuses_a_place_that_is_taken_missing_or_above_the_limit(
    version, ann, settings, change
) -> None:
    settings.SCORE_FILES_PER_DAY = 2
    send(version, ann, b"1", name="m1")
    second = send(version, ann, b"2", name="m2").submission
    with pytest.raises(IntegrityError), transaction.atomic():
        Submission.objects.filter(pk=second.pk).update(**change)


@pytest.mark.django_db(transaction=True)
def test_of_twenty_files_at_once_against_a_limit_of_five_exactly_five_are_taken(
    settings, monkeypatch
) -> None:
    settings.SCORE_FILES_PER_DAY = 5
    # Midnight does not fall in between
    monkeypatch.setattr(score_actions, "day_of", lambda now: date(2026, 11, 21))
    version, ann = small_version(dialogues=1, turns=1, systems=BOTH), made_user("ann")
    together = Barrier(20)

    def one(number: int) -> str:
        try:
            together.wait(timeout=30)
            send(version, ann, f"file {number}".encode(), name=f"m{number}")
        except NotTaken as refused:
            return refused.code
        else:
            return "taken"
        finally:
            connection.close()

    with ThreadPoolExecutor(20) as threads:
        answers = list(threads.map(one, range(20)))
    assert sorted(answers) == ["limit_day"] * 15 + ["taken"] * 5
    assert sorted(Submission.objects.values_list("day_place", flat=True)) == [1, 2, 3, 4, 5]


# --- withdrawal -----------------------------------------------------------------------------------


@pytest.mark.django_db
def test_the_owner_withdraws_with_a_reason_and_it_is_noted(version, ann) -> None:
    metric = processed(send(version, ann)).metric
    assert withdraw(metric, ann, " a bug in the script ")
    entry = AuditEntry.objects.get(action="metric.withdrawn")
    assert (entry.actor, entry.subject, entry.details["reason"]) == (
        "ann",
        "mine",
        "a bug in the script",
    )
    assert not withdraw(metric, ann, "again")
    assert AuditEntry.objects.filter(action="metric.withdrawn").count() == 1


@pytest.mark.django_db
def test_an_organiser_withdraws_and_nobody_else(version, ann) -> None:
    metric = processed(send(version, ann)).metric
    with pytest.raises(NotYours):
        withdraw(metric, made_user("bob"), "I do not like it")
    assert withdraw(metric, made_user("olga", "organiser"), "the file is of another corpus")


@pytest.mark.django_db
def test_receiving_is_noted(version, ann) -> None:
    received = send(version, ann)
    entry = AuditEntry.objects.get(action="submission.received")
    assert (entry.actor, entry.subject) == ("ann", "mine")
    assert entry.details["submission"] == received.submission.public_id


def test_the_limit_is_a_setting() -> None:
    assert settings.SCORE_FILES_PER_DAY == 20
