"""The desk as a page."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from common.roles import is_organiser
from dialeval_site.dashboard import queries
from dialeval_site.dashboard.waiting import budget_address, budget_name, next_steps, tasks_of


@never_cache
@require_safe
@login_required
def dashboard(request: HttpRequest) -> HttpResponse:
    """What one looks after, with links: a section for each role that one has."""
    user, now = request.user, timezone.now()
    organiser = queries.organiser_dashboard(user, now) if is_organiser(user) else None
    rater = queries.rater_dashboard(user, now)
    has_section = organiser is not None or rater is not None
    context = {
        "section": "desk",
        "now": now,
        "organiser": organiser,
        "rater": rater,
        "participant": queries.participant_dashboard(user, now, always=not has_section),
    }
    if organiser is not None:
        steps = next_steps(organiser.set_up)
        context |= {
            "tasks": tasks_of(organiser),
            "steps": steps if any(step.is_next for step, _address in steps) else [],
            "activity": [
                (entry, entry.action.replace(".", " ").replace("_", " "))
                for entry in organiser.activity
            ],
            "budgets": [
                (budget_name(one), budget_address(one), one) for one in organiser.budgets.largest
            ],
        }
    return render(request, "dashboard/dashboard.html", context)
