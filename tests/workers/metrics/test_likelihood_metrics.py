from dataclasses import replace

import pytest

from annotations.formats.records import Utterance
from common.estimates import Undefined
from tests.workers.causal import alone, make_causal
from workers.inference.language_models.likelihood import Continuation, causal_model_for
from workers.metrics.base import Example
from workers.metrics.common.configuration import MetricUnavailableError, parse
from workers.metrics.common.likelihood_scorers import COPIED
from workers.metrics.common.responses import NoChatTemplateError

CONTEXT = (Utterance("A", "hi there"), Utterance("B", "hello"), Utterance("A", "any pets?"))
ONE = Example("d", 1, ("i have a dog.",), (), CONTEXT, (), "yes, a dog")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_causal(tmp_path_factory.mktemp("causal"), positions=256)


def scorer(written, folder):
    name, _, options = written.partition("[")
    return parse(f"{name}[model={folder},{options.removesuffix(']')}]").scorer()


def per_token(folder, prefix, text):
    """Every byte is a token."""
    return alone(causal_model_for(str(folder)), Continuation(prefix, text)) / len(text.encode())


def test_coherency_is_the_mean_logarithm_after_the_tagged_dialogue(folder):
    (score,) = scorer("gpt2_coherency", folder).score([ONE])
    told = "A: hi there\nB: hello\nA: any pets?\nB:"
    assert score == pytest.approx(per_token(folder, told, " yes, a dog"), abs=1e-4)


def test_coherency_with_the_persona_has_it_before_the_dialogue(folder):
    (score,) = scorer("gpt2_coherency[persona=true]", folder).score([ONE])
    told = "B's persona: i have a dog.\nA: hi there\nB: hello\nA: any pets?\nB:"
    assert score == pytest.approx(per_token(folder, told, " yes, a dog"), abs=1e-4)


def test_raw_lines(folder):
    (score,) = scorer("gpt2_coherency[format=raw]", folder).score([ONE])
    assert score == pytest.approx(
        per_token(folder, "hi there\nhello\nany pets?\n", "yes, a dog"), abs=1e-4
    )


def test_pmi_is_the_gain_over_the_same_format_after_an_empty_utterance(folder):
    (score,) = scorer("pmi", folder).score([ONE])
    told = (
        "<s>system\nYour persona: i have a dog.</s>\n<s>user\nhi "
        "there</s>\n<s>assistant\nhello</s>\n<s>user\nany pets?</s>\n<s>assistant\n"
    )
    expected = per_token(folder, told, "yes, a dog") - per_token(
        folder, "<s>user\n</s>\n<s>assistant\n", "yes, a dog"
    )
    assert score == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(
    ("style", "told", "untold"),
    [
        ("tags", "A: any pets?\nB:", "A:\nB:"),
        ("eos", "any pets?</s>", "</s>"),
        ("raw", "any pets?\n", "\n"),
    ],
)
def test_pmi_in_other_formats_keeps_the_frame_on_both_sides(folder, style, told, untold):
    lead = " " if style == "tags" else ""
    example = replace(ONE, context=(Utterance("A", "any pets?"),))
    (score,) = scorer(f"pmi[format={style},persona=false]", folder).score([example])
    expected = per_token(folder, told, f"{lead}yes, a dog") - per_token(
        folder, untold, f"{lead}yes, a dog"
    )
    assert score == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("metric", ["gpt2_coherency", "pmi"])
def test_no_response_and_no_context_have_no_score(folder, metric):
    found = scorer(metric, folder).score(
        [replace(ONE, response=" \n"), replace(ONE, context=()), ONE]
    )
    assert found[:2] == [Undefined("the response is empty"), Undefined("the turn has no context")]
    assert isinstance(found[2], float)


def test_an_echo_keeps_its_score_and_gets_a_remark(folder):
    measure = scorer("pmi", folder)
    assert all(
        isinstance(score, float)
        for score in measure.score([ONE, replace(ONE, response="I have a dog!")])
    )
    assert measure.account().remarks == {1: COPIED}


def test_what_was_cut_is_remarked(folder):
    measure = scorer("gpt2_coherency", folder)
    measure.score([ONE, replace(ONE, context=(Utterance("A", "long " * 100),))])
    assert list(measure.account().remarks) == [1]


def test_the_account_names_model_device_and_precision(folder):
    measure = scorer("pmi", folder)
    measure.score([ONE])
    account = measure.account()
    assert account.model == causal_model_for(str(folder)).files.label
    assert account.device.startswith("cpu")
    assert account.facts == (("dtype", "float32"),)


def test_model_and_device_are_known_while_it_works(folder):
    measure, known = scorer("pmi", folder), []
    measure.score([ONE], lambda _: known.append(measure.account().device))
    assert known
    assert all(device.startswith("cpu") for device in known)


def test_a_score_does_not_depend_on_who_else_is_scored(folder):
    others = [replace(ONE, response=text) for text in ("yes, a cat", "no", "\0", "漢字 😀")]
    (single,) = scorer("pmi", folder).score([ONE])
    assert scorer("pmi", folder).score([*others, ONE])[-1] == pytest.approx(single, abs=1e-5)


def test_a_model_without_chat_template_asks_for_another_format(tmp_path):
    bare = make_causal(tmp_path, chat=False)
    with pytest.raises(NoChatTemplateError, match="format=tags"):
        scorer("pmi", bare).score([ONE])
    assert isinstance(scorer("pmi[format=tags]", bare).score([ONE])[0], float)


def test_a_folder_that_is_not_there_is_said_before_anything_is_loaded(tmp_path):
    with pytest.raises(MetricUnavailableError, match="pmi"):
        scorer("pmi", tmp_path / "none")


def test_progress_counts_examples(folder):
    told = []
    scorer("pmi", folder).score([ONE, replace(ONE, response="no")], told.append)
    assert told[-1] == 2
