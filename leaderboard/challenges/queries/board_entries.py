"""What stands on a round's leaderboard: its entries with their scores, computed from submissions
and finished runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from annotations.corpora.queries import shown_systems
from annotations.corpora.rating_queries import TurnOrder, turn_order
from annotations.models import System
from leaderboard.challenges.board.answer import (
    BoardAnswer,
    BoardColumn,
    BoardEntry,
    BoardSplit,
    Improvement,
    SystemScores,
    TeamImprovements,
)
from leaderboard.challenges.board.choice import Candidate, best_of_each, latest_of_each
from leaderboard.challenges.board.history import improvements
from leaderboard.challenges.board.split import Part, PartName, Split, split_dialogues
from leaderboard.challenges.board.standing import (
    BoardMetric,
    BoardScores,
    Place,
    Score,
    places_of,
    scores_of,
)
from leaderboard.challenges.models import Round, Submission
from leaderboard.challenges.queries.downloads import hides_references
from leaderboard.queries.compared import MetricScores
from leaderboard.queries.finished_runs import metric_scores
from leaderboard.queries.standing import MEANS_CI
from leaderboard.statistics.correlation.placed_scores import FloatArray
from workers.metrics.common.configuration import Configuration, still_there
from workers.models import MetricRun
from workers.runs.language_fit import reading_warnings

BASELINE = "a baseline: shown beside the others, not ranked"
ONE_TURN = "the gold answers are hidden, and the mean over one turn would be that turn's score"


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the board: a team's submission, or a baseline of the corpus, which has no
    submission."""

    system: System
    submission: Submission | None = None
    submissions: int | None = None
    """How many of its team's submissions were scored."""

    @property
    def is_baseline(self) -> bool:
        return self.submission is None or self.submission.is_baseline

    @property
    def disqualified(self) -> str:
        """The reason, or "" where it competes."""
        if self.submission is None:
            return ""
        return self.submission.disqualification or self.submission.team.disqualification

    @property
    def why_unranked(self) -> str:
        if self.disqualified:
            return f"disqualified: {self.disqualified}"
        return BASELINE if self.is_baseline else ""

    def placed(self, place: Place, scores: Iterable[Score]) -> BoardEntry:
        submission = self.submission
        return BoardEntry(
            submission=submission.public_id if submission else None,
            team=submission.team.name if submission else None,
            team_id=submission.team.public_id if submission else None,
            name=submission.name if submission else self.system.name,
            system=self.system.position,
            track=submission.track if submission else None,
            is_baseline=self.is_baseline,
            disqualified=self.disqualified,
            submissions=self.submissions,
            received_at=submission.received_at if submission else None,
            rank=place.rank,
            worst_rank=place.worst_rank,
            band=place.band,
            order=place.order,
            reason=place.reason,
            scores=tuple(scores),
        )


def board_answer(round: Round, part_name: PartName) -> BoardAnswer:
    order = turn_order(round.version)
    split = _split(round, order)
    part = split.part(part_name)
    texts = _texts_of(round, part_name)
    scored = _scored(round)
    values = _ranking_values(round, scored, order, _deciding(split, part_name))
    entries = _entries(round, scored, values)
    board = _board_scores(texts, entries, order, hides_reasons=hides_references(round))
    scores = scores_of(board, part)
    places, no_ranking = _places(round, texts, entries, board, scores, part)
    warnings = reading_warnings(round.version, texts, [entry.system for entry in entries])
    ranking = texts.index(round.ranking_metric) if round.ranking_metric in texts else None
    return BoardAnswer(
        corpus=round.version.corpus.slug,
        corpus_version=round.version.label,
        dialogues=int(part.counted.sum()),
        turns=int(part.counted[order.dialogue].sum()),
        dialogues_in_corpus=len(order.dialogue_ids),
        reason=part.reason,
        no_ranking=no_ranking,
        split=BoardSplit(
            seed=round.split_seed,
            public_dialogues=int(split.public.counted.sum()),
            private_dialogues=int(split.private.counted.sum()),
        ),
        ci=MEANS_CI,
        metrics=tuple(_column(round, text, part_name, part, warnings) for text in texts),
        entries=tuple(
            entries[number].placed(places[number], (row[number] for row in scores))
            for number in _in_order(entries, ranking, board, scores)
        ),
        history=_history(round, scored, values) if part_name == "public" else (),
    )


