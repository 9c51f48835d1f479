"""Pages of an arena's visitors: the list, the way in, a battle, its vote and what it was of."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotations.campaigns.actions import arena as actions
from annotations.campaigns.actions.arena import ArenaRefused, TooMany
from annotations.campaigns.models import Arena, Battle, Visitor
from annotations.campaigns.queries import arena as queries
from annotations.rates import address_of
from common.roles import is_organiser
from workers.arenas.forms import SayForm

IN_SESSION = "arena_visitors"
TOO_MANY, OVER, NOT_STORED = 429, 409, 422


@never_cache
@require_safe
def arenas(request: HttpRequest) -> HttpResponse:
    """Public arenas; organisers see all."""
    organises = is_organiser(request.user)
    shown = queries.with_counts(Arena.objects.all()) if organises else queries.public_arenas()
    context = {"section": "arenas", "arenas": shown, "is_organiser": organises}
    return render(request, "workers/arenas/arenas.html", context)


def arena_page(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """The view gets the arena and this browser's visitor, None before the first battle."""

    @never_cache
    @wraps(view)
    def guarded(request: HttpRequest, slug: str, **named: Any) -> HttpResponse:
        arena = seen_arena_or_404(request, slug)
        visitor = _visitor(request, arena)
        return view(request, arena, visitor, **named)

    return guarded


def seen_arena_or_404(request: HttpRequest, slug: str) -> Arena:
    """An arena by invitation does not exist for who was not invited, nor one that was never opened;
    organisers see all."""
    arena = Arena.objects.select_related("version__corpus").filter(slug=slug).first()
    if arena is None or not (
        is_organiser(request.user)
        or (arena.opened_at is not None and (arena.is_public or _visitor(request, arena)))
    ):
        raise Http404(f"there is no arena {slug}")
    return arena


def battle_page(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """The view gets the visitor's own battle; any other does not exist."""

    @arena_page
    @wraps(view)
    def guarded(
        request: HttpRequest, _arena: Arena, visitor: Visitor | None, public_id: str
    ) -> HttpResponse:
        battle = None if visitor is None else queries.battle_of(visitor, public_id)
        if battle is None:
            raise Http404("there is no such battle")
        return view(request, battle)

    return guarded


@require_safe
@arena_page
def arena(request: HttpRequest, arena: Arena, visitor: Visitor | None) -> HttpResponse:
    """What happens in this arena, and the way in."""
    return _way_in(request, arena, visitor)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def invited(request: HttpRequest, token: str) -> HttpResponse:
    """Where the link leads; POST begins the first battle."""
    found = None if "\0" in token else Arena.objects.filter(token=token).first()
    if found is None or found.opened_at is None:
        raise Http404("there is no such link")
    if request.method == "POST":
        return _begin(request, found, _visitor(request, found))
    return _way_in(request, found, _visitor(request, found), token=token)


@require_POST
@arena_page
def begin(request: HttpRequest, arena: Arena, visitor: Visitor | None) -> HttpResponse:
    """Begin a battle, or go on with the one under way."""
    return _begin(request, arena, visitor)


def _begin(request: HttpRequest, arena: Arena, visitor: Visitor | None) -> HttpResponse:
    address = address_of(request)
    try:
        if visitor is None:
            visitor = actions.join(arena, address)
            known = request.session.get(IN_SESSION, {})
            request.session[IN_SESSION] = {**known, str(arena.pk): visitor.key}
        battle = actions.begin(arena, visitor, address)
    except ArenaRefused as refusal:
        status = TOO_MANY if isinstance(refusal, TooMany) else OVER
        return _way_in(request, arena, visitor, refusal=str(refusal), status=status)
    return redirect("arena-battle", arena.slug, battle.public_id)


def _way_in(
    request: HttpRequest,
    arena: Arena,
    visitor: Visitor | None,
    token: str = "",
    refusal: str = "",
    status: int = 200,
) -> HttpResponse:
    own = None if visitor is None else visitor.battles
    context = {
        "section": "arenas",
        "arena": arena,
        "token": token,
        "refusal": refusal,
        "votes": 0 if own is None else own.filter(state=Battle.State.VOTED).count(),
        "is_under_way": own is not None and own.filter(state=Battle.State.OPEN).exists(),
    }
    return render(request, "workers/arenas/arena.html", context, status=status)


def _visitor(request: HttpRequest, arena: Arena) -> Visitor | None:
    return queries.visitor_of(arena, request.session.get(IN_SESSION, {}).get(str(arena.pk), ""))


# --- a battle -------------------------------------------------------------------------------------


@require_safe
@battle_page
def battle(request: HttpRequest, battle: Battle) -> HttpResponse:
    """Two systems side by side. With htmx, while answers are waited for: 204 until they are there
    (``waiting``: the page shows that it waits; ``long``: and that it takes long)."""
    actions.void_unanswered(battle)
    shown = request.GET.get("waiting") if request.htmx else None
    if shown and battle.state == Battle.State.OPEN:
        chat = queries.battle_chat(battle)
        if chat.is_waiting and (shown == "long" or not chat.is_slow):
            return HttpResponse(status=204)
    return _battle_page(request, battle)


@require_POST
@battle_page
def say(request: HttpRequest, battle: Battle) -> HttpResponse:
    """Say something to both: ``text``, ``key``."""
    form = SayForm(request.POST)
    if not battle.arena.is_of_chats:
        raise Http404("this battle is of stored responses")
    if not form.is_valid():
        return _battle_page(request, battle, form, form.first_error(), NOT_STORED)
    try:
        actions.say(battle, form.cleaned_data["text"], form.cleaned_data["key"])
    except ArenaRefused as refusal:
        return _refused(request, battle, refusal, form)
    return redirect("arena-battle", battle.arena.slug, battle.public_id)


@require_POST
@battle_page
def vote(request: HttpRequest, battle: Battle) -> HttpResponse:
    """Vote: ``vote`` is ``a``, ``b``, ``tie`` or ``both_bad``."""
    verdict = request.POST.get("vote", "")
    if verdict not in Battle.Vote.values:
        raise Http404("there is no such vote")
    try:
        actions.vote(battle, verdict)
    except ArenaRefused as refusal:
        return _refused(request, battle, refusal)
    return redirect("arena-battle", battle.arena.slug, battle.public_id)


@require_POST
@battle_page
def leave(_request: HttpRequest, battle: Battle) -> HttpResponse:
    """End the battle without a vote."""
    actions.leave(battle)
    return redirect("arena", battle.arena.slug)


def _refused(
    request: HttpRequest, battle: Battle, refusal: ArenaRefused, form: SayForm | None = None
) -> HttpResponse:
    battle.refresh_from_db(fields=["state", "vote", "void_reason"])
    status = TOO_MANY if isinstance(refusal, TooMany) else OVER
    return _battle_page(request, battle, form, str(refusal), status)


def _battle_page(
    request: HttpRequest,
    battle: Battle,
    form: SayForm | None = None,
    problem: str = "",
    status: int = 200,
) -> HttpResponse:
    """The names of the systems are in it only after the vote."""
    is_over = battle.state == Battle.State.VOTED
    context = {
        "section": "arenas",
        "arena": battle.arena,
        "battle": battle,
        "chat": queries.battle_chat(battle) if battle.arena.is_of_chats else None,
        "names": queries.names_of(battle) if is_over else None,
        "form": form or SayForm(),
        "key": secrets.token_urlsafe(16),
        "votes": Battle.Vote.choices,
        "problem": problem,
    }
    template = "workers/arenas/_battle.html" if request.htmx else "workers/arenas/battle.html"
    return render(request, template, context, status=status)
