"""What the leaderboards of metrics and of systems say alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leaderboard.statistics.design import TEXTS


def who_handed_in(submitted: dict[str, str]) -> str:
    described = f" Described at {submitted['link']}." if submitted["link"] else ""
    return (
        f"Computed elsewhere; its scores of {submitted['level']}s were submitted by "
        f"{submitted['by']}.{described} SHA-256 of the file: {submitted['file_sha256'][:12]}…"
    )


def design_text(document: Mapping[str, Any]) -> str:
    """Of a corpus whose systems do not all answer the same dialogues; "" else, and of older stored
    answers."""
    return TEXTS[document.get("design", "crossed")]


def board_signature(document: dict[str, Any]) -> str:
    """``ci`` names how the document's intervals are made, where it is not the percentile
    bootstrap."""
    method = document.get("ci", "percentile95-bootstrap-over-dialogues")
    systems = f"|systems:{document['systems_chosen']}" if "systems_chosen" in document else ""
    design = document.get("design", "crossed").replace(" ", "-")
    systems += f"|design:{design}" if design != "crossed" else ""
    return (
        f"corpus:{document['corpus']}|corpus_version:{document['corpus_version']}|"
        f"aspect:{document['aspect']}{systems}|ci:{method}|resamples:{document['resamples']}|"
        f"seed:{document['seed']}"
    )


def is_unmarked(metric: dict[str, Any]) -> bool:
    """A name that a built-in metric has taken since says that it was submitted already."""
    return "submitted" in metric and not metric["metric"].endswith("(submitted)")
