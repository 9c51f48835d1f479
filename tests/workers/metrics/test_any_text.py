"""What holds of every metric with an encoder, whatever the texts are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotations.formats.records import Utterance
from common.estimates import Undefined
from tests.workers.checkpoints import WORDS, save_bert, save_nli, save_t5
from workers.inference import resources
from workers.metrics.base import Example, Score
from workers.metrics.common.configuration import Configuration, parse

PAIRS = [
    "bertscore_p",
    "bertscore_r",
    "bertscore_f1",
    "embedding_average",
    "vector_extrema",
    "greedy_matching",
]
"""Those that compare a response with a reference and remember what came out."""
ENCODED = [*PAIRS, "simcse", "context_similarity"]
CHECKPOINTS: dict[str, Callable[[Path], Path]] = {
    "bleurt": partial(save_bert, class_name="BertForSequenceClassification"),
    "usr_mlm": partial(save_bert, class_name="BertForMaskedLM"),
    "unieval": save_t5,
    "persona_contradiction": save_nli,
}
ROUNDING = 1e-4
"""Of float32 sums in another order; random weights are large."""

known = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
strange = st.one_of(
    st.text(max_size=30),  # no surrogates: no database stores them
    st.sampled_from(
        [
            "",
            " ",
            "\0",
            "[SEP]",
            "[MASK] [CLS]",
            "</s>",
            "🙂🙂",
            "日本",
            "مرحبا",
            "x" * 4000,
            "yes " * 800,
        ]
    ),
)
texts = st.one_of(known, known, strange).filter(
    lambda text: not any("\ud800" <= one <= "\udfff" for one in text)
)
examples = st.builds(
    Example,
    dialogue_id=st.just("d"),
    turn=st.integers(0, 6),
    persona=st.lists(texts, max_size=2).map(tuple),
    partner_persona=st.just(()),
    context=st.lists(texts, max_size=3).map(
        lambda said: tuple(Utterance("A", text) for text in said)
    ),
    references=st.lists(texts, max_size=2).map(tuple),
    response=texts,
)
thorough = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    before = resources.at_hand()
    resources.use(resources.Resources(device="cpu", threads=1))
    yield
    resources.use(before)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_bert(tmp_path_factory.mktemp("encoder"), "BertModel")


@pytest.fixture(scope="module", params=[*ENCODED, *CHECKPOINTS])
def configuration(
    request: pytest.FixtureRequest, encoder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Configuration:
    name = request.param
    if name not in CHECKPOINTS:
        return parse(f"{name}[model={encoder}]")
    return parse(f"{name}[model={CHECKPOINTS[name](tmp_path_factory.mktemp(name))}]")


@pytest.fixture(scope="module")
def scorer(configuration: Configuration) -> Any:
    return configuration.scorer()


def test_model_and_device_are_known_while_it_works(configuration: Configuration) -> None:
    scorer, known = configuration.scorer(), []
    said = (Utterance("A", WORDS[0]),)
    scorer.score(
        [Example("d", 0, (), (), said, (WORDS[1],), WORDS[2])],
        lambda _: known.append(scorer.account()),
    )
    assert known
    assert all(account.model and account.device.startswith("cpu") for account in known)


def assert_like(
    found: Sequence[Score], expected: Sequence[Score], tolerance: float = ROUNDING
) -> None:
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        if isinstance(one, Undefined) or isinstance(other, Undefined):
            assert one == other
        else:
            assert one == pytest.approx(other, abs=tolerance)


@pytest.mark.slow
@thorough
@given(asked=st.lists(examples, max_size=6))
def test_a_score_is_in_its_range_or_has_a_reason(
    configuration: Configuration, scorer: Any, asked: list[Example]
) -> None:
    low, high = configuration.value_range
    scores = scorer.score(asked)
    assert len(scores) == len(asked)
    for score in scores:
        if isinstance(score, Undefined):
            assert score.reason
        else:
            assert low is None or score >= low - 1e-6
            assert high is None or score <= high + 1e-6


@pytest.mark.slow
@thorough
@given(asked=st.lists(examples, min_size=2, max_size=6))
def test_scores_do_not_depend_on_order_or_company(scorer: Any, asked: list[Example]) -> None:
    together = scorer.score(asked)
    assert_like(scorer.score(asked[::-1])[::-1], together)
    assert_like([score for one in asked for score in scorer.score([one])], together)


@thorough
@given(asked=st.lists(examples, min_size=1, max_size=4))
def test_remarks_are_about_examples_of_the_call(scorer: Any, asked: list[Example]) -> None:
    heard: list[int] = []
    scorer.score(asked, heard.append)
    account = scorer.account()
    assert set(account.remarks) <= set(range(len(asked)))
    assert account.model.count("@") == 1
    assert account.device in ("cpu, 1 thread, float32", "cpu")
    assert heard == sorted(heard)
    assert heard[-1] == len(asked)


@pytest.mark.parametrize("name", PAIRS)
def test_a_pair_scores_the_same_to_the_last_digit_in_every_call(encoder: Path, name: str) -> None:
    """Two systems that say the same are equal, though one's score was computed and the other's
    remembered."""
    scorer = parse(f"{name}[model={encoder}]").scorer()
    response = "do you like my friend ? " + name.replace("_", " ")
    one = Example("d", 0, (), (), (), ("i like dogs", "what is it"), response)
    company = [
        Example("d", turn, (), (), (), ("hello there",), word)
        for turn, word in enumerate(WORDS[:20], 1)
    ]
    first = scorer.score([*company, one])[-1]
    assert scorer.score([one]) == [first]


@thorough
@given(ours=st.lists(examples, max_size=30), theirs=st.lists(examples, max_size=30))
@pytest.mark.parametrize(("name", "low", "high"), [("fbd", 0.0, None), ("prd", 0.0, 1.0)])
def test_distances_of_any_two_sides(
    encoder: Path,
    name: str,
    low: float,
    high: float | None,
    ours: list[Example],
    theirs: list[Example],
) -> None:
    scorer = parse(f"{name}[model={encoder}]").scorer()
    score = scorer.score_system(ours, theirs)
    if isinstance(score, Undefined):
        assert score.reason
    else:
        assert low <= score
        assert high is None or score <= high
        assert scorer.score_system(ours, theirs) == score
