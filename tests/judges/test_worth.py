"""What the packaged judge is worth is said, and of judges that nobody knows nothing is."""

from __future__ import annotations

import pytest
from django.template import Context, Template

from workers.judges.core.model_caveats import caveat_in_short, caveat_of, caveat_of_model, judge_of
from workers.metrics.common.configuration import parse


@pytest.mark.parametrize(
    "written", ["cpdscore_detail", "cpdscore_simple_ref[samples=3]", "cpdscore_dialogue"]
)
def test_the_packaged_judge_is_said_to_be_weak_with_figures(written: str) -> None:
    words = caveat_of(parse(written))
    assert words.startswith("A model of 135 million parameters is a weak judge.")
    assert "length" in words
    assert caveat_in_short(parse(written)).startswith("a weak judge")


def test_of_another_judge_nothing_is_said() -> None:
    assert caveat_of(parse("cpdscore_detail[model=gpt-4o]")) == ""


def test_a_metric_that_asks_nobody_has_no_judge() -> None:
    """PMI has the packaged weights, too, and judges nothing."""
    assert (judge_of(parse("pmi")), caveat_of(parse("pmi")), caveat_of(object())) == ("", "", "")


def test_a_model_is_known_with_its_revision() -> None:
    assert (
        caveat_of_model("smollm2-135m-instruct@f8a1")
        == caveat_of_model("smollm2-135m-instruct")
        != ""
    )


@pytest.mark.parametrize(
    ("judge", "is_said"),
    [
        ("cpdscore_detail", True),
        ("smollm2-135m-instruct", True),
        ("gpt-4o", False),
        ("word_f1", False),
        ("gone[x=1]", False),
        ("<script>", False),
    ],
)
def test_the_component_draws_what_is_known_and_else_nothing(judge: str, is_said: bool) -> None:
    drawn = Template("{% load model_worth %}{% model_worth judge %}").render(
        Context({"judge": judge})
    )
    assert ("weak judge" in drawn) is is_said
    assert bool(drawn.strip()) is is_said


def test_links_to_judges_say_it_in_short_each_once() -> None:
    judges = [
        ("cpdscore_detail", "/a"),
        ("cpdscore_simple", "/b"),
        ("cpdscore_simple[model=gpt-4o]", "/c"),
    ]
    drawn = Template(
        "{% load model_worth %}{% for one in judges|short_worths %}[{{ one }}]{% endfor %}"
    ).render(Context({"judges": judges}))
    assert drawn.startswith("[cpdscore_detail, cpdscore_simple: a weak judge")
    assert drawn.count("[") == 1
