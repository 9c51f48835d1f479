"""A campaign's ratings as files: streamed, pseudonymous, safe in spreadsheets."""

from __future__ import annotations

import csv
import io
import json
import tracemalloc
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotations.campaigns.actions.quality import exclude
from annotations.campaigns.models import Campaign, Conversation, Message
from annotations.campaigns.queries.rating_stream import campaign_records, ratings_to_export
from annotations.formats.exporters import mt_metrics_eval
from annotations.formats.exporters.rating_files import (
    RatedItem,
    RevisionRecord,
    csv_of_ratings,
    csv_of_revisions,
    json_lines,
)
from tests.campaigns.judged import items_of, judge, table
from tests.campaigns.sets import made_campaign, made_raters

AXES = ("fluency", "humanness")


def revision(
    number: int, score: int, low: tuple[str, ...] | None = None, comment: str = ""
) -> RevisionRecord:
    return RevisionRecord(
        number, score, low, False, comment, 1, 900, 4000, 3500, None, f"2026-11-20T20:0{number}:00Z"
    )


def rating(
    *revisions: RevisionRecord, system: str | None = "one", account: str | None = None
) -> RatedItem:
    return RatedItem(
        campaign="pilot",
        corpus="usr",
        corpus_version="v1-abc",
        item="public",
        role="regular",
        dialogue="d0",
        turn=2,
        system=system,
        rater="rater 1",
        account=account,
        rater_state="active",
        counts=True,
        position=0,
        propensity=0.25,
        revisions=revisions,
    )


def rows(lines: Iterator[str]) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO("".join(lines))))


def test_ratings_stand_as_they_are_now() -> None:
    (row,) = rows(csv_of_ratings([rating(revision(1, 2), revision(2, 4))], AXES))
    assert (row["score"], row["revision"], row["turn"], row["propensity"], row["counts"]) == (
        "4",
        "2",
        "2",
        "0.25",
        "1",
    )


def test_an_axis_is_1_0_or_empty() -> None:
    marked = rating(revision(1, 2, low=("fluency",)))
    not_asked = rating(revision(1, 5))
    found = [
        (row["low_fluency"], row["low_humanness"])
        for row in rows(csv_of_ratings([marked, not_asked], AXES))
    ]
    assert found == [("1", "0"), ("", "")]


def test_every_revision_has_a_line_and_one_is_current() -> None:
    found = rows(csv_of_revisions([rating(revision(1, 2), revision(2, 4))], AXES))
    assert [(row["revision"], row["score"], row["current"]) for row in found] == [
        ("1", "2", "0"),
        ("2", "4", "1"),
    ]


def test_a_formula_in_a_comment_or_a_name_stays_text() -> None:
    (row,) = rows(csv_of_ratings([rating(revision(1, 2, comment="=1+1"), system="@sum")], AXES))
    assert (row["comment"], row["system"]) == ("'=1+1", "'@sum")


def test_accounts_are_a_column_of_their_own_only_when_asked_for() -> None:
    one = rating(revision(1, 2), account="ann")
    assert "account" not in rows(csv_of_ratings([one], AXES))[0]
    assert "account" not in json.loads(next(json_lines([one])))
    assert rows(csv_of_ratings([one], AXES, accounts=True))[0]["account"] == "ann"
    assert json.loads(next(json_lines([one], accounts=True)))["account"] == "ann"


def test_json_lines_hold_every_revision() -> None:
    document = json.loads(
        next(json_lines([rating(revision(1, 2, low=("fluency",)), revision(2, 4))]))
    )
    assert (document["score"], document["low_axes"], document["propensity"]) == (4, None, 0.25)
    assert [(one["revision"], one["score"], one["low_axes"]) for one in document["revisions"]] == [
        (1, 2, ["fluency"]),
        (2, 4, None),
    ]
    assert "conversation" not in document


@pytest.mark.slow
def test_twenty_thousand_ratings_pass_without_being_held() -> None:
    """A line is about 150 characters: all of them would be 3 MB."""
    one = rating(revision(1, 2))
    tracemalloc.start()
    length = sum(len(line) for line in csv_of_ratings((one for _ in range(20_000)), AXES))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert length > 2_000_000
    assert most < 500_000


@pytest.fixture
def campaign(db: None) -> Campaign:
    """Two systems × two dialogues × one turn, k = 2: rater 1 gives 1, 2, 4, 5; rater 2, excluded, 5
    throughout."""
    campaign = made_campaign(
        systems=["one", "two"], dialogues=2, turns=1, slug="pilot", attention=[(1, 2)]
    )
    raters = made_raters(campaign, 2)
    table(campaign, raters, {0: [1, 2, 4, 5], 1: [5, 5, 5, 5]})
    judge(raters[0], items_of(campaign, "attention")[0], 1)
    exclude(raters[1], "always 5")
    return campaign