def _history(
    round: Round, scored: Sequence[Submission], values: Mapping[int, float]
) -> tuple[TeamImprovements, ...]:
    """In the order in which the teams came. None where the public leaderboard counts nothing, or
    ranks by a private metric."""
    metric = still_there(round.ranking_metric)
    if metric is None or round.ranking_metric not in round.metrics:
        return ()
    by_team: dict[str, list[tuple[datetime, float]]] = {}
    for one in scored:
        if one.pk in values and not one.team.disqualification:
            by_team.setdefault(one.team.public_id, []).append((one.received_at, values[one.pk]))
    return tuple(
        TeamImprovements(
            team_id=team, points=tuple(Improvement(at=at, value=value) for at, value in found)
        )
        for team, scores in by_team.items()
        if (found := improvements(scores, metric.higher_is_better))
    )


def scores_of_system(round: Round, system: System, part_name: PartName) -> SystemScores:
    order = turn_order(round.version)
    part = _split(round, order).part(part_name)
    texts = _texts_of(round, part_name)
    board = _board_scores(texts, [Entry(system)], order, hides_reasons=hides_references(round))
    warnings = reading_warnings(round.version, texts, [system])
    return SystemScores(
        name=part_name,
        dialogues=int(part.counted.sum()),
        reason=part.reason,
        metrics=tuple(_column(round, text, part_name, part, warnings) for text in texts),
        scores=tuple(row[0] for row in scores_of(board, part)),
    )


def _texts_of(round: Round, part_name: PartName) -> list[str]:
    texts = (
        list(round.metrics) if part_name == "public" else [*round.metrics, *round.private_metrics]
    )
    return list(dict.fromkeys(texts))


def _split(round: Round, order: TurnOrder) -> Split:
    split = split_dialogues(order.dialogue_ids, round.public_share, round.split_seed)
    if not hides_references(round):
        return split
    return Split(
        _without_single_turn(split.public, order), _without_single_turn(split.private, order)
    )


def _without_single_turn(part: Part, order: TurnOrder) -> Part:
    if part.reason or part.counted[order.dialogue].sum() > 1:
        return part
    return Part(np.zeros_like(part.counted), ONE_TURN)


# --- which submissions ----------------------------------------------------------------------------


def _entries(
    round: Round, scored: Sequence[Submission], values: Mapping[int, float]
) -> list[Entry]:
    """One a team, or more where some are baselines or disqualified; then the corpus's own
    baselines."""
    chosen = set(_chosen(round, [one for one in scored if _competes(one)], values).values())
    handed_in = Counter(one.team_id for one in scored)
    entries = [
        Entry(one.system, one, handed_in[one.team_id])
        for one in scored
        if one.pk in chosen or one.is_baseline or one.disqualified_at
    ]
    if round.shows_corpus_baselines:
        baselines = shown_systems(round.version).filter(kind=System.Kind.BASELINE)
        # A published baseline of this round has its line already
        handed_in_here = [one.system_id for one in scored]
        entries += [
            Entry(system)
            for system in baselines.exclude(pk__in=handed_in_here).order_by("position")
        ]
    return entries


def _scored(round: Round) -> list[Submission]:
    return list(
        Submission.objects.filter(round=round, state=Submission.State.SCORED, system__isnull=False)
        .select_related("system", "team")
        .order_by("received_at", "pk")
    )


def _deciding(split: Split, part_name: PartName) -> Part | None:
    """The dialogues that tell a team's best submission, the same on both boards: the public ones,
    for choosing by those that are yet to be released would reward whoever hands in most often.

    Where the public leaderboard counts nothing, None on it: a team that saw there which of its
    submissions is the best could ask the private dialogues as often as it may hand in. On the
    private leaderboard the dialogues that it counts.
    """
    if not split.public.reason:
        return split.public
    return split.private if part_name == "private" else None


def _competes(submission: Submission) -> bool:
    return not submission.is_baseline and not submission.disqualified_at


