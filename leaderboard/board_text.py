"""What the leaderboards of metrics and of systems say alike."""

from __future__ import annotations

from leaderboard.answers import Submission, WithIntervals
from leaderboard.statistics.design import TEXTS, Kind


def who_handed_in(submitted: Submission) -> str:
    described = f" Described at {submitted.link}." if submitted.link else ""
    return (
        f"Computed elsewhere; its scores of {submitted.level}s were submitted by "
        f"{submitted.by}.{described} SHA-256 of the file: {submitted.file_sha256[:12]}…"
    )


def design_text(design: Kind) -> str:
    """Of a corpus whose systems do not all answer the same dialogues; "" else."""
    return TEXTS[design]


def board_signature(answer: WithIntervals, aspect: str) -> str:
    chosen = getattr(answer, "systems_chosen", "")
    systems = f"|systems:{chosen}" if chosen else ""
    data_slice = getattr(answer, "data_slice", "")
    systems += f"|slice:{data_slice}" if data_slice else ""
    design = getattr(answer, "design", "crossed").replace(" ", "-")
    systems += f"|design:{design}" if design != "crossed" else ""
    return (
        f"corpus:{answer.corpus}|corpus_version:{answer.corpus_version}|"
        f"aspect:{aspect}{systems}|ci:{answer.ci}|resamples:{answer.resamples}|"
        f"seed:{answer.seed}"
    )


def name_of(metric: str, submitted: Submission | None) -> str:
    """A name that a built-in metric has taken since says that it was submitted already."""
    is_marked = submitted is None or metric.endswith("(submitted)")
    return metric if is_marked else f"{metric} (submitted)"
