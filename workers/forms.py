from __future__ import annotations

from typing import Any

from django import forms

from annotations.models import CorpusVersion
from workers import queries
from workers.metrics.configuration import Configuration, ConfigurationError, parse_list
from workers.metrics.registry import all_metrics


class ScoreForm(forms.Form):
    """Which metrics to compute for all systems of a corpus version."""

    metrics = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        required=False,
        label="Metrics",
        help_text="What is computed already is not computed again.",
    )
    more = forms.CharField(
        required=False,
        max_length=2000,
        label="Other configurations",
        help_text="Such as rouge_l[stem=true],bleu_4[normalize=false].",
    )

    def __init__(self, version: CorpusVersion, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.version = version
        self.not_offered = {
            metric.name: reason
            for metric in all_metrics().values()
            if (reason := queries.why_not_offered(Configuration.of(metric), version))
        }
        self.fields["metrics"].choices = [
            (metric.name, f"{metric.name}: {metric.summary}")
            for metric in all_metrics().values()
            if metric.name not in self.not_offered
        ]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        try:
            wanted = parse_list(",".join([*cleaned.get("metrics", []), cleaned.get("more", "")]).strip(","))
        except ConfigurationError as problem:
            self.add_error("more", str(problem))
            return cleaned
        for configuration in wanted:
            if reason := queries.why_not_offered(configuration, self.version):
                self.add_error("more", f"{configuration.text} cannot be computed here: {reason}")
        if not wanted and not self.errors:
            self.add_error("metrics", "Choose at least one metric.")
        cleaned["configurations"] = _distinct(wanted)
        return cleaned


def _distinct(configurations: list[Configuration]) -> list[Configuration]:
    return list({configuration.text: configuration for configuration in configurations}.values())
