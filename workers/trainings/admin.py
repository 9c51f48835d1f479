from __future__ import annotations

from django.contrib import admin

from annotations.admin import ReadOnlyAdmin
from workers.trainings.models import Training


@admin.register(Training)
class TrainingAdmin(ReadOnlyAdmin):
    list_display = ["name", "recipe", "state", "attempts", "seed", "revision", "created_at", "finished_at"]
    list_filter = ["state", "recipe"]
