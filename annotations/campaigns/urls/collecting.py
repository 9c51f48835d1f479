"""Where pairs of raters write dialogues, and where organisers make a corpus of them."""

from django.urls import path

from annotations.campaigns.views import collect

urlpatterns = [
    path("rate/<slug:slug>/meet/", collect.meet, name="meet"),
    path("rate/<slug:slug>/rooms/<slug:public_id>/", collect.room, name="room"),
    path("rate/<slug:slug>/rooms/<slug:public_id>/lines/", collect.room_lines, name="room-lines"),
    path("rate/<slug:slug>/rooms/<slug:public_id>/say/", collect.room_say, name="room-say"),
    path("rate/<slug:slug>/rooms/<slug:public_id>/leave/", collect.room_leave, name="room-leave"),
    path("campaigns/<slug:slug>/dialogues/", collect.campaign_dialogues, name="campaign-dialogues"),
]
