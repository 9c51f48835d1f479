"""How many calls may be under way, as the endpoint bears it. Pure."""

from __future__ import annotations


class Places:
    """All, until the endpoint says that it has too much to do: then none for a while, half as many
    after that, and one more each time that as many as there are have been answered."""

    def __init__(self, at_once: int) -> None:
        self.most = at_once
        self.episodes = 0
        """Times that the endpoint had too much to do, since the last answer."""
        self.quiet_until = float("-inf")
        self._exactly = float(at_once)

    @property
    def now(self) -> int:
        return int(self._exactly)

    def is_known(self, begun: float) -> bool:
        """Whether a call that began then met the same trouble as the one before it, and is no new
        episode."""
        return begun <= self.quiet_until

    def slow_down(self, until: float) -> None:
        self._exactly = float(max(1, self.now // 2))
        self.episodes += 1
        self.stay_quiet(until)

    def stay_quiet(self, until: float) -> None:
        self.quiet_until = max(self.quiet_until, until)

    def answered(self) -> None:
        self.episodes = 0
        self._exactly = min(float(self.most), self._exactly + 1 / self.now)
