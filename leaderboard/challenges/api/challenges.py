"""Challenges and teams."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext as _
from ninja import Path, Query, Router, Status

from common.api.access import Token
from common.api.problems import Refused, refusals
from common.api.schemas import Page, Paging, page_of
from leaderboard.challenges.actions import teams
from leaderboard.challenges.api import documents
from leaderboard.challenges.api.finding import challenge_at, own_team
from leaderboard.challenges.api.schemas import (
    ChallengeOut,
    ChallengePath,
    ChallengeRow,
    JoinIn,
    MemberIn,
    TeamIn,
    TeamOut,
)
from leaderboard.challenges.queries.challenges import (
    challenges_seen_by,
    member_named,
    team_with_invitation,
)

router = Router(tags=["challenges"])


@router.get(
    "/challenges",
    auth=Token("read", anybody=True),
    response=Page[ChallengeRow],
    operation_id="list_challenges",
    summary="Challenges",
)
def list_challenges(request: HttpRequest, paging: Query[Paging]) -> dict[str, Any]:
    """Newest first."""
    return page_of(challenges_seen_by(request.user), "-pk", paging, documents.challenge_row)


@router.get(
    "/challenges/{slug:slug}",
    auth=Token("read", anybody=True),
    response=ChallengeOut,
    operation_id="get_challenge",
    summary="A challenge with its rules, its rounds and your team",
)
def get_challenge(request: HttpRequest, place: Path[ChallengePath]) -> dict[str, Any]:
    return documents.challenge_document(challenge_at(request, place.slug), request.user)


@router.post(
    "/challenges/{slug:slug}/teams",
    auth=Token("submit"),
    response={201: TeamOut},
    operation_id="found_team",
    summary="Found a team",
    openapi_extra=refusals(409),
)
def found_team(request: HttpRequest, place: Path[ChallengePath], params: TeamIn) -> Status[Any]:
    """You are its first member. One person is in one team of a challenge."""
    challenge = challenge_at(request, place.slug)
    try:
        team = teams.found(challenge, request.user, params.name)
    except teams.CannotJoin as refusal:
        raise _refused(refusal) from None
    return Status(201, documents.team_document(team, challenge))


@router.post(
    "/challenges/{slug:slug}/teams/join",
    auth=Token("submit"),
    response=TeamOut,
    operation_id="join_team",
    summary="Join a team by its invitation",
    openapi_extra=refusals(409),
)
def join_team(request: HttpRequest, place: Path[ChallengePath], params: JoinIn) -> dict[str, Any]:
    """Who is a member already stays one."""
    challenge = challenge_at(request, place.slug)
    invitation = params.invitation.strip().rstrip("/").rpartition("/")[2]
    invited = team_with_invitation(invitation)
    if invited is None or invited.challenge_id != challenge.pk:
        message = _("This invitation is not valid. Ask your team for the current one.")
        raise Refused(
            422,
            message,
            code="invitation",
            errors=[{"field": "body.invitation", "message": message}],
        )
    try:
        team = teams.join(invitation, request.user)
    except teams.CannotJoin as refusal:
        raise _refused(refusal) from None
    return documents.team_document(team, challenge)


@router.get(
    "/challenges/{slug:slug}/team",
    auth=Token("read"),
    response=TeamOut,
    operation_id="get_team",
    summary="Your team",
)
def get_team(request: HttpRequest, place: Path[ChallengePath]) -> dict[str, Any]:
    challenge = challenge_at(request, place.slug)
    return documents.team_document(own_team(request, challenge), challenge)


@router.post(
    "/challenges/{slug:slug}/team/invitation",
    auth=Token("submit"),
    response=TeamOut,
    operation_id="renew_invitation",
    summary="Make a new invitation of your team",
    openapi_extra=refusals(409),
)
def renew_invitation(request: HttpRequest, place: Path[ChallengePath]) -> dict[str, Any]:
    """The one before lets nobody in any more. The new one is good for 14 days."""
    challenge = challenge_at(request, place.slug)
    try:
        team = teams.renew_invitation(own_team(request, challenge), request.user)
    except teams.CannotJoin as refusal:
        raise _refused(refusal) from None
    return documents.team_document(team, challenge)


@router.delete(
    "/challenges/{slug:slug}/team/invitation",
    auth=Token("submit"),
    response={204: None},
    operation_id="revoke_invitation",
    summary="Revoke the invitation of your team",
    openapi_extra=refusals(409),
)
def revoke_invitation(request: HttpRequest, place: Path[ChallengePath]) -> Status[None]:
    """Nobody can join until there is a new one. Members stay."""
    challenge = challenge_at(request, place.slug)
    try:
        teams.revoke_invitation(own_team(request, challenge), request.user)
    except teams.CannotJoin as refusal:
        raise _refused(refusal) from None
    return Status(204, None)


@router.post(
    "/challenges/{slug:slug}/team/remove",
    auth=Token("submit"),
    response=TeamOut,
    operation_id="remove_member",
    summary="Remove a member from your team",
    openapi_extra=refusals(409),
)
def remove_member(
    request: HttpRequest, place: Path[ChallengePath], params: MemberIn
) -> dict[str, Any]:
    """For the team's leader. The person loses access at once, and the invitation is revoked."""
    challenge = challenge_at(request, place.slug)
    team = own_team(request, challenge)
    member = member_named(team, params.member)
    if member is None:
        message = _("There is no such member.")
        errors = [{"field": "body.member", "message": message}]
        raise Refused(422, message, code="member", errors=errors)
    try:
        teams.remove_member(team, member.user, request.user)
    except teams.CannotJoin as refusal:
        raise _refused(refusal) from None
    return documents.team_document(own_team(request, challenge), challenge)


def _refused(refusal: teams.CannotJoin) -> Refused:
    if refusal.field:
        errors = [{"field": f"body.{refusal.field}", "message": refusal.message}]
        return Refused(422, refusal.message, code=refusal.field, errors=errors)
    return Refused(409, refusal.message, code="cannot_join")
