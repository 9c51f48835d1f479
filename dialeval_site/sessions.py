"""Sessions in the database, as Django keeps them. Every page of a logged-in user reads one."""

from __future__ import annotations

from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.utils import timezone

from common.database import CompiledQuery, Given

_SESSION = CompiledQuery(lambda: Session.objects.filter(session_key=Given("key")))


class SessionStore(db.SessionStore):
    def _get_session_from_db(self) -> Session | None:
        session = _SESSION.first(key=self.session_key)
        if session is not None and session.expire_date > timezone.now():
            return session
        self._session_key = None
        return None
