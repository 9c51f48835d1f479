from django.urls import path

from annotations.campaigns.views import rate, rating_start

urlpatterns = [
    path("", rating_start.own_campaigns, name="rate"),
    path("<slug:slug>/", rating_start.start, name="rating-start"),
    path("<slug:slug>/guidelines/", rating_start.guidelines, name="rating-guidelines"),
    path("<slug:slug>/item/", rate.work, name="rating-work"),
    path("<slug:slug>/submit/", rate.submit, name="rating-submit"),
    path("<slug:slug>/skip/", rate.skip, name="rating-skip"),
    path("<slug:slug>/heartbeat/", rate.heartbeat, name="rating-heartbeat"),
    path("<slug:slug>/leave/", rate.leave, name="rating-leave"),
]
