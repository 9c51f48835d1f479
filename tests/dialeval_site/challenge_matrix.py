"""What each role gets at each address of challenges, of accounts and of the log, and each caller at
each operation of the API."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.dialeval_site.small_challenges import BARE, CUP, DRAFT, HIDDEN, OPEN


@dataclass(frozen=True)
class Address:
    """A URL name, a method and what each role gets, in the order anonymous, participant, member of
    another team, member of the team, member of a disqualified team, rater, organiser, superuser.
    The words are those of ``addresses.outcome``; 409 and 422 say that the form came through.

    ``of`` is what the address names: a submission is the team's, of a disqualified one its own;
    tokens and webhooks are the asking person's own. ``file`` is the field that carries one.
    """

    name: str
    method: str
    roles: str
    of: str = ""
    data: tuple[tuple[str, str], ...] = ()
    challenge: str = CUP
    round: str = OPEN
    file: bytes | None = None


def _of(name: str, method: str, roles: str, of: str, /, **more: Any) -> Address:
    fixed = {key: more.pop(key) for key in ("challenge", "round", "file") if key in more}
    return Address(name, method, roles, of, tuple(more.items()), **fixed)


EVERYBODY = "200 200 200 200 200 200 200 200"
LOGGED_IN = "login 200 200 200 200 200 200 200"
MAY_DO = "login done done done done done done done"
NOT_FOUND = "404 404 404 404 404 404 404 404"


def _organisers(name: str, method: str, got: str, of: str, /, **more: Any) -> Address:
    return _of(name, method, f"login 403 403 403 403 403 {got} {got}", of, **more)


OF_THE_TEAM = "login 404 404 200 200 404 200 200"


GOOD_FILE = b'{"dialog_id": "soup", "turn": 0, "response": "Salt."}\n'
SCORES = b"dialog_id,turn,system,score\nsoup,0,cook,0.5\n"

MATRIX = [
    # what everybody reads
    _of("challenges", "GET", EVERYBODY, ""),
    _of("challenge", "GET", EVERYBODY, "challenge"),
    _of("challenge-rules", "GET", EVERYBODY, "challenge"),
    _of("round", "GET", EVERYBODY, "round"),
    _of("board", "GET", EVERYBODY, "round"),
    _of("round-dialogues", "GET", EVERYBODY, "round"),
    _of("round-template", "GET", EVERYBODY, "round"),
    _of("api-docs", "GET", EVERYBODY, ""),
    _of("openapi-json", "GET", EVERYBODY, ""),
    # a round with hidden references: its files are for teams, and what is hidden in them is tested
    # elsewhere
    _of("round", "GET", EVERYBODY, "round", round=HIDDEN),
    _of("board", "GET", EVERYBODY, "round", round=HIDDEN),
    _of("round-dialogues", "GET", "login 403 200 200 200 403 200 200", "round", round=HIDDEN),
    _of("round-template", "GET", "login 403 200 200 200 403 200 200", "round", round=HIDDEN),
    # teams
    _of("team", "GET", "login done 200 200 200 done done done", "challenge"),
    _of("team-new", "POST", "login done 422 422 422 done done done", "challenge", name="New cooks"),
    _of("team-invitation", "POST", "login 404 done done done 404 404 404", "challenge"),
    _of(
        "team-remove", "POST", "login 404 done done done 404 404 404", "challenge", member="nobody"
    ),
    _of("team-leave", "POST", "login 404 done done done 404 404 404", "challenge"),
    _of("team-join", "GET", "200 200 200 done 200 200 200 200", "invitation"),
    _of("team-join", "POST", "login done 409 done 409 done done done", "invitation"),
    # handing in
    _of(
        "round-submit",
        "POST",
        "login 403 done done 403 403 403 403",
        "round",
        name="mine",
        file=GOOD_FILE,
    ),
    _of(
        "round-submit",
        "POST",
        "login 403 done done 403 403 403 403",
        "round",
        name="mine",
        file=GOOD_FILE,
        round=HIDDEN,
    ),
    _of("prompt-new", "GET", LOGGED_IN, "round"),
    _of(
        "prompt-new",
        "POST",
        "login 403 done done 403 403 403 403",
        "round",
        name="mine",
        user="{history}",
        max_tokens="100",
        temperature="0",
        top_p="1",
    ),
    _of(
        "prompt-try",
        "POST",
        LOGGED_IN,
        "round",
        user="{history}",
        max_tokens="100",
        temperature="0",
        top_p="1",
    ),
    # submissions
    _of("my-submissions", "GET", LOGGED_IN, ""),
    _of("submission", "GET", OF_THE_TEAM, "scored"),
    _of("submission", "GET", OF_THE_TEAM, "hidden"),
    _of("submission-progress", "GET", OF_THE_TEAM.replace("login", "401"), "scored"),
    _of("submission-file", "GET", OF_THE_TEAM, "scored"),
    _of("submission-cancel", "POST", OF_THE_TEAM.replace("200", "done"), "waiting"),
    _organisers("submission-retry", "POST", "done", "scored"),
    _organisers("submission-re-evaluate", "POST", "done", "scored"),
    _organisers("submission-disqualify", "POST", "done", "scored", reason="copied"),
    _organisers("submission-reinstate", "POST", "done", "scored"),
    _organisers("submission-baseline", "POST", "done", "scored", is_baseline="yes"),
    # running it
    _organisers("challenge-new", "GET", "200", ""),
    _organisers("challenge-new", "POST", "422", "", name=""),
    _organisers("challenge-settings", "GET", "200", "challenge"),
    _organisers("challenge-settings", "POST", "422", "challenge", name=""),
    _organisers("challenge-judge-budget", "POST", "done", "challenge", tokens="1000"),
    _organisers("challenge-state", "POST", "done", "challenge", to="close"),
    _organisers("challenge-delete", "POST", "done", "challenge", slug=DRAFT, challenge=DRAFT),
    _organisers("challenge-rules-edit", "GET", "200", "challenge"),
    _organisers("challenge-rules-edit", "POST", "done", "challenge", text="Cook together."),
    _organisers("challenge-teams", "GET", "200", "challenge"),
    _organisers("challenge-submissions", "GET", "200", "challenge"),
    _organisers("round-new", "GET", "200", "challenge"),
    _organisers("round-new", "POST", "422", "challenge", name=""),
    _organisers("round-settings", "GET", "200", "round"),
    _organisers("round-settings", "POST", "422", "round", name=""),
    _organisers("round-delete", "POST", "done", "round", round=BARE),
    _organisers("round-release", "POST", "done", "round"),
    _organisers("round-publish", "POST", "done", "round"),
    _organisers("round-withhold", "POST", "done", "round"),
    _organisers("round-open-references", "POST", "done", "round", round=HIDDEN),
    _organisers("round-re-evaluate", "POST", "done", "round"),
    _organisers("challenge-bans", "POST", "422", "challenge"),
    _organisers("team-member-remove", "POST", "422", "team"),
    _organisers("team-invitation-revoke", "POST", "done", "team"),
    _organisers("team-disqualify", "POST", "done", "team", reason="copied"),
    _organisers("team-reinstate", "POST", "done", "team"),
    _organisers("audit", "GET", "200", ""),
    # metric scores: anybody may hand in; the owner is of the team
    _of("metric-scores", "GET", EVERYBODY, "corpus"),
    _of(
        "metric-scores",
        "POST",
        MAY_DO,
        "corpus",
        name="t",
        level="turn",
        direction="higher",
        file=SCORES,
    ),
    _of("metric-scores-template", "GET", EVERYBODY, "corpus"),
    _of(
        "metric-scores-withdraw",
        "POST",
        "login 403 403 done 403 403 done done",
        "metric",
        reason="a slip",
    ),
    _of("metric-scores", "GET", "404 404 404 404 404 404 200 200", "hidden corpus"),
    _of("metric-scores-template", "GET", "404 404 404 404 404 404 200 200", "hidden corpus"),
    # one's own account
    _of("account", "GET", LOGGED_IN, ""),
    # without the password
    _of("account", "POST", "login 422 422 422 422 422 422 422", "", email="cook@example.org"),
    _of("sign-up", "GET", "200 done done done done done done done", ""),
    _of("sign-up", "POST", "422 done done done done done done done", ""),
    _of("password-change", "GET", LOGGED_IN, ""),
    _of("password-change", "POST", "login 422 422 422 422 422 422 422", ""),
    _of("password-reset", "GET", EVERYBODY, ""),
    # the tests' site sends no e-mail
    _of("password-reset", "POST", "403 403 403 403 403 403 403 403", ""),
    _of("password-reset-sent", "GET", EVERYBODY, ""),
    _of("password-reset-link", "GET", EVERYBODY, "reset link"),
    _of("password-reset-link", "POST", EVERYBODY, "reset link"),  # "this link opens nothing"
    _of("two-factor", "GET", LOGGED_IN, ""),
    _of("two-factor", "POST", "login 422 422 422 422 422 422 422", ""),
    _of("two-factor-codes", "POST", "login 422 422 422 422 422 422 422", ""),
    _of("two-factor-off", "POST", "login 422 422 422 422 422 422 422", ""),
    _of("two-factor-log-in", "GET", "login done done done done done done done", ""),
    _of("two-factor-log-in", "POST", "login done done done done done done done", ""),
    # the tests' site has no provider
    _of("openid-log-in", "GET", NOT_FOUND, ""),
    _of("openid-return", "GET", NOT_FOUND, ""),
    _of("openid-first-log-in", "GET", NOT_FOUND, ""),
    _of("openid-first-log-in", "POST", NOT_FOUND, ""),
    _of("openid-unlink", "POST", MAY_DO, ""),
    _of("tokens", "GET", LOGGED_IN, ""),
    _of("tokens", "POST", "login 422 422 422 422 422 422 422", ""),
    _of("token-revoke", "POST", MAY_DO, "token"),
    _of("webhooks", "GET", LOGGED_IN, ""),
    _of("webhooks", "POST", "login 422 422 422 422 422 422 422", ""),
    _of("webhook-delete", "POST", MAY_DO, "webhook"),
    _of("webhook-try", "POST", MAY_DO, "webhook"),
    _of("mail-choice", "POST", MAY_DO, "", wanted="yes"),
]


# --- the API --------------------------------------------------------------------------------------

CALLERS = (
    "no token", "expired", "revoked", "deactivated", "stranger", "read", "submit", "export",
    "organise", "rival", "disqualified", "no organiser", "organiser",
)  # fmt: skip
"""Who asks. ``read``, ``submit`` and ``export`` are tokens of a member with that scope alone,
``organise`` one of an organiser; stranger, rival and disqualified hold all three scopes of theirs;
``no organiser`` was one when the token was made; the organiser's token has every scope."""


