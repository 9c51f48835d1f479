"""Stored results of meta-evaluation: computed when the data changed, read by the pages."""

from __future__ import annotations

from django.db import models

from annotations.models import CorpusVersion


class Analysis(models.Model):
    """A statistic of a corpus version: what was asked, of which revision of the data, and what came out."""

    version = models.ForeignKey(CorpusVersion, on_delete=models.CASCADE, related_name="analyses")
    kind = models.CharField(max_length=40)
    question = models.CharField(max_length=300, help_text="Canonical parameters.")
    revision = models.PositiveBigIntegerField(help_text="The version's revision that it was computed from.")
    made_by = models.CharField(max_length=100, help_text="Release (and, for drawings, code) that computed it.")
    answer = models.JSONField()
    seconds = models.FloatField()
    computed_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name_plural = "analyses"
        constraints = [
            models.UniqueConstraint(fields=["version", "kind", "question"], name="analysis_once"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.version_id}"
