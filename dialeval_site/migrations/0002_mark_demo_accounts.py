"""Accounts of a demo that an older dialeval loaded get their mark, and what visitors of the demo left behind ends.

An account is marked where it has both the name and still the password that the demo gave it: nobody else can have that
password, for it cannot be chosen. An account with such a name and another password belongs to somebody and works on.
But where the database holds a demo, all of its visitors may have acted as this account before its password was changed,
and a password ends no token: its tokens are revoked and its webhooks deleted.
"""

from django.conf import settings
from django.contrib.auth.hashers import check_password
from django.db import migrations
from django.utils import timezone

PASSWORDS = {
    "organiser": "demo-organiser",
    "rater": "demo-rater",
    "participant": "demo-participant",
}
BASELINES = "demo-baselines"
DEMO_CORPUS = "demo"


def mark(apps, schema_editor):
    User = apps.get_model(settings.AUTH_USER_MODEL)
    DemoAccount = apps.get_model("annotations", "DemoAccount")
    named = User.objects.filter(username__in=PASSWORDS)
    shared = [user for user in named if check_password(PASSWORDS[user.username], user.password)]
    DemoAccount.objects.bulk_create([DemoAccount(user=user) for user in shared])

    if apps.get_model("annotations", "Corpus").objects.filter(slug=DEMO_CORPUS).exists():
        taken_over = [user for user in named if user not in shared]
        apps.get_model("dialeval_site", "ApiToken").objects.filter(
            user__in=taken_over, revoked_at__isnull=True
        ).update(revoked_at=timezone.now())
        apps.get_model("challenges", "Webhook").objects.filter(user__in=taken_over).delete()

    # The demo's baselines: an account without a password, for which workers act while the site is a demo.
    baselines = User.objects.filter(username=BASELINES, is_active=False, last_login=None)
    for user in baselines.filter(password__startswith="!"):
        User.objects.filter(pk=user.pk).update(is_active=True)
        DemoAccount.objects.create(user=user)

    # What the demo's judge has left to ask is the demo organiser's: in production no worker asks it.
    organiser = next((user for user in shared if user.username == "organiser"), None)
    if organiser is not None:
        apps.get_model("judges", "JudgeRun").objects.filter(
            created_by=None, version__corpus__slug=DEMO_CORPUS
        ).update(created_by=organiser)
    if schema_editor.connection.vendor == "postgresql":
        # A restored backup is migrated in one transaction: no check may wait while later steps alter a table.
        schema_editor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        schema_editor.execute("SET CONSTRAINTS ALL DEFERRED")


class Migration(migrations.Migration):
    dependencies = [
        ("dialeval_site", "0001_initial"),
        ("annotations", "0006_demo_account"),
        ("challenges", "0004_team_invitations_expire"),
        ("judges", "0001_judges"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [migrations.RunPython(mark, migrations.RunPython.noop, elidable=True)]
