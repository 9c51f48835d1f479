"""What every page of a corpus's meta-evaluation needs."""

from __future__ import annotations

from typing import Any

from annotations.models import CorpusVersion


def corpus_context(version: CorpusVersion, tab: str, aspect: str) -> dict[str, Any]:
    return {
        "section": "corpora",
        "tab": tab,
        "version": version,
        "aspect": aspect,
        "aspects": version.aspects,
    }
