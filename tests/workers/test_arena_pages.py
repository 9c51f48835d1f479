"""Pages of arenas, as requests: a visitor's battle and vote, an organiser's arena."""

from __future__ import annotations

import re
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotations.campaigns.actions import arena as actions
from annotations.campaigns.models import Arena, Battle, Message
from common.roles import ORGANISER
from tests.campaigns.arenas import answer_both, made_arena, made_battle
from tests.campaigns.sets import SYSTEMS, made_user, made_version

pytestmark = pytest.mark.django_db
HTMX = {"HTTP_HX_REQUEST": "true"}


@pytest.fixture(autouse=True)
def no_broker(notified: list[int]) -> None:
    """Workers are not told."""


@pytest.fixture
def organiser() -> Client:
    client = Client()
    client.force_login(made_user("olga", ORGANISER))
    return client


def begun(client: Client, arena: Arena) -> Battle:
    """The battle that the visitor is led to."""
    response = client.post(reverse("arena-begin", args=[arena.slug]))
    assert response.status_code == 302, response.content.decode()
    return Battle.objects.get(public_id=urlsplit(response["Location"]).path.split("/")[-2])


def post(client: Client, battle: Battle, name: str, **data: str):
    return client.post(reverse(name, args=[battle.arena.slug, battle.public_id]), data)


def shown(client: Client, battle: Battle) -> str:
    response = client.get(reverse("arena-battle", args=[battle.arena.slug, battle.public_id]))
    return response.content.decode()


# --- visitors -------------------------------------------------------------------------------------


def test_a_visitor_without_an_account_votes_and_reads_the_names_after() -> None:
    visitor, arena = Client(), made_arena()
    battle = begun(visitor, arena)
    before = shown(visitor, battle)
    assert battle.response_a.text in before
    assert not [name for name in SYSTEMS if name in before]
    post(visitor, battle, "arena-vote", vote="b")
    after = shown(visitor, battle)
    assert "Your vote: 2 is better." in after
    names = re.findall(r'<b>[12]</b> <span dir="auto">(\w+)</span>', after)
    assert names == [battle.response_a.system.name, battle.response_b.system.name]


def test_a_chat_shows_both_answers_together_and_no_name() -> None:
    visitor, arena = Client(), made_arena("chat")
    battle = begun(visitor, arena)
    assert post(visitor, battle, "arena-say", text="Hello.", key="k1").status_code == 302
    assert "Both are writing" in shown(visitor, battle)
    answer_both(battle, "Good morning.", "Good evening.")
    page = shown(visitor, battle)
    assert page.index("Good morning.") < page.index("Good evening.")
    assert not [name for name in SYSTEMS if name in page]


def test_while_both_write_the_page_s_own_request_changes_nothing() -> None:
    visitor, arena = Client(), made_arena("chat")
    battle = begun(visitor, arena)
    post(visitor, battle, "arena-say", text="Hello.", key="k1")
    address = reverse("arena-battle", args=[arena.slug, battle.public_id]) + "?waiting=1"
    assert visitor.get(address, **HTMX).status_code == 204
    answer_both(battle)
    told = visitor.get(address, **HTMX)
    assert (told.status_code, "<html" in told.content.decode()) == (200, False)


def test_who_voted_cannot_vote_otherwise() -> None:
    visitor = Client()
    battle = begun(visitor, made_arena())
    post(visitor, battle, "arena-vote", vote="a")
    again = post(visitor, battle, "arena-vote", vote="b")
    assert (again.status_code, Battle.objects.get().vote) == (409, "a")
    assert "Its vote stays." in again.content.decode()


def test_nobody_sees_or_votes_on_another_visitor_s_battle() -> None:
    arena = made_arena()
    battle, stranger = made_battle(arena), Client()
    begun(stranger, arena)
    for client in (stranger, Client()):
        assert post(client, battle, "arena-vote", vote="a").status_code == 404
        address = reverse("arena-battle", args=[arena.slug, battle.public_id])
        assert client.get(address).status_code == 404
    assert not Battle.objects.exclude(vote="").exists()


def test_a_vote_before_the_answers_is_refused() -> None:
    visitor = Client()
    battle = begun(visitor, made_arena("chat"))
    refused = post(visitor, battle, "arena-vote", vote="a")
    assert (refused.status_code, Battle.objects.get().state) == (409, "open")


