"""Every setting an operator can make, read from the environment and from nowhere else.

``help`` is what ``make reference`` prints of a setting; a test fails where one says nothing.
"""

from __future__ import annotations

import fcntl
import logging
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

PROJECT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Setting:
    name: str
    default: str
    help: str


SETTINGS: tuple[Setting, ...] = (
    Setting(
        "DIALEVAL_HOME", "var", "Folder of all state: database, broker, word lists, uploads, logs."
    ),
    Setting(
        "DIALEVAL_MODE",
        "development",
        "`development` or `production`. Production refuses to start without SECRET_KEY and "
        "ALLOWED_HOSTS, and sets secure cookies and HTTPS headers.",
    ),
    Setting(
        "DIALEVAL_ASSETS",
        "source",
        "Where style sheets and scripts come from in development: `source`, from the code; "
        "`collected`, joined and compressed, from the folder `static` of DIALEVAL_HOME; `reload`, "
        "from the code, read anew for each request, as templates are. `manage.py run` sets it for "
        "its web server. Production has `collected`.",
    ),
    Setting(
        "SECRET_KEY",
        "",
        "Signs sessions. Required in production; in development one is made and kept in "
        "DIALEVAL_HOME.",
    ),
    Setting(
        "ALLOWED_HOSTS",
        "",
        "Host names the site answers to, separated by commas. Required in production.",
    ),
    Setting(
        "CSRF_TRUSTED_ORIGINS",
        "",
        "Origins such as https://dialeval.example.org, separated by commas.",
    ),
    Setting(
        "DATABASE_URL",
        "",
        "`postgres://user:password@host/name` or `sqlite:///path`. Default: SQLite in "
        "DIALEVAL_HOME.",
    ),
    Setting(
        "DATABASE_POOL_SIZE",
        "8",
        "Most PostgreSQL connections of one process: one for each of its threads.",
    ),
    Setting(
        "DATABASE_PREPARED_STATEMENTS",
        "true",
        "`false` behind a pooler that passes a connection on after each transaction and keeps no "
        "prepared statements.",
    ),
    Setting(
        "CELERY_BROKER_URL",
        "",
        "`redis://:password@host:port/0` or any broker of Celery. Default: a folder in "
        "DIALEVAL_HOME.",
    ),
    Setting("DIALEVAL_POLL_SECONDS", "0.1", "How often the folder broker is looked at."),
    Setting(
        "DIALEVAL_LEASE_SECONDS",
        "60",
        "How long a worker may be silent before its metric run is given to another.",
    ),
    Setting(
        "DIALEVAL_SWEEP_SECONDS", "5", "How often lost hints and expired leases are looked for."
    ),
    Setting(
        "DIALEVAL_MAX_ATTEMPTS",
        "3",
        "How often a metric run is started before it counts as failed.",
    ),
    Setting("DIALEVAL_TASK_SECONDS", "3600", "Longest time one metric run may take."),
    Setting(
        "DIALEVAL_RATING_LEASE_SECONDS",
        "600",
        "How long a rater may be silent before an item in hand is offered to another. An open "
        "page is not silent.",
    ),
    Setting(
        "DIALEVAL_FAST_RATING_SECONDS",
        "2",
        "A rater whose median active time per item is shorter is flagged; organisers are asked "
        "about flagged raters before ratings are published.",
    ),
    Setting(
        "DIALEVAL_LLM_URL",
        "",
        "OpenAI-compatible endpoint of everything that asks a language model, such as "
        "`https://api.example.org/v1`. Empty: `manage.py run` starts the packaged model on "
        "loopback.",
    ),
    Setting("DIALEVAL_LLM_MODEL", "", "The model asked for at DIALEVAL_LLM_URL."),
    Setting("DIALEVAL_LLM_KEY", "", "The key of DIALEVAL_LLM_URL."),
    Setting(
        "DIALEVAL_LLM_CONCURRENCY",
        "8",
        "Calls of judges that one worker process has under way at once.",
    ),
    Setting(
        "DIALEVAL_LLM_REQUESTS_A_MINUTE",
        "0",
        "Most calls of judges a minute to one endpoint and model, of all workers together. 0: no "
        "limit.",
    ),
    Setting(
        "DIALEVAL_LLM_TOKENS_A_MINUTE",
        "0",
        "The same in tokens, of prompts and answers. 0: no limit.",
    ),
    Setting(
        "DIALEVAL_LLM_SECONDS", "60", "How long a judge's call may take before it is tried again."
    ),
    Setting(
        "DIALEVAL_LLM_RETRIES",
        "6",
        "Times that a judge's call is tried again after 429, 5xx, an unreadable answer or none in "
        "time.",
    ),
    Setting(
        "DIALEVAL_LLM_PRICES",
        "",
        "Prices of models, `model=input/output` in USD for a million tokens, separated by commas. "
        "Without a price, what a model costs is not known, and a budget in money cannot be set.",
    ),
    Setting(
        "DIALEVAL_JUDGE_TOKENS",
        "50000000",
        "A judge's budget in tokens where its run was given none. 0: no limit.",
    ),
    Setting(
        "DIALEVAL_JUDGE_USD", "10", "The same in USD, for models that have a price. 0: no limit."
    ),
    Setting(
        "DIALEVAL_SIGN_UP",
        "open",
        "`open`: anybody may create an account. `closed`: accounts come from the admin and from "
        "invitations to rate.",
    ),
    Setting(
        "DIALEVAL_TWO_FACTOR",
        "optional",
        "`optional`: whoever wants to logs in with two factors. `organisers`: organisers and who "
        "may use the admin must, before anything of theirs works.",
    ),
    Setting(
        "DIALEVAL_OIDC_ISSUER",
        "",
        "OpenID Connect provider with which people may log in, such as "
        "`https://login.example.edu/realms/research`. Empty: none.",
    ),
    Setting("DIALEVAL_OIDC_CLIENT_ID", "", "What the provider calls this site."),
    Setting("DIALEVAL_OIDC_CLIENT_SECRET", "", "The secret that the provider gave it."),
    Setting(
        "DIALEVAL_OIDC_NAME",
        "your institution",
        "What the log-in page calls the provider: *Log in with …*.",
    ),
    Setting(
        "DIALEVAL_OIDC_SIGN_UP",
        "false",
        "`true`: people of the provider may create an account at their first log-in, also where "
        "DIALEVAL_SIGN_UP is `closed`. `false`: they need an account with their e-mail address.",
    ),
    Setting(
        "DIALEVAL_MAX_IMPORT_MB",
        "10000",
        "Largest file that is imported as a corpus, in megabytes: by a command, or by an organiser "
        "in the browser.",
    ),
    Setting(
        "DIALEVAL_MAX_CORPUS_UPLOAD_MB",
        "0",
        "The same of the browser alone; 0: DIALEVAL_MAX_IMPORT_MB. Goes with 0.4.0.",
    ),
    Setting(
        "DIALEVAL_IMPORT_SECONDS",
        "600",
        "Longest time a corpus may take to be downloaded from an address, in seconds.",
    ),
    Setting(
        "DIALEVAL_IMPORT_PRIVATE",
        "false",
        "`true` lets corpora be imported from loopback and private addresses, and from http://.",
    ),
    Setting(
        "HF_ENDPOINT",
        "https://huggingface.co",
        "The Hugging Face Hub: hf:// addresses, and models.",
    ),
    Setting(
        "HF_TOKEN",
        "",
        "A token of the Hub: for datasets that are private or gated, and for `export_corpus "
        "--push`.",
    ),
    Setting("DIALEVAL_MAX_UPLOAD_MB", "200", "Largest file that a team may submit, in megabytes."),
    Setting(
        "DIALEVAL_STORAGE_URL",
        "",
        "S3-compatible storage of uploads and trained models, "
        "`s3://bucket/prefix?endpoint_url=https://s3.example.org&region_name=eu-1`. Empty: "
        "DIALEVAL_HOME/files.",
    ),
    Setting(
        "AWS_ACCESS_KEY_ID",
        "",
        "The key of DIALEVAL_STORAGE_URL. Empty: what the machine has, such as a role.",
    ),
    Setting("AWS_SECRET_ACCESS_KEY", "", "The secret of that key."),
    Setting(
        "DIALEVAL_SCORE_FILES_PER_DAY",
        "20",
        "Files of metric scores that one user may submit on a day (UTC).",
    ),
    Setting(
        "DIALEVAL_DEVICE",
        "auto",
        "Where metrics with a model are computed: `auto` (CUDA, else MPS, else CPU), or a device "
        "as PyTorch names it.",
    ),
    Setting(
        "DIALEVAL_PRECISION",
        "auto",
        "What metrics' models compute in: `auto` (bfloat16 where the device is made for it; it "
        "takes half the memory and changes scores in the third digit; FBD, PRD and word vectors "
        "stay in float32), or `float32`. Signatures name it as `dtype`.",
    ),
    Setting(
        "DIALEVAL_THREADS",
        "0",
        "PyTorch's threads in each worker process. 0: half of the cores, shared among the "
        "worker's processes.",
    ),
    Setting(
        "DIALEVAL_FEATURE_CACHE_MB",
        "1000",
        "Most space that remembered features of texts take in DIALEVAL_HOME, in megabytes. 0: "
        "none are kept there.",
    ),
    Setting(
        "DIALEVAL_PAGE_CACHE_MB",
        "200",
        "Most memory that stored answers and parts of pages take in each web process, in "
        "megabytes. 0: none are kept there.",
    ),
    Setting(
        "DIALEVAL_API_RATE",
        "120",
        "Requests a minute that the API answers for one token, and for one address without a "
        "token.",
    ),
    Setting(
        "DIALEVAL_PROXIES",
        "0",
        "How many proxies are in front of the site and add to X-Forwarded-For. 0: that header is "
        "not believed.",
    ),
    Setting(
        "DIALEVAL_SITE_URL",
        "",
        "The site's own address for links in messages, such as `https://dialeval.example.org`. "
        "Default: the first of ALLOWED_HOSTS; the address of `manage.py run` in development.",
    ),
    Setting(
        "DIALEVAL_EMAIL_URL",
        "",
        "Mail server of notices, `smtp://user:password@host:587/?tls=true` or `smtps://…`. Empty: "
        "no e-mail is sent.",
    ),
    Setting("DIALEVAL_EMAIL_FROM", "dialeval@localhost", "Sender of e-mail."),
    Setting(
        "DIALEVAL_WEBHOOK_PRIVATE",
        "false",
        "`true` lets webhooks lead to loopback and private addresses, and to http://. For tests "
        "and closed networks.",
    ),
    Setting(
        "DIALEVAL_LOG_LEVEL",
        "INFO",
        "Least level that is logged, to standard error: `DEBUG`, `INFO`, `WARNING`, `ERROR` or "
        "`CRITICAL`.",
    ),
    Setting(
        "DIALEVAL_LOG_FORMAT",
        "line",
        "`line`: for people. `json`: a document a line, and one for each request, for programs.",
    ),
    Setting(
        "DIALEVAL_MONITORING_TOKEN",
        "",
        "Whoever sends it reads `/monitoring/`, as Prometheus does. Empty: that address does not "
        "exist.",
    ),
    Setting(
        "DIALEVAL_SENTRY_DSN",
        "",
        "Where reports of errors are sent, as Sentry names it. Empty: they stay in the log.",
    ),
    Setting("DIALEVAL_SENTRY_ENVIRONMENT", "production", "What reports of errors call this site."),
    Setting(
        "DIALEVAL_SECURE",
        "true",
        "`false` lets production run without HTTPS (behind nothing, on a private network).",
    ),
)