def _ranking_values(
    round: Round, scored: Sequence[Submission], order: TurnOrder, deciding: Part | None
) -> dict[int, float]:
    """Key of each competing submission → what it got by the metric that ranks, where dialogues
    decide."""
    metric = still_there(round.ranking_metric)
    if metric is None or deciding is None:
        return {}
    competing = [one for one in scored if _competes(one)]
    values = _values([one.system for one in competing], metric, order, deciding)
    return {one.pk: value for one, value in zip(competing, values, strict=True)}


def _chosen(
    round: Round, competing: Sequence[Submission], values: Mapping[int, float]
) -> dict[int, int]:
    """Team → the key of the submission that stands for it: its best by the dialogues that decide,
    or its latest."""
    candidates = [
        Candidate(one.pk, one.team_id, place, values.get(one.pk, float("nan")))
        for place, one in enumerate(competing)
    ]
    metric = still_there(round.ranking_metric)
    if round.entry == Round.Entry.LATEST or metric is None or not values:
        return latest_of_each(candidates)
    return best_of_each(candidates, metric.higher_is_better)


def _values(
    systems: Sequence[System], metric: Configuration, order: TurnOrder, deciding: Part
) -> list[float]:
    """Each system's mean over the turns, or dialogues, that decide; of a metric of whole systems,
    its score.

    NaN, for a metric of whole systems, where only a part of the dialogues decides.
    """
    below = bool(metric.levels & {"turn", "dialogue"})
    if not below and not deciding.is_everything:
        return [float("nan")] * len(systems)
    counted = deciding.counted[order.dialogue]
    means: list[float] = []
    for start in range(0, len(systems), SYSTEMS_A_READ):
        some = systems[start : start + SYSTEMS_A_READ]
        found = metric_scores(some, len(order.turn_pks), only=[metric.text])
        if not found.texts:
            means += [float("nan")] * len(some)
        elif not below:
            means += found.system[0].tolist()
        else:
            turns = _by_turn(found, 0, order)[:, counted]
            given = ~np.isnan(turns)
            totals, counts = np.where(given, turns, 0.0).sum(axis=1), given.sum(axis=1)
            means += np.divide(
                totals, counts, out=np.full(len(some), np.nan), where=counts > 0
            ).tolist()
    return means


SYSTEMS_A_READ = 200
"""A thousand submissions to a large corpus are not held at once."""


# --- what they got --------------------------------------------------------------------------------


def _board_scores(
    texts: Sequence[str], entries: Sequence[Entry], order: TurnOrder, hides_reasons: bool
) -> BoardScores:
    systems = [entry.system for entry in entries]
    found = metric_scores(systems, len(order.turn_pks), only=texts)
    place = {text: row for row, text in enumerate(found.texts)}
    turn = np.full((len(texts), len(systems), len(order.turn_pks)), np.nan)
    system = np.full((len(texts), len(systems)), np.nan)
    for number, text in enumerate(texts):
        if text in place:
            turn[number], system[number] = (
                _by_turn(found, place[text], order),
                found.system[place[text]],
            )
    return BoardScores(
        [_board_metric(text) for text in texts],
        turn,
        system,
        order.dialogue,
        _reasons(texts, systems, hides_reasons),
    )


def _board_metric(text: str) -> BoardMetric:
    known = still_there(text)
    if known is None:
        return BoardMetric()
    levels = known.levels
    below = bool(levels & {"turn", "dialogue"})
    return BoardMetric(
        known.higher_is_better,
        below,
        of_dialogues=below and "turn" not in levels,
        bounds=known.value_range,
    )


def _by_turn(found: MetricScores, row: int, order: TurnOrder) -> FloatArray:
    """Systems × turns. A score of a whole dialogue stands at its first turn, so that means and
    intervals over turns are those over dialogues."""
    if found.finest(row) != "dialogue" or found.dialogue is None:
        return found.turn[row]
    at_turns = np.full_like(found.turn[row], np.nan)
    dialogues, first_turns = np.unique(order.dialogue, return_index=True)
    at_turns[:, first_turns] = found.dialogue[row][:, dialogues]
    return at_turns


