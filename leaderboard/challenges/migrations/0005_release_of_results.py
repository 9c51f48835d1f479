import leaderboard.challenges.models.challenge
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('challenges', '0004_team_invitations_expire'),
    ]

    operations = [
        # The column keeps its name and its values.
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RenameField('round', 'unveil_at', 'release_at'),
                migrations.AlterField(
                    model_name='round',
                    name='release_at',
                    field=models.DateTimeField(blank=True, db_column='unveil_at', help_text='When everybody sees the private leaderboard.', null=True),
                ),
            ]
        ),
        migrations.AlterField(
            model_name='round',
            name='private_metrics',
            field=models.JSONField(blank=True, default=list, help_text='Configurations that only organisers see before the release.'),
        ),
        migrations.AlterField(
            model_name='round',
            name='public_share',
            field=models.FloatField(default=1.0, help_text='Share of the dialogues that the public leaderboard counts; the others come with the release. 1: all, at once. 0: nothing before the release.', validators=[MinValueValidator(0), MaxValueValidator(1)]),
        ),
        migrations.AlterField(
            model_name='round',
            name='split_seed',
            field=models.BigIntegerField(default=leaderboard.challenges.models.challenge.random_seed, help_text="Draws the public leaderboard's dialogues."),
        ),
    ]
