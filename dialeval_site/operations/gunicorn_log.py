"""What gunicorn itself has to say, in the log's own form: its main process never sets up Django,
which elsewhere configures the log."""

from __future__ import annotations

import logging.config

from gunicorn.glogging import Logger

from dialeval_site.config import environment
from dialeval_site.operations import logs


class Log(Logger):
    """For ``logger_class`` of ``deploy/gunicorn.conf.py``."""

    def setup(self, cfg: object) -> None:
        super().setup(cfg)
        logging.config.dictConfig(
            logs.configuration(environment.log_format(), environment.log_level())
        )
        logs.take_warnings(environment.log_format())
        self.error_log.handlers.clear()
        self.error_log.propagate = True