def test_only_what_counts_is_exported_unless_all_is_asked_for(campaign: Campaign) -> None:
    counted = list(ratings_to_export(campaign))
    assert [(one.rater, one.current.score, one.counts) for one in counted] == [
        ("rater 1", score, True) for score in (1, 2, 4, 5)
    ]
    everything = list(ratings_to_export(campaign, everything=True))
    assert sorted((one.role, one.rater_state, one.counts) for one in everything) == [
        ("attention", "active", False),
        *[("regular", "active", True)] * 4,
        *[("regular", "excluded", False)] * 4,
    ]


def test_no_account_name_is_read_unless_asked_for(campaign: Campaign) -> None:
    names = {
        person.user.get_username() for person in campaign.participations.select_related("user")
    }
    text = "".join(json_lines(ratings_to_export(campaign, everything=True)))
    assert not any(name in text for name in names)
    assert {
        one.account for one in ratings_to_export(campaign, everything=True, accounts=True)
    } == names


@pytest.mark.django_db
def test_portions_join_without_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    from annotations.campaigns.queries import rating_stream

    monkeypatch.setattr(rating_stream, "ROWS_AT_A_TIME", 3)
    campaign = made_campaign(systems=["one"], dialogues=4, turns=2, k=1)
    table(campaign, made_raters(campaign, 1), {0: [1, 2, 3, 4, 5, 1, 2, 3]})
    assert [one.current.score for one in ratings_to_export(campaign)] == [1, 2, 3, 4, 5, 1, 2, 3]


@pytest.mark.django_db
def test_a_chat_is_exported_with_its_words() -> None:
    campaign = made_campaign("interactive", systems=["bot"], dialogues=1)
    (rater,) = made_raters(campaign, 1)
    assignment = judge(rater, items_of(campaign)[0], 4)
    talk = Conversation.objects.create(assignment=assignment)
    Message.objects.create(conversation=talk, number=0, speaker="A", text="Hello", key="a")
    Message.objects.create(conversation=talk, number=1, speaker="B", text="Hi there")
    (document,) = map(json.loads, json_lines(ratings_to_export(campaign)))
    assert (document["system"], document["turn"]) == ("bot", None)
    assert document["conversation"] == [
        {"speaker": "A", "text": "Hello"},
        {"speaker": "B", "text": "Hi there"},
    ]


def test_mt_metrics_eval_scores_are_means_in_the_order_of_segments(
    campaign: Campaign, tmp_path: Path
) -> None:
    """Rater 1 alone counts: one 1, 2 (mean 1.5); two 4, 5 (mean 4.5)."""
    mt_metrics_eval.write(campaign_records(campaign), (), tmp_path)
    scores = tmp_path / "human-scores"
    assert (
        scores / "context-response.overall.seg.score"
    ).read_text() == "one\t1.0\none\t2.0\ntwo\t4.0\ntwo\t5.0\n"
    assert (scores / "context-response.overall.sys.score").read_text() == "one\t1.5\ntwo\t4.5\n"


def test_mt_metrics_eval_with_excluded_raters_has_other_means(
    campaign: Campaign, tmp_path: Path
) -> None:
    """(1 + 5) / 2 = 3 and so on: the attention item is no score of a system."""
    mt_metrics_eval.write(campaign_records(campaign, everything=True), (), tmp_path)
    found = (tmp_path / "human-scores" / "context-response.overall.seg.score").read_text()
    assert found == "one\t3.0\none\t3.5\ntwo\t4.5\ntwo\t5.0\n"


@pytest.mark.django_db
@pytest.mark.parametrize("kind", ["dialogue", "interactive"])
def test_mt_metrics_eval_of_dialogues_has_document_scores(kind: str, tmp_path: Path) -> None:
    campaign = made_campaign(kind, systems=["one"], dialogues=2, axes_below=3)
    (rater,) = made_raters(campaign, 1)
    first, second = items_of(campaign)
    judge(rater, first, 2, low_axes=["fluency"])
    judge(rater, second, 4)
    mt_metrics_eval.write(campaign_records(campaign), (), tmp_path)
    scores = tmp_path / "human-scores"
    assert (scores / "context-response.overall.doc.score").read_text() == "one\t2.0\none\t4.0\n"
    assert (
        scores / "context-response.low_fluency.doc.score"
    ).read_text() == "one\t1.0\none\tNone\n"


