"""The steps of a call, one file each, in the order in which they run (DESIGN §4, §7.4)."""

from apcore.execution.steps.acl_check import AclCheck
from apcore.execution.steps.approval_gate import ApprovalGate
from apcore.execution.steps.call_chain_guard import CallChainGuard
from apcore.execution.steps.context_creation import ContextCreation
from apcore.execution.steps.execute import Execute
from apcore.execution.steps.input_rewrite import InputRewrite, Rewrite
from apcore.execution.steps.input_validation import validate_input
from apcore.execution.steps.middleware_after import MiddlewareAfter
from apcore.execution.steps.middleware_before import MiddlewareBefore
from apcore.execution.steps.module_lookup import ModuleLookup
from apcore.execution.steps.output_validation import validate_output
from apcore.execution.steps.return_result import return_result

__all__ = [
    "AclCheck",
    "ApprovalGate",
    "CallChainGuard",
    "ContextCreation",
    "Execute",
    "InputRewrite",
    "MiddlewareAfter",
    "MiddlewareBefore",
    "ModuleLookup",
    "Rewrite",
    "return_result",
    "validate_input",
    "validate_output",
]