_DECLARED = {setting.name: setting for setting in SETTINGS}


def text(name: str, environ: Mapping[str, str] = os.environ) -> str:
    """The setting as text; a name that is not declared above is a programming error."""
    return environ.get(name, "").strip() or _DECLARED[name].default


def whole(name: str, environ: Mapping[str, str] = os.environ) -> int:
    try:
        value = int(text(name, environ))
    except ValueError:
        raise ImproperlyConfigured(
            f"{name} must be a whole number, not {text(name, environ)!r}"
        ) from None
    if value < 1:
        raise ImproperlyConfigured(f"{name} must be at least 1, not {value}")
    return value


def count(name: str, environ: Mapping[str, str] = os.environ) -> int:
    """A whole number that may be 0."""
    try:
        value = int(text(name, environ))
    except ValueError:
        raise ImproperlyConfigured(
            f"{name} must be a whole number, not {text(name, environ)!r}"
        ) from None
    if value < 0:
        raise ImproperlyConfigured(f"{name} must be at least 0, not {value}")
    return value


def one_of(name: str, words: tuple[str, str], environ: Mapping[str, str] = os.environ) -> str:
    given = text(name, environ)
    if given not in words:
        raise ImproperlyConfigured(f"{name} must be {' or '.join(words)}, not {given!r}")
    return given


