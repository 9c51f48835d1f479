"""Rated chats that become a corpus: conversations of their systems, with scores."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from annotations.campaigns.actions.harvest import make_corpus
from annotations.campaigns.actions.publishing import CannotPublish
from annotations.campaigns.models import Assignment, Campaign, Conversation, Item, Message
from annotations.campaigns.queries.overview import campaigns_now
from annotations.corpora.record_stream import records_of
from annotations.formats.records import LabelRecord, RatingRecord
from annotations.models import Corpus, CorpusVersion
from annotations.questions.answers import Material, check
from annotations.questions.reading import form_of
from common.roles import ORGANISER
from leaderboard.pages.systems.query import system_leaderboard
from tests.campaigns.forms import asking, made_form
from tests.campaigns.judged import items_of, judge
from tests.campaigns.sets import made_campaign, made_raters, made_user

pytestmark = pytest.mark.django_db

WORDS = ("Hello.", "Hi! I repair clocks.", "Old ones?", "The older the better. 🕰")


def chatted(assignment: Assignment, *words: str) -> Conversation:
    chat = Conversation.objects.create(assignment=assignment)
    for number, text in enumerate(words or WORDS):
        speaker = "AB"[number % 2]
        written_by = "model:tiny|seed:7" if speaker == "B" else ""
        Message.objects.create(
            conversation=chat, number=number, speaker=speaker, text=text, signature=written_by
        )
    return chat


def of_system(campaign: Campaign, name: str) -> Item:
    return next(item for item in items_of(campaign) if item.chat_system.name == name)


def closed(campaign: Campaign) -> Campaign:
    Campaign.objects.filter(pk=campaign.pk).update(state=Campaign.State.CLOSED)
    return Campaign.objects.select_related("form", "version__corpus").get(pk=campaign.pk)


def two_chats(**more: Any) -> Campaign:
    """One rater who gave calm a 4 and lively a 2."""
    campaign = made_campaign("interactive", systems=["calm", "lively"], dialogues=1, **more)
    (rater,) = made_raters(campaign, 1)
    chatted(judge(rater, of_system(campaign, "calm"), 4))
    chatted(judge(rater, of_system(campaign, "lively"), 2))
    return closed(campaign)


def of(version: CorpusVersion, kind: type) -> list[Any]:
    return [one for one in records_of(version) if isinstance(one, kind)]


def test_a_chat_is_a_conversation_of_its_system_with_its_rating() -> None:
    campaign = two_chats()
    version = make_corpus(campaign, "chats", "Chats").version
    [dialogue, _] = version.dialogues.order_by("position")
    played = campaign.version.dialogues.get()
    chat = Conversation.objects.get(assignment__item__chat_system__name="calm")
    assert dialogue.external_id == f"chat-{chat.public_id}"
    assert (dialogue.interactive, dialogue.persona) == (True, played.persona)
    assert dialogue.metadata == {"personas of": played.external_id}
    assert [(one["role"], one["text"]) for one in dialogue.messages] == [
        ("user", WORDS[0]),
        ("assistant", WORDS[1]),
        ("user", WORDS[2]),
        ("assistant", WORDS[3]),
    ]
    assert [(one.system, one.turn, one.rater, one.score) for one in of(version, RatingRecord)] == [
        ("calm", None, "rater 1", 4.0),
        ("lively", None, "rater 1", 2.0),
    ]
    [first, *_] = version.systems.get(name="calm").responses.order_by("turn__number")
    assert (first.text, first.metadata) == (WORDS[1], {"signature": "model:tiny|seed:7"})


def test_the_systems_stand_on_a_leaderboard() -> None:
    version = make_corpus(two_chats(), "chats", "Chats").version
    board = system_leaderboard(version, "overall")
    assert board.design == "nested"
    assert {one.system: one.human.value for one in board.systems} == {"calm": 4.0, "lively": 2.0}


def test_what_was_rated_since_is_the_next_version_and_nothing_new_is_none() -> None:
    campaign = two_chats(k=2)
    first = make_corpus(campaign, "chats", "Chats")
    again = make_corpus(campaign)
    (rater,) = made_raters(campaign, 1)
    chatted(judge(rater, of_system(campaign, "calm"), 5))
    more = make_corpus(campaign)
    assert [one.version.number for one in (first, again, more)] == [1, 1, 2]
    assert more.version.corpus_id == first.version.corpus_id
    assert more.version.dialogues.count() == 3


def test_programs_chats_are_a_corpus_of_programs() -> None:
    campaign = two_chats()
    Campaign.objects.filter(pk=campaign.pk).update(simulated=True)
    assert make_corpus(campaign, "chats", "Chats").version.simulated


def test_of_a_form_scores_become_aspects_and_all_else_labels() -> None:
    """Labels of the chat's second answer belong to its second turn; the first was given none."""
    form = made_form(
        {"key": "stars", "type": "scale", "text": "Stars", "title": "Stars", "maximum": 3},
        {
            "key": "marks",
            "type": "utterance_labels",
            "text": "Which answers are odd?",
            "title": "Marks",
            "options": [{"key": "odd"}, {"key": "rude"}],
        },
        {
            "key": "fit",
            "type": "utterance_labels",
            "text": "How good is each answer?",
            "title": "Fit",
            "max_choices": 1,
            "options": [{"key": "bad", "value": 0}, {"key": "good", "value": 2}],
        },
        {"key": "why", "type": "text", "text": "Why?", "title": "Why"},
        level="conversation",
    )
    campaign = asking(form, "interactive", systems=["calm"], dialogues=1)
    (rater,) = made_raters(campaign, 1)
    given = check(
        form_of(campaign.form.schema),
        {"stars": 3, "marks": {"2": ["odd", "rude"]}, "fit": {"2": ["good"]}, "why": "It ticks."},
        Material({1: WORDS[1], 2: WORDS[3]}),
    )
    rated = judge(rater, items_of(campaign)[0], 3)
    rated.revisions.update(score=None, low_axes=None, form=campaign.form, answers=given)
    chatted(rated)
    version = make_corpus(closed(campaign), "chats", "Chats").version
    assert version.scales == {"Stars": [1.0, 3.0], "Fit": [0.0, 2.0]}
    assert (version.aspects, version.main_aspect) == (["Stars", "Fit"], "Stars")
    assert {(one.aspect, one.turn, one.score) for one in of(version, RatingRecord)} == {
        ("Stars", None, 3.0),
        ("Fit", 1, 2.0),
    }
    assert {(one.question, one.turn, one.value) for one in of(version, LabelRecord)} == {
        ("Marks", 0, ()),
        ("Marks", 1, ("odd", "rude")),
        ("Why", None, "It ticks."),
    }


