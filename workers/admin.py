from __future__ import annotations

from django.contrib import admin

from annotations.admin import ReadOnlyAdmin
from workers.models import MetricRun


@admin.register(MetricRun)
class MetricRunAdmin(ReadOnlyAdmin):
    list_display = [
        "configuration",
        "system",
        "state",
        "attempts",
        "system_score",
        "created_at",
        "finished_at",
    ]
    list_filter = ["state", "queue"]
    list_select_related = ["system"]
