"""``{% load corpus_finding %}{% corpus_finding version as finding %}``: what its metric leaderboard
says, for a corpus's overview."""

from __future__ import annotations

from django import template

from annotations.models import CorpusVersion
from leaderboard.pages.metrics.finding import Finding, findings

register = template.Library()


@register.simple_tag
def corpus_finding(version: CorpusVersion) -> Finding | None:
    return findings([version]).get(version.pk)
