"""The command ``dialeval``: a participant's side of the API. Pure: no Django, nothing of the
site's."""
