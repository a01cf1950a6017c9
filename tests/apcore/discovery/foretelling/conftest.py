import pytest

from apcore.discovery.files import FilePlace
from apcore.errors import ModuleError
from tests.apcore.discovery.foretelling.samples import HELPERS, IMPORTS


@pytest.fixture
def told(extensions, write):
    """The IDs that a file `m.py` foretells, None if it has to be imported; what it foretells is what it then has."""

    def told(text, *, multi_class=False):
        write("extensions/_helpers.py", HELPERS)
        file = write("extensions/m.py", IMPORTS + text)
        place = FilePlace(str(file), "m", str(extensions), multi_class)
        foretold = place.foretell()
        if foretold is None:
            return None
        ids = [each.module_id for each in foretold]
        try:
            found = place.all()
        except ModuleError as error:
            if error.cause is None:
                raise  # it can be imported, and there is no module
            return ids
        assert sorted(ids) == sorted(each.module_id for each in found)
        return ids

    return told
