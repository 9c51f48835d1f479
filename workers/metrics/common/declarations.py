"""Whether what somebody else's package declares is a metric that can be listed, stored and chosen.

A dataclass takes whatever it is given. What does not fit would show itself far from here: on every
page and in every list that goes through all metrics.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, get_args, get_type_hints

from common.text import text_fault
from workers.metrics.base import (
    SCORING_METHODS,
    Level,
    Metric,
    Need,
    Option,
    Queue,
    methods_for,
    ordered,
)
from workers.metrics.common.configuration import LONGEST, Configuration

LONGEST_NAME, LONGEST_VERSION, LONGEST_TEXT = 80, 20, 20_000
"""Characters. Of the first two a database keeps no more of a run."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
"""Names that a configuration can be written with, ``name[key=value,…]``."""
_TEXTS = ("summary", "citation", "equation", "description")
_SWITCHES = ("higher_is_better", "resumable")
_HOOKS = ("needs_of", "range_of", "missing", "warm_up")


def check(metric: object) -> None:
    """Check that a declaration is a metric that can be listed, stored and chosen.

    Args:
        metric: what a plug-in declares; anything.

    Raises:
        TypeError: it is no ``Metric``.
        ValueError: the metric cannot be used; the message names the first fault.
        Exception: whatever the metric's own functions raise for its default options.
    """
    if not isinstance(metric, Metric):
        raise TypeError(f"{metric!r} is not a Metric")
    if fault := next(_faults(metric), ""):
        raise ValueError(fault)


def _faults(metric: Metric) -> Iterator[str]:
    """One after another: each is looked for where those before it are not there."""
    if not _is_name(metric.name, LONGEST_NAME):
        yield (
            f'"{metric.name}" cannot be a metric\'s name: letters, digits, _ . and - only, with a '
            f"letter or a digit first, and {LONGEST_NAME} characters at most"
        )
    faults = (
        _of_texts,
        _of_functions,
        _label_of,
        _of_methods,
        _of_numbers,
        _of_options,
        _of_configurations,
    )
    yield from (f"{metric.name}: {fault}" for check in faults for fault in check(metric))


def _is_name(name: object, longest: int) -> bool:
    return isinstance(name, str) and len(name) <= longest and bool(_NAME.fullmatch(name))


def _of_texts(metric: Metric) -> Iterator[str]:
    if fault := _fault_of_text(metric.version, LONGEST_VERSION):
        yield f"its version {fault}"
    for name in _TEXTS:
        if fault := _fault_of_text(getattr(metric, name), LONGEST_TEXT, may_be_empty=True):
            yield f"its {name} {fault}"
    facts: Any = metric.signature_facts
    if not isinstance(facts, tuple) or not all(
        isinstance(one, tuple) and len(one) == 2 for one in facts
    ):
        yield f"its signature_facts must be a tuple of pairs of texts, not {facts!r}"
    for text in (text for pair in facts for text in pair):
        if fault := _fault_of_text(text, LONGEST, may_be_empty=True):
            yield f"a text of its signature_facts {fault}"


def _fault_of_text(text: object, longest: int, may_be_empty: bool = False) -> str:
    if not isinstance(text, str):
        return f"must be a text, not {text!r}"
    return text_fault(text, longest, may_be_empty)


def _of_functions(metric: Metric) -> Iterator[str]:
    if not callable(metric.build):
        yield f"its build must be a function, not {metric.build!r}"
    for name in _HOOKS:
        hook = getattr(metric, name)
        if hook is not None and not callable(hook):
            yield f"its {name} must be a function or None, not {hook!r}"


