"""Writing a campaign's form, in an editor or as YAML, with a look at how raters will see it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from annotations.campaigns.access import campaign_or_404, organisers_page
from annotations.campaigns.actions.forms import (
    ChangedMeanwhile,
    FormDoesNotFit,
    remove_form,
    write_form,
)
from annotations.campaigns.actions.setup import WrongState
from annotations.campaigns.form_editor import about_form, cards, types_to_add
from annotations.campaigns.form_text import as_yaml, lines_of, yaml_of
from annotations.campaigns.forms.organising import FormTextForm
from annotations.campaigns.models import Campaign
from annotations.campaigns.plan.form_changes import begun, levels_of, template_named, templates_for
from annotations.campaigns.queries.overview import forms_with_counts
from annotations.campaigns.queries.ratings import form_of_campaign
from annotations.campaigns.question_view import question_previews
from annotations.questions import drafts
from annotations.questions.reading import Fault, FormError, form_of, read_text
from annotations.questions.schema import Form, to_data


@dataclass(frozen=True, slots=True)
class Place:
    """A fault, and where in the text it is."""

    text: str
    path: str
    line: int | None


@require_http_methods(["GET", "HEAD", "POST"])
@organisers_page
def campaign_form(request: HttpRequest, slug: str) -> HttpResponse:
    """The form, its versions and a look at it. ``template`` begins with that one, ``view=text``
    with its YAML; ``remove`` goes back to the scale from 1 to 5.

    The editor sends its ``draft``, ``at`` (the part that is open) with the fields of that part, and
    ``do``: ``save``, ``text``, ``open:2``, ``add``, ``up:2`` and so on. The YAML is sent as
    ``text``, with ``do=editor`` to go on in the editor. ``preview`` shows without storing."""
    campaign = campaign_or_404(slug)
    if campaign.kind == Campaign.Kind.COLLECTION:
        raise Http404("nothing is rated in a campaign that collects dialogues")
    if "remove" in request.POST:
        return _removed(request, campaign)
    if "draft" in request.POST:
        return _edited(request, campaign)
    if request.method == "POST" or request.GET.get("view") == "text":
        return _as_text(request, campaign)
    begun_with = _begun_with(request, campaign)
    draft = _nothing(campaign) if begun_with is None else to_data(begun_with)
    return _editor(request, campaign, draft, at="0" if draft["questions"] else "")


# --- the editor -----------------------------------------------------------------------------------


def _edited(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    at = request.POST.get("at", "")
    try:
        draft = drafts.read_draft(request.POST["draft"])
    except FormError as error:
        return _editor(request, campaign, _nothing(campaign), "", error.faults, status=422)
    draft = drafts.with_fields(draft, at, dict(request.POST.lists()))
    step, _colon, where = request.POST.get("do", "").partition(":")
    focus, faults = "", drafts.faults_of(draft)
    if step == "text":
        return _as_text(request, campaign, yaml_of(draft))
    if step == "save":
        is_newer = False
        if not faults:
            form = form_of(draft)
            try:
                _store(request, campaign, form)
                return redirect("campaign-form", campaign.slug)
            except (FormDoesNotFit, WrongState) as refusal:
                is_newer = isinstance(refusal, ChangedMeanwhile)
                faults = _refused(form, refusal)
        at = _faulty(faults, at)
        return _editor(request, campaign, draft, at, faults, status=422, is_newer=is_newer)
    if step == "open":
        at, focus = where, "title" if where == drafts.FORM else "question-text"
    elif step == "add":
        draft = drafts.with_question(draft, request.POST.get("add", ""))
        at, focus = str(len(draft["questions"]) - 1), "question-text"
        faults = [one for one in drafts.faults_of(draft) if drafts.place_of(one)[0] != int(at)]
    elif step in drafts.MOVES:
        draft, now = drafts.moved(draft, step, where)
        at = _still_open(at, step, where, now)
        focus = f"{step}-{now}" if where.isdecimal() else ""
        faults = drafts.faults_of(draft)
    return _editor(request, campaign, draft, at, faults, focus)


def _still_open(at: str, step: str, where: str, now: int) -> str:
    """Where the part that was open is after a question was moved."""
    if not where.isdecimal():
        return at
    if step == "duplicate" or at == where:
        return "" if step == "remove" else str(now)
    if not at.isdecimal():
        return at
    number, moved = int(at), int(where)
    if step == "remove":
        return str(number - (moved < number))
    return where if number == now else at


def _faulty(faults: list[Fault], at: str) -> str:
    """The first question with a fault; what was open, where that has one or none has."""
    numbers = [number for one in faults if (number := drafts.place_of(one)[0]) is not None]
    if not numbers:
        return drafts.FORM if any(one.path in drafts.ABOUT_FORM for one in faults) else at
    return at if at.isdecimal() and int(at) in numbers else str(min(numbers))


def _refused(form: Form, refusal: Exception) -> list[Fault]:
    """At the questions that it names."""
    keys = [question.key for question in form.questions]
    named = [f"questions[{keys.index(key)}]" for key in getattr(refusal, "keys", ())]
    return [Fault(path, str(refusal)) for path in named or [""]]


def _editor(
    request: HttpRequest,
    campaign: Campaign,
    draft: drafts.Draft,
    at: str,
    faults: tuple[Fault, ...] | list[Fault] = (),
    focus: str = "",
    status: int = 200,
    is_newer: bool = False,
) -> HttpResponse:
    """``focus``: the id of the control that was used. ``is_newer``: the campaign's form is another
    one than the draft began with, and the next save puts the draft in its place."""
    shown = drafts.readable_part(draft)
    context = {
        **_page(request, campaign, is_newer),
        "view": "editor",
        "draft": drafts.write_draft(draft),
        "at": at,
        "cards": cards(draft, at, faults),
        "about": about_form(draft, levels_of(campaign.kind), faults),
        "head": draft,
        "types": types_to_add(str(draft.get("level", ""))),
        "faults": [
            Place(one.text, one.path, None)
            for one in faults
            if drafts.place_of(one) == (None, one.path)
        ],
        "shown": shown,
        "citation": draft.get("citation", ""),
        "hides": len(draft["questions"]) - len(shown.questions if shown else ()),
        "questions": [] if shown is None else question_previews(shown),
        "focus": focus,
    }
    if request.htmx:
        live = "preview" in request.POST
        name = "campaigns/_form_live.html" if live else "campaigns/_form_page.html"
        return render(request, name, context)
    return render(request, "campaigns/form.html", context, status=status)


def _nothing(campaign: Campaign) -> drafts.Draft:
    return begun(campaign.kind, campaign.slug[:60].strip("-"), campaign.name[:120])


# --- the text -------------------------------------------------------------------------------------


def _as_text(request: HttpRequest, campaign: Campaign, text: str | None = None) -> HttpResponse:
    """``text``: what was edited as questions; else what was sent, or what is begun with."""
    if text is not None:
        form = FormTextForm({"text": text})
    elif request.method == "POST":
        form = FormTextForm(request.POST)
    else:
        begun_with = _begun_with(request, campaign)
        draft = _nothing(campaign) if begun_with is None else None
        form = FormTextForm(initial={"text": yaml_of(draft) if draft else as_yaml(begun_with)})
    only_shown = text is not None or "preview" in request.POST or request.method == "GET"
    shown, faults, is_newer = None, [], False
    if form.is_bound and form.is_valid():
        given = form.cleaned_data["text"]
        try:
            shown = read_text(given)
            if request.POST.get("do") == "editor":
                return _editor(request, campaign, to_data(shown), "")
            if not only_shown:
                _store(request, campaign, shown)
                return redirect(f"{request.path}?view=text")
        except FormError as error:
            lines = lines_of(given, [one.path for one in error.faults])
            faults = [
                Place(one.text, one.path, line)
                for one, line in zip(error.faults, lines, strict=True)
            ]
        except (FormDoesNotFit, WrongState) as refusal:
            is_newer = isinstance(refusal, ChangedMeanwhile)
            faults = [Place(str(refusal), "", None)]
    elif not form.is_bound:
        shown = _begun_with(request, campaign)
    context = {
        **_page(request, campaign, is_newer),
        "view": "text",
        "form": form,
        "faults": faults,
        "shown": shown,
        "citation": shown.citation if shown else "",
        "questions": [] if shown is None else question_previews(shown),
    }
    if request.htmx and text is None and request.POST.get("do") != "editor":
        return render(request, "campaigns/_form_preview.html", context)
    if request.htmx:
        return render(request, "campaigns/_form_page.html", context)
    is_refused = form.is_bound and (faults or form.errors) and not only_shown
    return render(request, "campaigns/form.html", context, status=422 if is_refused else 200)


# --- both -----------------------------------------------------------------------------------------


def _page(request: HttpRequest, campaign: Campaign, is_newer: bool) -> dict[str, Any]:
    digest = campaign.form.digest if campaign.form else ""
    return {
        "section": "campaigns",
        "tab": "form",
        "campaign": campaign,
        "form_number": 0,
        "templates": templates_for(campaign.kind),
        "template": request.GET.get("template", ""),
        "versions": [] if campaign.form is None else forms_with_counts(campaign),
        "began_with": digest if is_newer else request.POST.get("began_with", digest),
        "may_change": campaign.state == Campaign.State.DRAFT or campaign.form is not None,
    }


def _begun_with(request: HttpRequest, campaign: Campaign) -> Form | None:
    """The template that was chosen, else the campaign's form; None: the scale from 1 to 5."""
    if requested := request.GET.get("template"):
        template = template_named(requested, campaign.kind)
        if template is None:
            raise Http404(f"there is no such template for {campaign.kind} campaigns")
        return template
    return form_of_campaign(campaign)


def _store(request: HttpRequest, campaign: Campaign, form: Form) -> None:
    began_with = request.POST.get("began_with")
    version, written = write_form(campaign, form, by=request.user, began_with=began_with)
    if not written:
        text = _("Nothing was changed.")
    elif campaign.state == Campaign.State.DRAFT:
        text = _("The questions are stored. Raters see them once the campaign is open.")
    else:
        text = _("Version %(number)s is stored. Raters see it from now on.")
    messages.success(request, text % {"number": version.number})


def _removed(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    try:
        remove_form(campaign, by=request.user)
    except WrongState as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, _("The campaign asks for a score from 1 to 5 again."))
    return redirect("campaign-form", campaign.slug)
