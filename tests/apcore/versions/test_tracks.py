import warnings

import pytest

from apcore.errors import VersionIncompatibleError
from apcore.versions import effective_version


@pytest.mark.req("R-13.3-02")
def test_each_version_is_compared_on_its_own_track():
    with pytest.warns(DeprecationWarning, match=r"1\.8\.0 is current"):
        assert effective_version("1.0.0") == "1.0.0"
    with pytest.warns(DeprecationWarning, match=r"0\.22\.0 is current"):
        assert effective_version("0.14.0") == "0.14.0"


@pytest.mark.req("R-13.3-02")
@pytest.mark.parametrize("declared", ["1.8.0", "1.8.0-draft", "1.6.0", "0.22.0", "0.20.0"])
def test_current_versions_pass_silently(declared):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        effective_version(declared)


@pytest.mark.req("R-13.3-03", "R-13.3-04")
@pytest.mark.parametrize("declared", ["2.0.0", "1.9.0", "0.23.0", "next"])
def test_versions_from_the_future_are_refused(declared):
    with pytest.raises(VersionIncompatibleError):
        effective_version(declared)