@pytest.mark.parametrize(
    ("form", "files"),
    [
        ("csv", {"ratings.csv", "revisions.csv"}),
        ("jsonl", {"ratings.jsonl"}),
        ("mt-metrics-eval", {"names.tsv"}),
    ],
)
def test_the_command_writes_a_folder(
    campaign: Campaign, tmp_path: Path, form: str, files: set[str]
) -> None:
    call_command("export_ratings", "pilot", to=tmp_path / "out", format=form)
    assert files <= {path.name for path in (tmp_path / "out").iterdir()}


def test_the_command_refuses_a_folder_that_holds_something(
    campaign: Campaign, tmp_path: Path
) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(CommandError, match="not empty"):
        call_command("export_ratings", "pilot", to=tmp_path)
    assert (tmp_path / "mine.txt").read_text() == "mine"
    call_command("export_ratings", "pilot", to=tmp_path, replace=True)
    assert (tmp_path / "ratings.csv").exists()


def test_the_command_names_raters_only_when_told(campaign: Campaign, tmp_path: Path) -> None:
    call_command(
        "export_ratings", "pilot", to=tmp_path / "names", names=True, include_excluded=True
    )
    found = rows(iter([(tmp_path / "names" / "ratings.csv").read_text()]))
    assert (len(found), {row["account"] for row in found} - {""} != set()) == (9, True)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"names": True, "format": "mt-metrics-eval"}, "means over raters"),
        ({"slug": "nowhere"}, "there is no campaign nowhere. Campaigns: pilot"),
    ],
)
def test_the_command_says_what_cannot_be(
    campaign: Campaign, tmp_path: Path, arguments: dict[str, object], says: str
) -> None:
    slug = arguments.pop("slug", "pilot")
    with pytest.raises(CommandError, match=says):
        call_command("export_ratings", slug, to=tmp_path / "out", **arguments)
    assert not (tmp_path / "out").exists()


def agreement(capsys: pytest.CaptureFixture[str], **options: object) -> dict[str, object]:
    call_command("agreement", format="json", resamples=10, **options)
    return json.loads(capsys.readouterr().out)


def test_agreement_of_a_campaign_on_the_command_line(
    campaign: Campaign, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = agreement(capsys, campaign="pilot")
    assert (alone["campaign"], alone["raters"], alone["level"]) == ("pilot", 1, "turn")
    assert alone["krippendorff_alpha"]["ordinal"]["reason"] == "fewer than two raters"
    both = agreement(capsys, campaign="pilot", include_excluded=True)
    assert (both["raters"], both["ratings"], both["excluded_raters"]) == (2, 8, True)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--campaign=pilot", "--corpus=usr"], "not allowed with"),
        ([], "required"),
        (["--corpus=usr", "--include-excluded"], "goes with --campaign"),
        (["--campaign=pilot", "--level=dialogue"], "rated at turn level"),
        (["--campaign=pilot", "--aspect=charm"], "no aspect"),
        (["--campaign=pilot", "--systems=three"], "no system 'three'"),
        (["--campaign=nowhere"], "no campaign nowhere"),
    ],
)
def test_agreement_says_what_cannot_be(campaign: Campaign, arguments: list[str], says: str) -> None:
    with pytest.raises(CommandError, match=says):
        call_command("agreement", *arguments)


@pytest.mark.django_db
def test_the_zip_is_the_folder(campaign: Campaign, admin_client) -> None:
    response = admin_client.get("/campaigns/pilot/ratings/export/", {"format": "mt-metrics-eval"})
    archive = zipfile.ZipFile(io.BytesIO(b"".join(response.streaming_content)))
    assert (
        "pilot-ratings-mt-metrics-eval/human-scores/context-response.overall.seg.score"
        in archive.namelist()
    )


@pytest.mark.parametrize("form", ["csv", "revisions-csv", "jsonl", "mt-metrics-eval"])
def test_for_a_files_head_nothing_is_read(campaign, admin_client, monkeypatch, form) -> None:
    address = f"/campaigns/{campaign.slug}/ratings/export/?format={form}"
    read = admin_client.get(address)

    def reads(*_given: object, **_named: object) -> None:
        raise AssertionError("read for headers alone")

    monkeypatch.setattr("annotations.campaigns.queries.rating_stream.rated_items", reads)
    monkeypatch.setattr("annotations.campaigns.views.quality.campaign_records", reads)
    asked = admin_client.head(address)
    headers = ("Content-Type", "Content-Disposition")
    assert (asked.status_code, [asked[name] for name in headers]) == (
        200,
        [read[name] for name in headers],
    )
    assert asked.get("Content-Length") in (None, read.get("Content-Length"))
