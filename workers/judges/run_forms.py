"""The form that starts a judge on a corpus: which judge, with which model, asked how; and what a
judge may cost, as a person types it for a run, a challenge or a trial."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotations.campaigns.forms.fields import PlainText
from annotations.models import CorpusVersion
from workers.inference.language_models.server import PACKAGED_MODEL_NAME
from workers.judges.ledger import Charge, balance_of
from workers.judges.models import Budget, PromptVersion
from workers.metrics.base import Metric, OptionValue
from workers.metrics.common.configuration import (
    Configuration,
    ConfigurationError,
    parse,
    parts_of_list,
)
from workers.metrics.registry import all_metrics
from workers.runs import queries

MOST_TOKENS = 10**15
LEAST_USD = Decimal("0.00000001")


class BudgetForm(forms.Form):
    """Two limits, each of which may be left empty: then there is none.

    ``budget``: whose limits they are; a limit below what is spent is refused. ``why_no_usd``: why
    money cannot be counted, such as that the model has no price here; a limit in money is then
    refused with it.
    """

    tokens = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=MOST_TOKENS,
        label=gettext_lazy("Tokens"),
        help_text=gettext_lazy("Of prompts and answers together. Empty: no limit."),
        error_messages={"min_value": gettext_lazy("From 1. Left empty, there is no limit.")},
    )
    usd = forms.DecimalField(
        required=False,
        min_value=LEAST_USD,
        max_digits=16,
        decimal_places=8,
        label=gettext_lazy("USD"),
        help_text=gettext_lazy("Empty: no limit."),
        widget=forms.NumberInput(attrs={"step": "any", "min": "0"}),
        error_messages={"min_value": gettext_lazy("More than 0. Left empty, there is no limit.")},
    )

    def __init__(
        self,
        data: Any = None,
        *,
        budget: Budget | None = None,
        why_no_usd: str = "",
        initial: Any = None,
        **kwargs: Any,
    ) -> None:
        self.budget = budget
        self.why_no_usd = why_no_usd
        if budget is not None and initial is None:
            initial = {"tokens": budget.tokens_limit, "usd": plain(budget.cost_limit)}
        super().__init__(data, initial=initial, **kwargs)

    def clean_tokens(self) -> int | None:
        tokens: int | None = self.cleaned_data["tokens"]
        charged = Charge() if self.budget is None else balance_of(self.budget).charged
        if tokens is not None and tokens < charged.tokens:
            spent = f"{charged.tokens:,}"
            raise forms.ValidationError(
                _("%(spent)s are spent already: give at least as many.") % {"spent": spent}
            )
        return tokens

    def clean_usd(self) -> Decimal | None:
        usd: Decimal | None = self.cleaned_data["usd"]
        if usd is None:
            return None
        if self.why_no_usd:
            raise forms.ValidationError(self.why_no_usd)
        charged = Charge() if self.budget is None else balance_of(self.budget).charged
        if usd < charged.cost:
            spent = f"{plain(charged.cost)}"
            raise forms.ValidationError(
                _("%(spent)s USD are spent already: give at least as much.") % {"spent": spent}
            )
        return usd


def plain(amount: Decimal | None) -> str | None:
    """``10`` and ``0.25``, not ``10.00000000``."""
    return None if amount is None else f"{amount.normalize():f}"


OTHER = "other"
OWN = "judge"
"""The metric of prompts that organisers write."""
OF_FIELDS = ("model", "scoring", "samples", "temperature", "prompt")
"""Options that have a field of their own."""
LONGEST_NAME = 200
NO_ENDPOINT = "This site has no endpoint for other models: its operator sets DIALEVAL_LLM_URL."


def judges() -> dict[str, Metric]:
    """The metrics that ask a language model for scores, by name."""
    return {name: metric for name, metric in all_metrics().items() if metric.queue == "llm"}


class JudgeForm(forms.Form):
    """A valid one has ``configuration``. What can be chosen is what this site has; what cannot be
    computed on the corpus version is refused with its reason."""

    judge = forms.ChoiceField(label="Judge", widget=forms.Select)
    model = forms.ChoiceField(label="Model")
    other_model = PlainText(
        label="Name of another model",
        required=False,
        max_length=LONGEST_NAME,
        help_text="As DIALEVAL_LLM_URL knows it, such as gpt-4o-2024-08-06.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    scoring = forms.ChoiceField(
        label="Score",
        required=False,
        choices=[
            (
                "",
                "automatic: with an endpoint the mean of three written answers, as in the paper; "
                "else expected",
            ),
            (
                "expected",
                "expected: the mean of the scale's numbers, weighted by the model's probabilities",
            ),
            ("answer", "answer: the number that the model writes"),
        ],
    )
    samples = forms.IntegerField(
        label="Samples per response",
        required=False,
        min_value=1,
        help_text="Their scores are averaged. Empty: automatic.",
    )
    temperature = forms.FloatField(
        label="Temperature",
        min_value=0,
        help_text="Of the model's sampling.",
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
    prompt = PlainText(
        label="Prompt file",
        required=False,
        max_length=LONGEST_NAME,
        help_text="A file on the worker's machine with another wording. Empty: the project's own.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    more = PlainText(
        label="Other options",
        required=False,
        max_length=LONGEST_NAME,
        help_text="Such as injections=removed,seed=1. The metric's page lists them.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )

    def __init__(
        self, version: CorpusVersion, data: Any = None, *, chosen: Configuration | None = None
    ) -> None:
        self.version = version
        super().__init__(data, initial=None if data is not None else _initial(chosen))
        self.fields["judge"].choices = _choices()
        self.fields["model"].choices = _models()
        if not settings.LLM_URL:
            self.fields["other_model"].help_text = NO_ENDPOINT
        for name in ("samples", "temperature"):
            bounds = _bounds(name)
            self.fields[name].widget.attrs.update(bounds)

    @property
    def is_special(self) -> bool:
        """Whether something of the folded part is filled in, or wrong."""
        return any(self[name].value() or self[name].errors for name in ("prompt", "more"))

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if self.errors:
            return cleaned
        name, _, own_prompt = cleaned["judge"].partition(":")
        metric = judges()[name]
        chosen = self._chosen(metric, own_prompt, cleaned)
        if self.errors:
            return cleaned
        try:
            configuration = Configuration.of(metric, **chosen)
        except ConfigurationError as problem:
            # The field of the option that the error names
            self.add_error(
                next((field for field in OF_FIELDS if f'option "{field}"' in str(problem)), "more"),
                _message_of(problem, metric),
            )
            return cleaned
        if reason := queries.why_not_offered(configuration, self.version):
            self.add_error(_about(reason, configuration), f"It cannot work here: {reason}.")
        cleaned["configuration"] = configuration
        return cleaned

    def _chosen(
        self, metric: Metric, own_prompt: str, cleaned: dict[str, Any]
    ) -> dict[str, OptionValue]:
        """The options that were given, by name; what is wrong with them becomes errors of their
        fields."""
        chosen: dict[str, OptionValue] = dict(self._more(metric, cleaned["more"]))
        if own_prompt:
            chosen["prompt"] = own_prompt
            if cleaned["prompt"]:
                self.add_error(
                    "prompt", "This judge has a prompt of its own: leave the file empty."
                )
        has = {option.name: option for option in metric.options}
        for name in OF_FIELDS:
            value = self._model(cleaned) if name == "model" else cleaned.get(name)
            if value in (None, "") or (name == "prompt" and own_prompt):
                continue
            if name not in has:
                # What the form shows for an option that a metric may not have
                initial: OptionValue = _initial(None).get(name, "")
                if value != initial:
                    self.add_error(name, f"{metric.name} has no such option.")
                continue
            if name in chosen:
                self.add_error("more", f"{name} has a field of its own.")
            chosen[name] = value
        if cleaned["model"] != PACKAGED_MODEL_NAME and not cleaned["scoring"]:
            # ComperDial, section 4: the mean of three written answers. The packaged model is too
            # small to write good ones.
            usual: dict[str, OptionValue] = {"scoring": "answer", "samples": 3}
            chosen = {name: one for name, one in usual.items() if name in has} | chosen
        return chosen

    def _model(self, cleaned: dict[str, Any]) -> str:
        if cleaned["model"] != OTHER:
            if cleaned["other_model"]:
                self.add_error("other_model", "Choose another model above, or leave this empty.")
            return str(cleaned["model"])
        if not cleaned["other_model"]:
            self.add_error("other_model", "Name the model.")
        return str(cleaned.get("other_model", ""))

    def _more(self, metric: Metric, written: str) -> dict[str, OptionValue]:
        """Only what is written: a default that is spelled out is one that another field may still
        set."""
        if not written:
            return {}
        try:
            options = parse(f"{metric.name}[{written}]").options
            named = [part.partition("=")[0].strip() for part in parts_of_list(written)]
        except ConfigurationError as problem:
            self.add_error("more", _message_of(problem, metric))
            return {}
        return {name: options[name] for name in named}


def _initial(chosen: Configuration | None) -> dict[str, Any]:
    usual = {"model": PACKAGED_MODEL_NAME, "temperature": 1.0}
    if chosen is None:
        return usual
    options, metric = dict(chosen.options), chosen.metric
    known = {one for one, _label in _models()}
    initial: dict[str, Any] = usual | {
        name: options.pop(name) for name in OF_FIELDS if name in options
    }
    initial["judge"] = metric.name
    if metric.name == OWN:
        initial["judge"] = f"{OWN}:{initial.pop('prompt', '')}"
    if (model := initial.get("model")) not in known:
        initial |= {"model": OTHER, "other_model": model}
    defaults = {option.name: option.default for option in metric.options}
    text = Configuration.of(
        metric, **{name: value for name, value in options.items() if value != defaults[name]}
    ).text
    initial["more"] = text.partition("[")[2].removesuffix("]")
    return initial


def _choices() -> list[tuple[str, list[tuple[str, str]]]]:
    """In two groups: metrics that come with the site, and prompts that were written on it."""
    there = judges()
    built_in = [
        (name, f"{name}: {metric.summary}") for name, metric in there.items() if name != OWN
    ]
    written = PromptVersion.objects.select_related("prompt").order_by(
        "prompt__title", "prompt__slug", "-number"
    )
    own = [
        (
            f"{OWN}:{one.prompt.slug}@{one.number}",
            f"{one.prompt.title}, version {one.number} ({one.prompt.slug}@{one.number})",
        )
        for one in written
        if OWN in there
    ]
    return [
        group for group in (("Come with dialeval", built_in), ("Written here", own)) if group[1]
    ]


def _models() -> list[tuple[str, str]]:
    found = {PACKAGED_MODEL_NAME: f"{PACKAGED_MODEL_NAME} (packaged, free)"}
    if settings.LLM_URL and settings.LLM_MODEL:
        found.setdefault(settings.LLM_MODEL, f"{settings.LLM_MODEL} (this site's endpoint)")
    return [*found.items(), (OTHER, "another model of the endpoint")]


def _bounds(name: str) -> dict[str, str]:
    option = next(
        (one for metric in judges().values() for one in metric.options if one.name == name), None
    )
    if option is None or option.most is None:
        return {}
    return {"max": f"{option.most:g}"}


def _message_of(problem: ConfigurationError, metric: Metric) -> str:
    words = str(problem).removeprefix(f"{metric.name}: ")
    return words[:1].upper() + words[1:] + "."


def _about(reason: str, configuration: Configuration) -> str:
    """The field that a reason is about: the model, the prompt, or the judge as a whole."""
    if (prompt := str(configuration.options.get("prompt", ""))) and prompt in reason:
        return "judge" if configuration.metric.name == OWN else "prompt"
    return "model" if "DIALEVAL_LLM" in reason or "model" in reason else "judge"
