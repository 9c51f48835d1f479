"""Addresses of campaigns: what organisers set up, where raters work, where pairs write
dialogues."""

from django.urls import path

from annotations.campaigns.views import (
    adjudication,
    checks,
    collect,
    form,
    guidelines,
    organise,
    quality,
    rate,
    rating_start,
    settings,
)
from annotations.campaigns.views.join import campaign_join

CAMPAIGN, RATING = "campaigns/<slug:slug>", "rate/<slug:slug>"

urlpatterns = [
    path("campaigns/", organise.campaigns, name="campaigns"),
    path("campaigns/new/", settings.campaign_new, name="campaign-new"),
    path(f"{CAMPAIGN}/", organise.campaign, name="campaign"),
    path(f"{CAMPAIGN}/settings/", settings.campaign_settings, name="campaign-settings"),
    path(f"{CAMPAIGN}/plan/", organise.campaign_plan, name="campaign-plan"),
    path(f"{CAMPAIGN}/preview/", organise.campaign_preview, name="campaign-preview"),
    path(f"{CAMPAIGN}/state/", organise.campaign_state, name="campaign-state"),
    path(f"{CAMPAIGN}/delete/", organise.campaign_delete, name="campaign-delete"),
    path(f"{CAMPAIGN}/guidelines/", guidelines.campaign_guidelines, name="campaign-guidelines"),
    path(f"{CAMPAIGN}/form/", form.campaign_form, name="campaign-form"),
    path(f"{CAMPAIGN}/invitations/", organise.campaign_invite, name="campaign-invite"),
    path(
        f"{CAMPAIGN}/invitations/<int:pk>/revoke/", organise.campaign_revoke, name="campaign-revoke"
    ),
    path(f"{CAMPAIGN}/checks/", checks.campaign_checks, name="campaign-checks"),
    path(
        f"{CAMPAIGN}/checks/<str:public_id>/delete/",
        checks.campaign_check_delete,
        name="campaign-check-delete",
    ),
    path(f"{CAMPAIGN}/raters/", quality.raters, name="campaign-raters"),
    path(f"{CAMPAIGN}/raters/<int:number>/exclude/", quality.exclude, name="rater-exclude"),
    path(f"{CAMPAIGN}/raters/<int:number>/remove/", quality.remove, name="rater-remove"),
    path(f"{CAMPAIGN}/raters/<int:number>/restore/", quality.restore, name="rater-restore"),
    path(f"{CAMPAIGN}/raters/<int:number>/conflict/", quality.conflict, name="rater-conflict"),
    path(f"{CAMPAIGN}/ratings/", quality.ratings, name="campaign-ratings"),
    path(f"{CAMPAIGN}/adjudication/", adjudication.queue, name="campaign-adjudication"),
    path(
        f"{CAMPAIGN}/adjudication/<slug:public_id>/",
        adjudication.decide,
        name="campaign-adjudicate",
    ),
    path(f"{CAMPAIGN}/ratings/export/", quality.export, name="campaign-export"),
    path(f"{CAMPAIGN}/ratings/publish/", quality.publish, name="campaign-publish"),
    path(f"{CAMPAIGN}/ratings/unpublish/", quality.unpublish, name="campaign-unpublish"),
    path("rate/", rating_start.own_campaigns, name="rate"),
    path(f"{RATING}/", rating_start.start, name="rating-start"),
    path(f"{RATING}/guidelines/", rating_start.guidelines, name="rating-guidelines"),
    path(f"{RATING}/item/", rate.work, name="rating-work"),
    path(f"{RATING}/own/", rate.own_ratings, name="own-ratings"),
    path(f"{RATING}/submit/", rate.submit, name="rating-submit"),
    path(f"{RATING}/skip/", rate.skip, name="rating-skip"),
    path(f"{RATING}/heartbeat/", rate.heartbeat, name="rating-heartbeat"),
    path(f"{RATING}/leave/", rate.leave, name="rating-leave"),
    path("join/<str:token>/", campaign_join, name="campaign-join"),
    path(f"{RATING}/meet/", collect.meet, name="meet"),
    path(f"{RATING}/rooms/<slug:public_id>/", collect.room, name="room"),
    path(f"{RATING}/rooms/<slug:public_id>/lines/", collect.room_lines, name="room-lines"),
    path(f"{RATING}/rooms/<slug:public_id>/say/", collect.room_say, name="room-say"),
    path(f"{RATING}/rooms/<slug:public_id>/leave/", collect.room_leave, name="room-leave"),
    path(f"{CAMPAIGN}/dialogues/", collect.campaign_dialogues, name="campaign-dialogues"),
]
