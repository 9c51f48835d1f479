from django.urls import path

from annotations.campaigns.views import checks, guidelines, invite, organise, settings

urlpatterns = [
    path("", organise.campaigns, name="campaigns"),
    path("new/", settings.campaign_new, name="campaign-new"),
    path("<slug:slug>/", organise.campaign, name="campaign"),
    path("<slug:slug>/settings/", settings.campaign_settings, name="campaign-settings"),
    path("<slug:slug>/plan/", organise.campaign_plan, name="campaign-plan"),
    path("<slug:slug>/preview/", organise.campaign_preview, name="campaign-preview"),
    path("<slug:slug>/state/", organise.campaign_state, name="campaign-state"),
    path("<slug:slug>/delete/", organise.campaign_delete, name="campaign-delete"),
    path("<slug:slug>/guidelines/", guidelines.campaign_guidelines, name="campaign-guidelines"),
    path("<slug:slug>/invitations/", invite.campaign_invite, name="campaign-invite"),
    path(
        "<slug:slug>/invitations/<int:pk>/revoke/", invite.campaign_revoke, name="campaign-revoke"
    ),
    path("<slug:slug>/checks/", checks.campaign_checks, name="campaign-checks"),
    path(
        "<slug:slug>/checks/<str:public_id>/delete/",
        checks.campaign_check_delete,
        name="campaign-check-delete",
    ),
]
