"""Campaigns with items, slots and raters for tests, as rows: no file, no form, no page."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.utils import timezone

from annotations.campaigns.models import Campaign, ChatSystem, Guidelines, Item, Participation, Slot
from annotations.campaigns.plan.draw import interleave
from annotations.models import Corpus, CorpusVersion, Dialogue, Response, System, Turn
from common.roles import RATER

_numbers = count(1)

SYSTEMS = ("northwind", "southgate")


def made_version(
    systems: Sequence[str] = SYSTEMS, dialogues: int = 3, turns: int = 2, slug: str = ""
) -> CorpusVersion:
    """A private corpus in which every system answers every turn of every dialogue."""
    number = next(_numbers)
    corpus = Corpus.objects.create(
        slug=slug or f"corpus-{number}", name=f"Corpus {number}", is_public=False
    )
    version = CorpusVersion.objects.create(
        corpus=corpus,
        number=1,
        digest=f"{number:064x}",
        format="jsonl",
        aspects=[],
        main_aspect="overall",
        scales={},
    )
    kept = Dialogue.objects.bulk_create(
        Dialogue(
            version=version,
            position=position,
            external_id=f"file-{position}",
            persona=[f"I have {position + 2} bicycles.", "I live by a lake."],
            partner_persona=[f"I have {position + 2} cats.", "I work at night."],
        )
        for position in range(dialogues)
    )
    places = Turn.objects.bulk_create(
        Turn(
            dialogue=dialogue,
            number=turn,
            context=_history(dialogue.position, turn),
            references=[_gold(dialogue.position, turn)],
        )
        for dialogue in kept
        for turn in range(turns)
    )
    answering = System.objects.bulk_create(
        System(version=version, position=position, name=name)
        for position, name in enumerate(systems)
    )
    Response.objects.bulk_create(
        Response(
            system=system,
            turn=place,
            text=f"Answer {chr(97 + system.position % 26)}{system.position} to question "
            f"{place.number} of talk {place.dialogue.position}.",
        )
        for system in answering
        for place in places
    )
    return version


def _gold(dialogue: int, turn: int) -> str:
    return f"I went out by bicycle number {turn} in talk {dialogue}."


def _history(dialogue: int, turn: int) -> list[list[str]]:
    """A asks, B answers, and A has just asked once more."""
    said: list[list[str]] = []
    for past in range(turn + 1):
        said.append(["A", f"What did you do on day {past} of talk {dialogue}?"])
        if past < turn:
            said.append(["B", _gold(dialogue, past)])
    return said


def made_campaign(
    kind: str = "turn",
    systems: Sequence[str] = SYSTEMS,
    dialogues: int = 3,
    turns: int = 2,
    k: int = 2,
    *,
    slug: str = "",
    version: CorpusVersion | None = None,
    training: Sequence[tuple[int, int]] = (),
    attention: Sequence[tuple[int, int]] = (),
    seed: int = 7,
    opened: bool = True,
    **fields: object,
) -> Campaign:
    """An open campaign with its items and slots. ``training`` and ``attention``: the range of each
    check item.

    Turn level: systems × dialogues × turns items. Dialogue level and interactive: systems ×
    dialogues items. ``fields`` are the campaign's own: ``pass_mark``, ``attention_every``,
    ``axes_below``, ``closes_at``, …
    """
    if kind == Campaign.Kind.COLLECTION:
        version = None
    elif version is None:
        version = made_version(
            () if kind == Campaign.Kind.INTERACTIVE else systems, dialogues, turns
        )
    number = next(_numbers)
    campaign = Campaign.objects.create(
        slug=slug or f"campaign-{number}",
        name=f"Campaign {number}",
        kind=kind,
        version=version,
        raters_per_item=k,
        seed=seed,
        **fields,
    )
    Guidelines.objects.create(campaign=campaign, number=1, text="Read the whole dialogue first.")
    if kind == Campaign.Kind.INTERACTIVE:
        campaign.chat_systems.set(
            ChatSystem.objects.get_or_create(
                name=name, defaults={"instructions": "You are: {persona}"}
            )[0]
            for name in systems
        )
    elif version is not None:
        campaign.systems.set(version.systems.all())
    for position, (lowest, highest) in enumerate(training):
        _add_check(campaign, Item.Role.TRAINING, position, lowest, highest)
    for position, (lowest, highest) in enumerate(attention):
        _add_check(campaign, Item.Role.ATTENTION, position, lowest, highest)
    if opened:
        lay_out(campaign)
        campaign.state, campaign.opened_at = Campaign.State.OPEN, timezone.now()
        campaign.save()
    return campaign


def _add_check(campaign: Campaign, role: str, position: int, lowest: int, highest: int) -> None:
    dialogues = list(campaign.version.dialogues.all())
    dialogue = dialogues[position % len(dialogues)]
    of_turn = campaign.kind == Campaign.Kind.TURN
    Item.objects.create(
        campaign=campaign,
        role=role,
        position=position,
        dialogue=dialogue,
        turn=dialogue.turns.first() if of_turn else None,
        texts=[f"Check answer {position}."] * (1 if of_turn else dialogue.turns.count()),
        lowest=lowest,
        highest=highest,
        feedback=f"Between {lowest} and {highest}." if role == Item.Role.TRAINING else "",
    )


def lay_out(campaign: Campaign) -> None:
    """The campaign's regular items, and a slot for each of their k places."""
    if campaign.kind == Campaign.Kind.COLLECTION:
        return
    items = Item.objects.bulk_create(_regular_items(campaign), batch_size=2000)
    order = interleave(
        [item.dialogue_id for item in items], campaign.raters_per_item, campaign.seed
    )
    Slot.objects.bulk_create(
        (
            Slot(
                campaign=campaign,
                item=items[index],
                place=ordinal // len(items) + 1,
                ordinal=ordinal,
            )
            for ordinal, index in enumerate(order)
        ),
        batch_size=5000,
    )


