"""Pages on which organisers write a judge's prompt, compare its versions and delete it. Trials are
in ``trial_views``."""

from __future__ import annotations

from math import ceil
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from common import web
from common.text import parse_integer
from workers.judges import prompt_actions as actions
from workers.judges import prompt_queries, trial_queries
from workers.judges.core.prompt_file import JudgePromptFile
from workers.judges.core.rendering import begun
from workers.judges.core.rendering import render as rendered
from workers.judges.models import JudgePrompt, PromptVersion
from workers.judges.prompt_forms import (
    STARTS,
    NewPromptForm,
    PreviewForm,
    TrialForm,
    WordingForm,
    starting_text,
    versions_to_refresh,
)
from workers.runs import queries

CHARACTERS_A_TOKEN = 4
"""In English, roughly. The endpoint's own count decides."""
MOST_TRIALS = 20
"""Listed on a prompt's page."""

organisers_page = web.organisers_page("judge-prompts", gettext_lazy("only organisers write judges"))


def prompt_or_404(slug: str) -> JudgePrompt:
    prompt = JudgePrompt.objects.filter(slug=slug).first()
    if prompt is None:
        raise Http404(f"there is no judge {slug}")
    return prompt


@require_safe
@organisers_page
def judge_prompts(request: HttpRequest) -> HttpResponse:
    """Judges that organisers wrote, and where they are used."""
    uses = prompt_queries.uses_by_slug()
    rows = [(prompt, uses.get(prompt.slug, [])) for prompt in prompt_queries.prompts()]
    return render(
        request, "judges/prompts.html", {"section": "judges", "rows": rows, "starts": STARTS}
    )


# --- writing --------------------------------------------------------------------------------------


@require_http_methods(["GET", "HEAD", "POST"])
@organisers_page
def judge_prompt_new(request: HttpRequest) -> HttpResponse:
    """Write a judge: ``title``, ``slug``, ``text``; ``start`` begins with one of the project's
    prompts. POST stores; with ``look`` it only says what the checker says and what would be
    asked of ``response`` of ``corpus``."""
    if request.method != "POST":
        start = request.GET.get("start", "")
        start = start if start in STARTS else STARTS[0]
        return _editor(request, NewPromptForm(initial={"text": starting_text(start)}), start=start)
    form = NewPromptForm(request.POST)
    if "look" in request.POST:
        return _looked_at(request, form)
    if form.is_valid():
        try:
            prompt = form.cleaned_data
            version = actions.create(prompt["title"], prompt["slug"], prompt["text"], request.user)
        except actions.Refused as refusal:
            _add_error(form, refusal)
        else:
            messages.success(
                request, _("%(name)s is stored. Try it before you run it.") % {"name": version}
            )
            return redirect("judge-prompt", version.prompt.slug)
    elif "text" not in form.errors:
        form.refuse_faults()
    return _editor(request, form, status=422)


@require_http_methods(["GET", "HEAD", "POST"])
@organisers_page
def judge_prompt_edit(request: HttpRequest, slug: str) -> HttpResponse:
    """The next version: ``text``, begun as the newest one or as that which ``version`` names; with
    ``look`` nothing is stored."""
    prompt = prompt_or_404(slug)
    if request.method != "POST":
        begun_as = _version_or_404(prompt, request.GET.get("version", ""))
        return _editor(
            request, WordingForm(initial={"text": begun_as.text}), prompt, begun_as=begun_as
        )
    form = WordingForm(request.POST)
    if "look" in request.POST:
        return _looked_at(request, form, prompt)
    if form.is_valid():
        try:
            saved = actions.write(prompt, form.cleaned_data["text"], request.user)
        except actions.Refused as refusal:
            _add_error(form, refusal)
        else:
            if saved.is_new:
                messages.success(request, _("%(name)s is stored.") % {"name": saved.version})
            else:
                messages.info(
                    request,
                    _("%(name)s says the same: nothing new was stored.") % {"name": saved.version},
                )
            return redirect("judge-prompt", slug)
    return _editor(request, form, prompt, status=422)


def _add_error(form: WordingForm, refusal: actions.Refused) -> None:
    if refusal.field == "text":
        form.refuse_faults()
    else:
        form.add_error(refusal.field if refusal.field in form.fields else None, refusal.message)


def _looked_at(
    request: HttpRequest, form: WordingForm, prompt: JudgePrompt | None = None
) -> HttpResponse:
    if request.htmx:
        return render(request, "judges/_prompt_look.html", {"form": form, **_look(request, form)})
    form.is_valid()
    shown = type(form)(
        initial=form.cleaned_data | {name: form.data.get(name, "") for name in ("title", "slug")}
    )
    return _editor(request, shown, prompt)


