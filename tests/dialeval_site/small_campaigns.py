"""A small campaign of each kind on the small corpora, with people who take part, for tests of
permissions."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, User

from annotations.campaigns.actions import chat, collection, quality, setup, work_queue
from annotations.campaigns.actions.terms import Judgement
from annotations.campaigns.models import (
    Campaign,
    ChatSystem,
    Conversation,
    Invitation,
    Item,
    Participation,
)
from annotations.models import Corpus, CorpusVersion
from common.roles import ORGANISER, PARTICIPANT, RATER
from tests.campaigns.sets import made_campaign
from tests.dialeval_site.small_corpora import PRIVATE, PUBLIC
from tests.workers.chats import answered

TAKING_PART, EXCLUDED = "taking part", "excluded"
ROLE_NAMES = ("anonymous", PARTICIPANT, RATER, TAKING_PART, EXCLUDED, ORGANISER, "superuser")
COLLEAGUES = ("colleague", "partner", "fourth")
"""Others who take part: what is theirs must not be there for the one of the matrix."""
TURNS, CHATS, MEETINGS, DRAFT, CLOSED = "spring", "chatting", "meeting", "not-yet", "last-year"
SLUGS = (TURNS, CHATS, MEETINGS, DRAFT, CLOSED)
SYSTEM = "quiet-machine"


@dataclass(frozen=True)
class Stage:
    """Names of what is there. Of conversations, rooms and items by whose they are."""

    token: str
    invitation: int
    check: str
    chat_system: int
    chats: dict[str, str]
    rooms: dict[str, str]
    items: dict[str, str]


def make_stage() -> Stage:
    people = {
        name: get_user_model().objects.create_user(f"the-{name}")
        for name in (TAKING_PART, EXCLUDED, *COLLEAGUES)
    }
    for user in people.values():
        user.groups.add(Group.objects.get_or_create(name=RATER)[0])
    version = Corpus.objects.get(slug=PUBLIC).versions.get()
    turns = made_campaign("turn", version=version, slug=TURNS)
    check = _attention_item(turns)
    items = _items(_raters(turns, people))
    chats = _chats(_raters(_of_chats(), people))
    rooms = _rooms(
        _raters(made_campaign("collection", slug=MEETINGS, dialogues_per_system=9), people)
    )
    draft = made_campaign("turn", version=version, slug=DRAFT, opened=False)
    _raters(draft, people)  # none can be there; if one is, the draft is not
    draft.groups.add(Group.objects.get(name=RATER))
    _closed_campaign(version, people[TAKING_PART])
    for campaign in Campaign.objects.filter(slug__in=(TURNS, CHATS, MEETINGS)):
        quality.exclude(campaign.participations.get(user=people[EXCLUDED]), "answers too fast")
    invitation = Invitation.objects.create(campaign=turns, note="for the cooks")
    system = ChatSystem.objects.get(name=SYSTEM)
    return Stage(invitation.token, invitation.pk, check, system.pk, chats, rooms, items)


def _raters(campaign: Campaign, people: dict[str, User]) -> dict[str, Participation]:
    read = campaign.guidelines.get()
    return {
        name: Participation.objects.create(
            campaign=campaign, user=user, position=position, seed=position, guidelines_read=read
        )
        for position, (name, user) in enumerate(people.items())
    }


def _attention_item(campaign: Campaign) -> str:
    """One that nobody is given: the campaign asks for none."""
    dialogue = campaign.version.dialogues.first()
    item = Item.objects.create(
        campaign=campaign, role="attention", dialogue=dialogue, turn=dialogue.turns.first(),
        texts=["Blue seven."], lowest=1, highest=1,
    )  # fmt: skip
    return item.public_id


def _items(raters: dict[str, Participation]) -> dict[str, str]:
    """One in the hands of each; the one of the matrix has rated one before."""
    taking_part = raters[TAKING_PART]
    first = work_queue.fill_queue(taking_part, 1).assignments[0]
    work_queue.rate(taking_part, first.item.public_id, Judgement(key="first", score=4))
    return {
        name: work_queue.fill_queue(rater, 1).assignments[0].item.public_id
        for name, rater in raters.items()
    }


def _of_chats() -> Campaign:
    version = Corpus.objects.get(slug=PRIVATE).versions.get()
    return made_campaign("interactive", systems=(SYSTEM,), version=version, slug=CHATS, k=5)


def _chats(raters: dict[str, Participation]) -> dict[str, str]:
    """Long enough to be ended."""
    begun: dict[str, Conversation] = {}
    for name, rater in raters.items():
        begun[name] = chat.conversation_of(work_queue.fill_queue(rater, 1).assignments[0])
        for number in (1, 2):
            chat.say(begun[name], f"Question {number}?", f"key-{number}")
            answered(begun[name])
    return {name: conversation.public_id for name, conversation in begun.items()}


def _rooms(raters: dict[str, Participation]) -> dict[str, str]:
    """Two pairs; who will be excluded waits alone."""
    order = (TAKING_PART, "partner", "colleague", "fourth", EXCLUDED)
    return {name: collection.meet(raters[name]).public_id for name in order}


def _closed_campaign(version: CorpusVersion, user: User) -> None:
    campaign = made_campaign("turn", version=version, slug=CLOSED, k=1)
    rater = Participation.objects.create(campaign=campaign, user=user, position=0)
    item = work_queue.fill_queue(rater, 1).assignments[0].item
    work_queue.rate(rater, item.public_id, Judgement(key="only", score=2))
    setup.close(campaign)


def remove_stage() -> None:
    for campaign in Campaign.objects.filter(slug__in=SLUGS):
        campaign.state = Campaign.State.CLOSED
        setup.delete(campaign, campaign.slug)
    ChatSystem.objects.filter(name=SYSTEM).delete()
    names = [f"the-{name}" for name in (TAKING_PART, EXCLUDED, *COLLEAGUES)]
    get_user_model().objects.filter(username__in=names).delete()
