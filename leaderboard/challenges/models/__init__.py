"""Challenges: rounds, teams, what they hand in, and who is told."""

from leaderboard.challenges.models.challenge import Challenge, Round, Track
from leaderboard.challenges.models.notice import MailChoice, Notice, Webhook
from leaderboard.challenges.models.submission import (
    AT_WORK,
    COUNTED,
    ENDED_WITHOUT_A_SCORE,
    GeneratedResponse,
    LogLine,
    Submission,
)
from leaderboard.challenges.models.team import Ban, Member, Team

__all__ = [
    "AT_WORK",
    "COUNTED",
    "ENDED_WITHOUT_A_SCORE",
    "Ban",
    "Challenge",
    "GeneratedResponse",
    "LogLine",
    "MailChoice",
    "Member",
    "Notice",
    "Round",
    "Submission",
    "Team",
    "Track",
    "Webhook",
]
