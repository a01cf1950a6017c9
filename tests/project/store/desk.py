"""Where an agent asks for operations, an approver signs, and a worker executes: all in one process."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from django.contrib.auth.models import User

from apcore.context import Context, Identity
from apcore.errors import ApprovalPendingError
from django_apcore import runtime, services
from django_apcore.models import ApprovalRequest
from project.store import setup

# For tests that measure: on PostgreSQL the isolation level is set first of all, so no test may have begun before.
governed = pytest.mark.django_db(transaction=True, databases="__all__")


@dataclass(frozen=True, slots=True)
class Desk:
    agent: User
    approver: User

    @property
    def context(self) -> Context:
        return Context.create(identity=Identity(str(self.agent.pk), "service", (setup.AGENTS,)))

    def call(self, module_id: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
        return dict(runtime.get().executor.call(module_id, dict(inputs), self.context))

    def ask(self, module_id: str, inputs: Mapping[str, Any]) -> ApprovalRequest:
        with pytest.raises(ApprovalPendingError) as pending:
            self.call(module_id, inputs)
        return ApprovalRequest.objects.get(pk=pending.value.details["approval_id"])

    def sign(self, request: ApprovalRequest) -> ApprovalRequest:
        """Approve what the request shows, and have it executed."""
        services.approve(request.pk, actor=self.approver, seen_digest=request.effect_digest, confirmed=True)
        return services.execute_approved(request.pk)


def table(model: Any) -> list[dict[str, Any]]:
    """Every row of a model, to compare before and after."""
    return list(model.objects.order_by("pk").values())
