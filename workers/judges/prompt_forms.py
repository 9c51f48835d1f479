"""What organisers type: a judge's prompt, the response to look at it with, and what it is tried
on."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotations.campaigns.forms.fields import PlainText
from annotations.models import CorpusVersion
from workers.inference.language_models.server import PACKAGED_MODEL_NAME
from workers.judges import prompt_queries, trial_actions, trial_queries
from workers.judges.core.prompt_file import JudgePromptFile, canonical, own_prompt
from workers.judges.estimates import why_no_usd
from workers.judges.models import JudgePrompt, PromptVersion
from workers.judges.prompt_actions import LONGEST_SLUG, LONGEST_TITLE
from workers.judges.run_forms import BudgetForm, plain
from workers.metrics.common.configuration import Configuration, ConfigurationError
from workers.metrics.registry import all_metrics
from workers.runs import queries

STARTS = (
    "detail",
    "detail_ref",
    "simple",
    "simple_ref",
    "detail_original",
    "simple_original",
    "empty",
)
"""What a new prompt may begin as: one of the project's own of the step ``turn``, or hardly
anything."""
EMPTY = """name: my judge
step: turn
labels: Score
scale: 1-5

=== user
This was said before:
{history}

Speaker B answered:
{response}

How good is the answer, from 1 (poor) to 5 (excellent)? Reply with one line:
Score: <number>
"""
SCORINGS = (
    ("expected", gettext_lazy("expected: weighted by the probabilities of the scale's numbers")),
    ("answer", gettext_lazy("answer: the number that the model writes")),
)
HIGHEST_SEED = 2**31 - 1


def starting_text(start: str) -> str:
    return canonical(own_prompt(start)) if start in STARTS and start != "empty" else EMPTY


class PromptTextField(forms.CharField):
    """The whole text of a prompt file. It is judged by the checker, NUL and length with the
    rest."""

    def __init__(self, **named: Any) -> None:
        attributes = {
            "rows": 26,
            "spellcheck": "false",
            "dir": "auto",
            "class": "template",
            "autocapitalize": "off",
        }
        super().__init__(strip=False, widget=forms.Textarea(attrs=attributes), **named)
        self.validators = []

    def to_python(self, value: Any) -> str:
        return prompt_queries.text_of_form(super().to_python(value))


class WordingForm(forms.Form):
    """A wording. ``checked`` tells what the checker says of it; of a form that was not sent, of its
    initial text."""

    text = PromptTextField(label=gettext_lazy("Prompt file"))

    @property
    def checked(self) -> prompt_queries.Checked:
        if not self.is_bound:
            text = str(self.initial.get("text", ""))
        else:
            self.errors  # noqa: B018  cleans
            text = str(self.cleaned_data.get("text", ""))
        return prompt_queries.check(text)

    @property
    def prompt(self) -> JudgePromptFile | None:
        return self.checked.prompt

    def refuse_faults(self) -> None:
        """Put what the checker says under the text: of a form that wants to be stored."""
        for fault in self.checked.faults:
            self.add_error("text", _as_text(fault))


class NewPromptForm(WordingForm):
    title = PlainText(
        max_length=LONGEST_TITLE,
        label=gettext_lazy("Title"),
        help_text=gettext_lazy("What people call this judge, such as Humanness, short."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "dir": "auto"}),
    )
    slug = PlainText(
        max_length=LONGEST_SLUG,
        required=False,
        label=gettext_lazy("Name in configurations"),
        help_text=gettext_lazy(
            "As in judge[prompt=name@1]. Left empty, it is made from the title. It stays for good."
        ),
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "spellcheck": "false", "autocapitalize": "off"}
        ),
    )
    field_order = ("title", "slug", "text")


def _as_text(fault: prompt_queries.Fault) -> str:
    where = _("Line %(number)s") % {"number": fault.line} if fault.line else ""
    return ": ".join(part for part in (where, fault.field, fault.message) if part)


# --- looking at it --------------------------------------------------------------------------------


class PreviewForm(forms.Form):
    """Which response a prompt is shown with: ``response`` counts the corpus's from 1. What is no
    response of it, or no corpus, shows the first one."""

    corpus = forms.ChoiceField(label=gettext_lazy("Corpus"))
    response = forms.IntegerField(
        min_value=1,
        initial=1,
        label=gettext_lazy("Response"),
        widget=forms.NumberInput(attrs={"inputmode": "numeric"}),
    )

    def __init__(self, versions: list[CorpusVersion], data: Any = None) -> None:
        super().__init__(data, auto_id="look_%s")
        self._versions = {str(one.pk): one for one in versions}
        self.fields["corpus"].choices = [
            (key, one.corpus.name) for key, one in self._versions.items()
        ]  # type: ignore[attr-defined]

    @property
    def version(self) -> CorpusVersion | None:
        chosen = str(self.data.get("corpus", "")) if self.is_bound else ""
        return self._versions.get(chosen) or next(iter(self._versions.values()), None)

    def number_of(self, most: int) -> int:
        """The response's number, brought into the range of the corpus."""
        self.is_valid()
        wanted = self.cleaned_data.get("response") if self.is_bound else 1
        return min(max(wanted or 1, 1), most)


