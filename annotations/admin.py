"""What organisers who are staff may look at and set in the admin site. Corpora are immutable: they
come from files."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest

from annotations import audit
from annotations.models import Corpus, CorpusVersion, Rater, System
from common.roles import is_organiser


class OrganisersAdmin(admin.ModelAdmin):
    """Seen by organisers, whatever single rights they hold; the admin site itself lets in nobody
    but staff."""

    def has_module_permission(self, request: HttpRequest) -> bool:
        return is_organiser(request.user)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return is_organiser(request.user)


class ReadOnlyAdmin(OrganisersAdmin):
    """Rows that only actions write: shown, never edited or deleted by hand."""

    def has_add_permission(self, request: HttpRequest, *args: Any) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Corpus)
class CorpusAdmin(OrganisersAdmin):
    list_display = ["slug", "name", "is_public", "created_at"]
    fields = ["slug", "name", "is_public"]
    readonly_fields = ["slug"]

    def save_model(self, request: HttpRequest, obj: Corpus, form: Any, change: bool) -> None:
        with transaction.atomic():
            before = audit.noted(Corpus.objects.get(pk=obj.pk), self.fields)
            super().save_model(request, obj, form, change)
            if what := audit.changes(before, audit.noted(obj, self.fields)):
                audit.record(request.user, "corpus.changed", obj, changes=what)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return is_organiser(request.user)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False  # manage.py import_corpus

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False  # manage.py delete_corpus, which asks before it deletes results


@admin.register(CorpusVersion)
class CorpusVersionAdmin(ReadOnlyAdmin):
    list_display = ["corpus", "number", "digest", "format", "simulated", "created_at"]


class PartOfVersionAdmin(ReadOnlyAdmin):
    """Without rows of versions that are just being stored or removed."""

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).filter(version__corpus__isnull=False)


@admin.register(System)
class SystemAdmin(PartOfVersionAdmin):
    list_display = ["name", "kind", "version"]
    list_filter = ["kind"]


@admin.register(Rater)
class RaterAdmin(PartOfVersionAdmin):
    list_display = ["pseudonym", "kind", "version"]
