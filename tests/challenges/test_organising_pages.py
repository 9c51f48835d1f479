"""The organiser's pages over HTTP: what forms take, what they say of bad input, what buttons do,
who is let in."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotations.models import AuditEntry, Corpus, System
from leaderboard.challenges import urls
from leaderboard.challenges.forms.zones import UnknownZone, zone_key
from leaderboard.challenges.models import Challenge, Round, Submission, Team
from tests.campaigns.sets import made_user
from tests.challenges.organising import page_of, round_form, said
from tests.challenges.sets import (
    open_challenge,
    open_round,
    scored,
    small_version,
    submit,
    team_with_member,
)
from workers.metrics.registry import all_metrics

pytestmark = pytest.mark.django_db


# --- who is let in --------------------------------------------------------------------------------


def addresses(round: Round, team: Team, submission: Submission) -> list[str]:
    """Every address of ours, from the list of patterns itself: a new one is walked without being
    added here."""
    values = {
        "slug": round.challenge.slug,
        "round_slug": round.slug,
        "public_id": {"team": team.public_id, "submission": submission.public_id},
    }
    found = []
    for pattern in urls.ORGANISERS:
        wanted = pattern.pattern.converters
        given = {name: values[name] for name in wanted if name != "public_id"}
        if "public_id" in wanted:
            given["public_id"] = values["public_id"][
                "team" if pattern.name.startswith("team-") else "submission"
            ]
        found.append(reverse(pattern.name, kwargs=given))
    return found


def test_only_organisers_are_let_in() -> None:
    round = open_round()
    team, member = team_with_member(round.challenge)
    other = made_user("rita", "rater")
    submission = scored(round, team)
    for address in addresses(round, team, submission):
        for user in (None, other, member):
            client = Client()
            if user is not None:
                client.force_login(user)
            answers = [client.get(address), client.post(address, {"reason": "No.", "to": "close"})]
            if user is None:
                allowed = {302, 405}
            elif address.endswith("/cancel/"):
                # For teams too, and this one has ended; to others it does not exist
                allowed = {302, 404, 405}
            else:
                allowed = {403, 405}
            assert {answer.status_code for answer in answers} <= allowed, (address, user, answers)
    stored = Submission.objects.get()
    assert (stored.state, stored.is_baseline, stored.disqualified_at) == ("scored", False, None)
    assert (Round.objects.get().release_at, Challenge.objects.get().state) == (None, "open")
    assert not AuditEntry.objects.exclude(action="submission.received").exists()


def test_a_button_is_not_pressed_by_a_link(organiser: Client) -> None:
    round = open_round()
    for name in (
        "round-release",
        "round-publish",
        "round-withhold",
        "round-delete",
        "round-re-evaluate",
    ):
        assert (
            organiser.get(reverse(name, args=[round.challenge.slug, round.slug])).status_code == 405
        )


# --- setting up -----------------------------------------------------------------------------------


def test_a_challenge_from_the_plan(organiser: Client) -> None:
    version = small_version()
    answer = organiser.post(
        reverse("challenge-new"),
        {
            "name": "CPD",
            "largest_team": "5",
            "use_plan": "on",
            "practice": version.pk,
            "test": version.pk,
        },
    )
    assert answer.headers["Location"] == reverse("challenge-settings", args=["cpd"])
    page = page_of(organiser, "challenge-settings", "cpd")
    assert all(name in page for name in ("Warm-up", "Round 1", "Round 2", "Open the challenge"))
    assert said(organiser, "challenge-state", "cpd", to="open").startswith("The challenge is open")
    assert Challenge.objects.get().created_by.username == "olga"


def test_a_challenge_without_the_plan_says_what_is_missing(organiser: Client) -> None:
    organiser.post(reverse("challenge-new"), {"name": "Own", "largest_team": "5"})
    page = page_of(organiser, "challenge-settings", "own")
    assert "There are no rules yet." in page
    assert "There is no round yet." in page
    assert "no rules yet" in said(organiser, "challenge-state", "own", to="open")


def test_a_site_without_corpora_still_makes_challenges(organiser: Client) -> None:
    assert "needs a corpus with references" in page_of(organiser, "challenge-new")
    answer = organiser.post(
        reverse("challenge-new"), {"name": "Own", "largest_team": "5", "use_plan": "on"}
    )
    assert answer.status_code == 422
    assert "The plan needs a corpus" in answer.content.decode()
    assert not Challenge.objects.exists()


@pytest.mark.parametrize(
    "bad",
    [
        {"name": ""},
        {"name": "a\0b"},
        {"name": "x" * 201},
        {"slug": "a b"},
        {"slug": "../../etc"},
        {"slug": "talk"},
        {"slug": "new"},
        {"largest_team": "0"},
        {"largest_team": "many"},
        {"practice": "99999999999999999999"},
        {"practice": "one"},
    ],
)
def test_a_form_that_is_wrong_stores_nothing_and_says_so(
    organiser: Client, bad: dict[str, str]
) -> None:
    open_challenge("talk")
    version = small_version()
    data = {
        "name": "T",
        "largest_team": "5",
        "use_plan": "on",
        "practice": version.pk,
        "test": version.pk,
        **bad,
    }
    answer = organiser.post(reverse("challenge-new"), data)
    assert answer.status_code == 422
    assert "Nothing was saved" in answer.content.decode()
    assert Challenge.objects.count() == 1


def test_hostile_texts_are_shown_as_text(organiser: Client) -> None:
    markup = "<script>alert(1)</script>"
    organiser.post(
        reverse("challenge-new"),
        {"name": markup, "summary": markup, "slug": "h", "largest_team": "5"},
    )
    said(organiser, "challenge-rules-edit", "h", text=f"# Hello\n\n{markup}")
    for name in (
        "challenge-settings",
        "challenge-rules-edit",
        "challenge-teams",
        "challenge-submissions",
    ):
        page = page_of(organiser, name, "h")
        assert markup not in page
        assert "&lt;script&gt;" in page


def test_the_rules_are_shown_while_they_are_written_and_not_stored(organiser: Client) -> None:
    challenge = open_challenge(rules="Old.")
    address = reverse("challenge-rules-edit", args=[challenge.slug])
    answer = organiser.post(
        address, {"text": "# New", "preview": "1"}, headers={"HX-Request": "true"}
    )
    assert "<h2>New</h2>" in answer.content.decode()
    assert Challenge.objects.get().rules == "Old."


# --- rounds ---------------------------------------------------------------------------------------


def test_a_round_is_added_with_dates_in_a_zone_of_ones_own(organiser: Client) -> None:
    """Tokyo is UTC+9; the private leaderboard of 40 % holds 60 % of the dialogues back."""
    challenge, version = open_challenge(), small_version()
    data = round_form(
        version,
        zone="Asia/Tokyo",
        opens_at="2027-01-01T09:00",
        closes_at="2027-02-01T09:00",
        public_share="40",
        private_metrics=["rouge_l"],
        more_metrics="bleu_4[normalize=false]\n",
    )
    answer = organiser.post(reverse("round-new", args=[challenge.slug]), data)
    assert answer.status_code == 302, answer.content.decode()
    round = Round.objects.get()
    assert (round.opens_at, round.closes_at) == (
        datetime(2027, 1, 1, tzinfo=UTC),
        datetime(2027, 2, 1, tzinfo=UTC),
    )
    assert (round.slug, round.public_share) == ("round-9", 0.4)
    assert round.metrics == ["word_f1", "bleu_4", "bleu_4[normalize=false]"]
    assert round.private_metrics == ["rouge_l"]


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"name": ""}, "required"),
        ({"name": "\0"}, "NUL"),
        ({"version": "0"}, "valid choice"),
        ({"version": "9" * 30}, "valid choice"),
        ({"references": "secret"}, "valid choice"),
        ({"tracks": []}, "at least one track"),
        ({"tracks": ["cpu"]}, "valid choice"),
        ({"daily_limit": "0"}, "greater than or equal to 1"),
        ({"total_limit": "9" * 30}, "less than or equal"),
        ({"metrics": ["no_such"]}, "valid choice"),
        ({"metrics": []}, "at least one metric"),
        ({"ranking_metric": "rouge_l"}, "rank must come from"),
        ({"ranking_metric": ""}, "decides the rank"),
        ({"private_metrics": ["word_f1"]}, "is in both lists"),
        ({"more_metrics": "word_f1[colour=red]"}, "Line 1"),
        ({"more_metrics": "word_f1\n\nnothing"}, "Line 3"),
        ({"opens_at": "yesterday"}, "Write it as"),
        (
            {"opens_at": "2027-01-02T00:00", "closes_at": "2027-01-01T00:00"},
            "must close after it opens",
        ),
        ({"zone": "Mars/Olympus"}, "no time zone “Mars/Olympus”"),
        ({"zone": "Europe/Zurich", "opens_at": "2027-03-28T02:30"}, "never show this time"),
        ({"public_share": "101"}, "less than or equal to 100"),
        ({"public_share": "nan"}, "number"),
        ({"split_seed": "-1"}, "greater than or equal to 0"),
        ({"calls_per_utterance": "3"}, "less than or equal to 2"),
        ({"input_price": "-1"}, "greater than or equal to 0"),
        ({"endpoint": "12345"}, "valid choice"),
    ],
)
def test_a_round_that_is_wrong_is_not_stored(
    organiser: Client, bad: dict[str, Any], words: str
) -> None:
    challenge = open_challenge()
    answer = organiser.post(
        reverse("round-new", args=[challenge.slug]), round_form(small_version(), **bad)
    )
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert not Round.objects.exists()


def test_a_metric_that_cannot_be_computed_says_why(
    organiser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    from leaderboard.challenges.queries import organising as reads

    monkeypatch.setattr(
        reads,
        "why_not_offered",
        lambda one, _v: "needs a moon" if one.metric.name == "word_recall" else "",
    )
    small_version()
    page = page_of(organiser, "round-new", open_challenge().slug)
    assert "<b>word_recall</b>: needs a moon" in page
    assert 'value="word_recall"' not in page


def test_another_corpus_asks_again_and_stores_nothing(organiser: Client) -> None:
    challenge, version = open_challenge(), small_version()
    address = reverse("round-new", args=[challenge.slug])
    answer = organiser.post(
        address, {**round_form(version), "name": "", "refresh": "1"}, headers={"HX-Request": "true"}
    )
    page = answer.content.decode()
    assert answer.status_code == 200
    assert page.lstrip().startswith('<form id="round-form"')
    assert "required" not in re.sub(r"<[^>]*>", "", page)
    assert not Round.objects.exists()


def refreshed(organiser: Client, **changes: Any) -> tuple[int, str]:
    """The form of a new round after a button that saves nothing: status and page."""
    address = reverse("round-new", args=[open_challenge().slug])
    answer = organiser.post(address, round_form(small_version(), **changes))
    assert not Round.objects.exists()
    return answer.status_code, answer.content.decode()


def ticked(page: str, field: str = "metrics") -> list[str]:
    return re.findall(rf'name="{field}" value="([^"]*)"\s+checked', page)


def test_a_preset_ticks_its_metrics_and_the_first_ranks(organiser: Client) -> None:
    status, page = refreshed(organiser, preset="cpd", metrics=["rouge_l"], private_metrics=["chrf"])
    assert status == 200
    assert (ticked(page), ticked(page, "private_metrics")) == (["word_f1", "bleu_4"], [])
    assert ticked(page, "ranking_metric") == ["word_f1"]
    status, page = refreshed(organiser, preset="empty")
    assert (ticked(page), ticked(page, "ranking_metric")) == ([], [])


def test_the_preset_without_a_model_has_no_metric_that_needs_one(organiser: Client) -> None:
    _status, page = refreshed(organiser, preset="no-model")
    assert "word_f1" in ticked(page)
    assert {all_metrics()[name].queue for name in ticked(page)} == {"cpu"}


def test_only_chosen_metrics_are_unfolded(organiser: Client) -> None:
    _status, page = refreshed(organiser, refresh="1")
    unfolded, _summary, folded = page.partition("All other metrics")
    assert 'name="metrics" value="word_f1"' in unfolded
    assert 'name="metrics" value="rouge_l"' not in unfolded
    assert 'name="metrics" value="rouge_l"' in folded


def test_a_metric_is_added_by_its_name(organiser: Client) -> None:
    status, page = refreshed(organiser, refresh="1", add_metric=" rouge_l ")
    assert status == 200
    assert ticked(page) == ["word_f1", "bleu_4", "rouge_l"]
    _status, page = refreshed(organiser, refresh="1", add_metric="bleu_4[normalize=false]")
    assert "bleu_4[normalize=false]</textarea>" in page


@pytest.mark.parametrize("sent", [{"refresh": "1"}, {}])
def test_a_name_that_is_no_metric_is_refused_and_stays(
    organiser: Client, sent: dict[str, str]
) -> None:
    _status, page = refreshed(organiser, add_metric="rogue_l", **sent)
    assert "There is no metric “rogue_l”." in page
    assert 'value="rogue_l"' in page


def test_a_metric_named_while_saving_is_saved_with_the_round(organiser: Client) -> None:
    version = small_version()
    address = reverse("round-new", args=[open_challenge().slug])
    assert organiser.post(address, round_form(version, add_metric="rouge_l")).status_code == 302
    assert Round.objects.get().metrics == ["word_f1", "bleu_4", "rouge_l"]


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("UTC", "UTC"),
        ("aoe", "AoE"),
        ("berlin", "Europe/Berlin"),
        ("New York", "America/New_York"),
        ("Asia/Tokyo", "Asia/Tokyo"),
    ],
)
def test_a_time_zone_is_found_by_its_city(written: str, key: str) -> None:
    assert zone_key(written) == key


def test_a_city_of_two_zones_asks_which() -> None:
    with pytest.raises(UnknownZone, match="write Asia/Istanbul / Europe/Istanbul"):
        zone_key("istanbul")
    assert zone_key("Europe/Istanbul") == "Europe/Istanbul"


@pytest.mark.parametrize("written", ["Atlantis", "Mars/Olympus", "<b>", "\ud7ff" * 60])
def test_a_time_zone_that_is_none_is_named_in_the_error(written: str) -> None:
    with pytest.raises(UnknownZone, match=re.escape(written)):
        zone_key(written)


def test_hiding_a_public_corpus_warns(organiser: Client) -> None:
    challenge, version = open_challenge(), small_version()
    version.corpus.is_public = True
    version.corpus.save()
    address = reverse("round-new", args=[challenge.slug])
    hidden = {**round_form(version, references="hidden"), "refresh": "1"}
    assert (
        "Who has read or downloaded them knows them"
        in organiser.post(address, hidden).content.decode()
    )
    shown = {**round_form(version), "refresh": "1"}
    assert "Who has read or downloaded" not in organiser.post(address, shown).content.decode()


def test_a_corpus_that_another_round_hides_or_shows_warns(organiser: Client) -> None:
    round = open_round(references="hidden", name="Secret round")
    address = reverse("round-new", args=[round.challenge.slug])
    page = organiser.post(address, {**round_form(round.version), "refresh": "1"}).content.decode()
    assert "Secret round of" in page
    Round.objects.update(references="public")
    hidden = {**round_form(round.version, references="hidden"), "refresh": "1"}
    assert "shows references of the same corpus" in organiser.post(address, hidden).content.decode()


def test_the_page_says_what_submissions_have_settled_and_keeps_it(organiser: Client) -> None:
    round = open_round(public_share=0.333, split_seed=11)
    submit(round, team_with_member(round.challenge)[0])
    arguments = [round.challenge.slug, round.slug]
    page = page_of(organiser, "round-settings", *arguments)
    assert "Submissions answer the turns of this corpus version." in page
    assert 'value="33.3"' in page
    settled = ("version", "slug", "references", "public_share", "split_seed")
    data = {k: v for k, v in round_form(round.version, daily_limit="7").items() if k not in settled}
    assert said(organiser, "round-settings", *arguments, **data) == "The settings are stored."
    stored = Round.objects.get()
    kept = (
        stored.version_id,
        stored.slug,
        stored.references,
        stored.public_share,
        stored.split_seed,
    )
    assert kept == (round.version_id, round.slug, "public", 0.333, 11)
    assert stored.daily_limit == 7


def test_a_form_that_was_open_when_the_first_submission_came_is_refused(organiser: Client) -> None:
    round = open_round()
    submit(round, team_with_member(round.challenge)[0])
    address = reverse("round-settings", args=[round.challenge.slug, round.slug])
    answer = organiser.post(address, round_form(round.version, slug=round.slug, public_share="50"))
    assert answer.status_code == 422
    assert "Another one would reveal what the private part holds" in answer.content.decode()
    assert Round.objects.get().public_share == 1.0


def test_a_stored_rounds_sections_fold_and_say_what_they_hold(organiser: Client) -> None:
    def unfolded(page: str) -> list[str]:
        return re.findall(r'<details class="section[^"]*" id="([^"]*)" open>', page)

    round = open_round()
    address = reverse("round-settings", args=[round.challenge.slug, round.slug])
    page = page_of(organiser, "round-settings", round.challenge.slug, round.slug)
    assert unfolded(page) == []
    assert "5 a day, 100 in all" in page
    data = round_form(round.version, slug=round.slug, closes_at="2030-02-01T23:59", zone="AoE")
    page = organiser.post(address, {**data, "opens_at": "", "refresh": "1"}).content.decode()
    assert "the challenge opens – 2030-02-01 23:59, AoE" in page
    assert unfolded(page) == ["task", "metrics"]
    page = organiser.post(address, {**data, "daily_limit": "0"}).content.decode()
    assert unfolded(page) == ["task", "submissions", "metrics"]


def test_a_metric_added_later_offers_to_score_all_anew(organiser: Client) -> None:
    round = open_round()
    scored(round, team_with_member(round.challenge)[0])
    arguments = [round.challenge.slug, round.slug]
    data = round_form(round.version, slug=round.slug, metrics=["word_f1", "bleu_4", "rouge_l"])
    assert "Score them again" in said(organiser, "round-settings", *arguments, **data)
    assert said(organiser, "round-re-evaluate", *arguments) == "1 submission is scored again."


# --- the moments of a round -----------------------------------------------------------------------


@pytest.mark.slow
def test_the_buttons_of_a_round(organiser: Client) -> None:
    round = open_round(public_share=0.5)
    done = scored(round, team_with_member(round.challenge)[0])
    arguments = [round.challenge.slug, round.slug]
    assert "not released" in said(organiser, "round-publish", *arguments)
    assert said(organiser, "round-release", *arguments).startswith("Released")
    assert said(organiser, "round-publish", *arguments).startswith("1 system")
    assert not System.objects.get(pk=done.system_id).withheld
    assert "1 of 1 published." in page_of(organiser, "round-settings", *arguments)
    assert said(organiser, "round-withhold", *arguments).startswith("1 system was taken off")
    assert "kept with their scores" in said(organiser, "round-delete", *arguments)


def test_references_are_opened_by_one_button(organiser: Client) -> None:
    round = open_round(references="hidden")
    Corpus.objects.filter(pk=round.version.corpus_id).update(is_public=True)
    arguments = [round.challenge.slug, round.slug]
    assert "Open the references" in page_of(organiser, "round-settings", *arguments)
    assert (
        said(organiser, "round-open-references", *arguments)
        == "The references are public from now on."
    )
    settled = page_of(organiser, "round-settings", *arguments)
    assert "Open the references" not in settled
    assert "own pages" not in settled


def test_whose_corpus_is_kept_to_organisers_learns_that_open_references_do_not_show_it(
    organiser: Client,
) -> None:
    round = open_round(references="hidden")
    Corpus.objects.filter(pk=round.version.corpus_id).update(is_public=False)
    arguments = [round.challenge.slug, round.slug]
    assert "own pages stay with organisers" in said(organiser, "round-open-references", *arguments)
    assert f'href="/corpora/{round.version.corpus.slug}/#seen-by"' in page_of(
        organiser, "round-settings", *arguments
    )


def test_another_round_that_hides_the_references_keeps_the_corpus_hidden(organiser: Client) -> None:
    round = open_round(references="hidden")
    Corpus.objects.filter(pk=round.version.corpus_id).update(is_public=True)
    open_round(round.version, round.challenge, references="hidden")
    arguments = [round.challenge.slug, round.slug]
    assert "own pages stay with organisers" in said(organiser, "round-open-references", *arguments)


def test_opening_the_references_of_an_open_round_warns(organiser: Client) -> None:
    round = open_round(small_version(), references="hidden")
    arguments = (round.challenge.slug, round.slug)
    warning = "whoever reads the references then can submit them"
    assert warning in page_of(organiser, "round-settings", *arguments)
    Challenge.objects.update(state="closed")
    assert warning not in page_of(organiser, "round-settings", *arguments)
