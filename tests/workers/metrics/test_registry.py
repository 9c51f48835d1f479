"""The registry lists built-in metrics and plug-ins; a bad plug-in is reported and stops nothing."""

import subprocess
import sys
from dataclasses import replace
from functools import partial
from importlib.metadata import EntryPoint
from typing import Any

import pytest

from workers.metrics import registry
from workers.metrics.base import Metric, Option, SystemScorer
from workers.metrics.common import declarations
from workers.metrics.registry import all_metrics, assemble

LEXICAL = (
    "word_f1 word_precision word_recall bleu_1 bleu_2 bleu_3 bleu_4 rouge_1 rouge_2 rouge_l meteor".split()  # noqa: SIM905
)


def metric(name: str) -> Metric:
    return Metric(name=name, version="1", summary="", citation="", build=lambda options: None)


def plug_in(loaded: object, name: str = "theirs") -> EntryPoint:
    class Loaded(EntryPoint):
        def load(self) -> object:
            if isinstance(loaded, Exception):
                raise loaded
            return loaded

    return Loaded(name=name, value="their.package:METRIC", group=registry.ENTRY_POINT_GROUP)


def test_lexical_metrics_come_first_in_a_fixed_order() -> None:
    assert list(all_metrics())[: len(LEXICAL)] == LEXICAL


def test_names_are_the_metrics_own() -> None:
    assert all(name == metric.name for name, metric in all_metrics().items())


def test_importing_the_registry_and_listing_loads_nothing_heavy() -> None:
    program = (
        "import sys; from workers.metrics.registry import all_metrics; all_metrics();print([m for "
        "m in ('torch', 'nltk', 'transformers', 'django', 'rouge_score', 'scipy') if m in "
        "sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("loaded", [metric("theirs"), [metric("theirs")], (metric("theirs"),)])
def test_a_plug_in_is_a_metric_or_a_list(loaded: object) -> None:
    catalogue = assemble([metric("ours")], [plug_in(loaded)])
    assert list(catalogue.metrics) == ["ours", "theirs"]
    assert catalogue.problems == ()


@pytest.mark.parametrize(
    ("loaded", "reason"),
    [
        (ImportError("no module named them"), "ImportError: no module named them"),
        ("not a metric", "'n' is not a Metric"),
        (42, "TypeError"),
        (metric("two words"), "cannot be a metric's name"),
    ],
)
def test_a_broken_plug_in_is_reported_and_left_out(loaded: object, reason: str) -> None:
    catalogue = assemble(
        [metric("ours")], [plug_in(loaded, "bad"), plug_in(metric("theirs"), "good")]
    )
    assert list(catalogue.metrics) == ["ours", "theirs"]
    (problem,) = catalogue.problems
    assert '"bad"' in problem
    assert reason in problem


def raises(options: object) -> Any:
    raise RuntimeError("not here")


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"name": "m" * 81}, "80 characters at most"),
        ({"name": 1}, "cannot be a metric's name"),
        ({"version": 1}, "its version must be a text, not 1"),
        ({"version": ""}, "its version is empty"),
        ({"version": "1" * 21}, "its version has 21 characters; at most 20 are allowed"),
        ({"summary": None}, "its summary must be a text"),
        ({"description": "half \ud800"}, "its description holds half of a surrogate pair"),
        ({"signature_facts": {"a": "b"}}, "its signature_facts must be a tuple of pairs"),
        (
            {"signature_facts": (("ddof", 1),)},
            "a text of its signature_facts must be a text, not 1",
        ),
        ({"build": None}, "its build must be a function"),
        ({"missing": "not here"}, "its missing must be a function or None"),
        (
            {"levels": frozenset({"word"})},
            "its levels must be a frozenset of turn, dialogue, system",
        ),
        ({"levels": {"turn"}}, "its levels must be a frozenset"),
        ({"levels": frozenset()}, "it has no level"),
        (
            {"needs": frozenset({"references"})},
            "its needs must be a frozenset of reference, context, persona",
        ),
        ({"queue": "GPU"}, "its queue must be one of cpu, gpu, llm, not 'GPU'"),
        ({"higher_is_better": "yes"}, "its higher_is_better must be True or False"),
        ({"systems_at_once": 0}, "its systems_at_once must be a whole number from 1"),
        (
            {"value_range": (0, float("inf"))},
            "its value_range must be two numbers, or None for an open end",
        ),
        ({"options": [Option("a", 1, "")]}, "its options must be a tuple of Option"),
        ({"options": (Option("a=b", 1, ""),)}, "an option cannot be named 'a=b'"),
        ({"options": (Option("a", 1, ""), Option("a", 2, ""))}, "two of its options have one name"),
        (
            {"options": (Option("a", None, ""),)},
            "its default must be true or false, a number or a text, not None",
        ),
        ({"options": (Option("a", 1, None),)}, "its help must be a text"),
        ({"options": (Option("a", "b", "", choices=["b"]),)}, "its choices must be a tuple"),
        ({"options": (Option("a", 1, "", least="0"),)}, "its range must end at a number"),
        (
            {"options": (Option("a", "c", "", choices=("b",)),)},
            'option "a" must be one of b, not "c"',
        ),
        ({"options": (Option("a", 0, "", least=1),)}, 'option "a" must be a whole number from 1'),
        (
            {"options": (Option("a", "b", "", choices=("b", 1)),)},
            'option "a" must be one of b, 1, not "1"',
        ),
        ({"needs_of": raises}, "RuntimeError: not here"),
        (
            {"needs_of": lambda options: frozenset({"words"})},
            "what its defaults need must be a frozenset",
        ),
        ({"range_of": lambda options: (0, 1, 2)}, "its value_range must be two numbers"),
    ],
)
def test_a_declaration_that_cannot_be_is_reported_and_left_out(
    wrong: dict[str, Any], reason: str
) -> None:
    """Each would stand in the list, and fail on a page that goes through it, or when a run of it is
    stored."""
    bad = replace(metric("theirs"), **wrong)
    catalogue = assemble([metric("ours")], [plug_in(bad, "bad"), plug_in(metric("good"), "good")])
    assert list(catalogue.metrics) == ["ours", "good"]
    (problem,) = catalogue.problems
    assert problem.startswith('plug-in "bad" (their.package:METRIC) is left out: ')
    assert reason in problem


