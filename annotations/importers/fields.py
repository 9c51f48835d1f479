"""Takes typed fields out of a parsed JSON object and names the field where the type is wrong."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from annotations.importers.problems import Problems, Where
from annotations.importers.texts import MAX_NAME, storable, text_fault

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class JsonObject:
    """A JSON object in its place. Every reading method notes a problem and returns None where the
    field is bad."""

    value: dict[str, Any]
    where: Where
    path: str
    problems: Problems

    @classmethod
    def of(cls, value: Any, where: Where, problems: Problems, path: str = "") -> JsonObject | None:
        """``value`` as an object; notes a problem and returns None where it is something else."""
        if isinstance(value, dict):
            return cls(value, where, path, problems)
        problems.add(where, path, f"must be an object, not {kind_of(value)}")
        return None

    def field(self, key: str) -> str:
        """The path of a field below ``where``, as problems name it."""
        return f"{self.path}.{key}" if self.path else key

    def complain(self, key: str, message: str) -> None:
        self.problems.add(self.where, self.field(key), message)

    def has(self, key: str) -> bool:
        return key in self.value

    def refuse_unknown(self, known: Collection[str]) -> None:
        """Notes a problem for every key that the format does not have: most often a misspelt
        one."""
        for key in self.value:
            if key not in known:
                self.complain(storable(key[:MAX_NAME]), "is not a field of this format")

    def text(self, key: str, limit: int, may_be_empty: bool = False) -> str | None:
        """A string of at most ``limit`` characters, as it stands in the file."""
        if self._is_missing(key):
            return None
        return self._checked_text(self.value[key], self.field(key), limit, may_be_empty)

    def name(self, key: str) -> str | None:
        """An id or a name: a string that is not empty; a whole number is taken as its digits."""
        if self._is_missing(key):
            return None
        value = self.value[key]
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        return self._checked_text(value, self.field(key), MAX_NAME)

    def texts(self, key: str, limit: int, may_be_empty: bool = False) -> tuple[str, ...] | None:
        """A list of strings, none of them empty unless ``may_be_empty``."""
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
        """A finite number."""
        if self._is_missing(key):
            return None
        return self.as_number(self.value[key], self.field(key))

    def numbers(self, key: str) -> tuple[float, ...] | None:
        """A list of finite numbers."""
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
        """A whole number, 0 or more."""
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
        """True or false."""
        if self._is_missing(key):
            return None
        value = self.value[key]
        if not isinstance(value, bool):
            self.complain(key, f"must be true or false, not {kind_of(value)}")
            return None
        return value

    def child(self, key: str) -> JsonObject | None:
        """A field that is itself an object."""
        if self._is_missing(key):
            return None
        return JsonObject.of(self.value[key], self.where, self.problems, self.field(key))

    def children(self, key: str) -> tuple[JsonObject, ...] | None:
        """A field that is a list of objects."""
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
        """A list of anything."""
        if self._is_missing(key):
            return None
        value = self.value[key]
        if not isinstance(value, list):
            self.complain(key, f"must be a list, not {kind_of(value)}")
            return None
        return value

    def as_number(self, value: Any, field: str) -> float | None:
        """``value`` as a float; ``field`` is its path below ``where``. true and false are no
        numbers here."""
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
    """What a JSON value is, in the words of JSON."""
    kinds = {
        dict: "an object",
        list: "a list",
        str: "a string",
        bool: "true or false",
        type(None): "null",
    }
    return kinds.get(type(value), "a number")


def all_or_none(values: Sequence[T | None]) -> tuple[T, ...] | None:
    """The values as a tuple, or None where one is missing: half a list is no list."""
    present = [value for value in values if value is not None]
    return tuple(present) if len(present) == len(values) else None