def _reasons(
    texts: Sequence[str], systems: Sequence[System], hides_reasons: bool
) -> dict[tuple[int, int], str]:
    """Why an entry may have no score on a metric. What a metric itself says of a response may quote
    the gold answer: in a hidden round it is not shown."""
    known = [still_there(text) for text in texts]
    runs: dict[tuple[str, int], list[MetricRun]] = {}
    requested = MetricRun.objects.filter(system__in=systems, configuration__in=texts).only(
        "configuration", "metric_version", "system_id", "state", "system_reason"
    )
    for run in requested:
        runs.setdefault((run.configuration, run.system_id), []).append(run)
    return {
        (number, entry): _reason(known[number], runs.get((text, system.pk), []), hides_reasons)
        for number, text in enumerate(texts)
        for entry, system in enumerate(systems)
    }


def _reason(metric: Configuration | None, runs: Sequence[MetricRun], hides_reasons: bool) -> str:
    if metric is None:
        return "the metric is not installed here"
    present = next((run for run in runs if run.metric_version == metric.metric.version), None)
    if present is None:
        return (
            "computed by another version of the metric; evaluate it again"
            if runs
            else "not computed for this system"
        )
    if present.state == MetricRun.State.FAILED:
        return "the metric failed on this system"
    if present.state != MetricRun.State.DONE:
        return "not computed yet"
    reason = "" if hides_reasons else present.system_reason
    return reason or "no turn of these dialogues has a score"


def _places(
    round: Round,
    texts: Sequence[str],
    entries: Sequence[Entry],
    board: BoardScores,
    scores: Sequence[Sequence[Score]],
    part: Part,
) -> tuple[list[Place], str]:
    """The entries' places, and why nobody has one; "" where somebody has, or nobody competes."""
    unranked = {number: why for number, entry in enumerate(entries) if (why := entry.why_unranked)}
    if round.ranking_metric not in texts:
        hidden = f"{round.ranking_metric}, which ranks, is not shown on this board"
        return [Place(reason=unranked.get(number, hidden)) for number in range(len(entries))], ""
    ranking = texts.index(round.ranking_metric)
    means = [score.mean for number, score in enumerate(scores[ranking]) if number not in unranked]
    if means and not any(mean.is_defined for mean in means):
        no_ranking = f"{round.ranking_metric} gives no entry a score: {means[0].reason}"
    elif no_ranking := _all_lowest(round.ranking_metric, [mean.value for mean in means]):
        return [
            Place(reason=unranked.get(number, no_ranking)) for number in range(len(entries))
        ], no_ranking
    return places_of(board, ranking, scores[ranking], unranked, part), no_ranking


def _all_lowest(metric: str, means: Sequence[float | None]) -> str:
    """Why there is no ranking where each of several entries has the worst score that the metric can
    give: it found nothing in any, and a rank that all share would look like a tie for the first."""
    known = still_there(metric)
    if known is None or len(means) < 2:
        return ""
    worst = known.value_range[0 if known.higher_is_better else 1]
    if worst is None or any(mean is None or mean != worst for mean in means):
        return ""
    return (
        f"every entry has {worst:.3f} by {metric}, the worst score there is: it separates no "
        "entries"
    )


def _in_order(
    entries: Sequence[Entry],
    ranking: int | None,
    board: BoardScores,
    scores: Sequence[Sequence[Score]],
) -> list[int]:
    """Best mean first, whoever it is; then those without, in the order in which they came."""

    def key(number: int) -> tuple[bool, float]:
        mean = None if ranking is None else scores[ranking][number].mean.value
        if ranking is None or mean is None:
            return True, 0.0
        return False, -mean if board.metrics[ranking].higher_is_better else mean

    return sorted(range(len(entries)), key=key)


# --- columns --------------------------------------------------------------------------------------


def _column(
    round: Round, text: str, part_name: PartName, part: Part, warnings: Mapping[str, str]
) -> BoardColumn:
    column = BoardColumn(
        metric=text,
        ranks=text == round.ranking_metric,
        private=text not in round.metrics,
        warning=warnings.get(text, ""),
    )
    metric = still_there(text)
    if metric is None:
        return column
    return replace(
        column,
        signature=metric.signature(
            corpus=round.version.corpus.slug,
            corpus_version=round.version.label,
            board=part_name,
            dialogues=int(part.counted.sum()),
            ci=MEANS_CI,
        ),
        higher_is_better=metric.higher_is_better,
        range=metric.value_range,
    )
