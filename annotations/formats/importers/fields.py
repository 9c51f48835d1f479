"""Takes typed fields out of a parsed JSON object and names the field where the type is wrong.

Here, too, are the scales of USR's questionnaire (Mehri & Eskenazi 2020, ACL, section 3), which two
of the formats share.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from annotations.formats.importers.problems import Problems, Where
from common.text import MAX_NAME, storable, text_fault

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class JsonObject:
    """A JSON object and its position in a file.

    Every reading method notes a problem and returns None where the field is missing or bad. The
    first problem after 100 raises ImportFailed.

    Attributes:
        value: the parsed object.
        where: JSON path of the element, or number of the line, that holds it.
        path: path of this object below ``where``; "" for the element itself.
        problems: collects faults.
    """

    value: dict[str, Any]
    where: Where
    path: str
    problems: Problems

    @classmethod
    def of(cls, value: Any, where: Where, problems: Problems, path: str = "") -> JsonObject | None:
        """Wrap a parsed value that must be an object.

        Args:
            value: any parsed JSON value.
            where: JSON path or line number for problems.
            problems: collects faults.
            path: path of the value below ``where``.

        Returns:
            The object; None, with a problem noted, where ``value`` is something else.
        """
        if isinstance(value, dict):
            return cls(value, where, path, problems)
        problems.add(where, path, f"must be an object, not {kind_of(value)}")
        return None

    def field(self, key: str) -> str:
        """The path of a field below ``where``, as problems name it.

        Args:
            key: name of the field in this object.

        Returns:
            ``path.key``, or ``key`` where ``path`` is "".
        """
        return f"{self.path}.{key}" if self.path else key

    def complain(self, key: str, message: str) -> None:
        """Note a problem with a field of this object.

        Args:
            key: name of the field.
            message: what is wrong with it, as a predicate ("is empty").
        """
        self.problems.add(self.where, self.field(key), message)

    def has(self, key: str) -> bool:
        """Whether the object has the field, null included."""
        return key in self.value

    def refuse_unknown(self, known: Collection[str]) -> None:
        """Note a problem for every key that the format does not have: most often a misspelt one.

        Args:
            known: the keys of the format.
        """
        for key in self.value:
            if key not in known:
                self.complain(storable(key[:MAX_NAME]), "is not a field of this format")

    def text(self, key: str, limit: int, may_be_empty: bool = False) -> str | None:
        """Read a string.

        Args:
            key: name of the field.
            limit: most characters.
            may_be_empty: accept a string of nothing but white space.

        Returns:
            The string as it stands in the file, not stripped; None where it is missing or bad.
        """
        if self._is_missing(key):
            return None
        return self._checked_text(self.value[key], self.field(key), limit, may_be_empty)

    def name(self, key: str) -> str | None:
        """Read an id or a name.

        Args:
            key: name of the field.

        Returns:
            A string that is not empty, of at most ``MAX_NAME`` characters, or the digits of a whole
            number; None where it is missing or bad.
        """
        if self._is_missing(key):
            return None
        value = self.value[key]
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        return self._checked_text(value, self.field(key), MAX_NAME)

    def texts(self, key: str, limit: int, may_be_empty: bool = False) -> tuple[str, ...] | None:
        """Read a list of strings.

        Args:
            key: name of the field.
            limit: most characters of each string.
            may_be_empty: accept strings of nothing but white space. The list may be empty in any
                case.

        Returns:
            The strings as they stand in the file; None where the list or any string is missing or
            bad.
        """
        values = self.items(key)
        if values is None:
            return None
        return all_or_none(
            [
                self._checked_text(value, f"{self.field(key)}[{index}]", limit, may_be_empty)
                for index, value in enumerate(values)
            ]
        )

    def number(self, key: str) -> float | None:
        """Read a finite number.

        Args:
            key: name of the field.

        Returns:
            The number; None where it is missing or bad, as in ``as_number``.
        """
        if self._is_missing(key):
            return None
        return self.as_number(self.value[key], self.field(key))

    def numbers(self, key: str) -> tuple[float, ...] | None:
        """Read a list of finite numbers.

        Args:
            key: name of the field.

        Returns:
            The numbers, none for an empty list; None where the list or any number is missing or
            bad.
        """
        values = self.items(key)
        if values is None:
            return None
        return all_or_none(
            [
                self.as_number(value, f"{self.field(key)}[{index}]")
                for index, value in enumerate(values)
            ]
        )

    def parse_integer(self, key: str) -> int | None:
        """Read a whole number from 0 to 2³¹ − 1.

        Args:
            key: name of the field.

        Returns:
            The number; None where it is missing, out of range or of another type (2.0 included).
        """
        if self._is_missing(key):
            return None
        value = self.value[key]
        if isinstance(value, bool) or not isinstance(value, int):
            self.complain(key, f"must be a whole number, not {kind_of(value)}")
            return None
        if not 0 <= value < 2**31:
            self.complain(key, "must be 0 or more and below 2,147,483,648")
            return None
        return value

    def flag(self, key: str) -> bool | None:
        """Read true or false.

        Args:
            key: name of the field.

        Returns:
            The value; None where it is missing or of another type.
        """
        if self._is_missing(key):
            return None
        value = self.value[key]
        if not isinstance(value, bool):
            self.complain(key, f"must be true or false, not {kind_of(value)}")
            return None
        return value

    def child(self, key: str) -> JsonObject | None:
        """Read a field that is itself an object.

        Args:
            key: name of the field.

        Returns:
            The object, which reports problems below this one; None where it is missing or of
            another type.
        """
        if self._is_missing(key):
            return None
        return JsonObject.of(self.value[key], self.where, self.problems, self.field(key))

    def children(self, key: str) -> tuple[JsonObject, ...] | None:
        """Read a field that is a list of objects.

        Args:
            key: name of the field.

        Returns:
            The objects, each reporting problems with its index; None where the list is missing or
            any item is of another type.
        """
        values = self.items(key)
        if values is None:
            return None
        return all_or_none(
            [
                JsonObject.of(value, self.where, self.problems, f"{self.field(key)}[{index}]")
                for index, value in enumerate(values)
            ]
        )

    def items(self, key: str) -> list[Any] | None:
        """Read a list of anything.

        Args:
            key: name of the field.

        Returns:
            The list with its parsed items, unchecked; None where it is missing or of another type.
        """
        if self._is_missing(key):
            return None
        value = self.value[key]
        if not isinstance(value, list):
            self.complain(key, f"must be a list, not {kind_of(value)}")
            return None
        return value

    def as_number(self, value: Any, field: str) -> float | None:
        """Check a parsed value that must be a finite number.

        Args:
            value: any parsed JSON value. true and false are no numbers here.
            field: its path below ``where``.

        Returns:
            The number, with −0 as 0; None, with a problem noted, where it is none or too large.
        """
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.problems.add(self.where, field, f"must be a number, not {kind_of(value)}")
            return None
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            self.problems.add(self.where, field, "is too large to be a number here")
            return None
        # Minus zero is zero: the two would otherwise make two versions of one corpus.
        return number + 0.0

    def _checked_text(
        self, value: Any, field: str, limit: int, may_be_empty: bool = False
    ) -> str | None:
        if not isinstance(value, str):
            self.problems.add(self.where, field, f"must be a string, not {kind_of(value)}")
            return None
        fault = text_fault(value, limit, may_be_empty)
        if fault:
            self.problems.add(self.where, field, fault)
            return None
        return value

    def _is_missing(self, key: str) -> bool:
        if key in self.value:
            return False
        self.complain(key, "is missing")
        return True


def kind_of(value: Any) -> str:
    """Name the type of a JSON value in the terms of JSON.

    Args:
        value: any parsed JSON value.

    Returns:
        "an object", "a list", "a string", "true or false", "null", or "a number" for all else.
    """
    kinds = {
        dict: "an object",
        list: "a list",
        str: "a string",
        bool: "true or false",
        type(None): "null",
    }
    return kinds.get(type(value), "a number")


def all_or_none(values: Sequence[T | None]) -> tuple[T, ...] | None:
    """The values as a tuple, or None where one is missing: half a list is no list.

    Args:
        values: items of a list, None for each that could not be read.

    Returns:
        All values, in order; None where any of them is None.
    """
    present = [value for value in values if value is not None]
    return tuple(present) if len(present) == len(values) else None


USR_SCALES: dict[str, tuple[float, float]] = {
    "Understandable": (0.0, 1.0),
    "Natural": (1.0, 3.0),
    "Maintains Context": (1.0, 3.0),
    "Engaging": (1.0, 3.0),
    "Uses Knowledge": (0.0, 1.0),
    "Overall": (1.0, 5.0),
}
