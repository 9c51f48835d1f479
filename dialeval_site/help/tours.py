"""Three steps for who logs in for the first time, for each role; kept in the session until they
are finished or dismissed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.signals import user_logged_in
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from common.roles import ORGANISER, PARTICIPANT, RATER, has_organisers_role
from dialeval_site.models import SeenTour

KEY = "tour"
STEPS = 3
LANDING_PAGES = ("home", "desk", "rate")
"""Where the first step is shown: where one is after the log-in. Later steps come along to the page
that they are about."""


@dataclass(frozen=True, slots=True)
class Step:
    number: int
    title: str
    text: str
    address: str
    """Of the page that the step is about."""


def steps_of(role: str) -> list[Step]:
    """In the language of the request."""
    if role == ORGANISER:
        rows = (
            (
                _("Import dialogues"),
                _(
                    "A corpus is your dialogues with the responses of several systems; the form "
                    "recognises the format of the file."
                ),
                "corpus-new",
            ),
            (
                _("Collect ratings"),
                _(
                    "A campaign gives items to raters one at a time. Draft, preview, invite, "
                    "publish."
                ),
                "campaigns",
            ),
            (
                _("Compare"),
                _(
                    "Compute metrics on the corpus's page; its leaderboards then show which metric "
                    "correlates with human ratings and which system is better."
                ),
                "home",
            ),
        )
    elif role == PARTICIPANT:
        rows = (
            (
                _("Choose a challenge"),
                _("Each has rules, rounds and deadlines. Make a team, or join one by its link."),
                "challenges",
            ),
            (
                _("Submit"),
                _(
                    "Download a round's dialogues, let your system respond, upload the file. "
                    "Errors are shown with their line; a file with errors costs no attempt."
                ),
                "challenges",
            ),
            (
                _("See your rank"),
                _("Your submissions and their scores are listed here."),
                "my-submissions",
            ),
        )
    else:
        rows = (
            (
                _("Open your campaign"),
                _("It has guidelines: read them once, they stay within reach while you rate."),
                "rate",
            ),
            (
                _("Rate"),
                _(
                    "Keys 1 to 5 choose, Enter sends, Backspace goes back to change the last "
                    "rating."
                ),
                "rate",
            ),
            (
                _("Pause whenever you like"),
                _("What you sent is stored. Without a connection ratings wait in the page."),
                "rate",
            ),
        )
    return [
        Step(number, title, text, reverse(page))
        for number, (title, text, page) in enumerate(rows, 1)
    ]


def begin(sender: Any, request: HttpRequest, user: Any, **_signal: Any) -> None:  # noqa: ARG001
    """At a log-in: the first role whose tour this person has not seen."""
    if not hasattr(request, "session"):
        return
    seen = set(SeenTour.objects.filter(user=user).values_list("role", flat=True))
    roles = set(user.groups.values_list("name", flat=True))
    if has_organisers_role(user):
        roles.add(ORGANISER)
    unseen = [role for role in (ORGANISER, PARTICIPANT, RATER) if role in roles - seen]
    if unseen:
        request.session[KEY] = {"role": unseen[0], "step": 1}


def shown_step(request: HttpRequest) -> Step | None:
    """What this page shows of the tour."""
    if not hasattr(request, "session") or not request.user.is_authenticated:
        return None
    state = request.session.get(KEY)
    if not state:
        return None
    match = request.resolver_match
    if state["step"] == 1 and (match is None or match.view_name not in LANDING_PAGES):
        return None
    return steps_of(state["role"])[state["step"] - 1]


def go_to(request: HttpRequest, step: int) -> str:
    """Show that step from now on. Returns the address of the page that it is about."""
    state = request.session.get(KEY)
    if not state or not 1 <= step <= STEPS:
        return reverse("home")
    request.session[KEY] = {**state, "step": step}
    return steps_of(state["role"])[step - 1].address


def end(request: HttpRequest) -> None:
    """Finished or dismissed: it does not come again."""
    state = request.session.pop(KEY, None)
    if state:
        SeenTour.objects.get_or_create(user=request.user, role=state["role"])


user_logged_in.connect(begin, dispatch_uid="tour")
