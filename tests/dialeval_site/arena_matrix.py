"""What each role gets at each address of arenas."""

from __future__ import annotations

from dataclasses import dataclass

VISITORS = "200 200 200 200 200"
UNKNOWN = "404 404 404 404 404"


@dataclass(frozen=True)
class Address:
    """A URL name, a method and what each role gets, in the order anonymous, participant, rater,
    organiser, superuser. The words are those of ``addresses.outcome``; 422 says that the form came
    through. ``of``: what the address names: ``arena`` (a public one, open), ``closed`` (by
    invitation, never opened), ``battle`` (another visitor's), ``visitor``, ``token``; or
    nothing."""

    name: str
    method: str
    roles: str
    of: str = "arena"
    data: tuple[tuple[str, str], ...] = ()


def _for_organisers(name: str, method: str, got: str, of: str = "arena", **data: str) -> Address:
    return Address(name, method, f"login 403 403 {got} {got}", of, tuple(data.items()))


MATRIX = [
    Address("arenas", "GET", VISITORS, ""),
    Address("arena", "GET", VISITORS),
    Address("arena", "GET", "404 404 404 200 200", "closed"),
    Address("arena-invited", "GET", VISITORS, "token"),
    Address("arena-invited", "POST", "done done done done done", "token"),
    Address("arena-begin", "POST", "done done done done done"),
    Address("arena-begin", "POST", "404 404 404 409 409", "closed"),
    Address("arena-leaderboard", "GET", VISITORS),
    Address("arena-leaderboard", "GET", "404 404 404 200 200", "closed"),
    # a battle is its own visitor's alone
    Address("arena-battle", "GET", UNKNOWN, "battle"),
    Address("arena-say", "POST", UNKNOWN, "battle", (("text", "Hello."),)),
    Address("arena-vote", "POST", UNKNOWN, "battle", (("vote", "a"),)),
    Address("arena-leave", "POST", UNKNOWN, "battle"),
    _for_organisers("arena-new", "GET", "200", ""),
    _for_organisers("arena-new", "POST", "422", ""),
    _for_organisers("arena-manage", "GET", "200"),
    _for_organisers("arena-manage", "POST", "422"),
    _for_organisers("arena-state", "POST", "done", to="close"),
    _for_organisers("arena-exclude", "POST", "done", "visitor", reason="a program"),
    _for_organisers("arena-publish", "POST", "done", to="publish"),
    _for_organisers("arena-delete", "POST", "done"),
]
