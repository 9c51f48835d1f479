"""Addresses of campaigns: what organisers set up, where raters work, where pairs write
dialogues."""

from django.urls import include, path

from annotations.campaigns.views.join import campaign_join

urlpatterns = [
    path("campaigns/", include("annotations.campaigns.urls.organising")),
    path("campaigns/", include("annotations.campaigns.urls.quality")),
    path("rate/", include("annotations.campaigns.urls.rating")),
    path("join/<str:token>/", campaign_join, name="campaign-join"),
    path("", include("annotations.campaigns.urls.collecting")),
]