def _editor(
    request: HttpRequest,
    form: WordingForm,
    prompt: JudgePrompt | None = None,
    status: int = 200,
    **more: Any,
) -> HttpResponse:
    context = {
        "section": "judges",
        "form": form,
        "prompt": prompt,
        "starts": STARTS,
        **_look(request, form),
        **more,
    }
    return render(request, "judges/prompt_edit.html", context, status=status)


def _look(request: HttpRequest, form: WordingForm) -> dict[str, Any]:
    """What the checker says, and what the judge would be asked of a response."""
    versions = versions_to_refresh(request.user)
    preview = PreviewForm(versions, request.POST if request.method == "POST" else None)
    checked = form.checked
    context: dict[str, Any] = {"look": preview, "faults": checked.faults, "checked": checked.prompt}
    version = preview.version
    if checked.prompt is None or version is None:
        return context
    total = prompt_queries.responses_shown(version)
    number = preview.number_of(total)
    response = prompt_queries.response_at(version, number)
    if response is None:
        return context
    (example,) = queries.examples_with(version.pk, [response])
    prompts = rendered(checked.prompt, example)
    characters = sum(len(one.text) for one in prompts)
    return context | {
        "asked": prompts,
        "begun": begun(checked.prompt, checked.prompt.score),
        "response": response,
        "number": number,
        "total": total,
        "characters": characters,
        "about_tokens": ceil(characters / CHARACTERS_A_TOKEN),
        "lacks_reference": checked.prompt.needs_reference and not example.references,
        "lacks_fact": checked.prompt.needs_fact and not example.persona,
    }


# --- one prompt -----------------------------------------------------------------------------------


@require_safe
@organisers_page
def judge_prompt(request: HttpRequest, slug: str) -> HttpResponse:
    """One judge: ``version=`` its wording, ``before=`` and ``after=`` what differs, its trials, the
    form to try it."""
    prompt = prompt_or_404(slug)
    return prompt_page(request, prompt)


def prompt_page(
    request: HttpRequest,
    prompt: JudgePrompt,
    trial_form: TrialForm | None = None,
    status: int = 200,
) -> HttpResponse:
    versions = list(prompt.versions.select_related("created_by").order_by("-number"))
    shown = _version_or_404(prompt, request.GET.get("version", ""))
    context = {
        "section": "judges",
        "prompt": prompt,
        "versions": versions,
        "shown": shown,
        "facts": _facts(shown),
        "compared": _compared(request, prompt, versions),
        "trial_form": trial_form
        or TrialForm(prompt, trial_queries.versions_to_try(request.user), number=shown.number),
        "trials": list(trial_queries.trials_of(prompt.pk)[:MOST_TRIALS]),
        "uses": prompt_queries.uses_of(prompt.slug),
    }
    return render(request, "judges/prompt.html", context, status=status)


def _facts(version: PromptVersion) -> JudgePromptFile | None:
    """None where this release's checker refuses what an older one took."""
    from workers.judges.prompt_queries import check

    return check(version.text).prompt


def _version_or_404(prompt: JudgePrompt, requested: str) -> PromptVersion:
    versions = prompt.versions.order_by("-number")
    if requested:
        number = parse_integer(requested)
        if number is None:
            raise Http404("a version is a number")
        versions = versions.filter(number=number)
    version = versions.first()
    if version is None:
        raise Http404(f"{prompt.slug} has no such version")
    return version


def _compared(
    request: HttpRequest, prompt: JudgePrompt, versions: list[PromptVersion]
) -> dict[str, Any] | None:
    """Two versions and what differs; without a wish the newest one and the one before it."""
    if len(versions) < 2:
        return None
    after = _version_or_404(prompt, request.GET.get("after", "") or str(versions[0].number))
    before = _version_or_404(prompt, request.GET.get("before", "") or str(versions[1].number))
    lines = prompt_queries.difference(before.text, after.text)
    return {"before": before, "after": after, "lines": lines, "asked_for": "before" in request.GET}


@require_POST
@organisers_page
def judge_prompt_delete(request: HttpRequest, slug: str) -> HttpResponse:
    """Delete it; not while scores or a round name it, nor while it is tried."""
    prompt = prompt_or_404(slug)
    try:
        actions.delete(prompt, request.user)
    except actions.Refused as refusal:
        messages.error(request, refusal.message)
        return redirect("judge-prompt", slug)
    messages.success(request, _("%(name)s is deleted.") % {"name": slug})
    return redirect("judge-prompts")