TRUE, FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


def truth(name: str, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether a thing is to be so. Never a guess: a word that nobody here knows would be taken as
    its opposite."""
    given = text(name, environ)
    if given.lower() not in (*TRUE, *FALSE):
        raise ImproperlyConfigured(
            f"{name} must be {', '.join(TRUE)} or {', '.join(FALSE)}, not {given!r}"
        )
    return given.lower() in TRUE


def seconds(name: str, environ: Mapping[str, str] = os.environ) -> float:
    try:
        value = float(text(name, environ))
    except ValueError:
        raise ImproperlyConfigured(
            f"{name} must be a number of seconds, not {text(name, environ)!r}"
        ) from None
    if not 0 < value < float("inf"):
        raise ImproperlyConfigured(f"{name} must be a positive number of seconds, not {value}")
    return value


def amount(name: str, environ: Mapping[str, str] = os.environ) -> Decimal:
    """USD, 0 or more."""
    value = _decimal(text(name, environ))
    if value is None:
        raise ImproperlyConfigured(
            f"{name} must be an amount of money such as 12.50, not {text(name, environ)!r}"
        )
    return value


def prices(
    name: str, environ: Mapping[str, str] = os.environ
) -> dict[str, tuple[Decimal, Decimal]]:
    """By model: USD for a million input tokens, and for a million output tokens."""
    found = {}
    for part in names(name, environ):
        model, equals, pair = part.rpartition("=")
        amounts = [_decimal(one) for one in pair.split("/")]
        if (
            not equals
            or not model.strip()
            or len(amounts) != 2
            or amounts[0] is None
            or amounts[1] is None
        ):
            raise ImproperlyConfigured(
                f"{name} must hold model=input/output such as gpt-4o=2.5/10, not {part!r}"
            )
        found[model.strip()] = (amounts[0], amounts[1])
    return found


def _decimal(written: str) -> Decimal | None:
    try:
        value = Decimal(written.strip())
    except InvalidOperation:
        return None
    return value if value.is_finite() and 0 <= value < 10**8 else None


def names(name: str, environ: Mapping[str, str] = os.environ) -> list[str]:
    return [part.strip() for part in text(name, environ).split(",") if part.strip()]


def log_format(environ: Mapping[str, str] = os.environ) -> str:
    return one_of("DIALEVAL_LOG_FORMAT", ("line", "json"), environ)


def log_level(environ: Mapping[str, str] = os.environ) -> str:
    params = text("DIALEVAL_LOG_LEVEL", environ)
    if params.upper() not in logging.getLevelNamesMapping():
        raise ImproperlyConfigured(
            f"DIALEVAL_LOG_LEVEL must be DEBUG, INFO, WARNING, ERROR or CRITICAL, not {params!r}"
        )
    return params.upper()


_NAMES_OF_SECRETS = re.compile(r"(?:.*_)?(?:KEY|SECRET|TOKEN|PASSWORD|DSN)|DIALEVAL_CHAT_KEY_.*")


def secrets(environ: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """What must stand in no line of the log: keys and passwords, by the names of their variables,
    ours and others'."""
    found = {value.strip() for name, value in environ.items() if _NAMES_OF_SECRETS.fullmatch(name)}
    for name, value in environ.items():
        if name.endswith("_URL") and (password := _password_in(value)):
            found |= {password, unquote(password)}
    return tuple(sorted(found - {""}))


def _password_in(address: str) -> str:
    try:
        return urlsplit(address.strip()).password or ""
    except ValueError:
        return ""


def production(environ: Mapping[str, str] = os.environ) -> bool:
    return one_of("DIALEVAL_MODE", ("development", "production"), environ) == "production"


def sign_up_is_open(environ: Mapping[str, str] = os.environ) -> bool:
    return one_of("DIALEVAL_SIGN_UP", ("open", "closed"), environ) == "open"


def organisers_need_two_factor(environ: Mapping[str, str] = os.environ) -> bool:
    return one_of("DIALEVAL_TWO_FACTOR", ("optional", "organisers"), environ) == "organisers"


def oidc_issuer(environ: Mapping[str, str] = os.environ) -> str:
    """Without a slash at its end; empty where nobody logs in by OpenID Connect."""
    given = text("DIALEVAL_OIDC_ISSUER", environ).rstrip("/")
    if not given:
        return ""
    schemes = ("https://",) if production(environ) else ("https://", "http://")
    if not given.startswith(schemes):
        raise ImproperlyConfigured(
            f"DIALEVAL_OIDC_ISSUER must begin with {' or '.join(schemes)}, not {given!r}"
        )
    for name in ("DIALEVAL_OIDC_CLIENT_ID", "DIALEVAL_OIDC_CLIENT_SECRET"):
        if not text(name, environ):
            raise ImproperlyConfigured(f"{name} is not set, which DIALEVAL_OIDC_ISSUER needs.")
    return given


def site_url(secure: bool, environ: Mapping[str, str] = os.environ) -> str:
    """The site's own address without a slash at its end, for links in what is sent out."""
    given = text("DIALEVAL_SITE_URL", environ).rstrip("/")
    if given:
        if not given.startswith(("https://", "http://")):
            raise ImproperlyConfigured(
                f"DIALEVAL_SITE_URL must begin with https:// or http://, not {given!r}"
            )
        return given
    hosts = [host.lstrip(".") for host in allowed_hosts(environ) if host != "*"]
    return f"{'https' if secure else 'http'}://{hosts[0] if hosts else 'localhost'}"


def site_is_named(environ: Mapping[str, str] = os.environ) -> bool:
    return bool(text("DIALEVAL_SITE_URL", environ) or names("ALLOWED_HOSTS", environ))


def home(environ: Mapping[str, str] = os.environ) -> Path:
    folder = Path(text("DIALEVAL_HOME", environ)).expanduser()
    return folder if folder.is_absolute() else PROJECT / folder


def secret_key(environ: Mapping[str, str] = os.environ) -> str:
    """Given in production; in development made once and kept, so that sessions outlive a
    restart."""
    given = text("SECRET_KEY", environ)
    if given:
        return given
    if production(environ):
        raise ImproperlyConfigured(
            "SECRET_KEY is not set. In production mode the site does not start without one."
        )
    return _stored_development_key(home(environ) / "development-secret-key")


def _stored_development_key(path: Path) -> str:
    """One key for all processes of a home, also where several are the first at once.

    A file that is there may still be empty: its process is between making and writing it, or was
    ended there.
    """
    if path.exists() and (saved := path.read_text().strip()):
        return saved
    return _first_development_key(path)


def _first_development_key(path: Path) -> str:
    from django.core.management.utils import get_random_secret_key

    path.parent.mkdir(parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        written_meanwhile = file.read().strip()
        if written_meanwhile:
            return written_meanwhile
        key: str = get_random_secret_key()
        file.write(key)
        return key


def allowed_hosts(environ: Mapping[str, str] = os.environ) -> list[str]:
    given = names("ALLOWED_HOSTS", environ)
    if not given and production(environ):
        raise ImproperlyConfigured(
            "ALLOWED_HOSTS is not set. In production mode the site does not start without it."
        )
    return given or ["localhost", "127.0.0.1", "[::1]"]
