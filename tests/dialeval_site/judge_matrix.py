"""What each role gets at each address of judges that organisers write."""

from __future__ import annotations

from dataclasses import dataclass

ALMOST = "name: kind\nstep: turn"


@dataclass(frozen=True)
class Address:
    """A URL name, a method and what each role gets, in the order anonymous, participant, rater,
    organiser, superuser. The words are those of ``addresses.outcome``; 422 says that the form came
    through. ``of``: what the address names besides the prompt."""

    name: str
    method: str
    roles: str
    of: str = ""
    data: tuple[tuple[str, str], ...] = ()


def _organisers(name: str, method: str, got: str, of: str = "prompt", **data: str) -> Address:
    return Address(name, method, f"login 403 403 {got} {got}", of, tuple(data.items()))


MATRIX = [
    _organisers("judge-prompts", "GET", "200", ""),
    _organisers("judge-prompt-new", "GET", "200", ""),
    _organisers("judge-prompt-new", "POST", "422", "", title="Kinder", text=ALMOST),
    _organisers("judge-prompt", "GET", "200"),
    _organisers("judge-prompt-edit", "GET", "200"),
    _organisers("judge-prompt-edit", "POST", "422", text=ALMOST),
    _organisers("judge-prompt-delete", "POST", "done"),
    _organisers("judge-prompt-try", "POST", "422"),
    _organisers("judge-trial", "GET", "200", "trial"),
    _organisers("judge-trial-stop", "POST", "done", "trial"),
    _organisers("judge-trial-resume", "POST", "done", "trial"),
]
