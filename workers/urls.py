from django.urls import include, path

from workers.chats import views as chat_views
from workers.runs import views

urlpatterns = [
    path("", include("workers.judges.urls")),
    path("", include("workers.arenas.urls")),
    path("", include("workers.judges.urls")),
    path("metrics/", views.metrics, name="metrics"),
    path("runs/", views.all_runs, name="runs"),
    path("corpora/<slug:slug>/runs/", views.corpus_runs, name="corpus-runs"),
    path(
        "corpora/<slug:slug>/runs/progress/",
        views.corpus_runs_progress,
        name="corpus-runs-progress",
    ),
    path("corpora/<slug:slug>/runs/score/", views.score, name="score"),
    path("corpora/<slug:slug>/runs/retry/", views.retry_failed, name="retry-failed"),
    path("corpora/<slug:slug>/runs/withdraw/", views.withdraw_waiting, name="withdraw-waiting"),
    path("rate/<slug:slug>/chat/<slug:public_id>/", chat_views.chat, name="chat"),
    path("rate/<slug:slug>/chat/<slug:public_id>/say/", chat_views.say, name="chat-say"),
    path(
        "rate/<slug:slug>/chat/<slug:public_id>/messages/",
        chat_views.item_text,
        name="chat-messages",
    ),
    path("rate/<slug:slug>/chat/<slug:public_id>/again/", chat_views.ask_again, name="chat-again"),
    path("rate/<slug:slug>/chat/<slug:public_id>/end/", chat_views.end, name="chat-end"),
    path("chat-systems/", chat_views.chat_systems, name="chat-systems"),
    path("chat-systems/<int:pk>/", chat_views.chat_system, name="chat-system"),
    path("chat-systems/<int:pk>/try/", chat_views.try_chat_system, name="chat-system-try"),
]
