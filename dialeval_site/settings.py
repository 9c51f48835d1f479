"""Django settings. Everything an operator may change comes from the environment: see
``environment.py``."""

from __future__ import annotations

from pathlib import Path

import plotly
from csp.constants import NONE, SELF

from common.version import VERSION
from dialeval_site.config import environment
from dialeval_site.config.database_address import database_at
from dialeval_site.config.mail_settings import mail_settings
from dialeval_site.config.storage import file_storage
from dialeval_site.operations import logs

PROJECT = environment.PROJECT
HOME = environment.home()
# The database has hashes, keys and hidden references
HOME.mkdir(mode=0o700, parents=True, exist_ok=True)
PRODUCTION = environment.production()
ASSETS = (
    "collected"
    if PRODUCTION
    else environment.one_of("DIALEVAL_ASSETS", ("source", "collected", "reload"))
)
DEBUG = False
SECRET_KEY = environment.secret_key()
ALLOWED_HOSTS = environment.allowed_hosts()
CSRF_TRUSTED_ORIGINS = environment.names("CSRF_TRUSTED_ORIGINS")

INSTALLED_APPS = [
    "django_otp.plugins.otp_totp",
    "django_otp.plugins.otp_static",
    "dialeval_site",
    "leaderboard.challenges",
    "leaderboard",
    "workers.judges",
    "workers.training",
    "workers",
    "annotations.campaigns",
    "common",
    "annotations",
    "dialeval_site.accounts.admin_site.Config",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django_htmx",
]

MIDDLEWARE = [
    "dialeval_site.middleware.request_ids.RequestIds",
    "dialeval_site.middleware.request_ids.AccessLog",
    "dialeval_site.operations.monitoring.requests.CountRequests",
    "dialeval_site.middleware.security_headers.SecurityHeaders",
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "dialeval_site.middleware.compression.QuickGZip",
    "dialeval_site.middleware.head_requests.HeadMiddleware",
    "dialeval_site.middleware.api_gate.ApiGate",
    "dialeval_site.middleware.body_limit.BodyLimit",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "dialeval_site.middleware.htmx_guard.NoLogInPageInsideAPage",
    "dialeval_site.accounts.two_factor_rule.LeadToSetUp",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "dialeval_site.urls"
WSGI_APPLICATION = "dialeval_site.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [PROJECT / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "dialeval_site.context.site",
            ],
        },
    }
]

DATABASES = {
    "default": database_at(
        environment.text("DATABASE_URL") or f"sqlite:///{HOME / 'dialeval.sqlite3'}"
    )
}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    # WAL lets pages read while a worker writes. IMMEDIATE takes the write lock at BEGIN, where it
    # can wait, instead of in the middle of a transaction, where SQLite can only refuse.
    DATABASES["default"]["OPTIONS"] = {
        "timeout": 30,
        "transaction_mode": "IMMEDIATE",
        "init_command": (
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;"
        ),
    }
    # A connection takes 2 ms to open, and the last one to close writes the whole log back: each
    # thread keeps its own.
    DATABASES["default"]["CONN_MAX_AGE"] = 60
else:
    DATABASES["default"].setdefault("OPTIONS", {})["pool"] = {
        "min_size": 1,
        "max_size": environment.whole("DATABASE_POOL_SIZE"),
        "timeout": 10,
        # A connection that could not be made is tried again for so long, then by the next request
        # that wants one: after an outage of a minute requests would wait as long again.
        "reconnect_timeout": 5,
    }
    if environment.truth("DATABASE_PREPARED_STATEMENTS"):
        # What comes for the fifth time on a connection is prepared: planning took PostgreSQL longer
        # than running it.
        DATABASES["default"]["OPTIONS"] |= {"server_side_binding": True, "prepare_threshold": 5}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

