from django.contrib.auth import views
from django.urls import path

from dialeval_site.accounts import LoginView

urlpatterns = [
    path("login/", LoginView.as_view(), name="login"),
    path("logout/", views.LogoutView.as_view(), name="logout"),
]
