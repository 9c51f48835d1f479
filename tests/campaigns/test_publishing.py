"""Ratings that become human scores of the corpus, and their complete removal."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest
from django.core.management import call_command

from annotations.campaigns.actions.publishing import (
    CannotPublish,
    default_aspect,
    publish,
    unpublish,
)
from annotations.campaigns.actions.quality import declare_conflict, exclude, restore
from annotations.campaigns.models import Campaign
from annotations.campaigns.queries.ratings import campaign_agreement, publication_of
from annotations.corpora import actions
from annotations.corpora.rating_queries import agreement_of
from annotations.corpora.record_stream import records_of
from annotations.formats.importers.registry import importers
from annotations.models import CorpusVersion, Rater, Rating
from leaderboard.queries import meta_evaluation, rated_levels, system_standing
from tests.annotations.stored import stored, two_systems, written
from tests.at_once import at_once
from tests.campaigns.judged import items_of, judge, table
from tests.campaigns.sets import made_campaign, made_raters
from tests.workers.conftest import odd_metrics  # noqa: F401 (a fixture)

pytestmark = pytest.mark.django_db


def finished(
    version: CorpusVersion | None = None, slug: str = "", kind: str = "turn", **fields: object
) -> Campaign:
    """Closed; two raters who agree on everything but the first item."""
    campaign = made_campaign(
        kind, systems=["one", "two"], dialogues=2, turns=1, version=version, slug=slug, **fields
    )
    count = campaign.items.count()
    raters = made_raters(campaign, 2)
    table(campaign, raters, {0: [1, 2, 4, 5, 3][:count], 1: [2, 2, 4, 5, 3][:count]})
    Campaign.objects.filter(pk=campaign.pk).update(state=Campaign.State.CLOSED)
    campaign.refresh_from_db()
    return campaign


def content(version: CorpusVersion) -> list[object]:
    return list(records_of(CorpusVersion.objects.get(pk=version.pk)))


def test_published_ratings_are_human_scores() -> None:
    campaign = finished(slug="first")
    assert publish(campaign) == 8
    version = CorpusVersion.objects.get(pk=campaign.version_id)
    assert (version.aspects, version.main_aspect, version.scales) == (
        ["overall"],
        "overall",
        {"overall": [1, 5]},
    )
    assert list(version.raters.values_list("name", "kind")) == [
        ("first/rater 1", "identified"),
        ("first/rater 2", "identified"),
    ]
    report = agreement_of(version, "overall", "turn", resamples=0)
    assert (report["items"], report["ratings"], report["raters"]) == (4, 8, 2)


def test_leaderboards_see_them(odd_metrics: None) -> None:  # noqa: F811
    """Means over raters: one (1.5 + 2) / 2 = 1.75, two (4 + 5) / 2 = 4.5."""
    campaign = finished()
    publish(campaign)
    version = CorpusVersion.objects.select_related("corpus").get(pk=campaign.version_id)
    assert rated_levels(version, "overall") == ["turn"]
    means = {
        row.system: row.human.value
        for row in system_standing(version, "overall", resamples=10).systems
    }
    assert means == {"one": 1.75, "two": 4.5}
    call_command("score", corpus=version.corpus.slug, metrics="length", inline=True)
    rows = meta_evaluation(version, "overall", ["turn"], resamples=10).rows
    assert (rows[0].metric, rows[0].n) == ("length", 4)


def test_dialogue_level_ratings_are_of_a_system_in_a_dialogue() -> None:
    campaign = finished(kind="dialogue")
    publish(campaign)
    assert (
        Rating.objects.filter(
            response__isnull=True, system__isnull=False, dialogue__isnull=False
        ).count()
        == 8
    )


def test_an_export_with_them_can_be_imported(tmp_path: Path) -> None:
    campaign = finished()
    publish(campaign)
    path = written(
        records_of(CorpusVersion.objects.get(pk=campaign.version_id)), tmp_path / "again.jsonl"
    )
    (outcome,) = actions.import_corpus(importers()["jsonl"], path, "again")
    first = agreement_of(
        CorpusVersion.objects.get(pk=campaign.version_id), "overall", "turn", resamples=0
    )
    again = agreement_of(outcome.version, "overall", "turn", resamples=0)
    assert again["krippendorff_alpha"] == first["krippendorff_alpha"]


def test_human_scores_of_the_file_are_not_mixed_with_them(tmp_path: Path) -> None:
    version = stored(two_systems(), tmp_path)
    campaign = finished(version, slug="second")
    assert default_aspect(campaign) == "overall (second)"
    publish(campaign)
    version.refresh_from_db()
    assert (version.aspects, version.main_aspect) == (["overall", "overall (second)"], "overall")
    assert Rating.objects.filter(rater__version=version, aspect="overall").count() == 6


def test_a_name_is_kept_in_composed_letters_with_single_blanks() -> None:
    campaign = finished()
    publish(campaign, " Cafe\u0301\n(pilot) ")
    assert CorpusVersion.objects.get(pk=campaign.version_id).aspects == ["Caf\u00e9 (pilot)"]


def test_a_name_that_differs_in_case_only_is_taken(tmp_path: Path) -> None:
    campaign = finished(stored(two_systems(), tmp_path))
    with pytest.raises(CannotPublish, match="already"):
        publish(campaign, "OVERALL")


def test_publishing_again_replaces() -> None:
    campaign = finished()
    publish(campaign)
    exclude(campaign.participations.get(position=1), "later found careless")
    assert publish(campaign) == 4
    assert (Rating.objects.count(), Rater.objects.count()) == (4, 1)


def test_publishing_again_under_another_name_leaves_nothing_under_the_first() -> None:
    campaign = finished()
    publish(campaign)
    publish(campaign, "quality")
    version = CorpusVersion.objects.get(pk=campaign.version_id)
    assert (version.aspects, set(Rating.objects.values_list("aspect", flat=True))) == (
        ["quality"],
        {"quality"},
    )


def test_unpublishing_restores_the_version_exactly(tmp_path: Path) -> None:
    version = stored(two_systems(), tmp_path)
    before = content(version)
    campaign = finished(version)
    publish(campaign)
    assert content(version) != before
    assert unpublish(campaign) == 10
    campaign.refresh_from_db()
    assert content(version) == before
    assert (campaign.published_aspect, campaign.published_at, campaign.publication) == (
        "",
        None,
        {},
    )


def test_two_campaigns_on_a_version_come_and_go_on_their_own() -> None:
    first = finished(slug="first")
    before = content(first.version)
    second = finished(first.version, slug="second")
    publish(first)
    publish(second)
    unpublish(first)
    version = CorpusVersion.objects.get(pk=first.version_id)
    assert (version.aspects, version.main_aspect) == (["overall (second)"], "overall (second)")
    unpublish(second)
    assert content(first.version) == before


@pytest.mark.parametrize("state", ["open", "draft"])
def test_only_what_stands_still_is_published(state: str) -> None:
    campaign = finished()
    Campaign.objects.filter(pk=campaign.pk).update(state=state)
    with pytest.raises(CannotPublish, match="pause or close"):
        publish(campaign)
    assert not Rating.objects.exists()


def test_chats_and_collections_are_not_published() -> None:
    for kind in ("interactive", "collection"):
        campaign = made_campaign(kind)
        Campaign.objects.filter(pk=campaign.pk).update(state=Campaign.State.CLOSED)
        with pytest.raises(CannotPublish):
            publish(campaign)


def test_without_ratings_that_count_nothing_is_published() -> None:
    campaign = made_campaign()
    Campaign.objects.filter(pk=campaign.pk).update(state=Campaign.State.PAUSED)
    with pytest.raises(CannotPublish, match="no rating counts"):
        publish(campaign)


@pytest.mark.parametrize("aspect", ["x" * 101, "nul \0"])
def test_a_name_that_cannot_be_stored_is_refused(aspect: str) -> None:
    with pytest.raises(CannotPublish, match="name"):
        publish(finished(), aspect)


def test_stored_statistics_are_told() -> None:
    campaign = finished()
    revisions = [CorpusVersion.objects.get(pk=campaign.version_id).revision]
    for act in (publish, unpublish):
        act(campaign)
        revisions.append(CorpusVersion.objects.get(pk=campaign.version_id).revision)
    assert revisions == [0, 1, 2]


@pytest.mark.django_db(transaction=True)
def test_publishing_twice_at_once_stores_the_ratings_once() -> None:
    campaign = finished()
    outcomes = at_once(*[lambda: publish(Campaign.objects.get(pk=campaign.pk))] * 4)
    assert outcomes == [8, 8, 8, 8]
    assert (Rating.objects.count(), Rater.objects.count()) == (8, 2)


def test_other_ratings_of_the_same_number_are_a_change() -> None:
    """Published with rater 1's four ratings of k = 1; then rater 2's, which are as many, take their
    places."""
    campaign = made_campaign(systems=["one", "two"], dialogues=2, turns=1, k=1)
    first, second = made_raters(campaign, 2)
    for item in items_of(campaign):
        judge(first, item, 2)
        judge(second, item, 4, holds_place=False)
    exclude(second, "a look")
    Campaign.objects.filter(pk=campaign.pk).update(state=Campaign.State.CLOSED)
    publish(campaign)
    campaign.refresh_from_db()
    assert not publication_of(campaign).changed_since
    declare_conflict(first.user, campaign.systems.get(name="one"))
    declare_conflict(first.user, campaign.systems.get(name="two"))
    assert restore(second).counted == 4
    campaign.refresh_from_db()
    told = publication_of(campaign)
    assert (told.published, told.counted, told.changed_since) == (4, 4, True)


@pytest.mark.parametrize("first_out", [0, 1])
def test_two_publications_are_taken_out_in_any_order(first_out: int) -> None:
    version = made_campaign(systems=["one", "two"], dialogues=2, turns=1).version
    before = content(version), version.main_aspect
    both = [finished(version, "first"), finished(version, "second")]
    for campaign, aspect in zip(both, ("pilot", "main study"), strict=True):
        publish(campaign, aspect)
    unpublish(both[first_out])
    unpublish(both[1 - first_out])
    version.refresh_from_db()
    assert (content(version), version.main_aspect) == before


def test_publishing_again_beside_another_keeps_the_main_aspect() -> None:
    version = made_campaign(systems=["one", "two"], dialogues=2, turns=1).version
    first, second = finished(version, "first"), finished(version, "second")
    publish(first, "pilot")
    publish(second, "main study")
    publish(first)
    version.refresh_from_db()
    assert version.main_aspect == "pilot"


@pytest.mark.parametrize("kind", ["turn", "dialogue"])
def test_the_corpus_says_the_same_of_the_published_ratings_as_the_campaign(kind: str) -> None:
    """Every coefficient and every interval. The corpus has dialogues that the campaign did not ask
    about."""
    version = made_campaign(systems=["one", "two"], dialogues=9, turns=2).version
    campaign = made_campaign(kind, version=version, k=3)
    campaign.items.filter(dialogue__position__gte=6).delete()
    raters, random = made_raters(campaign, 5), Random(3)
    for item in items_of(campaign):
        quality = random.randint(2, 4)
        for rater in random.sample(raters, random.choice([1, 2, 3])):
            judge(rater, item, quality + random.choice([-1, 0, 0, 1]))
    of_campaign = campaign_agreement(campaign, resamples=200, seed=4)
    Campaign.objects.filter(pk=campaign.pk).update(state=Campaign.State.CLOSED)
    publish(campaign)
    version.refresh_from_db()
    of_corpus = agreement_of(version, "overall", kind, resamples=200, seed=4)
    statistics = (
        "items",
        "raters",
        "ratings",
        "krippendorff_alpha",
        "cohen_kappa",
        "fleiss_kappa",
        "icc",
    )
    for name in (*statistics, "leave_one_out"):
        told = json.dumps(of_corpus[name]).replace(f"{campaign.slug}/rater ", "rater ")
        assert told == json.dumps(of_campaign[name]), name
