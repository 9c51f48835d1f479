"""What comes in and goes out. Times are ISO 8601 in UTC; what is undefined is null with a
reason."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from ninja import Schema
from pydantic import Field

from common.api.schemas import Figure, Given, Text

TrackName = Literal["gpu", "prompt"]
Phase = Literal["upcoming", "open", "closed"]
State = Literal[
    "received", "validating", "generating", "scoring", "scored", "invalid", "failed", "cancelled"
]
Part = Literal["public", "private"]


class ChallengePath(Schema):
    slug: str = Field(description="The challenge's name in addresses.")


class RoundPath(ChallengePath):
    round: str = Field(description="The round's name in addresses.")


class SubmissionPath(Schema):
    id: str = Field(description="The submission's id.")


# --- challenges, rounds, teams --------------------------------------------------------------------


class PromptLimits(Schema):
    calls_per_utterance: int = Field(description="Most calls to the model for one answer.")
    input_tokens_per_dialogue: int = Field(description="Most tokens that are sent in one dialogue.")
    output_tokens_per_dialogue: int = Field(
        description="Most tokens that come back in one dialogue."
    )


class Attempts(Schema):
    """What a team may still submit. Invalid, failed and cancelled submissions are not counted."""

    day_left: int = Field(description="Left today (UTC).")
    day_limit: int = Field(description="Of one day.")
    total_left: int = Field(description="Left in the round.")
    total_limit: int = Field(description="Of the round.")
    resets_at: datetime = Field(description="When the day's count resets.")


class RoundOut(Schema):
    model_config = {
        "json_schema_extra": {
            "examples": [
                {
                    "slug": "round-1",
                    "name": "Round 1",
                    "phase": "open",
                    "opens_at": "2026-11-01T00:00:00Z",
                    "closes_at": "2026-12-01T00:00:00Z",
                    "tracks": ["gpu", "prompt"],
                    "references": "hidden",
                    "corpus": None,
                    "corpus_version": None,
                    "dialogues": 15,
                    "turns": 105,
                    "daily_limit": 5,
                    "total_limit": 100,
                    "metrics": ["bleu_4", "word_f1"],
                    "private_metrics": None,
                    "ranking_metric": "word_f1",
                    "entry": "best",
                    "public_share": 0.5,
                    "release_at": "2026-12-05T00:00:00Z",
                    "is_released": False,
                    "prompt": {
                        "calls_per_utterance": 2,
                        "input_tokens_per_dialogue": 10000,
                        "output_tokens_per_dialogue": 1000,
                    },
                    "attempts": {
                        "day_left": 4,
                        "day_limit": 5,
                        "total_left": 97,
                        "total_limit": 100,
                        "resets_at": "2026-11-21T00:00:00Z",
                    },
                }
            ]
        }
    }
    slug: str = Field(description="The round's name in addresses.")
    name: str = Field(description="Its name on pages.")
    phase: Phase = Field(description="Whether it takes submissions now.")
    opens_at: datetime | None = Field(description="Null: it opens with its challenge.")
    closes_at: datetime | None = Field(description="Null: it closes with its challenge.")
    tracks: list[TrackName] = Field(
        description="What may be submitted: responses (gpu), prompts (prompt)."
    )
    references: Literal["public", "hidden"] = Field(
        description="Whether the gold answers can be seen."
    )
    corpus: str | None = Field(
        description="The corpus's name in addresses; null where you may not see it."
    )
    corpus_version: str | None = Field(description="Its version; null where you may not see it.")
    dialogues: int = Field(description="How many are to be answered.")
    turns: int = Field(description="How many responses a file holds.")
    daily_limit: int = Field(description="Submissions of a team in a day (UTC).")
    total_limit: int = Field(description="Submissions of a team in the round.")
    metrics: list[str] = Field(description="What everybody sees.")
    private_metrics: list[str] | None = Field(
        description="What is shown from the release on; null before it."
    )
    ranking_metric: str | None = Field(
        description="What decides the rank; null where you may not know it yet."
    )
    entry: Literal["best", "latest"] = Field(description="Which submission counts for a team.")
    public_share: float = Field(
        description="Share of the dialogues that the public leaderboard counts."
    )
    release_at: datetime | None = Field(description="When everybody sees the private leaderboard.")
    is_released: bool = Field(description="Whether everybody sees it now.")
    prompt: PromptLimits | None = Field(description="Limits of the prompt track, where it is open.")
    attempts: Attempts | None = Field(description="Of your team; null without one.")


class ChallengeRow(Schema):
    slug: str = Field(description="The challenge's name in addresses.")
    name: str = Field(description="Its name on pages.")
    summary: str = Field(description="What it is, in a sentence.")
    state: Literal["draft", "open", "closed"] = Field(
        description="Drafts are seen by organisers only."
    )
    teams: int = Field(description="How many take part.")
    created_at: datetime = Field(description="When it was made.")


class Disqualification(Schema):
    at: datetime = Field(description="When.")
    reason: str = Field(description="Why.")


class TeamOut(Schema):
    id: str = Field(description="The team's id.")
    name: str = Field(description="As boards show it.")
    challenge: str = Field(description="The challenge's name in addresses.")
    members: list[str] = Field(description="Log-in names, in the order in which they joined.")
    largest: int = Field(description="Most members of a team.")
    leader: str | None = Field(description="Log-in name of whoever may remove members.")
    invitation: str | None = Field(
        description="Whoever has it can join: `POST /challenges/{slug}/teams/join`. Null: revoked, "
        "expired, or void while a member's account is disabled."
    )
    invitation_url: str | None = Field(description="The same as a link, for people.")
    invitation_expires_at: datetime | None = Field(description="When it ends; null without one.")
    disqualified: Disqualification | None = Field(description="Null where it competes.")


class ChallengeOut(ChallengeRow):
    rules: str = Field(description="Markdown.")
    largest_team: int = Field(description="Most members of a team.")
    rounds: list[RoundOut] = Field(description="In their order.")
    team: TeamOut | None = Field(description="Yours; null without one.")


class TeamIn(Given):
    model_config = {
        "extra": "forbid",
        "json_schema_extra": {"examples": [{"name": "Speakers of the north"}]},
    }
    name: Text = Field(min_length=1, max_length=80, description="As boards will show it.")


class JoinIn(Given):
    model_config = {"extra": "forbid", "json_schema_extra": {"examples": [{"invitation": "kx0c…"}]}}
    invitation: Text = Field(
        min_length=1, max_length=300, description="The invitation, or the whole link."
    )


class MemberIn(Given):
    model_config = {"extra": "forbid", "json_schema_extra": {"examples": [{"member": "mallory"}]}}
    member: Text = Field(min_length=1, max_length=150, description="Log-in name.")


# --- boards ---------------------------------------------------------------------------------------


class BoardMetric(Schema):
    metric: str = Field(description="The metric with its configuration.")
    ranks: bool = Field(description="Whether it decides the rank.")
    private: bool = Field(description="Whether it is shown from the release on only.")
    signature: str = Field(description="How its numbers were made.")
    higher_is_better: bool = Field(description="The direction.")
    range: tuple[float | None, float | None] = Field(description="Least and greatest score.")
    warning: str = Field(
        "", description='Why its scores say little of these texts, such as unknown tokens; else "".'
    )


class BoardScore(Figure):
    scored: int | None = Field(None, description="Turns with a score.")
    turns: int | None = Field(None, description="Turns that the board counts.")
    unit: str | None = Field(
        None, description="dialogues, where scored and turns count these: the metric scores them."
    )


class BoardEntry(Schema):
    submission: str | None = Field(description="Null where it is a baseline of the corpus.")
    team: str | None = Field(description="The team's name.")
    team_id: str | None = Field(description="The team's id.")
    name: str = Field(description="The system's name.")
    track: str | None = Field(description="gpu or prompt.")
    is_baseline: bool = Field(description="Shown, never ranked.")
    disqualified: str = Field(description='The reason; "" where it competes.')
    submissions: int | None = Field(description="How many of its team were scored.")
    received_at: datetime | None = Field(description="When it came.")
    own: bool = Field(description="Whether it is your team's.")
    rank: int | None = Field(description="1 + the number of entries that are better beyond doubt.")
    worst_rank: int | None = Field(description="The last rank that the interval allows.")
    band: int | None = Field(description="Entries of one band are not significantly different.")
    order: int | None = Field(description="Place by the plain mean.")
    reason: str = Field(description='Why it has no rank; "" where it has one.')
    scores: list[BoardScore] = Field(description="In the order of `metrics`.")


class HistoryPoint(Schema):
    at: datetime = Field(description="When the submission came.")
    value: float = Field(description="Its score on the metric that ranks.")


class TeamHistory(Schema):
    team_id: str = Field(description="The team's id.")
    points: list[HistoryPoint] = Field(
        description="The submissions that improved its best score on the public leaderboard."
    )


class BoardSplit(Schema):
    seed: int | None = Field(
        description="Draws the public leaderboard's dialogues; null before the release."
    )
    public_dialogues: int = Field(description="How many the public leaderboard counts.")
    private_dialogues: int = Field(description="How many the private leaderboard counts.")


class Board(Schema):
    challenge: str = Field(description="The challenge's name in addresses.")
    round: str = Field(description="The round's name in addresses.")
    name: str = Field(description="The round's name on pages.")
    part: Part = Field(description="Which board this is.")
    phase: Phase = Field(description="Whether the round takes submissions now.")
    closes_at: datetime | None = Field(description="When it closes.")
    release_at: datetime | None = Field(description="When everybody sees the private leaderboard.")
    is_released: bool = Field(description="Whether everybody sees it now.")
    unreleased: bool = Field(
        description="True where you may not see this part yet: then it has no entries."
    )
    reason: str = Field(description='Why the board counts nothing; else "".')
    no_ranking: str = Field("", description='Why no entry has a rank though some compete; else "".')
    ranking_metric: str | None = Field(
        description="What decides the rank; null where you may not know it yet."
    )
    entry: Literal["best", "latest"] = Field(description="Which submission counts for a team.")
    public_share: float = Field(
        description="Share of the dialogues that the public leaderboard counts."
    )
    dialogues: int | None = Field(None, description="How many this board counts.")
    turns: int | None = Field(None, description="How many turns they have.")
    split: BoardSplit | None = Field(None, description="How dialogues were divided.")
    ci: str | None = Field(None, description="How intervals are made, as signatures name it.")
    metrics: list[BoardMetric] = Field(description="Columns.")
    entries: list[BoardEntry] = Field(description="Lines, the best mean first.")
    history: list[TeamHistory] = Field(
        default_factory=list,
        description="Of the public leaderboard: each team's best score over time.",
    )
    updated: datetime | None = Field(description="When it was computed.")
    stale: bool = Field(
        False, description="Whether something has changed since; a new one is being computed then."
    )


# --- submissions ----------------------------------------------------------------------------------


class Times(Schema):
    received_at: datetime = Field(description="When the file had arrived.")
    validating_at: datetime | None = Field(description="When a worker began to read it.")
    generating_at: datetime | None = Field(
        description="Of a prompt: when the model was first asked."
    )
    scoring_at: datetime | None = Field(description="When its metrics were queued.")
    ended_at: datetime | None = Field(description="When it was scored, or ended otherwise.")


class Progress(Schema):
    done: int = Field(description="Steps done in the present state.")
    total: int = Field(description="Steps of the present state; 0 where that is not known.")


class FileProblem(Schema):
    where: str = Field(description="Line, or JSON path.")
    field: str = Field(description="What it is about.")
    message: str = Field(description="What is wrong.")


class UploadedFile(Schema):
    name: str = Field(description="As you called it.")
    size: int = Field(description="Bytes.")
    sha256: str = Field(description="Its digest.")


class OwnScore(Figure):
    metric: str = Field(description="The metric with its configuration.")
    part: Part = Field(description="The dialogues that it was computed on.")
    higher_is_better: bool = Field(description="The direction.")


class Usage(Schema):
    calls: int = Field(description="Calls to the model.")
    input_tokens: int = Field(description="Tokens sent.")
    output_tokens: int = Field(description="Tokens that came back.")
    cost: float | None = Field(description="In USD; null where the round names no prices.")


class SubmissionRow(Schema):
    id: str = Field(description="The submission's id.")
    kind: Literal["responses", "prompt", "scores"] = Field(description="What was submitted.")
    track: TrackName | None = Field(description="Null of metric scores.")
    challenge: str | None = Field(description="Null of metric scores.")
    round: str | None = Field(description="Null of metric scores.")
    team: str | None = Field(description="Null of metric scores.")
    corpus: str | None = Field(description="Of metric scores: the corpus.")
    name: str = Field(description="The system's or the metric's.")
    state: State = Field(description="Progress.")
    times: Times = Field(description="When it came so far.")
    progress: Progress = Field(description="Of the present state.")
    error: str = Field(description='Of a failed one: why; else "".')
    url: str = Field(description="Its page.")


class SubmissionOut(SubmissionRow):
    model_config = {
        "json_schema_extra": {
            "examples": [
                {
                    "id": "b3Xk0q1n5d2f9a7c",
                    "kind": "responses",
                    "track": "gpu",
                    "challenge": "cpd-2026",
                    "round": "round-1",
                    "team": "Speakers of the north",
                    "corpus": None,
                    "name": "retrieval 3",
                    "state": "scored",
                    "times": {
                        "received_at": "2026-11-20T20:00:00Z",
                        "validating_at": "2026-11-20T20:00:00Z",
                        "generating_at": None,
                        "scoring_at": "2026-11-20T20:00:01Z",
                        "ended_at": "2026-11-20T20:00:02Z",
                    },
                    "progress": {"done": 8, "total": 8},
                    "error": "",
                    "url": "https://dialeval.example.org/submissions/b3Xk0q1n5d2f9a7c/",
                    "description": "",
                    "file": {
                        "name": "responses.json",
                        "size": 20480,
                        "sha256": "9f86d081884c7d65…",
                    },
                    "problems": [],
                    "more_problems": False,
                    "scores": [
                        {
                            "metric": "word_f1",
                            "part": "public",
                            "higher_is_better": True,
                            "value": 0.21,
                            "ci": [0.19, 0.24],
                        }
                    ],
                    "rank": 3,
                    "rank_reason": None,
                    "is_settling": False,
                    "attempts": None,
                    "usage": None,
                    "is_baseline": False,
                    "disqualified": None,
                    "may_cancel": False,
                }
            ]
        }
    }
    description: str = Field(description="What you wrote of it.")
    file: UploadedFile = Field(description="What was uploaded.")
    problems: list[FileProblem] = Field(description="Of an invalid one: the first 100.")
    more_problems: bool = Field(description="Whether there are more.")
    scores: list[OwnScore] = Field(description="What you may see of them.")
    rank: int | None = Field(
        description="On the board that you see, where this submission counts for its team."
    )
    rank_reason: str | None = Field(description="Why it has no rank.")
    is_settling: bool = Field(
        description="Whether the board is still being computed: rank and scores may change."
    )
    attempts: Attempts | None = Field(description="What its team may still submit.")
    usage: Usage | None = Field(description="Of a prompt.")
    is_baseline: bool = Field(description="Shown, never ranked.")
    disqualified: Disqualification | None = Field(description="Null where it competes.")
    may_cancel: bool = Field(description="Whether you may cancel it now.")


class LogEntryOut(Schema):
    at: datetime = Field(description="When.")
    level: Literal["info", "warning", "error"] = Field(description="How grave it is.")
    text: str = Field(description="What happened.")
    for_organisers: bool = Field(description="Whether organisers alone see it.")