def _regular_items(campaign: Campaign) -> list[Item]:
    if campaign.kind == Campaign.Kind.TURN:
        return [
            Item(
                campaign=campaign,
                dialogue_id=response.turn.dialogue_id,
                turn_id=response.turn_id,
                system_id=response.system_id,
                response=response,
            )
            for response in Response.objects.filter(system__in=campaign.systems.all())
            .select_related("turn")
            .order_by("pk")
        ]
    dialogues = list(campaign.version.dialogues.all())
    if campaign.kind == Campaign.Kind.INTERACTIVE:
        return [
            Item(campaign=campaign, dialogue=dialogue, chat_system=system)
            for system in campaign.chat_systems.all()
            for dialogue in dialogues
        ]
    return [
        Item(campaign=campaign, dialogue=dialogue, system=system)
        for system in campaign.systems.all()
        for dialogue in dialogues
    ]


# The type is the site's user model
def made_user(name: str = "", *roles: str, password: str | None = None):
    """Without a password unless given one: hashing takes long, and ``Client.force_login`` needs
    none."""
    user = get_user_model().objects.create_user(
        name or f"person-{next(_numbers)}", password=password
    )
    for role in roles:
        user.groups.add(Group.objects.get_or_create(name=role)[0])
    return user


def made_raters(campaign: Campaign, number: int, **fields: object) -> list[Participation]:
    """Raters who take part; they begin evenly spread over the campaign's order."""
    slots = campaign.slots.count()
    first = campaign.participations.count()
    raters = []
    for place in range(number):
        position = first + place
        start = place * slots // number
        given = {"seed": 1000 + position, "start": start, "cursor": start, **fields}
        raters.append(
            Participation.objects.create(
                campaign=campaign,
                user=made_user("", RATER),
                position=position,
                joined_at=timezone.now(),
                **given,
            )
        )
    return raters