def test_chats_that_go_on_are_not_stored() -> None:
    campaign = two_chats()
    Campaign.objects.filter(pk=campaign.pk).update(state=Campaign.State.OPEN)
    with pytest.raises(CannotPublish, match="pause or close"):
        make_corpus(campaign, "chats", "Chats")
    assert not Corpus.objects.filter(slug="chats").exists()


# --- the page -------------------------------------------------------------------------------------


@pytest.fixture
def organiser(client: Client) -> Client:
    client.force_login(made_user("olga", ORGANISER))
    return client


def publish(organiser: Client, campaign: Campaign, **form: str) -> Any:
    return organiser.post(f"/campaigns/{campaign.slug}/ratings/publish/", form, follow=True)


def test_an_organiser_makes_the_corpus_and_is_led_to_it(organiser: Client) -> None:
    campaign = two_chats(k=1)
    page = organiser.get(f"/campaigns/{campaign.slug}/ratings/").content.decode()
    assert "Store 2 chats" in page
    assert [one.slug for one in campaigns_now(5).to_publish] == [campaign.slug]
    answer = publish(organiser, campaign, slug="chats", name="Chats").content.decode()
    assert "chats version 1 holds 2 dialogues." in answer
    assert '<a href="/corpora/chats/">Chats</a>' in answer
    assert 'name="slug"' not in answer
    assert campaigns_now(5).to_publish == []


def test_a_taken_short_name_is_refused_and_nothing_stored(organiser: Client) -> None:
    campaign = two_chats()
    Corpus.objects.create(slug="chats", name="Theirs")
    before = CorpusVersion.objects.count()
    answer = publish(organiser, campaign, slug="chats", name="Ours")
    assert answer.status_code == 422
    assert "There is a corpus with this short name. Choose another." in answer.content.decode()
    assert CorpusVersion.objects.count() == before
