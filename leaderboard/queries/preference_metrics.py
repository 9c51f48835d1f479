"""The stored answer of metrics against preferences, beside how far people agree with people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from annotations.corpora.rating_queries import TurnOrder, answered_turns, turn_order
from annotations.models import CorpusVersion
from leaderboard.answers.preferences import (
    MetricOnPreferences,
    PeopleOnPreferences,
    PreferenceMetrics,
)
from leaderboard.queries.compared import MetricScores
from leaderboard.queries.defaults import SEED
from leaderboard.queries.human_scores import HumanSide, metric_grid
from leaderboard.queries.preference_board import of_preferences
from leaderboard.queries.preferences import (
    Votes,
    preference_questions,
    read_votes,
    resolve_question,
)
from leaderboard.queries.response_length import response_lengths
from leaderboard.queries.submitted import HandedIn, compared_scores
from leaderboard.queries.system_choice import chosen_systems, resolve_choice, with_choice
from leaderboard.results.kinds import registered
from leaderboard.statistics.preferences.metric_pairs import (
    PairAgreement,
    compare_accuracies,
    metric_on_pairs,
    score_differences,
)
from leaderboard.statistics.preferences.vote_agreement import vote_agreement
from leaderboard.statistics.significance.compact_letters import compact_letters

ACCURACY_CI = "t95-wilson-over-dialogues"
METHOD = (
    "a paired t test of accuracy on the votes that both metrics scored, clustered by conversation"
)


@registered("preference-metrics", version=2, resolved=with_choice, shown_first=of_preferences)
def preference_metrics(
    version: CorpusVersion, aspect: str = "", level: str = "", systems: str | None = None
) -> PreferenceMetrics:
    """Every metric's accuracy on votes between a choice of systems (without-gold, …), on one
    question; without ``aspect`` and ``level`` on the one with most votes.

    Raises:
        NotFound: nobody was asked for that preference.
    """
    choice = resolve_choice(version, systems)
    questions = preference_questions(version)
    question = resolve_question(questions, aspect, level)
    votes = read_votes(version, question, chosen_systems(version, choice))
    order = turn_order(version)
    scores = compared_scores(version, votes.systems, order)
    is_fine = [
        scores.finest(row) == "turn" or (question.level, scores.finest(row)) == ("dialogue",) * 2
        for row in range(len(scores.configurations))
    ]
    fine = scores.select(np.flatnonzero(is_fine).tolist())
    apart = _differences(votes, fine, order)
    length = response_lengths(version, votes.systems, order)
    rows = list(_rows(votes, fine, apart))
    conversation = votes.battles.conversation
    tests = compare_accuracies(list(apart), votes.battles.won, conversation)
    groups = compact_letters([row.accuracy.value for row in rows], tests.matrix(len(rows)))
    people = vote_agreement(*_one_vote_each(votes))
    return PreferenceMetrics(
        corpus=version.corpus.slug,
        corpus_version=version.label,
        ci=ACCURACY_CI,
        resamples=0,
        seed=SEED,
        aspect=question.aspect,
        level=question.level,
        questions=tuple(questions),
        votes=len(votes.battles),
        ties=int((votes.battles.won == 0.5).sum()),
        both_bad=votes.both_bad,
        conversations=votes.battles.conversations,
        raters=votes.battles.raters,
        systems_chosen=choice,
        people=PeopleOnPreferences(
            pairs=people.pairs,
            decisive_pairs=people.decisive_pairs,
            with_ties=people.with_ties,
            without_ties=people.without_ties,
            accuracy=people.accuracy,
        ),
        rows=tuple(replace(row, groups=tuple(own)) for row, own in zip(rows, groups, strict=True)),
        baseline=next(_rows(votes, length, _differences(votes, length, order)), None),
        not_on_pairs=tuple(
            text for text, fits in zip(scores.texts, is_fine, strict=True) if not fits
        ),
        method=METHOD if len(rows) > 1 else "",
    )


def _differences(votes: Votes, scores: MetricScores, order: TurnOrder) -> NDArray[np.float64]:
    """(metrics, n): A − B, higher is better; NaN where one of the two has no score."""
    a, b = votes.battles.a, votes.battles.b
    if votes.level == "turn":
        by_key = np.argsort(order.turn_pks)
        turn = by_key[np.searchsorted(order.turn_pks, votes.turn, sorter=by_key)]
        first, second = scores.turn[:, a, turn], scores.turn[:, b, turn]
    else:
        nobody = HumanSide(votes.systems, order, None, None, answered_turns(votes.systems, order))
        shape = len(scores.configurations), len(votes.systems), len(order.dialogue_pks)
        grid = metric_grid(nobody, scores).scores.reshape(shape)
        by_key = np.argsort(order.dialogue_pks)
        conversation = votes.battles.conversation
        dialogue = by_key[np.searchsorted(order.dialogue_pks, conversation, sorter=by_key)]
        first, second = grid[:, a, dialogue], grid[:, b, dialogue]
    sign = np.array([1.0 if one.higher_is_better else -1.0 for one in scores.configurations])
    found = score_differences(first, second) * sign[:, np.newaxis]
    found[:, (votes.samples > 0).any(axis=1)] = np.nan  # only a first response has scores
    return found


def _rows(
    votes: Votes, scores: MetricScores, apart: NDArray[np.float64]
) -> Iterator[MetricOnPreferences]:
    for metric, differences in zip(scores.configurations, apart, strict=True):
        found: PairAgreement = metric_on_pairs(
            differences, votes.battles.won, votes.battles.conversation
        )
        yield MetricOnPreferences(
            metric=metric.text,
            signature=metric.signature(ci=ACCURACY_CI),
            higher_is_better=metric.higher_is_better,
            votes=found.votes,
            decisive=found.decisive,
            tied=found.tied,
            coverage=found.votes / len(votes.battles) if len(votes.battles) else 0.0,
            accuracy=found.accuracy,
            ties_wrong=found.ties_wrong,
            ties_left_out=found.ties_left_out,
            auc=found.auc,
            with_ties=found.three_classes,
            calibrated=found.calibrated,
            threshold=found.threshold,
            submitted=metric.submission if isinstance(metric, HandedIn) else None,
        )


def _one_vote_each(
    votes: Votes,
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """Pair, verdict and conversation of every rater's vote on every pair: who voted in both orders
    and contradicts themselves has called a tie (Zheng et al. 2023)."""
    raters = np.unique(votes.battles.rater, return_inverse=True)[1]
    own = votes.pair * (int(raters.max(initial=0)) + 1) + raters
    _, where, index = np.unique(own, return_index=True, return_inverse=True)
    total = np.bincount(index, votes.won_first, len(where))
    mean = total / np.bincount(index, minlength=len(where))
    won = np.where(np.isin(mean, (0.0, 1.0)), mean, 0.5)
    return votes.pair[where], won, votes.battles.conversation[where]
