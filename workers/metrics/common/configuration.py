"""A metric with its options set, as people write it: ``bleu_4[normalize=false]``; and the signature
of its scores.

A text value that holds a comma, a bracket, a quotation mark or a space at an end is written as a
JSON string: ``meter[model="a,b"]``.
"""

from __future__ import annotations

import difflib
import json
import logging
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from workers.metrics.base import Level, Metric, Need, Option, OptionValue
from workers.metrics.registry import all_metrics

_WRITTEN = re.compile(r"\s*([^\[\]\s]+)\s*(?:\[(.*)\])?\s*", re.DOTALL)
LONGEST = 300
"""Characters of a configuration's text: a database keeps no more."""
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_NEEDS_QUOTES = re.compile(r'[,\[\]"=]|^\s|\s$|^$')

logger = logging.getLogger(__name__)


class ConfigurationError(ValueError):
    """What was written names no metric, or options that the metric does not have; the message says
    which are there."""


class MetricUnavailableError(RuntimeError):
    """The metric cannot run on this machine; the message says why and what to do."""


@dataclass(frozen=True)
class Configuration:
    """A metric and a value for each of its options. Two are equal when they compute the same
    thing."""

    metric: Metric
    values: tuple[tuple[str, OptionValue], ...]
    """Every option's value, defaults too, in the order in which the metric declares them."""

    @classmethod
    def of(cls, metric: Metric, /, **chosen: OptionValue) -> Configuration:
        """Configure a metric.

        Args:
            metric: the metric that declares the options.
            chosen: option values by name. An option that is not named has its default; a whole
                number is taken for an option of type float.

        Returns:
            The metric with a value for each of its options.

        Raises:
            ConfigurationError: unknown option, a value of another type, out of range or not among
                the choices, a character that cannot be stored, or more text than ``LONGEST``
                characters.
        """
        for name in chosen:
            _option(metric, name)
        whole = cls(
            metric,
            tuple(
                (o.name, _checked(metric, o, chosen.get(o.name, o.default))) for o in metric.options
            ),
        )
        if (length := len(whole.text)) > LONGEST:
            raise ConfigurationError(
                f"{metric.name} with these options is {length} characters: at most {LONGEST}"
            )
        return whole

    @property
    def options(self) -> dict[str, OptionValue]:
        """Every option's value by name, defaults too."""
        return dict(self.values)

    @property
    def text(self) -> str:
        """The one way to write this configuration: options that differ from the default, sorted by
        name."""
        defaults = {option.name: option.default for option in self.metric.options}
        chosen = [
            f"{name}={_quoted(value)}"
            for name, value in sorted(self.values)
            if value != defaults[name]
        ]
        return f"{self.metric.name}[{','.join(chosen)}]" if chosen else self.metric.name

    @property
    def levels(self) -> frozenset[Level]:
        return self.metric.levels

    @property
    def needs(self) -> frozenset[Need]:
        """What the metric needs of a corpus with these options."""
        more = (
            self.metric.needs_of(self.options) if self.metric.needs_of is not None else frozenset()
        )
        return self.metric.needs | more

    @property
    def higher_is_better(self) -> bool:
        return self.metric.higher_is_better

    @property
    def value_range(self) -> tuple[float | None, float | None]:
        """Lowest and highest score with these options; None for an open end."""
        own = self.metric.range_of(self.options) if self.metric.range_of is not None else None
        return own or self.metric.value_range

    def signature(self, **facts: object) -> str:
        """Everything that makes a score comparable, as one line of text.

        Args:
            facts: fields beyond the metric's own, such as corpus, n or seed, in the order in which
                they are written. A field that is None is left out.

        Returns:
            ``metric:bleu_4|version:1|normalize:true|smooth:method1|…``: name and version, every
            option with its value, the metric's fixed ``signature_facts``, then ``facts``. In values
            ``%`` is written ``%25`` and ``|`` is written ``%7C``.
        """
        parts: list[tuple[str, object]] = [
            ("metric", self.metric.name),
            ("version", self.metric.version),
        ]
        parts += self.values
        parts += self.metric.signature_facts
        return written_signature(parts, facts)

    def missing(self) -> str:
        """Why the metric cannot run with these options on this machine.

        For lists and forms: one metric whose own check fails must not take those of all metrics
        down, so nothing is raised, and a failure of the check is the reason.

        Returns:
            The reason; "" where the metric can run.
        """
        try:
            return self._missing()
        except Exception as problem:  # it may be somebody else's code
            logger.warning("whether %s can run here cannot be told", self.text, exc_info=True)
            return (
                f"whether it can run here cannot be told ({type(problem).__name__}): the log says "
                "more"
            )

    def _missing(self) -> str:
        return (
            str(self.metric.missing(self.options) or "") if self.metric.missing is not None else ""
        )

    def scorer(self) -> Any:
        """Build a scorer for these options.

        Returns:
            A ``TurnScorer``, ``DialogueScorer`` or ``SystemScorer``.

        Raises:
            MetricUnavailableError: the metric cannot run on this machine.
            Exception: whatever the metric's own check raises. Where that was the database's
                absence, a run waits again.
        """
        if reason := self._missing():
            raise MetricUnavailableError(f"{self.metric.name}: {reason}")
        return self.metric.build(self.options)

    def __str__(self) -> str:
        return self.text


