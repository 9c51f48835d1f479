from django.contrib.auth import views
from django.urls import path

from dialeval_site.accounts import openid_views, password_views, two_factor_views
from dialeval_site.accounts.views import LoginView, account, sign_up

urlpatterns = [
    path("", account, name="account"),
    path("login/", LoginView.as_view(), name="login"),
    path("logout/", views.LogoutView.as_view(), name="logout"),
    path("sign-up/", sign_up, name="sign-up"),
    path("password/", password_views.PasswordChangeView.as_view(), name="password-change"),
    path("password/forgotten/", password_views.forgotten_password, name="password-reset"),
    path(
        "password/forgotten/sent/", password_views.password_reset_sent, name="password-reset-sent"
    ),
    path(
        "password/new/<uidb64>/<token>/",
        password_views.NewPasswordView.as_view(),
        name="password-reset-link",
    ),
    path("openid/", openid_views.to_provider, name="openid-log-in"),
    path("openid/return/", openid_views.from_provider, name="openid-return"),
    path("openid/first/", openid_views.first_log_in, name="openid-first-log-in"),
    path("openid/unlink/", openid_views.unlink, name="openid-unlink"),
    path("two-factor/", two_factor_views.own_two_factor, name="two-factor"),
    path("two-factor/log-in/", two_factor_views.second_log_in_step, name="two-factor-log-in"),
    path("two-factor/codes/", two_factor_views.renew_recovery_codes, name="two-factor-codes"),
    path("two-factor/off/", two_factor_views.turn_two_factor_off, name="two-factor-off"),
]