PASSWORD_HASHERS = [
    "dialeval_site.accounts.passwords.HashedAside",
    "dialeval_site.accounts.passwords.HashedBefore",
]
AUTHENTICATION_BACKENDS = ["dialeval_site.backends.NoDemoLogInsInProduction"]
# NIST SP 800-63B: length and a list of common passwords, no rules about kinds of characters, which
# make people write "Password1!". Ten, where eight is its least: most accounts here have no second
# factor.
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 10},
    },
    {"NAME": "dialeval_site.accounts.known_passwords.KnownPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
PASSWORD_RESET_TIMEOUT = 3600
ORGANISERS_NEED_TWO_FACTOR = environment.organisers_need_two_factor()
OTP_TOTP_ISSUER = "dialeval"
SIGN_UP_IS_OPEN = environment.sign_up_is_open()
OIDC_ISSUER = environment.oidc_issuer()
OIDC_CLIENT_ID = environment.text("DIALEVAL_OIDC_CLIENT_ID")
OIDC_CLIENT_SECRET = environment.text("DIALEVAL_OIDC_CLIENT_SECRET")
OIDC_NAME = environment.text("DIALEVAL_OIDC_NAME")
OIDC_SIGN_UP = environment.truth("DIALEVAL_OIDC_SIGN_UP")
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "desk"
LOGOUT_REDIRECT_URL = "home"

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = True

STATIC_URL = "static/"
STATIC_ROOT = HOME / "static"
STATICFILES_DIRS = [
    ("plotly", str(Path(plotly.__file__).parent / "package_data")),
]
STORAGES = {
    "default": file_storage(environment.text("DIALEVAL_STORAGE_URL"), HOME / "files"),
    "staticfiles": {
        "BACKEND": "dialeval_site.config.collected_assets.CollectedStorage"
        if ASSETS == "collected"
        else "django.contrib.staticfiles.storage.StaticFilesStorage"
    },
}
WHITENOISE_USE_FINDERS = ASSETS != "collected"
WHITENOISE_KEEP_ONLY_HASHED_FILES = True
if ASSETS == "reload":
    WHITENOISE_AUTOREFRESH = True
    WHITENOISE_MAX_AGE = 0
    TEMPLATES[0] |= {"APP_DIRS": False}
    TEMPLATES[0]["OPTIONS"]["loaders"] = [  # those that Django would otherwise wrap in a cache
        "django.template.loaders.filesystem.Loader",
        "django.template.loaders.app_directories.Loader",
    ]

# --- security -------------------------------------------------------------------------------------
SECURE = environment.truth("DIALEVAL_SECURE") and PRODUCTION
# Nothing but what is named. Trusted types are not asked for: htmx writes fragments of this site's
# own into the page.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:", "blob:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "manifest-src": [SELF],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "upgrade-insecure-requests": SECURE,
    }
}
SESSION_ENGINE = "dialeval_site.sessions"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 14 * 86_400
if SECURE:
    # A browser takes such a cookie from this host alone, over HTTPS: a neighbour of the same domain
    # cannot plant one.
    SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = "__Host-sessionid", "__Host-csrftoken"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE
SECURE_SSL_REDIRECT = SECURE
# Asked from within, past the proxy that ends HTTPS
SECURE_REDIRECT_EXEMPT = [r"^(health|ready|monitoring)/$"]
SECURE_HSTS_SECONDS = 31_536_000 if SECURE else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = SECURE
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if SECURE else None
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

# --- workers --------------------------------------------------------------------------------------
CELERY_BROKER_URL = environment.text("CELERY_BROKER_URL") or "folder://localhost//"
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, object] = {}
if CELERY_BROKER_URL.startswith("folder:"):
    BROKER_FOLDER = HOME / "broker"
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "data_folder_in": str(BROKER_FOLDER / "queue"),
        "data_folder_out": str(BROKER_FOLDER / "queue"),
        "control_folder": str(BROKER_FOLDER / "control"),
        "polling_interval": environment.seconds("DIALEVAL_POLL_SECONDS"),
    }
elif CELERY_BROKER_URL.startswith("redis"):
    # A hint that cannot be sent now is sent by the sweeper later: do not hold a request for it.
    # Workers have more patience (dialeval_site.celery).
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "socket_timeout": 1,
        "socket_connect_timeout": 1,
        "retry_on_timeout": False,
        "max_retries": 0,
    }
LEASE_SECONDS = environment.seconds("DIALEVAL_LEASE_SECONDS")
MAINTENANCE_SECONDS = environment.seconds("DIALEVAL_SWEEP_SECONDS")
MAX_ATTEMPTS = environment.whole("DIALEVAL_MAX_ATTEMPTS")
TASK_SECONDS = environment.seconds("DIALEVAL_TASK_SECONDS")

DEVICE = environment.text("DIALEVAL_DEVICE")
PRECISION = environment.one_of("DIALEVAL_PRECISION", ("auto", "float32"))
THREADS = environment.count("DIALEVAL_THREADS")
FEATURE_CACHE_BYTES = environment.count("DIALEVAL_FEATURE_CACHE_MB") * 1_000_000