class OfSystems:
    def score_system(self, examples: Any, human: Any, progress: Any = None) -> float:
        return 0.0


def build_of_systems(options: Any) -> OfSystems:
    return OfSystems()


def build_the_protocol(options: Any) -> SystemScorer:
    return OfSystems()


def build_of_anything(options: Any) -> Any:
    return OfSystems()


def build_of_nowhere(options: Any) -> "NotImportedHere":  # type: ignore[name-defined]  # noqa: F821
    return OfSystems()


@pytest.mark.parametrize(
    "build", [OfSystems, build_of_systems, build_the_protocol, partial(build_of_systems)]
)
@pytest.mark.parametrize(
    ("levels", "needed"),
    [({"dialogue", "system"}, "score_dialogues"), ({"turn", "dialogue", "system"}, "score")],
)
def test_levels_that_the_scorer_has_no_scores_of_are_no_declaration(
    build: Any, levels: Any, needed: str
) -> None:
    """What ``build`` says that it returns is known without building it."""
    bad = replace(metric("theirs"), build=build, levels=frozenset(levels))
    catalogue = assemble([metric("ours")], [plug_in(bad, "bad")])
    assert list(catalogue.metrics) == ["ours"]
    assert catalogue.problems[0].endswith(f"its scorer needs {needed}")


@pytest.mark.parametrize("build", [OfSystems, build_of_systems, build_the_protocol])
def test_a_scorer_of_systems_is_declared_with_the_level_of_systems_alone(build: Any) -> None:
    declarations.check(replace(metric("theirs"), build=build, levels=frozenset({"system"})))


@pytest.mark.parametrize(
    "build", [build_of_anything, build_of_nowhere, lambda options: OfSystems()]
)
def test_what_a_scorer_can_is_left_to_its_run_where_build_does_not_say_it(build: Any) -> None:
    declarations.check(
        replace(metric("theirs"), build=build, levels=frozenset({"dialogue", "system"}))
    )


def test_every_built_in_metric_is_declared_as_a_plug_in_must_be() -> None:
    for built_in in registry.built_in_metrics():
        declarations.check(built_in)


def test_a_taken_name_is_reported_and_the_first_stays() -> None:
    ours = metric("ours")
    catalogue = assemble([ours], [plug_in([metric("ours"), metric("theirs")])])
    assert catalogue.metrics["ours"] is ours
    assert "theirs" in catalogue.metrics
    assert catalogue.problems == (
        'plug-in "theirs" (their.package:METRIC): its metric "ours" is left out: the name is taken',
    )


def test_the_list_that_is_handed_out_is_the_callers_own() -> None:
    all_metrics().clear()
    assert "bleu_4" in all_metrics()


def test_an_installed_package_adds_a_metric(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A real distribution on the path, found through its metadata."""
    (tmp_path / "theirs.py").write_text(
        "from workers.metrics.base import Metric\nMETRIC = Metric(name='their_metric', "
        "version='1', summary='', citation='', build=lambda options: None)\n"
    )
    info = tmp_path / "theirs-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[dialeval.metrics]\ntheirs = theirs:METRIC\nbroken = nothing_here:METRIC\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    registry.reload()
    try:
        assert list(all_metrics())[-1] == "their_metric"
        assert any('"broken"' in problem for problem in registry.problems())
    finally:
        registry.reload()
