import json
from dataclasses import replace

import pytest

from annotations.formats.records import Utterance
from common.estimates import Undefined
from tests.workers.causal import alone, make_causal
from workers.inference.language_models.likelihood import Continuation, causal_model_for
from workers.metrics.base import Example
from workers.metrics.common.configuration import MetricUnavailableError, parse
from workers.metrics.common.fed import FollowUpsError, read_follow_ups
from workers.metrics.fed import METRICS

ONE = Example("d", 0, (), (), (Utterance("A", "any pets?"),), (), "a dog")
LATER = replace(ONE, turn=1, response="and a cat")
WORDING = {
    "interesting": {"positive": ["wow", "tell me"], "negative": ["dull"]},
    "depth": {"negative": ["shallow"]},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_causal(tmp_path_factory.mktemp("causal"), positions=256)


@pytest.fixture
def wording(tmp_path):
    path = tmp_path / "wording.json"
    path.write_text(json.dumps(WORDING))
    return path


def scorer(aspect, folder, wording="ours"):
    return parse(f"fed_{aspect}[model={folder},format=tags,followups={wording}]").scorer()


def per_token(folder, text):
    told = "A: any pets?\nB: a dog\nA:"
    return alone(causal_model_for(str(folder)), Continuation(told, f" {text}")) / (len(text) + 1)


def test_there_are_the_papers_18_aspects_and_ours_words_for_each():
    ours = read_follow_ups("ours")
    assert len(METRICS) == 18
    assert {metric.name for metric in METRICS} == {f"fed_{aspect}" for aspect in ours}
    assert all(one.positive and one.negative for one in ours.values())


def test_the_mean_of_good_follow_ups_less_that_of_bad_ones(folder, wording):
    (score,) = scorer("interesting", folder, wording).score([ONE])
    good = (per_token(folder, "wow") + per_token(folder, "tell me")) / 2
    assert score == pytest.approx(good - per_token(folder, "dull"), abs=1e-4)


def test_a_side_without_follow_ups_counts_nothing(folder, wording):
    (score,) = scorer("depth", folder, wording).score([ONE])
    assert score == pytest.approx(-per_token(folder, "shallow"), abs=1e-4)


def test_a_dialogues_aspect_is_scored_at_its_last_answered_turn(folder):
    silent = replace(ONE, turn=2, response="")
    scores = scorer("coherent", folder).score([LATER, ONE, silent])
    assert isinstance(scores[0], float)
    assert scores[1:] == [
        Undefined("scored at the dialogue's last turn"),
        Undefined("the response is empty"),
    ]


def test_the_next_aspect_looks_up_what_the_first_found(folder, monkeypatch):
    one = replace(ONE, response="a parrot that nobody mentioned")
    (first,) = scorer("relevant", folder).score([one])
    asked = []
    model = causal_model_for(str(folder))
    inner = model.likelihoods
    monkeypatch.setattr(
        model, "likelihoods", lambda wanted, progress=None: asked.extend(wanted) or inner(wanted)
    )
    scorer("fluent", folder).score([one])
    assert asked == []
    assert scorer("relevant", folder).score([one]) == [first]


def test_the_signature_tells_one_wording_from_another(folder, wording):
    facts = []
    for used in ("ours", wording):
        measure = scorer("interesting", folder, used)
        measure.score([ONE])
        facts.append(dict(measure.account().facts)["followups_sha256"])
    assert facts[0] != facts[1]


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ("{", "line 1, column 2: not JSON"),
        ("[]", r"\$: must be an object"),
        ('{"charming": {}}', r"\$.charming: no such aspect"),
        ('{"depth": []}', r"\$.depth: must be an object"),
        ('{"depth": {}}', r"\$.depth: has no follow-up"),
        ('{"depth": {"good": []}}', r"\$.depth.good: only positive and negative"),
        ('{"depth": {"positive": "x"}}', r"\$.depth.positive: must be a list"),
        ('{"depth": {"positive": ["a", " "]}}', r"\$.depth.positive\[1\]: must be a text"),
    ],
)
def test_a_file_of_follow_ups_that_is_wrong_says_where(tmp_path, document, said):
    path = tmp_path / "wording.json"
    path.write_text(document)
    with pytest.raises(FollowUpsError, match=said):
        read_follow_ups(str(path))


def test_the_papers_names_of_aspects_are_understood(tmp_path):
    path = tmp_path / "wording.json"
    path.write_text('{"Semantically appropriate": {"positive": ["good"]}}')
    assert list(read_follow_ups(str(path))) == ["semantically_appropriate"]


def test_an_aspect_that_the_file_lacks_is_not_offered(folder, wording):
    with pytest.raises(MetricUnavailableError, match="no follow-ups for fluent"):
        scorer("fluent", folder, wording)
