from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("challenges", "0005_release_of_results"),
        ("judges", "0004_budgets"),
    ]

    operations = [migrations.RenameField("challenge", "judge_purse", "judge_budget")]
