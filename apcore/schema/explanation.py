"""Why a value does not fit. Loaded by ``apcore.schema.validate`` at the first refusal: jsonschema is slow to load."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from jsonschema.protocols import Validator

from apcore.schema.reference import is_explainable, reference_validator
from apcore.schema.violations import describe_violations


class Explainer:
    """Explains refusals by one schema."""

    def __init__(self, prepared: Mapping[str, Any]) -> None:
        self._prepared = prepared

    def explain(self, value: Any, masked: Any) -> list[dict[str, Any]]:
        """The violations as ``describe_violations`` words them."""
        return describe_violations(self._reference.iter_errors(value), masked)

    @cached_property
    def is_explainable(self) -> bool:
        """Whether the reference may be asked about this schema."""
        return is_explainable(self._prepared)

    @cached_property
    def _reference(self) -> Validator:
        return reference_validator(self._prepared)
