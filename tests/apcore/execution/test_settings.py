"""Reading the settings of an executor (§9.1.1)."""

from typing import Any

import pytest

from apcore.errors import ConfigError
from apcore.execution import ExecutorSettings


@pytest.mark.parametrize("values", [3, "apcore.yaml", ["default_timeout"], None])
def test_what_is_no_mapping_is_refused(values: Any) -> None:
    with pytest.raises(ConfigError, match="are a mapping, not"):
        ExecutorSettings.from_mapping(values)
