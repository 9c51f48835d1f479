"""Thin: what the site itself asks of workers."""

from __future__ import annotations

from annotations import rates
from annotations.campaigns.actions import arena, setup
from annotations.corpora import staging
from common.jobs.tasks import row_task
from dialeval_site.accounts import address_letter, password_reset
from dialeval_site.operations import expired_sessions


@row_task
def send_password_reset(email: str) -> None:
    password_reset.send(email)


@row_task
def tell_former_address(name: str, email: str) -> None:
    address_letter.send(name, email)


@row_task
def sweep() -> None:
    expired_sessions.remove()
    staging.remove_left_behind()
    setup.remove_left_behind()
    arena.end_abandoned()
    rates.remove_expired()
