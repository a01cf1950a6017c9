"""Measure: what a stored call would change now."""

from apcore.effects import EffectRecord
from apcore.errors import ModuleError, ModuleExecuteError
from django_apcore.models import ApprovalRequest
from django_apcore.services._calls import StoredInputs, executor, restored_context


def measure(request: ApprovalRequest) -> EffectRecord:
    """Find out, by the same path as the call itself, what the call of a request would change; nothing is changed.

    Raises what the access list, the schema or the module say about this call today.
    """
    inputs = StoredInputs.from_encrypted(request.inputs_encrypted)
    found = executor().validate(request.module_id, inputs.sent, restored_context(request.context_json))
    if not found.valid:
        raise ModuleError.from_dict(found.errors[0])
    if found.effect is None:
        warnings = [text for check in found.checks for text in check.warnings]
        raise ModuleExecuteError(warnings[-1] if warnings else "The effect could not be measured.")
    return found.effect
