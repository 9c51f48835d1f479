"""What each role gets at each address of trainings."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Address:
    """A URL name, a method and what each role gets, in the order anonymous, participant, rater,
    organiser, superuser. The words are those of ``addresses.outcome``; 422 says that the form came
    through."""

    name: str
    method: str
    got: str
    of_one: bool = True

    @property
    def roles(self) -> list[str]:
        return ["login", "403", "403", self.got, self.got]


MATRIX = [
    Address("trainings", "GET", "200", of_one=False),
    Address("trainings", "POST", "422", of_one=False),
    Address("training", "GET", "200"),
    Address("training-stop", "POST", "done"),
    Address("training-go-on", "POST", "done"),
    Address("training-delete", "POST", "done"),
]