def _label_of(metric: Metric) -> Iterator[str]:
    if fault := _unknown_words(metric.levels, get_args(Level)):
        yield f"its levels {fault}"
    if not metric.levels:
        yield "it has no level"
    if fault := _unknown_words(metric.needs, get_args(Need)):
        yield f"its needs {fault}"
    if metric.queue not in get_args(Queue):
        yield f"its queue must be one of {', '.join(get_args(Queue))}, not {metric.queue!r}"
    for name in _SWITCHES:
        if not isinstance(getattr(metric, name), bool):
            yield f"its {name} must be True or False, not {getattr(metric, name)!r}"


def _of_methods(metric: Metric) -> Iterator[str]:
    """Of scorers whose class is known without building one; others are looked at before they
    score."""
    scorer = _announced(metric.build)
    fitting = methods_for(metric.levels)
    says_how = any(hasattr(scorer, name) for name in SCORING_METHODS)
    if says_how and not any(hasattr(scorer, name) for name in fitting):
        yield (
            f"has the levels {', '.join(ordered(metric.levels))}: its scorer needs "
            f"{' or '.join(fitting)}"
        )


def _announced(build: Any) -> type | None:
    """The class that ``build`` is, or says that it returns; None where it does not say it, or not
    in one class."""
    while isinstance(build, partial):
        build = build.func
    if isinstance(build, type):
        return build
    try:
        declared = get_type_hints(build).get("return")
    # A name that is imported for type checkers alone, or no function but something to call
    except Exception:
        return None
    return declared if isinstance(declared, type) else None


def _unknown_words(words: object, known: Iterable[str]) -> str:
    if isinstance(words, frozenset) and words <= set(known):
        return ""
    return f"must be a frozenset of {', '.join(known)}, not {words!r}"


def _of_numbers(metric: Metric) -> Iterator[str]:
    most: Any = metric.systems_at_once
    if type(most) is not int or most < 1:
        yield f"its systems_at_once must be a whole number from 1, not {most!r}"
    if fault := _fault_of_range(metric.value_range):
        yield fault


def _fault_of_range(ends: object) -> str:
    if (
        isinstance(ends, tuple)
        and len(ends) == 2
        and all(one is None or _is_number(one) for one in ends)
    ):
        return ""
    return f"its value_range must be two numbers, or None for an open end, not {ends!r}"


def _is_number(value: object) -> bool:
    return type(value) in (int, float) and math.isfinite(value)  # type: ignore[arg-type]


def _of_options(metric: Metric) -> Iterator[str]:
    if not isinstance(metric.options, tuple) or not all(
        isinstance(one, Option) for one in metric.options
    ):
        yield f"its options must be a tuple of Option, not {metric.options!r}"
    for option in metric.options:
        if not _is_name(option.name, LONGEST):
            yield f"an option cannot be named {option.name!r}"
        yield from (f'option "{option.name}": {fault}' for fault in _of_option(option))
    names = [option.name for option in metric.options]
    if len(set(names)) < len(names):
        yield f"two of its options have one name: {', '.join(names)}"


def _of_option(option: Option) -> Iterator[str]:
    if type(option.default) not in (bool, int, float, str):
        yield f"its default must be true or false, a number or a text, not {option.default!r}"
    if fault := _fault_of_text(option.help, LONGEST_TEXT, may_be_empty=True):
        yield f"its help {fault}"
    if not isinstance(option.choices, tuple):
        yield f"its choices must be a tuple, not {option.choices!r}"
    for end in (option.least, option.most):
        if end is not None and not _is_number(end):
            yield f"its range must end at a number or None, not {end!r}"


def _of_configurations(metric: Metric) -> Iterator[str]:
    """Of what every page makes of a metric: its defaults, what they need and where their scores
    lie. And whatever an option offers can be chosen. Raises ``ConfigurationError`` where one cannot
    be made."""
    default = Configuration.of(metric)
    if fault := _unknown_words(default.needs, get_args(Need)):
        yield f"what its defaults need {fault}"
    if fault := _fault_of_range(default.value_range):
        yield fault
    for option in metric.options:
        for choice in option.choices:
            Configuration.of(metric, **{option.name: choice})
