"""Items of conversations of roles, as raters see them."""

from __future__ import annotations

import re

import pytest

from annotations.campaigns.models import Campaign, Item
from annotations.campaigns.queries.work_queue import item_view
from annotations.corpora.shown_messages import SHOWN_AT_ONCE
from annotations.models import CorpusVersion, Response
from tests.campaigns.sets import made_campaign, made_version
from tests.campaigns.test_rating_pages import a_rater, address

pytestmark = pytest.mark.django_db


def conversation_version(lines: int = 2) -> CorpusVersion:
    """One dialogue of two turns: a system prompt, then what users and the assistant say. The gold
    answers stand in the messages; ``Bo`` is the assistant's name."""
    version = made_version(["cook"], dialogues=1, turns=2)
    dialogue = version.dialogues.get()
    said = [{"role": "user", "text": f"earlier {place}"} for place in range(lines - 1)]
    dialogue.messages = [
        {"role": "system", "text": "Be **brief**."},
        *said,
        {"role": "user", "text": "**What** is in the pot?"},
        {"role": "assistant", "name": "Bo", "text": "GOLD-0"},
        {"role": "user", "text": "And then?"},
        {"role": "assistant", "name": "Bo", "text": "GOLD-1"},
    ]
    dialogue.persona = dialogue.partner_persona = []
    dialogue.save()
    for turn, after in zip(dialogue.turns.order_by("number"), (lines + 1, lines + 3), strict=True):
        turn.own_context, turn.after = [], after
        turn.save()
    Response.objects.filter(turn__number=0).update(
        text="", parts=[{"type": "tool_call", "name": "look"}]
    )
    return version


def page_of(campaign: Campaign, query: str = "") -> str:
    _, browser = a_rater(campaign)
    return browser.get(address("rating-work", campaign) + query).content.decode()


def test_a_turn_item_ends_at_its_point() -> None:
    campaign = made_campaign(version=conversation_version())
    first = item_view(Item.objects.get(campaign=campaign, turn__number=0))
    (part,) = first.parts
    assert [(line.speaker, line.side, line.is_folded) for line in part.lines] == [
        ("system", "a", True),
        ("user", "a", False),
        ("user", "a", False),
        ("assistant", "b", False),
    ]
    assert part.lines[-1].judged
    assert [one.title for one in part.lines[-1].content.parts] == ["tool_call: look"]
    assert not any("GOLD" in line.text for line in part.lines)


def test_a_dialogue_item_goes_on_with_what_was_really_said() -> None:
    campaign = made_campaign("dialogue", version=conversation_version())
    first, second = item_view(Item.objects.get(campaign=campaign)).parts
    assert [line.text for line in second.lines[:-1]] == ["GOLD-0", "And then?"]
    assert [line.given for line in second.lines] == [True, False, False]
    assert not any(line.given for line in first.lines)


def test_no_page_shows_a_later_message_or_a_system_s_name() -> None:
    for kind in ("turn", "dialogue"):
        page = page_of(made_campaign(kind, version=conversation_version()))
        assert "GOLD-1" not in page
        assert not re.search(r"\bBo\b", page)  # a token may hold the letters


def test_a_prompt_is_folded_and_markdown_formatted_unless_raw() -> None:
    campaign = made_campaign(version=conversation_version())
    page = page_of(campaign)
    assert '<details class="said-folded"><summary dir="auto">Be **brief**.</summary>' in page
    assert "<strong>What</strong>" in page
    raw = page_of(campaign, "?raw=1")
    assert "<strong>" not in raw.partition('id="item-place"')[2].partition("</article>")[0]


def test_without_personas_there_is_no_panel() -> None:
    campaign = made_campaign(version=conversation_version())
    assert "data-persona" not in page_of(campaign).partition("<template")[0]


def test_of_a_long_history_the_end_is_unfolded() -> None:
    campaign = made_campaign(version=conversation_version(200))
    (part,) = item_view(Item.objects.get(campaign=campaign, turn__number=0)).parts
    assert (len(part.earlier), len(part.shown)) == (202 - SHOWN_AT_ONCE, SHOWN_AT_ONCE)
    assert part.shown[-1].judged
    assert "152 earlier messages" in page_of(campaign)


def test_raw_text_stays_chosen_for_the_items_that_follow() -> None:
    campaign = made_campaign(version=conversation_version())
    _, browser = a_rater(campaign)
    work = address("rating-work", campaign)

    def formats(query: str) -> bool:
        page = browser.get(work + query).content.decode()
        return "<strong>" in page.partition('id="item-place"')[2].partition("</article>")[0]

    assert [formats(query) for query in ("", "?raw=1", "", "?raw=0", "")] == [
        True,
        False,
        False,
        True,
        True,
    ]
