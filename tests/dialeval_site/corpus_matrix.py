"""What each role gets at each address of corpora, of metrics and of the site itself."""

from __future__ import annotations

from dataclasses import dataclass

from tests.dialeval_site.small_corpora import IMPORT


@dataclass(frozen=True)
class Address:
    """A URL name and what each role gets, in the order anonymous, participant, rater, organiser,
    superuser.

    A figure is a status; ``login`` is the way to the log-in page, ``done`` a form carried out (a
    redirect elsewhere). ``private`` is the same on a corpus that is not public; "" where the
    address is of no corpus.
    """

    method: str
    public: str
    private: str = ""
    data: tuple[tuple[str, str], ...] = ()
    position: int | None = None
    name: str = ""
    """Of a metric, in an address that is of no corpus."""


EVERYBODY = "200 200 200 200 200"
WHO_MAY_SEE = "404 404 404 200 200"
ORGANISERS = "login 403 403 200 200"
ORGANISERS_DO = "login 403 403 done done"

MATRIX = {
    "health": Address("GET", EVERYBODY),
    "ready": Address("GET", EVERYBODY),
    "monitoring": Address("GET", "404 404 404 404 404"),
    "home": Address("GET", EVERYBODY),
    "desk": Address("GET", "login 200 200 200 200"),
    "help": Address("GET", EVERYBODY),
    "help-page": Address("GET", EVERYBODY, name="rater"),
    "tour": Address("POST", "login done done done done"),
    "metrics": Address("GET", EVERYBODY),
    "metric": Address("GET", EVERYBODY, name="word_f1"),
    "runs": Address("GET", ORGANISERS),
    "login": Address("GET", "200 done done done done"),
    "logout": Address("POST", "done done done done done"),
    "corpus-new": Address("GET", ORGANISERS),
    "corpus-import": Address("GET", ORGANISERS, position=IMPORT),
    "corpus-import-cancel": Address("POST", ORGANISERS_DO, position=IMPORT),
    "corpus-upload": Address("POST", "login 403 403 422 422"),
    "corpus-upload-part": Address("POST", "login 403 403 404 404", name="nobodys"),
    "corpus-seen-by": Address("POST", ORGANISERS_DO, ORGANISERS_DO, data=(("seen_by", "nobody"),)),
    "corpus-settings": Address("GET", ORGANISERS, ORGANISERS),
    "corpus-add": Address("GET", ORGANISERS, ORGANISERS),
    "corpus-subset": Address("GET", ORGANISERS, ORGANISERS),
    "corpus-delete": Address("POST", ORGANISERS_DO, ORGANISERS_DO, data=(("slug", "another"),)),
    "corpus-export": Address("GET", ORGANISERS, ORGANISERS),
    "corpus": Address("GET", EVERYBODY, WHO_MAY_SEE),
    "dialogues": Address("GET", EVERYBODY, WHO_MAY_SEE),
    "dialogue": Address("GET", EVERYBODY, WHO_MAY_SEE, position=0),
    "metric-leaderboard": Address("GET", EVERYBODY, WHO_MAY_SEE),
    "case-study": Address("GET", EVERYBODY, WHO_MAY_SEE),
    "metric-heat-map": Address("GET", EVERYBODY, WHO_MAY_SEE),
    "published-tables": Address("GET", EVERYBODY, WHO_MAY_SEE),
    "response-map": Address("GET", EVERYBODY, WHO_MAY_SEE),
    "metric-preferences": Address("GET", EVERYBODY, WHO_MAY_SEE),
    "scatter": Address("GET", EVERYBODY, WHO_MAY_SEE),
    "metric-comparison": Address("GET", EVERYBODY, WHO_MAY_SEE),
    "system-leaderboard": Address("GET", EVERYBODY, WHO_MAY_SEE),
    "preference-leaderboard": Address("GET", EVERYBODY, WHO_MAY_SEE),
    "system-comparison": Address("GET", EVERYBODY, WHO_MAY_SEE),
    "analysis": Address("GET", "404 404 404 404 404", name="1.not-signed"),
    "analysis-retry": Address("POST", "login 403 403 404 404", name="1.not-signed"),
    "agreement": Address("GET", EVERYBODY, WHO_MAY_SEE),
    "rater-effects": Address("GET", EVERYBODY, WHO_MAY_SEE),
    "fewer-ratings": Address("GET", EVERYBODY, WHO_MAY_SEE),
    "corpus-runs": Address("GET", EVERYBODY, WHO_MAY_SEE),
    "corpus-runs-progress": Address("GET", EVERYBODY, WHO_MAY_SEE),
    "score": Address("POST", ORGANISERS_DO, ORGANISERS_DO, data=(("metrics", "word_f1"),)),
    "retry-failed": Address("POST", ORGANISERS_DO, ORGANISERS_DO),
    "withdraw-waiting": Address("POST", ORGANISERS_DO, ORGANISERS_DO),
    "judge-runs": Address("GET", EVERYBODY, WHO_MAY_SEE),
    "judge-inspector": Address("GET", EVERYBODY, WHO_MAY_SEE),
    "judge-answer": Address("GET", EVERYBODY, WHO_MAY_SEE, position=0),
    "judge-hygiene": Address("GET", EVERYBODY, WHO_MAY_SEE),
    "judge-progress": Address("GET", EVERYBODY, WHO_MAY_SEE),
    "judge-estimate": Address(
        "POST", "login 403 403 422 422", "login 403 403 422 422", data=(("judge", "none"),)
    ),
    "judge-start": Address(
        "POST", "login 403 403 422 422", "login 403 403 422 422", data=(("judge", "none"),)
    ),
    "judge-stop": Address(
        "POST", "login 403 403 404 404", "login 403 403 404 404", data=(("metric", "none"),)
    ),
    "judge-resume": Address(
        "POST", "login 403 403 404 404", "login 403 403 404 404", data=(("metric", "none"),)
    ),
    "judge-forget": Address(
        "POST", "login 403 403 404 404", "login 403 403 404 404", data=(("model", "none"),)
    ),
    "judge-budget": Address(
        "POST", "login 403 403 404 404", "login 403 403 404 404", data=(("metric", "none"),)
    ),
}