@dataclass(frozen=True)
class Operation:
    """An operation of the API: what stands in its path, what is sent, and what each caller gets, in
    the order of ``CALLERS``."""

    name: str
    method: str
    path: str
    statuses: str
    body: dict[str, Any] | None = None
    file: bytes | None = None


def _operation(name: str, method: str, path: str, statuses: str, **more: Any) -> Operation:
    return Operation(name, method, path, " ".join(statuses.split()), **more)


PUBLIC_READ = "200 401 401 401   200 200 403 403 403   200 200 403 200"
HIDDEN_READ = "404 401 401 401   404 404 403 403 403   404 404 403 200"
ORGANISERS_READ = "401 401 401 401   403 403 403 403 200   403 403 403 200"
DUEL, NEW_DUEL = "duel", "new-duel"
PILOT = "pilot"
ROUND, FINAL = f"/challenges/{CUP}/rounds/{OPEN}", f"/challenges/{CUP}/rounds/{HIDDEN}"

OPERATIONS = [
    # tokens: whoever knows a password makes one
    _operation(
        "make_token",
        "POST",
        "/tokens",
        "401 401 401 401   401 401 401 401 401   401 401 401 401",
        body={"username": "the-member", "password": "not this one"},
    ),
    _operation("get_me", "GET", "/me", "401 401 401 401   200 200 403 403 403   200 200 403 200"),
    _operation(
        "revoke_token",
        "DELETE",
        "/tokens/current",
        "401 401 401 401   204 204 403 403 403   204 204 403 204",
    ),
    # challenges and teams
    _operation("list_challenges", "GET", "/challenges", PUBLIC_READ),
    _operation("get_challenge", "GET", f"/challenges/{CUP}", PUBLIC_READ),
    _operation("get_challenge", "GET", f"/challenges/{DRAFT}", HIDDEN_READ),
    _operation(
        "found_team",
        "POST",
        f"/challenges/{CUP}/teams",
        "401 401 401 401   201 403 409 403 403   409 409 403 201",
        body={"name": "New cooks"},
    ),
    _operation(
        "join_team",
        "POST",
        f"/challenges/{CUP}/teams/join",
        "401 401 401 401   200 403 200 403 403   409 409 403 200",
        body={"invitation": "<invitation>"},
    ),
    _operation(
        "get_team",
        "GET",
        f"/challenges/{CUP}/team",
        "401 401 401 401   404 200 403 403 403   200 200 403 404",
    ),
    _operation(
        "renew_invitation",
        "POST",
        f"/challenges/{CUP}/team/invitation",
        "401 401 401 401   404 403 200 403 403   200 200 403 404",
    ),
    _operation(
        "revoke_invitation",
        "DELETE",
        f"/challenges/{CUP}/team/invitation",
        "401 401 401 401   404 403 204 403 403   204 204 403 404",
    ),
    _operation(
        "remove_member",
        "POST",
        f"/challenges/{CUP}/team/remove",
        "401 401 401 401   404 403 422 403 403   422 422 403 404",
        body={"member": "nobody"},
    ),
    # rounds
    _operation("get_round", "GET", ROUND, PUBLIC_READ),
    _operation("get_leaderboard", "GET", f"{ROUND}/leaderboard", PUBLIC_READ),
    _operation("get_round_dialogues", "GET", f"{ROUND}/dialogues", PUBLIC_READ),
    _operation(
        "get_round_dialogues",
        "GET",
        f"{FINAL}/dialogues",
        "401 401 401 401   403 200 403 403 403   200 200 403 200",
    ),
    _operation(
        "get_round_template",
        "GET",
        f"{FINAL}/template",
        "401 401 401 401   403 200 403 403 403   200 200 403 200",
    ),
    _operation(
        "list_round_submissions",
        "GET",
        f"{ROUND}/submissions",
        "401 401 401 401   200 200 403 403 403   200 200 403 200",
    ),
    _operation(
        "submit",
        "POST",
        f"{ROUND}/submissions",
        "401 401 401 401   403 403 201 403 403   201 403 403 403",
        body={"name": "mine"},
        file=GOOD_FILE,
    ),
    # submissions: the team's; of a disqualified team its own
    _operation(
        "list_submissions",
        "GET",
        "/submissions",
        "401 401 401 401   200 200 403 403 403   200 200 403 200",
    ),
    _operation(
        "get_submission",
        "GET",
        "/submissions/<scored>",
        "401 401 401 401   404 200 403 403 403   404 200 403 200",
    ),
    _operation(
        "get_submission_log",
        "GET",
        "/submissions/<scored>/log",
        "401 401 401 401   404 200 403 403 403   404 200 403 200",
    ),
    _operation(
        "cancel_submission",
        "POST",
        "/submissions/<waiting>/cancel",
        "401 401 401 401   404 403 200 403 403   404 200 403 200",
    ),
    _operation(
        "retry_submission",
        "POST",
        "/submissions/<scored>/retry",
        "401 401 401 401   403 403 403 403 409   403 403 403 409",
    ),
    _operation(
        "re_evaluate_submission",
        "POST",
        "/submissions/<scored>/re-evaluate",
        "401 401 401 401   403 403 403 403 200   403 403 403 200",
    ),
    # corpora: that of the final is there for organisers only
    _operation("list_corpora", "GET", "/corpora", PUBLIC_READ),
    _operation("list_metrics", "GET", "/metrics", PUBLIC_READ),
    _operation(
        "submit_metric_scores",
        "POST",
        "/corpora/open-kitchen/metric-scores",
        "401 401 401 401   201 403 201 403 403   201 201 403 201",
        body={"name": "t", "level": "turn"},
        file=SCORES,
    ),
    _operation(
        "submit_metric_scores",
        "POST",
        "/corpora/closed-kitchen/metric-scores",
        "401 401 401 401   404 403 404 403 403   404 404 403 409",
        body={"name": "t", "level": "turn"},
        file=SCORES,
    ),
    _operation(
        "export_corpus",
        "GET",
        "/corpora/open-kitchen/export",
        "401 401 401 401   200 403 403 200 403   200 200 403 200",
    ),
    _operation(
        "export_corpus",
        "GET",
        "/corpora/closed-kitchen/export",
        "401 401 401 401   404 403 403 404 403   404 404 403 200",
    ),
    *(
        _operation(name, "GET", f"/corpora/{slug}{path}", statuses)
        for name, path in (
            ("get_corpus", ""),
            ("list_systems", "/systems"),
            ("list_dialogues", "/dialogues"),
            ("get_dialogue", "/dialogues/0"),
            ("get_correlations", "/correlations"),
            ("get_agreement", "/agreement"),
        )
        for slug, statuses in (("open-kitchen", PUBLIC_READ), ("closed-kitchen", HIDDEN_READ))
    ),
    *(
        _operation(name, "GET", f"/corpora/{slug}{path}", statuses)
        for name, path in (
            ("get_preferences", "/preferences"),
            ("get_preference_metrics", "/preferences/metrics"),
        )
        # Neither has any
        for slug, statuses in (
            ("open-kitchen", PUBLIC_READ.replace("200", "404")),
            ("closed-kitchen", HIDDEN_READ.replace("200", "404")),
        )
    ),
    # files in parts and their imports: one's own, of organisers alone
    _operation(
        "begin_upload",
        "POST",
        "/uploads",
        ORGANISERS_READ.replace("200", "201"),
        body={"file_name": "corpus.jsonl", "size": 10, "sha256": "0" * 64},
    ),
    _operation("list_uploads", "GET", "/uploads", ORGANISERS_READ),
    *(
        _operation(name, method, "/uploads/nobodys", ORGANISERS_READ.replace("200", "404"))
        for name, method in (
            ("get_upload", "GET"),
            ("add_part", "PATCH"),
            ("remove_upload", "DELETE"),
        )
    ),
    _operation(
        "import_corpus",
        "POST",
        "/imports",
        ORGANISERS_READ.replace("200", "404"),
        body={"upload": "nobodys"},
    ),
    _operation("list_imports", "GET", "/imports", ORGANISERS_READ),
    _operation("get_import", "GET", "/imports/1000000", ORGANISERS_READ.replace("200", "404")),
    _operation(
        "cancel_import", "POST", "/imports/1000000/cancel", ORGANISERS_READ.replace("200", "404")
    ),
    # arenas: one that everybody sees, one that is not open yet
    _operation("list_arenas", "GET", "/arenas", PUBLIC_READ),
    *(
        _operation(name, "GET", f"/arenas/{slug}{path}", statuses)
        for name, path in (("get_arena", ""), ("get_arena_leaderboard", "/leaderboard"))
        for slug, statuses in ((DUEL, PUBLIC_READ), (NEW_DUEL, HIDDEN_READ))
    ),
    _operation("list_battles", "GET", f"/arenas/{DUEL}/battles", ORGANISERS_READ),
    # campaigns are for organisers alone: nobody else learns that there is one
    *(
        _operation(name, "GET", f"/campaigns{path}", ORGANISERS_READ)
        for name, path in (
            ("list_campaigns", ""),
            ("get_campaign", f"/{PILOT}"),
            ("list_ratings", f"/{PILOT}/ratings"),
            ("list_adjudications", f"/{PILOT}/adjudications"),
            ("get_campaign_agreement", f"/{PILOT}/agreement"),
        )
    ),
    _operation(
        "create_campaign",
        "POST",
        "/campaigns",
        ORGANISERS_READ.replace("200", "201"),
        body={"name": "A study", "corpus": "closed-kitchen", "template": "usr"},
    ),
    _operation(
        "change_campaign_state",
        "POST",
        f"/campaigns/{PILOT}/state",
        ORGANISERS_READ,
        body={"to": "closed"},
    ),
    # the log
    _operation("list_audit", "GET", "/audit", ORGANISERS_READ),
]