@pytest.mark.parametrize("vote", ["", "c", "A", "a\0", "void"])
def test_there_is_no_other_vote(vote: str) -> None:
    visitor = Client()
    battle = begun(visitor, made_arena())
    assert post(visitor, battle, "arena-vote", vote=vote).status_code == 404


@pytest.mark.parametrize("text", ["", " ", "x" * 100_000, "nul \0"])
def test_a_message_that_cannot_be_stored_is_told(text: str) -> None:
    visitor = Client()
    battle = begun(visitor, made_arena("chat"))
    refused = post(visitor, battle, "arena-say", text=text, key="k1")
    assert refused.status_code == 422
    assert "The message" in refused.content.decode()
    assert not Message.objects.exists()


def test_markup_and_other_scripts_are_text() -> None:
    visitor = Client()
    battle = begun(visitor, made_arena("chat"))
    post(visitor, battle, "arena-say", text="<script>x</script> שלום", key="k1")
    answer_both(battle, "<b>bold</b>", "مرحبا")
    page = shown(visitor, battle)
    assert "&lt;script&gt;x&lt;/script&gt; שלום" in page
    assert "&lt;b&gt;bold&lt;/b&gt;" in page
    assert '<p dir="auto">مرحبا</p>' in page


def test_who_waits_for_long_is_told_once_that_another_battle_can_begin() -> None:
    visitor = Client()
    battle = begun(visitor, made_arena("chat"))
    post(visitor, battle, "arena-say", text="Hello.", key="k1")
    address = reverse("arena-battle", args=[battle.arena.slug, battle.public_id])
    assert visitor.get(f"{address}?waiting=yes", **HTMX).status_code == 204
    Message.objects.update(created_at=timezone.now() - timedelta(seconds=21))
    page = visitor.get(f"{address}?waiting=yes", **HTMX).content.decode()
    assert "A model takes long to answer." in page
    assert "?waiting=long" in page
    assert visitor.get(f"{address}?waiting=long", **HTMX).status_code == 204
    post(visitor, battle, "arena-leave")
    assert visitor.post(reverse("arena-begin", args=[battle.arena.slug])).status_code == 302


def test_a_battle_whose_model_fails_is_void_and_its_visitor_is_told() -> None:
    visitor = Client()
    battle = begun(visitor, made_arena("chat"))
    post(visitor, battle, "arena-say", text="Hello.", key="k1")
    Message.objects.filter(conversation__arm="b", number=1).update(state="failed", error="500")
    page = shown(visitor, battle)
    assert "One of the models did not answer. This battle is not counted." in page
    assert Battle.objects.get().state == "void"
    assert begun(visitor, battle.arena) != battle


def test_an_arena_that_was_closed_in_the_middle_says_so() -> None:
    visitor = Client()
    battle = begun(visitor, made_arena("chat"))
    actions.close_arena(battle.arena)
    assert post(visitor, battle, "arena-say", text="Hello.", key="k").status_code == 409
    assert "The arena was closed. This battle is not counted." in shown(visitor, battle)
    begin = visitor.post(reverse("arena-begin", args=[battle.arena.slug]))
    assert (begin.status_code, "This arena is closed." in begin.content.decode()) == (409, True)


def test_who_chats_when_the_budget_ends_votes_on_what_was_said() -> None:
    visitor, arena = Client(), made_arena("chat", answers_budget=3)
    battle = begun(visitor, arena)
    post(visitor, battle, "arena-say", text="Hello.", key="k1")
    answer_both(battle)
    late = post(visitor, battle, "arena-say", text="And you?", key="k2")
    assert (late.status_code, "Please vote on what was said." in late.content.decode()) == (
        429,
        True,
    )
    assert "And you?" in late.content.decode()  # what was written stays in its field
    assert Arena.objects.get().answers_requested == 2
    assert post(visitor, battle, "arena-vote", vote="tie").status_code == 302
    begin = visitor.post(reverse("arena-begin", args=[arena.slug]))
    assert (begin.status_code, "No new chat can begin." in begin.content.decode()) == (429, True)
    Arena.objects.update(answers_budget=4)
    assert visitor.post(reverse("arena-begin", args=[arena.slug])).status_code == 302


def test_a_bot_without_cookies_is_stopped_by_its_address() -> None:
    arena = made_arena(battles_per_address=3)
    begin = reverse("arena-begin", args=[arena.slug])
    assert [Client().post(begin).status_code for _ in range(5)] == [302, 302, 302, 429, 429]
    assert (arena.battles.count(), arena.visitors.count()) == (3, 3)