def parse(written: str) -> Configuration:
    """Read a configuration as people write it.

    Args:
        written: ``name`` or ``name[key=value,…]``. White space around the parts is ignored.

    Returns:
        The configuration, with defaults for options that are not named.

    Raises:
        ConfigurationError: not of this form, an unknown metric or option, a wrong value, an option
            named twice, or too long.
    """
    match = _WRITTEN.fullmatch(written)
    if match is None:
        raise ConfigurationError(f'"{written}" is not a metric: write name or name[key=value,…]')
    metric = _metric(match[1])
    chosen: dict[str, OptionValue] = {}
    for part in _split_outside_brackets(match[2] or "", written):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            raise ConfigurationError(
                f'{metric.name}: "{part.strip()}" is not an option: write key=value'
            )
        if name in chosen:
            raise ConfigurationError(f'{metric.name}: option "{name}" is given twice')
        chosen[name] = _read(metric, _option(metric, name), value)
    return Configuration.of(metric, **chosen)


def still_there(written: str, version: str = "") -> Configuration | None:
    """Configuration that a stored run names, if its metric still exists.

    Args:
        written: the stored text of the configuration.
        version: of the metric that made the run; "" for any.

    Returns:
        None where the metric or one of its options is gone (a plug-in that was removed), or where
        ``version`` is not the metric's present one.
    """
    try:
        configuration = parse(written)
    except ConfigurationError:
        return None
    return (
        configuration
        if configuration.metric.version == (version or configuration.metric.version)
        else None
    )


def written_signature(parts: Iterable[tuple[str, object]], facts: Mapping[str, object]) -> str:
    """Write the fields of a signature as one line of text.

    Args:
        parts: name and value of each field, written first and all of them.
        facts: further fields by name; one that is None is left out.

    Returns:
        ``name:value|…``. Booleans are written ``true`` and ``false``; in values ``%`` is written
        ``%25`` and ``|`` is written ``%7C``.
    """
    stated = [(name, fact) for name, fact in facts.items() if fact is not None]
    return "|".join(f"{name}:{_in_signature(value)}" for name, value in (*parts, *stated))


def parts_of_list(written: str) -> list[str]:
    """Split a list of configurations at its outer commas.

    Args:
        written: such as ``a,b[c=1,d=2],e``.

    Returns:
        The parts as they are written, without white space at their ends; blank ones are left out.
        Whether they name metrics is not checked.

    Raises:
        ConfigurationError: a bracket or a quotation mark has no partner.
    """
    return [part.strip() for part in _split_outside_brackets(written, written)]


def parse_list(written: str) -> list[Configuration]:
    """Read a list of configurations.

    Args:
        written: such as ``a,b[c=1,d=2],e``.

    Returns:
        The configurations in order. Two that compute the same thing count once.

    Raises:
        ConfigurationError: no metric is named, a bracket or a quotation mark has no partner, or a
            part cannot be read (``parse``).
    """
    configurations = [parse(part) for part in _split_outside_brackets(written, written)]
    if not configurations:
        raise ConfigurationError("no metric is named")
    return list(dict.fromkeys(configurations))


