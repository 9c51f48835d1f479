"""What each role gets at each address of rating campaigns."""

from __future__ import annotations

from dataclasses import dataclass

from tests.dialeval_site.small_campaigns import CHATS, CLOSED, MEETINGS, TURNS


@dataclass(frozen=True)
class Address:
    """A URL name, a method and what each role gets, in the order anonymous, participant, rater,
    taking part, excluded, organiser, superuser. The words are those of ``addresses.outcome``; 409
    and 422 say that the form came through.

    ``of`` is what the address names besides the campaign; rooms, chats and items are the asking
    rater's own.
    """

    name: str
    method: str
    roles: str
    who: str
    campaign: str = ""
    of: str = ""
    data: tuple[tuple[str, str], ...] = ()


def _for_raters(
    name: str, method: str, taking_part: str, excluded: str, *more: object, **data: str
) -> Address:
    roles = f"login 404 404 {taking_part} {excluded} 404 404"
    campaign, of = (*more, "")[:2] if more else (TURNS, "")
    return Address(name, method, roles, "raters", str(campaign), str(of), tuple(data.items()))


def _for_organisers(
    name: str, method: str, got: str, campaign: str = TURNS, of: str = "", **data: str
) -> Address:
    roles = f"login 403 403 403 403 {got} {got}"
    return Address(name, method, roles, "organisers", campaign, of, tuple(data.items()))


MATRIX = [
    # the rater's pages
    Address("rate", "GET", "login 200 200 200 200 200 200", "anybody"),
    _for_raters("rating-start", "GET", "200", "200"),
    _for_raters("rating-start", "POST", "done", "done"),
    _for_raters("rating-guidelines", "GET", "200", "200"),
    _for_raters("rating-work", "GET", "200", "200"),
    _for_raters("own-ratings", "GET", "200", "200"),
    _for_raters("rating-submit", "POST", "done", "done", score="3", key="a-key"),
    _for_raters("rating-skip", "POST", "done", "done", reason="cannot be judged"),
    _for_raters("rating-heartbeat", "POST", "200", "200"),
    _for_raters("rating-leave", "POST", "done", "done"),
    # chats: who is excluded is led away from one's own
    _for_raters("chat", "GET", "200", "done", CHATS, "chat"),
    _for_raters("chat-messages", "GET", "200", "200", CHATS, "chat"),
    _for_raters("chat-say", "POST", "done", "done", CHATS, "chat", text="And then?", key="a-key"),
    _for_raters("chat-again", "POST", "done", "done", CHATS, "chat"),
    _for_raters("chat-end", "POST", "done", "done", CHATS, "chat"),
    # rooms: that of who is excluded has ended, and there is no other
    _for_raters("meet", "GET", "done", "200", MEETINGS),
    _for_raters("meet", "POST", "done", "200", MEETINGS),
    _for_raters("room", "GET", "200", "200", MEETINGS, "room"),
    _for_raters("room-lines", "GET", "200", "200", MEETINGS, "room"),
    _for_raters(
        "room-say",
        "POST",
        "done",
        "409",
        MEETINGS,
        "room",
        text="Good evening.",
        key="a-key-of-mine",
    ),
    _for_raters("room-leave", "POST", "done", "done", MEETINGS, "room"),
    # invitations: an account can be made, and who takes part already goes on
    Address("campaign-join", "GET", "200 200 200 done done 200 200", "holders", of="token"),
    Address("campaign-join", "POST", "login done done done done done done", "holders", of="token"),
    # the organiser's pages
    _for_organisers("campaigns", "GET", "200", ""),
    _for_organisers("campaign-new", "GET", "200", ""),
    _for_organisers("campaign-new", "POST", "422", "", kind="turn"),
    _for_organisers("campaign", "GET", "200"),
    _for_organisers("campaign-settings", "GET", "200"),
    _for_organisers("campaign-settings", "POST", "422"),
    _for_organisers("campaign-plan", "GET", "200"),
    _for_organisers("campaign-preview", "GET", "200"),
    _for_organisers("campaign-state", "POST", "done", to="pause"),
    _for_organisers("campaign-delete", "POST", "done"),
    _for_organisers("campaign-guidelines", "GET", "200"),
    _for_organisers("campaign-guidelines", "POST", "done", text="Read twice."),
    _for_organisers("campaign-form", "GET", "200"),
    _for_organisers("campaign-form", "POST", "422", text="questions"),
    _for_organisers("campaign-invite", "POST", "done"),
    _for_organisers("campaign-revoke", "POST", "done", TURNS, "invitation"),
    _for_organisers("campaign-checks", "GET", "200"),
    _for_organisers("campaign-checks", "POST", "422"),
    _for_organisers("campaign-check-delete", "POST", "done", TURNS, "check"),
    _for_organisers("campaign-raters", "GET", "200"),
    _for_organisers("rater-exclude", "POST", "done", TURNS, "rater", reason="too fast"),
    _for_organisers("rater-remove", "POST", "422", TURNS, "rater"),
    _for_organisers("rater-restore", "POST", "done", TURNS, "rater"),
    _for_organisers("rater-conflict", "POST", "422", TURNS, "rater"),
    _for_organisers("campaign-ratings", "GET", "200"),
    _for_organisers("campaign-adjudication", "GET", "200"),
    _for_organisers("campaign-adjudication", "POST", "done", points="2"),
    # raters of an attention item cannot differ
    _for_organisers("campaign-adjudicate", "GET", "404", TURNS, "check"),
    _for_organisers("campaign-adjudicate", "POST", "404", TURNS, "check"),
    _for_organisers("campaign-export", "GET", "200"),
    _for_organisers("campaign-publish", "POST", "done", CLOSED, aspect="mine"),
    _for_organisers("campaign-unpublish", "POST", "done", CLOSED),
    _for_organisers("campaign-agreement", "GET", "200"),
    _for_organisers("campaign-dialogues", "GET", "200", MEETINGS),
    _for_organisers("campaign-dialogues", "POST", "done", MEETINGS),
    # systems to chat with
    _for_organisers("chat-systems", "GET", "200", ""),
    _for_organisers("chat-systems", "POST", "422", ""),
    _for_organisers("chat-system", "GET", "200", "", "system"),
    _for_organisers("chat-system", "POST", "422", "", "system"),
    _for_organisers("chat-system-try", "POST", "done", "", "system", question="Hello?"),
]
