"""The sample data."""

from pathlib import Path

from django.core.management import call_command

from project.store.models import Track

FIXTURE = Path(__file__).resolve().parents[3] / "fixtures" / "store.json.gz"


def load_music() -> bool:
    """Load the sample store, unless there is one: what operations have changed since stays as it is."""
    if Track.objects.exists():
        return False
    call_command("loaddata", str(FIXTURE), verbosity=0)
    return True
