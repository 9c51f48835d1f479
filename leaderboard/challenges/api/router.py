"""The routers of this app as one."""

from __future__ import annotations

from ninja import Router

from leaderboard.challenges.api import audit, challenges, rounds, scores, submissions

router = Router()
for part in (challenges, rounds, submissions, scores, audit):
    router.add_router("", part.router)
