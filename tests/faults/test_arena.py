"""A battle of an arena whose worker is killed while the models answer."""

from __future__ import annotations

import pytest

from tests.site import Site, kill, wait_until
from tests.workers.endpoint import stub_endpoint

pytestmark = pytest.mark.slow
BATTLE = (
    "from annotations.campaigns.actions import arena as actions\n"
    "from annotations.campaigns.models import Arena, Battle, ChatSystem, Message\n"
    "from annotations.campaigns.queries.arena import figures_of\n"
    "from tests.campaigns.arenas import made_arena, made_battle\n"
)


def test_both_answers_come_once_from_the_next_worker_and_are_charged_once(site: Site) -> None:
    with stub_endpoint(seconds=120) as slow:
        first = site.start_worker()
        site.python(
            f"{BATTLE}arena = made_arena('chat')\n"
            f"ChatSystem.objects.update(base_url={slow.base_url!r}, model='stub')\n"
            "actions.say(made_battle(arena), 'Hello.', 'k1')"
        )
        wait_until(lambda: slow.asked, 60, "the first worker asks")
        kill(first)
        slow.seconds = 0
        asked = len(slow.asked)
        site.start_worker()
        wait_until(
            lambda: answers(site).count("done") == 2, 60, "the second worker has both answers"
        )
        assert len(slow.asked) == asked + 2
    # a call that the killed worker had sent is charged at most; each answer that came, once
    told = site.python(
        f"{BATTLE}answers = Message.objects.filter(speaker='B')\n"
        "print(sum(m.calls for m in answers), sum(m.unsettled_calls for m in answers),"
        " Arena.objects.get().answers_requested)"
    )
    assert told == f"2 {asked} 2"
    voted = site.python(
        f"{BATTLE}actions.vote(Battle.objects.get(), 'a'); print(figures_of(Arena.objects.get()).votes)"
    )
    assert voted == "1"


def answers(site: Site) -> str:
    return site.python(
        f"{BATTLE}print(*Message.objects.filter(speaker='B').values_list('state', flat=True))"
    )
