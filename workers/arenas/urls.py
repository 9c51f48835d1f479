from django.urls import path

from workers.arenas import organise, views

ARENA = "arenas/<slug:slug>"
BATTLE = f"{ARENA}/battles/<slug:public_id>"

urlpatterns = [
    path("arenas/", views.arenas, name="arenas"),
    path("arenas/new/", organise.arena_new, name="arena-new"),
    path("arenas/by-link/<str:token>/", views.invited, name="arena-invited"),
    path(f"{ARENA}/", views.arena, name="arena"),
    path(f"{ARENA}/begin/", views.begin, name="arena-begin"),
    path(f"{BATTLE}/", views.battle, name="arena-battle"),
    path(f"{BATTLE}/say/", views.say, name="arena-say"),
    path(f"{BATTLE}/vote/", views.vote, name="arena-vote"),
    path(f"{BATTLE}/leave/", views.leave, name="arena-leave"),
    path(f"{ARENA}/manage/", organise.arena_manage, name="arena-manage"),
    path(f"{ARENA}/state/", organise.arena_state, name="arena-state"),
    path(f"{ARENA}/visitors/<int:number>/exclude/", organise.arena_exclude, name="arena-exclude"),
    path(f"{ARENA}/publish/", organise.arena_publish, name="arena-publish"),
    path(f"{ARENA}/delete/", organise.arena_delete, name="arena-delete"),
]