def _metric(name: str) -> Metric:
    metrics = all_metrics()
    if name in metrics:
        return metrics[name]
    near = difflib.get_close_matches(name.lower(), metrics, n=3, cutoff=0.5)
    known = f"; nearest: {', '.join(near)}" if near else f"; there are: {', '.join(metrics)}"
    raise ConfigurationError(f'unknown metric "{name}"{known}')


def _option(metric: Metric, name: str) -> Option:
    for option in metric.options:
        if option.name == name:
            return option
    there_are = ", ".join(option.name for option in metric.options) or "none"
    raise ConfigurationError(f'{metric.name} has no option "{name}"; its options: {there_are}')


def _read(metric: Metric, option: Option, written: str) -> OptionValue:
    """The value that ``written`` stands for, in the type of the option's default."""
    kind = type(option.default)
    try:
        if kind is bool:
            return {"true": True, "false": False}[written.lower()]
        if kind is str:
            return str(json.loads(written)) if written.startswith('"') else written
        return kind(written)
    except (ValueError, KeyError):
        raise _wrong_value(metric, option, written) from None


def _checked(metric: Metric, option: Option, value: OptionValue) -> OptionValue:
    kind = type(option.default)
    if kind is float and type(value) is int:
        value = float(value)
    acceptable = (
        type(value) is kind
        and (not option.choices or value in option.choices)
        and _in_range(option, value)
    )
    if not acceptable or (isinstance(value, float) and not math.isfinite(value)):
        raise _wrong_value(metric, option, value)
    if isinstance(value, str) and _UNSTORABLE.search(value):
        raise ConfigurationError(
            f'{metric.name}: option "{option.name}" holds a character that is no text: {value!r}'
        )
    return value


def _in_range(option: Option, value: OptionValue) -> bool:
    if isinstance(value, str):
        return True
    return (option.least is None or value >= option.least) and (
        option.most is None or value <= option.most
    )


def _wrong_value(metric: Metric, option: Option, value: object) -> ConfigurationError:
    wanted = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}[
        type(option.default)
    ]
    if option.least is not None:
        wanted += f" from {option.least:.0f}"
    if option.most is not None:
        wanted += f" to {option.most:.0f}"
    if option.choices:
        wanted = f"one of {', '.join(written_value(choice) for choice in option.choices)}"
    return ConfigurationError(
        f'{metric.name}: option "{option.name}" must be {wanted}, not "{value}"'
    )


def written_value(value: object) -> str:
    """Write an option's value as it stands in a configuration where nothing needs quotes.

    Returns:
        ``true`` or ``false`` for a boolean, else ``str(value)``.
    """
    return str(value).lower() if isinstance(value, bool) else str(value)


def _quoted(value: OptionValue) -> str:
    if isinstance(value, str) and _NEEDS_QUOTES.search(value):
        return json.dumps(value, ensure_ascii=False)
    return written_value(value)


def _in_signature(value: object) -> str:
    """``|`` separates the parts of a signature, so none may hold one."""
    return written_value(value).replace("%", "%25").replace("|", "%7C")


def unescaped(value: str) -> str:
    """Undo the escaping of a value in a signature.

    Args:
        value: as a signature holds it, with ``%7C`` for ``|`` and ``%25`` for ``%``.

    Returns:
        The value as it was before.
    """
    return value.replace("%7C", "|").replace("%25", "%")


def _split_outside_brackets(text: str, whole: str) -> Iterator[str]:
    """The parts of ``text`` between the commas that stand in no brackets and no quotation marks,
    without blank ones.

    Raises ``ConfigurationError``, naming the ``whole``, where a bracket or a quotation mark has no
    partner.
    """
    depth, start, in_quotes, escaped = 0, 0, False, False
    parts: list[str] = []
    for index, character in enumerate(text):
        if in_quotes:
            in_quotes = escaped or character != '"'
            escaped = character == "\\" and not escaped
        elif character == '"':
            in_quotes = True
        elif character == "[":
            depth += 1
        elif character == "]":
            depth -= 1
            if depth < 0:
                break
        elif character == "," and depth == 0:
            parts.append(text[start:index])
            start = index + 1
    if depth != 0 or in_quotes:
        raise ConfigurationError(f'a bracket or quotation mark has no partner in "{whole}"')
    parts.append(text[start:])
    yield from (part for part in parts if part.strip())
