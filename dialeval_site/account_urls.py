from django.contrib.auth import views
from django.urls import path

from dialeval_site.accounts import LoginView, PasswordChangeView, account, sign_up

urlpatterns = [
    path("", account, name="account"),
    path("login/", LoginView.as_view(), name="login"),
    path("logout/", views.LogoutView.as_view(), name="logout"),
    path("sign-up/", sign_up, name="sign-up"),
    path("password/", PasswordChangeView.as_view(), name="password-change"),
]