def test_an_arena_by_invitation_is_there_for_who_has_the_link() -> None:
    arena, visitor = made_arena(is_public=False), Client()
    address = reverse("arena", args=[arena.slug])
    assert visitor.get(address).status_code == 404
    assert visitor.post(reverse("arena-begin", args=[arena.slug])).status_code == 404
    assert arena.name not in visitor.get(reverse("arenas")).content.decode()
    link = reverse("arena-invited", args=[arena.token])
    assert visitor.get(link).status_code == 200
    assert visitor.post(link).status_code == 302
    assert visitor.get(address).status_code == 200
    actions.renew_link(arena)
    assert Client().get(link).status_code == 404


def test_who_leaves_without_a_vote_is_not_counted() -> None:
    visitor = Client()
    battle = begun(visitor, made_arena())
    post(visitor, battle, "arena-leave")
    assert Battle.objects.get().state == "void"


# --- organisers -----------------------------------------------------------------------------------


def test_an_organiser_sets_up_an_arena_of_stored_responses_and_opens_it(organiser: Client) -> None:
    version = made_version(slug="talks")
    first = organiser.get(reverse("arena-new"), {"source": "stored", "corpus": "talks"})
    assert first.status_code == 200
    given = {
        "source": "stored",
        "corpus": "talks",
        "name": "Which?",
        "slug": "which",
        "systems": [one.pk for one in version.systems.all()],
        "is_public": "on",
        "battles_per_visitor": "5",
        "battles_per_address": "9",
    }
    assert organiser.post(reverse("arena-new"), given)["Location"].endswith("/which/manage/")
    assert Client().get("/arenas/which/").status_code == 404
    organiser.post(reverse("arena-state", args=["which"]), {"to": "open"})
    assert Client().get("/arenas/which/").status_code == 200
    assert "Which?" in Client().get(reverse("arenas")).content.decode()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("systems", []),
        ("systems", ["99999999999999999999"]),
        ("slug", "new"),
        ("slug", "a b"),
        ("name", "nul \0"),
        ("battles_per_visitor", "0"),
        ("corpus", "no-such"),
        ("source", "other"),
    ],
)
def test_a_wrong_field_is_told_and_nothing_is_stored(organiser, field, value) -> None:
    version = made_version(slug="talks")
    given = {
        "source": "stored",
        "corpus": "talks",
        "name": "Which?",
        "slug": "which",
        "systems": [one.pk for one in version.systems.all()],
        "battles_per_visitor": "5",
        "battles_per_address": "9",
    }
    assert organiser.post(reverse("arena-new"), given | {field: value}).status_code == 422
    assert not Arena.objects.exists()


def test_the_organiser_sees_conspicuous_visitors_and_leaves_them_out(organiser: Client) -> None:
    arena = made_arena(dialogues=6)
    visitor = Client()
    for _number in range(5):
        post(visitor, begun(visitor, arena), "arena-vote", vote="tie")
    manage = reverse("arena-manage", args=[arena.slug])
    assert "too fast" in organiser.get(manage).content.decode()
    exclude = reverse("arena-exclude", args=[arena.slug, 1])
    organiser.post(exclude, {"reason": "a program"})
    assert "a program" in organiser.get(manage).content.decode()
    assert organiser.post(exclude.replace("/1/", "/7/"), {"reason": "x"}).status_code == 404


def test_limits_may_change_and_the_budget_not_below_what_was_asked_for(organiser: Client) -> None:
    arena = made_arena("chat", answers_requested=10)
    manage = reverse("arena-manage", args=[arena.slug])
    given = {"battles_per_visitor": 1, "battles_per_address": 2, "answers_per_minute": 3}
    assert organiser.post(manage, {**given, "answers_budget": 9}).status_code == 422
    assert organiser.post(manage, {**given, "answers_budget": 10}).status_code == 302
    assert (Arena.objects.get().answers_budget, Arena.objects.get().is_public) == (10, False)


def test_errors_of_endpoints_are_shown_to_the_organiser_alone(organiser: Client) -> None:
    visitor = Client()
    battle = begun(visitor, made_arena("chat"))
    post(visitor, battle, "arena-say", text="Hello.", key="k1")
    Message.objects.filter(conversation__arm="b", number=1).update(
        state="failed", error="HTTP 500 at north.example"
    )
    assert "north.example" not in shown(visitor, battle)
    manage = organiser.get(reverse("arena-manage", args=[battle.arena.slug])).content.decode()
    assert "HTTP 500 at north.example" in manage
