"""The organiser's pages of arenas: set up, open, watch, close."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST

from annotations.campaigns.actions import arena as actions
from annotations.campaigns.actions import arena_publishing
from annotations.campaigns.models import Arena
from annotations.campaigns.queries import arena as queries
from annotations.formats.importers.problems import ImportFailed
from common import web
from common.text import text_fault
from workers.arenas.forms import ArenaForm, ChoiceForm, LimitsForm

LONGEST_REASON = 500
organisers_page = web.organisers_page("arenas", gettext_lazy("only organisers set up arenas"))


def _arena_or_404(slug: str) -> Arena:
    arena = Arena.objects.select_related("version__corpus").filter(slug=slug).first()
    if arena is None:
        raise Http404(f"there is no arena {slug}")
    return arena


@require_http_methods(["GET", "HEAD", "POST"])
@organisers_page
def arena_new(request: HttpRequest) -> HttpResponse:
    """Set an arena up: ``source`` and ``corpus`` first, for what follows depends on them."""
    params = request.POST if request.method == "POST" else request.GET
    choice = ChoiceForm(params if "source" in params else None)
    form = None
    if choice.is_valid():
        version = choice.cleaned_data["corpus"].versions.order_by("-number").first()
        data = request.POST if request.method == "POST" else None
        form = ArenaForm(data, source=choice.cleaned_data["source"], version=version)
    if form is not None and form.is_valid():
        try:
            arena = actions.create(form.params, by=request.user)
        except actions.ArenaRefused as refusal:
            form.add_error("slug", str(refusal))
        else:
            return redirect("arena-manage", arena.slug)
    is_refused = request.method == "POST" or (choice.is_bound and form is None)
    context = {"section": "arenas", "choice": choice, "form": form}
    status = 422 if is_refused else 200
    return render(request, "workers/arenas/new.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@organisers_page
def arena_manage(request: HttpRequest, slug: str) -> HttpResponse:
    """Votes, budget, visitors and what is conspicuous; POST changes the limits."""
    arena = _arena_or_404(slug)
    if request.method != "POST":
        return _page(request, arena)
    form = LimitsForm(request.POST, arena=arena)
    if form.is_valid():
        try:
            actions.change_limits(arena, form.limits, by=request.user)
        except actions.ArenaRefused as refusal:
            form.add_error("answers_budget", str(refusal))
        else:
            messages.success(request, _("Stored."))
            return redirect("arena-manage", slug)
    return _page(request, arena, form, 422)


@require_POST
@organisers_page
def arena_state(request: HttpRequest, slug: str) -> HttpResponse:
    """``to``: ``open``, ``close`` or ``renew-link``."""
    arena = _arena_or_404(slug)
    steps = {
        "open": (actions.open_arena, _("The arena is open.")),
        "close": (actions.close_arena, _("The arena is closed. Battles under way do not count.")),
        "renew-link": (actions.renew_link, _("The former link lets nobody in any more.")),
    }
    if request.POST.get("to", "") not in steps:
        raise Http404("there is no such step")
    step, done = steps[request.POST["to"]]
    try:
        step(arena, by=request.user)
    except actions.ArenaRefused as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, done)
    return redirect("arena-manage", slug)


@require_POST
@organisers_page
def arena_exclude(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Leave a visitor's votes out: ``reason``; without one, they count again."""
    arena, reason = _arena_or_404(slug), request.POST.get("reason", "").strip()
    if fault := text_fault(reason, LONGEST_REASON, may_be_empty=True):
        messages.error(request, _("The reason %(fault)s.") % {"fault": fault})
    elif number >= 2**31 or not actions.exclude(arena, number, reason, by=request.user):
        raise Http404("there is no such visitor")
    return redirect("arena-manage", slug)


@require_POST
@organisers_page
def arena_publish(request: HttpRequest, slug: str) -> HttpResponse:
    """Votes on stored responses become preferences of their corpus, or (``to``: ``unpublish``) are
    taken out; chats become a corpus of their own."""
    arena = _arena_or_404(slug)
    try:
        if arena.is_of_chats:
            outcome = arena_publishing.make_corpus(arena, by=request.user)
            text = _("Stored as %(version)s.") % {"version": outcome.version}
        elif request.POST.get("to") == "unpublish":
            arena_publishing.unpublish(arena, by=request.user)
            text = _("The votes are removed from the corpus.")
        else:
            count = arena_publishing.publish(arena, by=request.user)
            text = _("Published: %(count)d votes.") % {"count": count}
    except actions.ArenaRefused as refusal:
        messages.error(request, str(refusal))
    except ImportFailed as failure:
        messages.error(request, str(failure.problems[0].message))
    else:
        messages.success(request, text)
    return redirect("arena-manage", slug)


@require_POST
@organisers_page
def arena_delete(request: HttpRequest, slug: str) -> HttpResponse:
    """``slug`` typed, where visitors have voted."""
    try:
        actions.delete(_arena_or_404(slug), request.POST.get("slug", ""), by=request.user)
    except actions.ArenaRefused as refusal:
        messages.error(request, str(refusal))
        return redirect("arena-manage", slug)
    messages.success(request, _("The arena is deleted."))
    return redirect("arenas")


def _page(
    request: HttpRequest, arena: Arena, form: LimitsForm | None = None, status: int = 200
) -> HttpResponse:
    found, anomalies = queries.figures_of(arena), queries.anomalies_of(arena)
    figures: list[tuple[str, Any, str]] = [
        (_("Votes that count"), found.votes, _("%(n)d both bad") % {"n": found.both_bad}),
        (_("Battles under way"), found.open, ""),
        (_("Void battles"), found.void, _("not counted")),
        (_("Visitors"), found.visitors, _("%(n)d flagged") % {"n": len(anomalies)}),
    ]
    if arena.is_of_chats:
        used = _("of %(budget)d; %(tokens)d tokens") % {
            "budget": arena.answers_budget,
            "tokens": found.tokens,
        }
        figures.append((_("Answers asked for"), arena.answers_requested, used))
    context = {
        "section": "arenas",
        "arena": arena,
        "systems": arena.chat_systems.all() if arena.is_of_chats else arena.systems.all(),
        "figures": figures,
        "visitors": [(one, anomalies.get(one.number, [])) for one in queries.visitors_of(arena)],
        "errors": queries.errors_of(arena),
        "form": form or LimitsForm(arena=arena),
        "votes": found.votes,
    }
    return render(request, "workers/arenas/manage.html", context, status=status)
