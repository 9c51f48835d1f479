from __future__ import annotations

from django.urls import path

from leaderboard.challenges.views import webhooks

urlpatterns = [
    path("accounts/webhooks/", webhooks.webhooks, name="webhooks"),
    path("accounts/webhooks/mail/", webhooks.mail_choice, name="mail-choice"),
    path("accounts/webhooks/<int:pk>/delete/", webhooks.webhook_delete, name="webhook-delete"),
    path("accounts/webhooks/<int:pk>/try/", webhooks.webhook_try, name="webhook-try"),
]
