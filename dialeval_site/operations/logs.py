"""Lines of the log: for people or as JSON, each with what it belongs to, none with a secret.

Works without Django set up: gunicorn's main process writes lines, and never does that.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from typing import Any

from pythonjsonlogger.json import JsonFormatter

from dialeval_site.config import environment
from dialeval_site.operations import log_context
from dialeval_site.operations.scrubbing import Scrubber

QUIET = {"httpx": "WARNING", "httpx2": "WARNING", "gunicorn.http.wsgi": "ERROR"}
"""A line for every call of a judge would bury everything else; what goes wrong with one is said by
its run. gunicorn warns of every answer to HEAD that has a body, which it drops, as it should."""


class NoSweeps(logging.Filter):
    """Leaves out that a sweep began and ended well: three workers do 150,000 a day, on an idle site
    too. What a sweep found, and that one failed, is said as ever; from DIALEVAL_LOG_LEVEL=DEBUG
    down all of it."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno > logging.INFO or not record.name.startswith("celery."):
            return True
        message = (
            record.args.get("name")
            if isinstance(record.args, Mapping)
            else (record.args or ("",))[0]
        )
        return not str(message).endswith(".tasks.sweep")


class Line(logging.Formatter):
    """``2026-11-20 09:30:00,000 INFO workers.runs.execution metric run 17 failed [request_id=…
    row=run 17]``"""

    def __init__(self) -> None:
        super().__init__("{asctime} {levelname} {name} {message}", style="{")
        self.scrubber = Scrubber(environment.secrets())

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  logging's name
        belongs = " ".join(f"{name}={value}" for name, value in log_context.fields().items())
        return super().formatMessage(record) + (f" [{belongs}]" if belongs else "")

    def format(self, record: logging.LogRecord) -> str:
        return self.scrubber.text(super().format(record))


class Json(JsonFormatter):
    """One document a line: ``time``, ``level``, ``logger``, ``message``, what the line belongs to,
    and what it adds."""

    def __init__(self) -> None:
        super().__init__(
            ["asctime", "levelname", "name", "message"],
            rename_fields={
                "asctime": "time",
                "levelname": "level",
                "name": "logger",
                "exc_info": "exception",
            },
            json_ensure_ascii=False,
        )
        self.default_msec_format = "%s.%03dZ"
        self.default_time_format = "%Y-%m-%dT%H:%M:%S"
        self.converter = time.gmtime
        self.scrubber = Scrubber(environment.secrets())

    def process_log_record(self, log_data: dict[str, Any]) -> dict[str, Any]:
        log_data.pop("request", None)  # Django's: an object, and its address would be written whole
        log_data.pop("status_code", None)
        log_data.pop("taskName", None)
        # Celery's, with the task's arguments: an address of e-mail is one
        of_a_task = log_data.pop("data", None)
        if isinstance(of_a_task, dict) and "runtime" in of_a_task:
            log_data["seconds"] = round(of_a_task["runtime"], 3)
        log_data.update(log_context.fields())
        return {
            name: self.scrubber.all_of(value)
            for name, value in super().process_log_record(log_data).items()
        }


def configuration(log_format: str, level: str) -> dict[str, Any]:
    """For ``logging.config.dictConfig`` and Django's ``LOGGING``: everything goes to standard
    error."""
    kind = {"line": Line, "json": Json}[log_format]
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"chosen": {"()": f"{kind.__module__}.{kind.__name__}"}},
        "filters": {"no_sweeps": {"()": f"{NoSweeps.__module__}.{NoSweeps.__name__}"}},
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "formatter": "chosen",
                "filters": [] if level == "DEBUG" else ["no_sweeps"],
            }
        },
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {name: {"level": least} for name, least in QUIET.items()},
    }


def take_warnings(log_format: str) -> None:
    """Python's own warnings become lines, too: a program that reads the log would trip over
    them."""
    logging.captureWarnings(log_format == "json")
