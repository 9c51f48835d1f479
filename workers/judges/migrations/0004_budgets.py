from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("judges", "0003_endpoint_dialects"),
        # It refers to the model by its former name.
        ("challenges", "0005_release_of_results"),
    ]

    operations = [
        migrations.RenameModel("Purse", "Budget"),
        # Renaming a field leaves its name in a constraint: it is taken out and put back.
        migrations.RemoveConstraint("hold", "judge_hold_once"),
        migrations.RenameField("hold", "purse", "budget"),
        migrations.AddConstraint(
            "hold",
            models.UniqueConstraint(fields=("budget", "holder"), name="judge_hold_once"),
        ),
        migrations.RenameField("judgerun", "purse", "budget"),
        migrations.RenameField("trial", "purse", "budget"),
    ]
