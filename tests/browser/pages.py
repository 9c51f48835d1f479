"""Every page of the site and who opens it: what holds for all pages is tested on all of these."""

from __future__ import annotations

from typing import Final

CORPUS: Final = "/corpora/demo/"
HOSTILE: Final = "/corpora/hostile/"
CHALLENGE: Final = "/challenges/demo-challenge/"
ROUND: Final = f"{CHALLENGE}rounds/practice/"
RATED: Final = "/campaigns/demo-rated/"
PARTS: Final = (
    "",
    "metrics/",
    "metrics/plots/",
    "systems/",
    "agreement/",
    "dialogues/",
    "dialogues/0/",
    "runs/",
    "judges/",
)
MORE_PARTS: Final = (
    "metrics/cases/",
    "metrics/compare/?first=word_f1&second=rouge_l",
    "metrics/heat-map/",
    "metrics/preferences/",
    "metrics/published/",
    "systems/compare/",
    "systems/fewer-ratings/",
    "systems/map/",
    "systems/preferences/",
    "agreement/raters/",
    "judges/inspect/",
    "judges/hygiene/",
    "metric-scores/",
)
OF_CORPORA: Final = [f"{corpus}{part}" for corpus in (CORPUS, HOSTILE) for part in PARTS]
OPEN: Final = [
    "/",
    "/metrics/",
    "/metrics/fbd/",
    "/metrics/word_f1/?corpus=hostile",
    "/accounts/login/",
    "/accounts/sign-up/",
    "/accounts/password/forgotten/",
    "/accounts/password/forgotten/sent/",
    "/api/v1/docs/",
    "/help/",
    "/help/?q=agreement",
    "/help/formats/",
    "/challenges/",
    CHALLENGE,
    f"{CHALLENGE}rules/",
    ROUND,
    f"{ROUND}board/",
    *(f"{CORPUS}{part}" for part in MORE_PARTS),
]
RATERS: Final = [
    "/",
    "/desk/",
    "/rate/",
    "/rate/demo-responses/",
    "/rate/demo-responses/guidelines/",
    "/rate/demo-responses/item/",
    "/rate/demo-responses/own/",
    "/rate/demo-meeting/meet/",
    "/accounts/password/",
    "/accounts/two-factor/",
    "/accounts/",
]
"""As somebody with an account of their own: what the demo's visitors share, nobody changes."""
PARTICIPANTS: Final = [
    "/",
    "/desk/",
    "/submissions/",
    "/accounts/",
    "/accounts/tokens/",
    "/accounts/webhooks/",
    f"{CORPUS}metric-scores/",
    CHALLENGE,
    f"{CHALLENGE}team/",
    ROUND,
    f"{ROUND}prompt/",
    f"{ROUND}board/",
]
ORGANISERS: Final = [
    "/",
    "/desk/",
    "/runs/",
    "/audit/",
    "/corpora/new/",
    f"{CORPUS}settings/",
    f"{CORPUS}add/",
    f"{CORPUS}subset/",
    "/training/",
    "/judges/",
    "/judges/new/",
    f"{CORPUS}runs/",
    f"{CORPUS}judges/",
    f"{HOSTILE}runs/",
    "/challenges/new/",
    f"{CHALLENGE}settings/",
    f"{CHALLENGE}rules/edit/",
    f"{CHALLENGE}teams/",
    f"{CHALLENGE}submissions/",
    f"{CHALLENGE}rounds/new/",
    f"{ROUND}settings/",
    f"{ROUND}board/?part=private",
    "/campaigns/",
    "/campaigns/new/",
    RATED,
    *(
        f"{RATED}{part}/"
        for part in ("settings", "form", "guidelines", "checks", "raters", "ratings", "agreement")
    ),
    *(f"{RATED}{part}/" for part in ("plan", "preview", "adjudication")),
    "/campaigns/demo-responses/",
    "/campaigns/demo-meeting/dialogues/",
    "/chat-systems/",
    "/arenas/",
    "/arenas/new/",
]
FRAGMENTS_AND_FILES: Final = frozenset(
    (
        *(
            "corpus-runs-progress",
            "judge-progress",
            "room-lines",
            "chat-messages",
            "submission-progress",
        ),
        *(
            "campaign-export",
            "corpus-export",
            "round-dialogues",
            "round-template",
            "submission-file",
            "metric-scores-template",
        ),
        *("health", "ready", "monitoring"),
    )
)
MADE_BY_OTHER_TESTS: Final = frozenset(
    (
        *(
            "analysis",
            "training",
            "judge-trial",
            "judge-answer",
            "judge-prompt",
            "judge-prompt-edit",
            "corpus-import",
        ),
        *("room", "chat", "chat-system", "submission", "campaign-adjudicate"),
        *("arena", "arena-battle", "arena-invited", "arena-leaderboard", "arena-manage"),
        *("campaign-join", "team-join", "password-reset-link", "two-factor-log-in"),
        *("openid-log-in", "openid-return", "openid-first-log-in"),
    )
)
"""There for a moment, or behind a link that is made once: the tests that come there have axe look
at them."""
