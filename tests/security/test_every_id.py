"""IDOR: whatever an address names by an id belongs to somebody, and another gets nothing there.

The list is made from the URL configuration; what each person gets is asked of the site by the
permission matrices, whose rows this test reads. An address with an id that no matrix closes to
anybody fails here."""

from __future__ import annotations

import re

from tests.challenges.test_hidden_references import patterns
from tests.dialeval_site import (
    arena_matrix,
    campaign_matrix,
    challenge_matrix,
    judge_matrix,
    training_matrix,
)
from tests.dialeval_site.corpus_matrix import MATRIX

BY_NAME = {"slug", "round_slug", "round", "name", "position"}
"""Names that everybody may know: who sees what is there is in the matrices' rows for private
corpora and drafts."""
PUBLIC = {
    "campaign-join": "the token is the key: whoever has it may come in",
    "arena-invited": "the token is the key, too",
    "team-join": "the token is the key, too",
    "password-reset-link": "the token is the key, too; one that is none is answered with a page that says so",
}
CLOSED = {"login", "401", "403", "404"}


def by_id() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for route, pattern in patterns():
        named = set(re.findall(r"<(?:\w+:)?(\w+)>", route)) - BY_NAME
        if named and not route.startswith("^"):
            found[str(pattern.name)] = named
    return found


def rows() -> dict[str, list[list[str]]]:
    """name → what each role gets, of all matrices."""
    found: dict[str, list[list[str]]] = {}
    for name, address in MATRIX.items():
        found.setdefault(name, []).append(f"{address.public} {address.private}".split())
    for one in (
        *arena_matrix.MATRIX,
        *campaign_matrix.MATRIX,
        *challenge_matrix.MATRIX,
        *judge_matrix.MATRIX,
        *training_matrix.MATRIX,
    ):
        found.setdefault(one.name, []).append(words_of(one.roles))
    for one in challenge_matrix.OPERATIONS:
        found.setdefault(one.name, []).append(one.statuses.split())
    return found


def words_of(roles: str | list[str]) -> list[str]:
    return roles.split() if isinstance(roles, str) else list(roles)


def test_every_address_with_an_id_is_closed_to_somebody() -> None:
    known = rows()
    ids = by_id()
    assert len(ids) > 30, ids
    assert not set(ids) - set(known), "in no permission matrix"
    open_to_all = {
        name
        for name in ids
        if not any(got in CLOSED for row in known[name] for got in row[1:]) and name not in PUBLIC
    }
    assert open_to_all == OF_ONESELF


OF_ONESELF = {"token-revoke", "webhook-delete", "webhook-try"}
"""The matrix asks each person for what is their own. Another's is asked for in
``test_permissions_challenges``."""