RATING_LEASE_SECONDS = environment.seconds("DIALEVAL_RATING_LEASE_SECONDS")
FAST_RATING_SECONDS = environment.seconds("DIALEVAL_FAST_RATING_SECONDS")
LLM_URL = environment.text("DIALEVAL_LLM_URL")
LLM_MODEL = environment.text("DIALEVAL_LLM_MODEL")
LLM_KEY = environment.text("DIALEVAL_LLM_KEY")
LLM_CONCURRENCY = environment.whole("DIALEVAL_LLM_CONCURRENCY")
LLM_REQUESTS_A_MINUTE = environment.count("DIALEVAL_LLM_REQUESTS_A_MINUTE")
LLM_TOKENS_A_MINUTE = environment.count("DIALEVAL_LLM_TOKENS_A_MINUTE")
LLM_SECONDS = environment.seconds("DIALEVAL_LLM_SECONDS")
LLM_RETRIES = environment.count("DIALEVAL_LLM_RETRIES")
LLM_PRICES = environment.prices("DIALEVAL_LLM_PRICES")
JUDGE_TOKENS = environment.count("DIALEVAL_JUDGE_TOKENS")
JUDGE_USD = environment.amount("DIALEVAL_JUDGE_USD")

MAX_IMPORT_BYTES = environment.whole("DIALEVAL_MAX_IMPORT_MB") * 1_000_000
MAX_CORPUS_UPLOAD_BYTES = (
    environment.count("DIALEVAL_MAX_CORPUS_UPLOAD_MB") * 1_000_000 or MAX_IMPORT_BYTES
)
# Of a file that comes in parts: S3 takes 10,000 of 5 MiB at least, the API 120 requests a minute.
UPLOAD_PART_BYTES = 16_000_000
IMPORT_SECONDS = environment.seconds("DIALEVAL_IMPORT_SECONDS")
IMPORT_PRIVATE = environment.truth("DIALEVAL_IMPORT_PRIVATE")
HF_ENDPOINT = environment.text("HF_ENDPOINT").rstrip("/")
HF_TOKEN = environment.text("HF_TOKEN")

# --- uploads --------------------------------------------------------------------------------------
MAX_UPLOAD_BYTES = environment.whole("DIALEVAL_MAX_UPLOAD_MB") * 1_000_000
SCORE_FILES_PER_DAY = environment.whole("DIALEVAL_SCORE_FILES_PER_DAY")
UPLOAD_FOLDER = HOME / "files"
# body_limit says where a file is taken, and from whom.
FILE_UPLOAD_HANDLERS = ["leaderboard.challenges.upload_handler.NoFile"]
# Of a form or of JSON: all that an address takes that takes no file.
DATA_UPLOAD_MAX_MEMORY_SIZE = 1_000_000

# --- the API, and what is sent out ----------------------------------------------------------------
PAGE_CACHE_BYTES = environment.count("DIALEVAL_PAGE_CACHE_MB") * 1_000_000
API_RATE = environment.whole("DIALEVAL_API_RATE")
PROXIES = environment.count("DIALEVAL_PROXIES")
if CELERY_BROKER_URL.startswith("redis"):
    CACHES = {
        "default": {
            "BACKEND": "dialeval_site.config.redis_cache.RedisCache",
            "LOCATION": CELERY_BROKER_URL,
            "KEY_PREFIX": "dialeval",
            "OPTIONS": {"socket_timeout": 0.5, "socket_connect_timeout": 0.5},
        }
    }
else:  # each process counts for itself: with n web processes a rate may be n times as high
    CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
SITE_URL = environment.site_url(SECURE)
MAIL = mail_settings(environment.text("DIALEVAL_EMAIL_URL"))
SENDS_EMAIL = MAIL["SENDS_EMAIL"]
globals().update(MAIL)
DEFAULT_FROM_EMAIL = environment.text("DIALEVAL_EMAIL_FROM")
WEBHOOK_PRIVATE = environment.truth("DIALEVAL_WEBHOOK_PRIVATE")

LOG_FORMAT = environment.log_format()
LOGGING = logs.configuration(LOG_FORMAT, environment.log_level())
logs.take_warnings(LOG_FORMAT)

# --- watching over it -----------------------------------------------------------------------------
MONITORING_TOKEN = environment.text("DIALEVAL_MONITORING_TOKEN")
if SENTRY_DSN := environment.text("DIALEVAL_SENTRY_DSN"):
    from dialeval_site.operations import (
        error_reports,  # sentry_sdk takes a third of a second to load
    )

    error_reports.begin(SENTRY_DSN, environment.text("DIALEVAL_SENTRY_ENVIRONMENT"), VERSION)
