"""What the tests of permissions share: every address of the project, and in a word what somebody
got there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from django.test import Client
from django.urls import URLPattern, get_resolver, reverse

from tests.ci import IS_LONG
from tests.dialeval_site.small_corpora import person

METHODS = {"POST", "GET", "PUT", "PATCH", "DELETE"}
STATISTICS = (
    "corpus", "metric-leaderboard", "case-study", "metric-heat-map", "response-map", "scatter",
    "metric-comparison", "system-leaderboard", "system-comparison", "agreement", "rater-effects",
    "fewer-ratings", "judge-hygiene",
)  # fmt: skip
"""Pages of a corpus that show stored answers."""


def addresses() -> Iterator[URLPattern]:
    """Every address of the project but the admin's, which has tests of its own."""
    waiting = list(get_resolver().url_patterns)
    while waiting:
        pattern = waiting.pop()
        if isinstance(pattern, URLPattern):
            yield pattern
        elif pattern.namespace != "admin":
            waiting += pattern.url_patterns


def in_turn(
    place: int, answers: Iterable[tuple[str, str]], everybody: bool = IS_LONG
) -> list[tuple[str, str]]:
    """Who asks for the address at this place of a matrix, and what they get: of roles that get the
    same one, another at each address. That all of them store nothing where they may not, and read
    nothing that is hidden, is tested role by role."""
    answers = list(answers)
    if everybody:
        return answers
    alike: dict[str, list[str]] = {}
    for role, what in answers:
        alike.setdefault(what, []).append(role)
    return [(roles[place % len(roles)], what) for what, roles in alike.items()]


def client_of(role: str) -> Client:
    client = Client()
    if role != "anonymous":
        client.force_login(person(role))
    return client


def outcome(answer) -> str:
    """The status; of a redirect ``login`` where it leads to the log-in page, else ``done``."""
    if answer.status_code != 302:
        return str(answer.status_code)
    return "login" if answer["Location"].startswith(reverse("login")) else "done"
