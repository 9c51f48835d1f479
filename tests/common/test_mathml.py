"""Equations as MathML: what is drawn, what is refused, and that every built-in metric's can be
drawn."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from common.mathml import equations_of, mathml
from workers.metrics.registry import built_in_metrics


def test_a_fraction_is_a_fraction() -> None:
    drawn = ElementTree.fromstring(mathml(r"\frac{a}{b}") or "")
    assert (drawn.tag, drawn.get("display")) == ("math", "block")
    assert ["".join(part.itertext()) for part in drawn.iter("mfrac").__next__()] == ["a", "b"]


@pytest.mark.parametrize(
    "written", [r"\frac{", r"\begin{aligned} a &= b \end{aligned}", r"\text{<b>bold}"]
)
def test_what_cannot_be_drawn_is_none(written: str) -> None:
    assert mathml(written) is None


@pytest.mark.parametrize(
    "written",
    [
        r"a < b \href{javascript:alert(1)}{c}",
        r"\color{red} x",
        r"\text{<script>alert(1)</script>}",
        r"\text{<img src=x onerror=alert(1)>}",
        r"\style{color:red}{x}",
        r"\class{big}{x}",
    ],
)
def test_nothing_but_mathematics_gets_into_the_page(written: str) -> None:
    """Refused, or drawn without it: no script, address, event, style or class."""
    drawn = mathml(written) or "<math/>"
    for element in ElementTree.fromstring(drawn).iter():
        assert element.tag.startswith("m"), element.tag
        assert not {name for name in element.attrib if name.startswith("on")} | (
            set(element.attrib) & {"style", "class", "href", "src", "id"}
        )


def test_blank_lines_stand_between_equations() -> None:
    assert equations_of("\na = b\n+ c\n \n\nd\n") == ["a = b\n+ c", "d"]
    assert equations_of("  ") == []


@pytest.mark.parametrize("metric", built_in_metrics(), ids=lambda metric: metric.name)
def test_every_built_in_metric_says_what_it_measures_and_its_equation_can_be_drawn(metric) -> None:
    assert metric.description.strip(), "a description for the metric's page"
    assert equations_of(metric.equation), "an equation for the metric's page"
    assert [written for written in equations_of(metric.equation) if mathml(written) is None] == []
    assert metric.description.count("`") % 2 == 0, "a backtick without a partner"