# --- trying it ------------------------------------------------------------------------------------


class TrialForm(BudgetForm):
    """What a prompt is tried on, and what the trial may cost."""

    number = forms.TypedChoiceField(coerce=int, label=gettext_lazy("Version of the prompt"))
    ratings = forms.ChoiceField(
        label=gettext_lazy("Human ratings"),
        help_text=gettext_lazy("Ten rated responses are drawn, spread over ratings and systems."),
    )
    model = PlainText(
        max_length=200,
        label=gettext_lazy("Model"),
        help_text=gettext_lazy(
            "The packaged one costs nothing; any other is asked at the site's endpoint."
        ),
        widget=forms.TextInput(
            attrs={"list": "judge-models", "autocomplete": "off", "spellcheck": "false"}
        ),
    )
    scoring = forms.ChoiceField(choices=SCORINGS, label=gettext_lazy("Score"))
    samples = forms.IntegerField(
        min_value=1,
        max_value=10,
        initial=1,
        label=gettext_lazy("Samples per response"),
        help_text=gettext_lazy("1 to 10; averaged."),
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=HIGHEST_SEED,
        initial=0,
        label=gettext_lazy("Seed of the draw"),
        help_text=gettext_lazy("Another number, other responses."),
    )
    field_order = ("number", "ratings", "model", "scoring", "samples", "seed", "tokens", "usd")

    def __init__(
        self, prompt: JudgePrompt, versions: list[CorpusVersion], data: Any = None, **initial: Any
    ) -> None:
        in_money = plain(trial_actions.USD) if settings.LLM_PRICES else None
        given = {
            "tokens": trial_actions.TOKENS,
            "usd": in_money,
            "model": PACKAGED_MODEL_NAME,
            **initial,
        }
        super().__init__(data, initial=given)
        self._wordings = {one.number: one for one in prompt.versions.order_by("-number")}
        self._ratings = {
            f"{version.pk}|{aspect}": (version, aspect)
            for version in versions
            for aspect in trial_queries.aspects_to_try(version)
        }
        numbers = [(number, f"{prompt.slug}@{number}") for number in self._wordings]
        self.fields["number"].choices = numbers  # type: ignore[attr-defined]
        ratings = [
            (key, _of_ratings(version, aspect)) for key, (version, aspect) in self._ratings.items()
        ]
        self.fields["ratings"].choices = ratings  # type: ignore[attr-defined]
        self.fields["number"].initial = given.get("number") or next(iter(self._wordings), None)
        self.configuration: Configuration | None = None

    @property
    def has_ratings(self) -> bool:
        return bool(self._ratings)

    @property
    def models(self) -> list[str]:
        return list(dict.fromkeys(one for one in (PACKAGED_MODEL_NAME, settings.LLM_MODEL) if one))

    @property
    def wording(self) -> PromptVersion:
        return self._wordings[self.cleaned_data["number"]]

    @property
    def version(self) -> CorpusVersion:
        return self._ratings[self.cleaned_data["ratings"]][0]

    @property
    def aspect(self) -> str:
        return self._ratings[self.cleaned_data["ratings"]][1]

    @property
    def limits(self) -> trial_actions.Limits:
        return trial_actions.Limits(self.cleaned_data["tokens"], self.cleaned_data["usd"])

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.errors:
            self._configure(cleaned)
        return cleaned

    def _configure(self, cleaned: dict[str, Any]) -> None:
        chosen = {name: cleaned[name] for name in ("model", "scoring", "samples")}
        try:
            configuration = Configuration.of(
                all_metrics()["judge"], prompt=str(self.wording), **chosen
            )
        except ConfigurationError as problem:
            self.add_error("model", str(problem))
            return
        if why := queries.why_not_offered(configuration, self.version):
            self.add_error(None, _("It cannot be tried so: %(why)s.") % {"why": why})
            return
        if cleaned.get("usd") is not None and (why := why_no_usd(cleaned["model"])):
            self.add_error("usd", why)
            return
        self.configuration = configuration


def _of_ratings(version: CorpusVersion, aspect: str) -> str:
    simulated = f" ({_('simulated')})" if version.simulated else ""
    return f"{version.corpus.name}: {aspect}{simulated}"


def versions_to_refresh(user: Any) -> list[CorpusVersion]:
    """Corpora with responses that a prompt can be shown with, those with ratings first."""
    rated = trial_queries.versions_to_try(user)
    return rated or prompt_queries.versions_with_responses(user)
