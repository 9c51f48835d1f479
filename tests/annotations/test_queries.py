"""Reading ratings as matrices, aligned with the responses they are of."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from django.contrib.auth.models import AnonymousUser

from annotations.agreement.matrix import RatingMatrix
from annotations.corpora.actions import CorpusHasResults, delete_corpus
from annotations.corpora.queries import (
    NotFound,
    counts_of,
    dialogues_with_counts,
    resolve_aspect,
    resolve_aspects,
    select_systems,
    version_of,
    visible_corpora,
    visible_version,
)
from annotations.corpora.rating_queries import (
    RatedItems,
    agreement_of,
    has_turn_ratings,
    rated_items,
    turn_order,
)
from annotations.formats.records import (
    CorpusRecord,
    RaterRecord,
    RatingRecord,
    ResponseRecord,
    SystemRecord,
)
from annotations.models import Corpus, CorpusVersion, Dialogue, Rating, Response, Turn
from tests.annotations.stored import dialogue, rated_corpus, stored, two_systems
from workers.metrics.common.configuration import parse
from workers.runs import actions

pytestmark = pytest.mark.django_db


@pytest.fixture
def version(tmp_path: Path) -> CorpusVersion:
    return stored(two_systems(), tmp_path)


def by_place(items: RatedItems, values: np.ndarray) -> dict[tuple[str, str, int], float | None]:
    """(system, dialogue, turn) → value, None where there is none."""
    return {
        (items.systems[system].name, items.dialogue_ids[dialogue], int(turn)): None
        if math.isnan(value)
        else float(value)
        for system, dialogue, turn, value in zip(
            items.system, items.dialogue, items.turn, values, strict=True
        )
    }


# --- ratings --------------------------------------------------------------------------------------


def test_fractional_scores_of_items_tie_whatever_the_order_of_raters() -> None:
    scores = np.array([[0.1, 0.3], [0.2, 0.2], [0.3, 0.1]])
    nowhere = np.zeros(2, dtype=np.int64)
    matrix = RatingMatrix(scores, nowhere, ("a", "b", "c"))
    first, second = RatedItems((), (), nowhere, nowhere, nowhere, matrix).human_means()
    assert first == second == 0.2


def test_every_response_is_an_item_with_the_mean_of_its_raters(version: CorpusVersion) -> None:
    items = rated_items(version, "overall", "turn")
    # turns in order: d0 turn 0 is 0, d0 turn 1 is 1, d1 turn 0 is 2
    assert by_place(items, items.human_means()) == {
        ("echo", "d0", 0): 3.0,  # (4 + 2) / 2
        ("echo", "d0", 1): 5.0,
        ("echo", "d1", 2): None,
        ("dull", "d0", 0): 1.0,
        ("dull", "d1", 2): 2.0,
    }


def test_each_rater_is_a_row(version: CorpusVersion) -> None:
    items = rated_items(version, "overall", "turn")
    assert items.matrix.raters == ("ann", "bob")
    ann, bob = (by_place(items, row) for row in items.matrix.scores)
    assert [ann["echo", "d0", 0], ann["echo", "d0", 1], ann["dull", "d1", 2]] == [4.0, None, 2.0]
    assert [bob["echo", "d0", 0], bob["echo", "d0", 1], bob["dull", "d1", 2]] == [2.0, 5.0, None]


def test_items_know_their_dialogue_for_the_bootstrap(version: CorpusVersion) -> None:
    items = rated_items(version, "overall", "turn")
    assert [items.dialogue_ids[place] for place in items.matrix.dialogue_of_item] == [
        items.dialogue_ids[place] for place in items.dialogue
    ]
    assert items.dialogue_ids == ("d0", "d1")


def test_chosen_systems_keep_their_own_scores(version: CorpusVersion) -> None:
    items = rated_items(version, "overall", "turn", select_systems(version, ["dull"]))
    assert by_place(items, items.human_means()) == {("dull", "d0", 0): 1.0, ("dull", "d1", 2): 2.0}


def test_alignment_does_not_rest_on_the_order_of_rows(version: CorpusVersion) -> None:
    """Responses and ratings that were stored later, or in another order, still meet their own
    place."""
    turn = Dialogue.objects.get(version=version, external_id="d0").turns.get(number=1)
    late = Response.objects.create(system=version.systems.get(name="dull"), turn=turn, text="late")
    first_rating = Rating.objects.order_by("pk").first()
    Rating.objects.filter(pk=first_rating.pk).delete()
    first_rating.pk = None
    first_rating.save(force_insert=True)
    Rating.objects.create(
        response=late, rater=version.raters.get(name="bob"), aspect="overall", score=3
    )
    found = by_place(items := rated_items(version, "overall", "turn"), items.human_means())
    assert found["dull", "d0", 1] == 3.0
    assert found["echo", "d0", 0] == 3.0


def test_another_version_s_ratings_are_not_mixed_in(version: CorpusVersion, tmp_path: Path) -> None:
    changed = [
        RatingRecord(one.dialogue_id, one.turn, one.system, one.rater, one.aspect, 5.0)
        if isinstance(one, RatingRecord)
        else one
        for one in two_systems()
    ]
    second = stored(changed, tmp_path)
    assert second.number == 2
    changed_items = rated_items(second, "overall", "turn")
    assert set(by_place(changed_items, changed_items.human_means()).values()) == {5.0, None}
    first = rated_items(version, "overall", "turn")
    assert by_place(first, first.human_means())["dull", "d0", 0] == 1.0


def test_ratings_of_dialogues_make_one_item_for_each_system_and_dialogue(tmp_path: Path) -> None:
    version = stored(
        rated_corpus(
            [dialogue("d0"), dialogue("d1")],
            {(name, 0, system): "hi" for name in ("d0", "d1") for system in ("echo", "dull")},
            {
                ("d0", None, "echo"): {"ann": 5, "bob": 4},
                ("d0", None, "dull"): {"ann": 2},
                ("d1", None, "dull"): {"bob": 3},
                ("d1", 0, "echo"): {"ann": 1},  # of a turn: not of the dialogue
            },
        ),
        tmp_path,
    )
    items = rated_items(version, "overall", "dialogue")
    assert by_place(items, items.human_means()) == {
        ("echo", "d0", -1): 4.5,  # (5 + 4) / 2
        ("echo", "d1", -1): None,
        ("dull", "d0", -1): 2.0,
        ("dull", "d1", -1): 3.0,
    }


def test_a_rater_of_another_aspect_only_is_no_row(tmp_path: Path) -> None:
    records = rated_corpus(
        [dialogue("d0")],
        {("d0", 0, "echo"): "hi"},
        {("d0", 0, "echo"): {"ann": 4}},
        aspects=("overall", "Natural"),
    )
    records.insert(records.index(dialogue("d0")), RaterRecord("bob"))
    records.append(RatingRecord("d0", 0, "echo", "bob", "Natural", 2))
    version = stored(records, tmp_path)
    assert rated_items(version, "overall", "turn").matrix.raters == ("ann",)
    assert rated_items(version, "Natural", "turn").matrix.raters == ("bob",)


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        (("identified", "identified"), "identified"),
        (("identified", "anonymous"), "anonymous"),
        (("anonymous", "aggregate"), "aggregate"),
    ],
)
def test_the_weakest_kind_of_rater_decides(
    tmp_path: Path, kinds: tuple[str, str], expected: str
) -> None:
    records = rated_corpus(
        [dialogue("d0")],
        {("d0", 0, "echo"): "hi"},
        {("d0", 0, "echo"): {"ann": 4, "bob": 3}},
        raters=[RaterRecord(name, kind) for name, kind in zip(("ann", "bob"), kinds, strict=True)],
    )
    assert rated_items(stored(records, tmp_path), "overall", "turn").matrix.rater_kind == expected


def test_the_points_of_the_scale_count_even_where_nobody_used_them(version: CorpusVersion) -> None:
    assert rated_items(version, "overall", "turn").matrix.levels == (1.0, 2.0, 3.0, 4.0, 5.0)


def test_scores_between_the_points_have_no_fixed_points(tmp_path: Path) -> None:
    records = rated_corpus(
        [dialogue("d0")], {("d0", 0, "echo"): "hi"}, {("d0", 0, "echo"): {"ann": 3.5}}
    )
    assert rated_items(stored(records, tmp_path), "overall", "turn").matrix.levels is None


# --- corpora with little in them ------------------------------------------------------------------


def test_a_corpus_without_ratings_has_undefined_agreement(tmp_path: Path) -> None:
    version = stored(rated_corpus([dialogue("d0")], {("d0", 0, "echo"): "hi"}), tmp_path)
    report = agreement_of(version, "overall", "turn", resamples=10)
    assert (report["items"], report["raters"], report["ratings"]) == (0, 0, 0)
    assert report["krippendorff_alpha"]["ordinal"]["value"] is None
    assert report["krippendorff_alpha"]["ordinal"]["reason"]


def test_a_corpus_of_dialogues_only_has_no_items(tmp_path: Path) -> None:
    version = stored(rated_corpus([dialogue("d0", turns=7)], {}), tmp_path)
    for level in ("turn", "dialogue"):
        assert rated_items(version, "overall", level).matrix.scores.shape == (0, 0)
    assert counts_of(version).turns == 7


def test_agreement_worked_by_hand(tmp_path: Path) -> None:
    """Two raters, two items: 1 and 1, 2 and 2. They agree always, so α is 1 at every level of
    measurement."""
    records = rated_corpus(
        [dialogue("d0"), dialogue("d1")],
        {("d0", 0, "echo"): "hi", ("d1", 0, "echo"): "hi"},
        {("d0", 0, "echo"): {"ann": 1, "bob": 1}, ("d1", 0, "echo"): {"ann": 2, "bob": 2}},
    )
    report = agreement_of(stored(records, tmp_path), "overall", "turn", resamples=0)
    assert [alpha["value"] for alpha in report["krippendorff_alpha"].values()] == [1.0] * 4
    assert report["cohen_kappa"]["unweighted"]["mean"] == 1.0


def test_turns_are_in_the_order_of_dialogues_and_numbers(version: CorpusVersion) -> None:
    order = turn_order(version)
    assert [order.dialogue_ids[place] for place in order.dialogue] == ["d0", "d0", "d1"]
    assert list(order.numbers) == [0, 1, 0]


# --- naming ---------------------------------------------------------------------------------------


def test_an_unknown_corpus_names_those_that_exist(version: CorpusVersion) -> None:
    with pytest.raises(NotFound, match=r"there is no corpus large\. Corpora: small"):
        version_of("large")


def test_an_unknown_version_is_named(version: CorpusVersion) -> None:
    with pytest.raises(NotFound, match="there is no corpus small version 2"):
        version_of("small", 2)


def test_an_aspect_is_found_without_regard_to_case_as_the_corpus_spells_it(tmp_path: Path) -> None:
    version = stored(
        [
            CorpusRecord(aspects=("Natural", "Overall"), main_aspect="Overall"),
            SystemRecord("echo"),
            dialogue("d0"),
        ],
        tmp_path,
    )
    assert resolve_aspect(version, None) == "Overall"
    assert resolve_aspect(version, "overall") == "Overall"
    assert resolve_aspect(version, "NATURAL") == "Natural"
    with pytest.raises(NotFound, match=r"no aspect 'grammar'\. Aspects: Natural, Overall"):
        resolve_aspect(version, "grammar")


def test_joined_aspects_are_the_mean_of_what_each_rater_gives(tmp_path: Path) -> None:
    """ann 4 and 1 is 2.5; bob gave no grammar."""
    records = rated_corpus(
        [dialogue("d0")],
        {("d0", 0, "echo"): "the answer"},
        {("d0", 0, "echo"): {"ann": 4, "bob": 5}},
        aspects=("overall", "grammar", "a+b"),
    )
    version = stored([*records, RatingRecord("d0", 0, "echo", "ann", "grammar", 1)], tmp_path)
    aspect = resolve_aspects(version, "Overall + grammar")
    assert aspect == "overall+grammar"
    items = rated_items(version, aspect, "turn")
    assert items.matrix.raters == ("ann",)
    assert items.matrix.scores.tolist() == [[2.5]]
    assert has_turn_ratings(version, aspect)
    assert not has_turn_ratings(version, "overall+a+b")  # nobody rated by a, nor by b
    assert resolve_aspects(version, "A+b") == "a+b"  # a name of its own
    for unknown in ("overall+", "overall+content"):
        with pytest.raises(NotFound, match="no aspect"):
            resolve_aspects(version, unknown)


def test_two_aspects_that_differ_in_case_only_are_both_reached(tmp_path: Path) -> None:
    version = stored(
        [CorpusRecord(aspects=("Overall", "overall"), main_aspect="Overall"), dialogue("d0")],
        tmp_path,
    )
    assert resolve_aspect(version, "overall") == "overall"
    assert resolve_aspect(version, "Overall") == "Overall"


def test_systems_are_chosen_or_left_out_by_name_and_keep_their_order(
    version: CorpusVersion,
) -> None:
    def names(*arguments: object) -> list[str]:
        return [system.name for system in select_systems(version, *arguments)]

    assert names() == ["echo", "dull"]
    assert names(["dull", "echo"]) == ["echo", "dull"]
    assert names(None, ["echo"]) == ["dull"]
    with pytest.raises(NotFound, match=r"no system 'loud'\. Systems: echo, dull"):
        names(["loud"])
    with pytest.raises(NotFound, match="no system 'loud'"):
        names(None, ["loud"])


# --- who sees what, and deleting ------------------------------------------------------------------


def test_a_private_corpus_is_not_there_for_visitors(version: CorpusVersion) -> None:
    Corpus.objects.update(is_public=False)
    assert list(visible_corpora(AnonymousUser())) == []
    with pytest.raises(NotFound):
        visible_version(AnonymousUser(), "small")


def test_a_corpus_without_results_is_deleted_with_all_it_holds(version: CorpusVersion) -> None:
    delete_corpus(version.corpus)
    assert not any(
        model.objects.exists() for model in (Corpus, CorpusVersion, Dialogue, Response, Rating)
    )


def test_a_corpus_with_results_is_deleted_only_by_force(version: CorpusVersion) -> None:
    actions.request([parse("word_f1")], select_systems(version), hint=False)
    with pytest.raises(CorpusHasResults, match="small has metric runs"):
        delete_corpus(version.corpus)
    assert Response.objects.count() == 5
    delete_corpus(version.corpus, force=True)
    assert not Corpus.objects.exists()


def test_results_of_an_older_version_keep_the_corpus_too(
    version: CorpusVersion, tmp_path: Path
) -> None:
    actions.request([parse("word_f1")], select_systems(version), hint=False)
    extra = ResponseRecord("d1", 0, "echo", "an answer")
    changed = [one for one in two_systems() if one != extra]
    assert stored(changed, tmp_path).number == 2
    with pytest.raises(CorpusHasResults):
        delete_corpus(version.corpus)


def test_a_list_of_dialogues_is_one_question_however_many_they_are(
    tmp_path: Path, django_assert_num_queries
) -> None:
    version = stored(two_systems(), tmp_path)
    with django_assert_num_queries(1):
        listed = [
            (found.external_id, found.turn_count, found.first_context[0])
            for found in dialogues_with_counts(version)
        ]
    first = {turn.dialogue.external_id: turn.context[0] for turn in Turn.objects.filter(number=0)}
    assert listed == [("d0", 2, first["d0"]), ("d1", 1, first["d1"])]
