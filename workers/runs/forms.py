from __future__ import annotations

from typing import Any

from django import forms

from annotations.models import Corpus, CorpusVersion
from workers.metrics.base import Metric
from workers.metrics.common.configuration import Configuration, ConfigurationError, parse_list
from workers.metrics.registry import all_metrics
from workers.runs import queries
from workers.runs.language_fit import why_hard_to_read
from workers.runs.metric_list import Kind, by_kind, is_judge

LONGEST_MORE = 2_000


class ScoreForm(forms.Form):
    """Which metrics to compute for all systems of a corpus version. Judges have a form of their
    own, which says first what they cost."""

    metrics = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        required=False,
        label="Metrics",
        help_text="What is computed already is not computed again.",
    )
    more = forms.CharField(
        required=False,
        max_length=LONGEST_MORE,
        label="Other configurations",
        help_text="Such as rouge_l[stem=true],bleu_4[normalize=false].",
    )

    human = forms.ChoiceField(
        required=False,
        label="Human responses",
        help_text="Metrics of whole systems compare all of a system's responses with them.",
    )

    def __init__(self, version: CorpusVersion, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.version = version
        self.not_offered = {
            metric.name: reason
            for metric in _metrics()
            if (reason := queries.why_not_offered(Configuration.of(metric), version))
        }
        self.fields["metrics"].choices = [
            (metric.name, f"{metric.name}: {metric.summary}{self._caution(metric)}")
            for metric in _metrics()
            if metric.name not in self.not_offered
        ]
        if any(queries.takes_one(Configuration.of(metric)) for metric in all_metrics().values()):
            # The newest version is meant. Organisers alone see the form, and all corpora are theirs
            # to see.
            others = (
                Corpus.objects.filter(versions__isnull=False)
                .exclude(pk=version.corpus_id)
                .distinct()
            )
            self.fields["human"].choices = [
                ("", "The references of this corpus"),
                *[
                    (one.slug, f"{one.name} ({one.slug})")
                    for one in others.order_by("name", "slug")
                ],
            ]
        else:
            del self.fields["human"]

    def _caution(self, metric: Metric) -> str:
        why = why_hard_to_read(Configuration.of(metric), self.version)
        return f" On this corpus: {why}." if why else ""

    @property
    def metrics_by_kind(self) -> list[tuple[Kind, list[tuple[Any, str, str]], bool]]:
        """(its tick box, name, what it measures) of each metric on offer, and whether one of a kind
        is ticked."""
        ticked = set(self["metrics"].value() or ())
        boxes = [(box, *str(box.choice_label).split(": ", 1)) for box in self["metrics"]]
        return [
            (kind, some, any(name in ticked for _, name, _ in some))
            for kind, some in by_kind(boxes, lambda one: one[1])
        ]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        named = ",".join([*cleaned.get("metrics", []), cleaned.get("more", "")]).strip(" ,")
        if not named and not self.errors:
            self.add_error("metrics", "Choose at least one metric.")
            return cleaned
        try:
            wanted = parse_list(named)
        except ConfigurationError as problem:
            self.add_error("more", str(problem))
            return cleaned
        if side := cleaned.get("human"):
            wanted = [queries.with_human_reference(configuration, side) for configuration in wanted]
        for configuration in wanted:
            if is_judge(configuration):
                self.add_error(
                    "more",
                    f"{configuration.text} asks a language model: start it among the corpus's "
                    "judges",
                )
            elif reason := queries.why_not_offered(configuration, self.version):
                self.add_error("more", f"{configuration.text} cannot be computed here: {reason}")
        if not self.errors:
            try:
                cleaned["configurations"] = _distinct(
                    [queries.pinned(one, self.version) for one in wanted]
                )
            except ConfigurationError as problem:  # a version's label is longer than the slug alone
                self.add_error("more", str(problem))
        return cleaned


def _metrics() -> list[Metric]:
    return [metric for metric in all_metrics().values() if not is_judge(Configuration.of(metric))]


def _distinct(configurations: list[Configuration]) -> list[Configuration]:
    return list({configuration.text: configuration for configuration in configurations}.values())
