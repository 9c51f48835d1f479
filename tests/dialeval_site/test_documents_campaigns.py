"""What the documents say of rating campaigns is what the code does: figures, fields, columns,
answers."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from annotations.agreement.leave_one_out import FEWEST_ITEMS
from annotations.campaigns.actions.claims import ENOUGH, FIRST_READ, MOST_READ
from annotations.campaigns.actions.collection import WAITING_SECONDS
from annotations.campaigns.actions.opening import MOST_SLOTS
from annotations.campaigns.forms.fields import MOST_AXES
from annotations.campaigns.models.assignment import LONGEST_COMMENT
from annotations.campaigns.models.campaign import Campaign
from annotations.campaigns.plan import check_items
from annotations.campaigns.plan.cost import ASSUMED_SECONDS, MIN_RUNS_FOR_ESTIMATE
from annotations.campaigns.plan.draw import RECENT_ITEMS
from annotations.campaigns.queries.chat import LEAST_UTTERANCES
from annotations.campaigns.queries.overview import RATE_WINDOW_DAYS
from annotations.campaigns.scale import DEFAULT_AXES, DEFAULT_THRESHOLD
from annotations.formats.exporters.rating_files import COLUMNS, csv_of_ratings, csv_of_revisions
from annotations.models import CorpusVersion
from annotations.personas.contradictions import EARLIEST_START
from annotations.personas.generator import TRIES, YEAR
from annotations.personas.knowledge import (
    ASPECTS,
    FEWEST_HEADS,
    LONGEST_SENTENCE,
    MOST_HEADS,
    OLDEST,
    YOUNGEST,
)
from dialeval_site.demo import campaigns as demo_campaigns
from leaderboard.pages.raters.query import WIDEST_SHOWN
from tests.campaigns.sets import made_campaign, made_raters
from tests.dialeval_site.documents import code_words, first_table, sections, table_rows, text_of

WORDS = re.sub(r"\s+", " ", text_of("campaigns.md"))

FIGURES = [
    f"At most {MOST_SLOTS:,} slots",
    f"at most {MOST_AXES} axes",
    f"below {DEFAULT_THRESHOLD} for dialogues and chats",
    f"where there are at least {MIN_RUNS_FOR_ESTIMATE},",
    (
        f"{ASSUMED_SECONDS['turn']:g} s a response, {ASSUMED_SECONDS['dialogue']:g} s a dialogue, "
        f"{ASSUMED_SECONDS['pair']:g} s a pair of responses, "
        f"{ASSUMED_SECONDS['dialogue_pair'] / 60:g} min a pair of dialogues, "
        f"{ASSUMED_SECONDS['systems'] / 60:g} min a list, "
        f"{ASSUMED_SECONDS['interactive'] / 60:g} min a chat, "
        f"{ASSUMED_SECONDS['collection'] / 60:g} min a person's part"
    ),
    f"{FIRST_READ}, then twice as many, until {ENOUGH} are of items",
    f"Never more than {MOST_READ:,} at a time",
    f"the rater's last {RECENT_ITEMS} items",
    f"comment ({LONGEST_COMMENT:,} characters)",
    f"fewer than {FEWEST_ITEMS} such items",
    f"the {WIDEST_SHOWN} items with the widest range",
    f"({Campaign._meta.get_field('utterances').default} unless changed)",
    f"may be ended and rated after {LEAST_UTTERANCES} (",
    f"has not been heard of for {WAITING_SECONDS} s",
    f"({YOUNGEST} to {OLDEST} at most)",
    f"counted from {YEAR} in every year",
    f"does not begin before the age of {EARLIEST_START}",
    f"after {TRIES} draws",
    ", ".join(axis.name for axis in DEFAULT_AXES),
]


@pytest.mark.parametrize("words", FIGURES)
def test_figures_are_those_of_the_code(words: str) -> None:
    assert words in WORDS


def test_the_last_days_are_as_many_as_the_page_counts() -> None:
    assert RATE_WINDOW_DAYS == 7
    assert "of the last seven days" in WORDS


def test_every_kind_is_explained() -> None:
    kinds = first_table(sections(text_of("campaigns.md"))["What is asked"])
    assert [row[0] for row in kinds] == Campaign.Kind.values


def test_every_reason_of_an_undefined_figure_is_told() -> None:
    from annotations.campaigns.rater_statistics import others, own_ratings

    assert others.NOBODY_ELSE in WORDS
    assert own_ratings.NO_TIMES in WORDS


# --- files ----------------------------------------------------------------------------------------


def fields_in(section: str) -> list[str]:
    text = sections(text_of("formats.md"))[section]
    return [word for row in table_rows(text) for word in code_words(row[0])]


def without_mark(lines: Iterable[str]) -> list[str]:
    return [line.removeprefix("\ufeff") for line in lines]


def test_every_column_of_exported_ratings_is_documented() -> None:
    [revisions] = csv.reader(without_mark(csv_of_revisions((), ["<axis>"], accounts=True)))
    [pairs], [lists] = (
        csv.reader(without_mark(csv_of_revisions((), (), True, ["<question>"], compared)))
        for compared in ("system_b", "systems")
    )
    for heading in (revisions, pairs, lists):
        assert [name for name in COLUMNS if name in heading] == heading
    assert set(COLUMNS) == {*revisions, *pairs, *lists}
    [ratings] = csv.reader(without_mark(csv_of_ratings((), ["<axis>"], accounts=True)))
    assert set(revisions) - set(ratings) == {"current"}


def test_every_field_of_a_check_item_is_documented() -> None:
    text = sections(text_of("formats.md"))["Check items"]
    documented = [word for row in table_rows(text) for cell in row for word in code_words(cell)]
    assert set(documented) >= check_items.KNOWN_FIELDS
    # Named beside ``text``
    assert set(fields_in("Check items")) == check_items.KNOWN_FIELDS - {"texts"}
    for figure in (
        check_items.LARGEST_FILE,
        check_items.LONGEST_FEEDBACK,
        check_items.MOST_PROBLEMS,
    ):
        assert f"{figure:,}" in text


def test_the_example_of_check_items_can_be_read() -> None:
    text = sections(text_of("formats.md"))["Check items"]
    example = re.search(r"```json\n(.*?)```", text, flags=re.DOTALL)
    assert example
    corpus = check_items.Answers(
        {"allotment": [0, 1, 2, 3]}, {"gold": frozenset({("allotment", 1)})}
    )
    items = check_items.read_check_items(example.group(1).encode(), "turn", corpus)
    assert [item.role for item in items] == ["training", "attention"]


def test_every_aspect_of_persona_knowledge_is_documented() -> None:
    text = sections(text_of("formats.md"))["Persona knowledge"]
    row = next(what for field, what in table_rows(text) if field == "`attributes`")
    assert set(code_words(row)) == {one for one in ASPECTS if "relation" not in one} | {
        "_relationship"
    }
    assert f"{FEWEST_HEADS} to {MOST_HEADS:,} heads" in text
    assert f"at most {LONGEST_SENTENCE} characters" in text


def test_every_campaign_of_the_demo_is_documented(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    monkeypatch.setattr(demo_campaigns, "_once", lambda slug, make: made.append(slug))
    demo_campaigns.load_demo_campaigns(CorpusVersion())
    rows = first_table(sections(text_of("demo.md"))["Campaigns"])
    assert [row[0].strip("`") for row in rows] == made


# --- what the page and the site say to each other -------------------------------------------------

PROTOCOL = sections(text_of("endpoints.md"))["What the rating page and the site say to each other"]


def documented(start: str) -> dict[str, Any]:
    """The JSON of the document that begins so; "…" stands for any text."""
    found = re.search(r"`(" + re.escape(start) + r".*?\})`", PROTOCOL, flags=re.DOTALL)
    assert found, start
    return dict(json.loads(found.group(1)))


def sent(client: Client, campaign: Campaign, name: str, **fields: Any) -> HttpResponse:
    answer: HttpResponse = client.post(
        f"/rate/{campaign.slug}/{name}/", fields, headers={"Accept": "application/json"}
    )
    return answer


@pytest.mark.django_db
def test_answers_have_the_keys_that_the_document_shows() -> None:
    campaign = made_campaign()
    rater = made_raters(campaign, 1)[0]
    client = Client()
    client.force_login(rater.user)
    client.post(f"/rate/{campaign.slug}/", {"guidelines": "1"})
    item = re.search(
        r'data-item="([^"]+)"', client.get(f"/rate/{campaign.slug}/item/").content.decode()
    )
    assert item
    stored = sent(client, campaign, "submit", item=item.group(1), key="a", score="4").json()
    shown = documented('{"stored": true, "item"')
    assert stored.keys() == shown.keys()
    assert stored["progress"].keys() == shown["progress"].keys()
    assert stored["next"][0].keys() == shown["next"][0].keys()
    skipped = sent(client, campaign, "skip", item=stored["next"][0]["item"], reason="other").json()
    assert skipped.keys() == shown.keys() - {"revision", "feedback"}
    refused = sent(client, campaign, "submit", item="unknown", key="b", score="4")
    assert refused.status_code == 409
    assert refused.json().keys() == documented(
        '{"stored": false, "reason"'
    ).keys() | skipped.keys() - {"item"}
    faulty = sent(client, campaign, "submit", item=item.group(1), key="c", score="6")
    assert faulty.status_code == 422
    assert faulty.json().keys() == documented('{"stored": false, "errors"').keys()
    assert sent(client, campaign, "heartbeat").json().keys() == documented('{"kept_until"').keys()
    assert sent(client, campaign, "leave").json() == documented('{"left"')
    client.logout()
    logged_out = sent(client, campaign, "submit", item=item.group(1), key="d", score="4")
    assert logged_out.status_code == 401
    assert '{"stored": false, "login": "/accounts/login/"}' in text_of("endpoints.md")
    assert logged_out.json() == {"stored": False, "login": "/accounts/login/"}


def test_every_field_of_a_rating_s_form_is_documented() -> None:
    from annotations.campaigns.forms.rating import RatingForm, SkipForm

    rows = [word for row in table_rows(PROTOCOL) for word in code_words(row[0])]
    assert set(RatingForm.base_fields) | {"have", "outbox"} == set(rows)
    assert set(SkipForm.base_fields) <= set(code_words(PROTOCOL))
