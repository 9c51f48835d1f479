"""Writing the form of a campaign, with a look at how raters will see it."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from annotations.campaigns.access import campaign_or_404, organisers_page
from annotations.campaigns.actions.forms import FormDoesNotFit, remove_form, write_form
from annotations.campaigns.actions.setup import WrongState
from annotations.campaigns.form_text import as_yaml, lines_of
from annotations.campaigns.forms.organising import FormTextForm
from annotations.campaigns.models import Campaign
from annotations.campaigns.queries.overview import forms_with_counts
from annotations.campaigns.queries.ratings import form_of_campaign
from annotations.campaigns.question_view import question_previews
from annotations.campaigns.templates_of_forms import template_named, templates_for
from annotations.questions.reading import FormError, read_text
from annotations.questions.schema import Form


@dataclass(frozen=True, slots=True)
class Place:
    """A fault, and where in the text it is."""

    text: str
    path: str
    line: int | None


@require_http_methods(["GET", "HEAD", "POST"])
@organisers_page
def campaign_form(request: HttpRequest, slug: str) -> HttpResponse:
    """The form (``text``), its versions, a look at it (``preview``); ``template`` begins with that
    one, ``remove`` goes back to the scale from 1 to 5."""
    campaign = campaign_or_404(slug)
    if campaign.kind == Campaign.Kind.COLLECTION:
        raise Http404("nothing is rated in a campaign that collects dialogues")
    if "remove" in request.POST:
        return _removed(request, campaign)
    begun = _begun_with(request, campaign)
    form = FormTextForm(
        request.POST or None, initial={"text": "" if begun is None else as_yaml(begun)}
    )
    shown, faults = begun, []
    if form.is_bound and form.is_valid():
        text = form.cleaned_data["text"]
        try:
            shown = read_text(text)
            if "preview" not in request.POST:
                return _stored(request, campaign, shown)
        except FormError as error:
            shown = None
            lines = lines_of(text, [one.path for one in error.faults])
            faults = [
                Place(one.text, one.path, line)
                for one, line in zip(error.faults, lines, strict=True)
            ]
        except (FormDoesNotFit, WrongState) as refusal:
            faults = [Place(str(refusal), "", None)]
    context = {
        "section": "campaigns",
        "tab": "form",
        "campaign": campaign,
        "form": form,
        "faults": faults,
        "questions": [] if shown is None else question_previews(shown),
        "shown": shown,
        "form_number": 0,
        "templates": templates_for(campaign.kind),
        "template": request.GET.get("template", ""),
        "versions": [] if campaign.form is None else forms_with_counts(campaign),
        "may_change": campaign.state == Campaign.State.DRAFT or campaign.form is not None,
    }
    if request.htmx:
        return render(request, "campaigns/_form_preview.html", context)
    is_refused = form.is_bound and (faults or form.errors)
    status = 422 if is_refused and "preview" not in request.POST else 200
    return render(request, "campaigns/form.html", context, status=status)


def _begun_with(request: HttpRequest, campaign: Campaign) -> Form | None:
    """The template that was chosen, else the campaign's form; None: the scale from 1 to 5."""
    if requested := request.GET.get("template"):
        template = template_named(requested, campaign.kind)
        if template is None:
            raise Http404(f"there is no such template for {campaign.kind} campaigns")
        return template
    return form_of_campaign(campaign)


def _stored(request: HttpRequest, campaign: Campaign, form: Form) -> HttpResponse:
    version, written = write_form(campaign, form, by=request.user)
    if not written:
        text = _("Nothing was changed.")
    elif campaign.state == Campaign.State.DRAFT:
        text = _("The questions are stored. Raters see them once the campaign is open.")
    else:
        text = _("Version %(number)s is stored. Raters see it from now on.")
    messages.success(request, text % {"number": version.number})
    return redirect("campaign-form", campaign.slug)


def _removed(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    try:
        remove_form(campaign, by=request.user)
    except WrongState as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, _("The campaign asks for a score from 1 to 5 again."))
    return redirect("campaign-form", campaign.slug)
