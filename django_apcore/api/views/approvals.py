"""Approval requests: what waits for a person, what became of it, and the decision itself."""

from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter
from rest_framework.generics import ListAPIView, get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from django_apcore import services
from django_apcore.api.base import ApiView
from django_apcore.api.bodies import APPROVE, CANCEL, EMPTY, REJECT, read_body
from django_apcore.api.filters import narrowed
from django_apcore.api.openapi import answers, described, json_body
from django_apcore.api.pagination import Pages
from django_apcore.api.serializers import ApprovalSerializer, ApprovalSummarySerializer, ChangeSerializer
from django_apcore.api.visibility import visible_requests
from django_apcore.models import ApprovalRequest, EffectChange

_CHANNEL = "api"


class ApprovalListView(ApiView, ListAPIView[ApprovalRequest]):
    """The approval requests that the caller may see."""

    serializer_class = ApprovalSummarySerializer
    pagination_class = Pages
    filter_backends = []

    @described(
        operation_id="list_approvals",
        parameters=[
            OpenApiParameter("status", enum=ApprovalRequest.Status.values),
            OpenApiParameter("module_id", description="Only requests to call this module."),
        ],
        responses=answers(ApprovalSummarySerializer(many=True), 400, 404),
    )
    def get(self, request: Request) -> Response:
        """List approval requests, the latest first: your own, or all if you may view or decide."""
        return self.list(request)

    def get_queryset(self) -> QuerySet[ApprovalRequest]:
        requests = visible_requests(self.request.user, self.call_context.identity).select_related("requested_by")
        return narrowed(requests, self.request.query_params, ApprovalRequest.Status.values)


class OneApprovalView(ApiView):
    """Base of the views about one request, which the caller may see."""

    def approval(self, approval_id: UUID) -> ApprovalRequest:
        """Raises Http404 for what the caller may not see as for what does not exist."""
        related = visible_requests(self.request.user, self.call_context.identity).select_related(
            "requested_by", "policy", "superseded_by"
        )
        return get_object_or_404(related.prefetch_related("decisions"), pk=approval_id)

    def answer(self, approval: ApprovalRequest) -> Response:
        return Response(ApprovalSerializer(approval, context={"request": self.request}).data)


class ApprovalView(OneApprovalView):
    """One approval request."""

    @described(operation_id="get_approval", responses=answers(ApprovalSerializer, 404))
    def get(self, request: Request, approval_id: UUID) -> Response:
        """Read a request: what is asked, by whom, what it would change, and what was decided."""
        return self.answer(self.approval(approval_id))


class ApprovalChangesView(OneApprovalView, ListAPIView[EffectChange]):
    """All listed changes of one request."""

    serializer_class = ChangeSerializer
    pagination_class = Pages
    filter_backends = []

    @described(operation_id="list_approval_changes", responses=answers(ChangeSerializer(many=True), 404))
    def get(self, request: Request, approval_id: UUID) -> Response:
        """Page through the changes that a request would make."""
        return self.list(request)

    def get_queryset(self) -> QuerySet[EffectChange]:
        if getattr(self, "swagger_fake_view", False):
            return EffectChange.objects.none()
        return self.approval(self.kwargs["approval_id"]).changes.all()


class ApproveView(OneApprovalView):
    """The decision to let a call happen."""

    @described(
        operation_id="approve",
        request=json_body(APPROVE),
        responses=answers(ApprovalSerializer, 400, 403, 404, 409, 413, 415),
    )
    def post(self, request: Request, approval_id: UUID) -> Response:
        """Approve exactly the effect whose digest you saw."""
        self.approval(approval_id)
        body = read_body(request, APPROVE)
        return self.answer(services.approve(approval_id, actor=self.person, channel=_CHANNEL, **body))


class RejectView(OneApprovalView):
    """The decision not to let a call happen."""

    @described(
        operation_id="reject",
        request=json_body(REJECT),
        responses=answers(ApprovalSerializer, 400, 403, 404, 409, 413, 415),
    )
    def post(self, request: Request, approval_id: UUID) -> Response:
        """Reject a request, and say why."""
        self.approval(approval_id)
        body = read_body(request, REJECT)
        return self.answer(services.reject(approval_id, actor=self.person, channel=_CHANNEL, **body))


class CancelView(OneApprovalView):
    """The end of a request, by who asked or who decides."""

    @described(
        operation_id="cancel_approval",
        request=json_body(CANCEL),
        responses=answers(ApprovalSerializer, 400, 403, 404, 409, 413, 415),
    )
    def post(self, request: Request, approval_id: UUID) -> Response:
        """Withdraw a request that was not executed yet."""
        self.approval(approval_id)
        body, identity = read_body(request, CANCEL), self.call_context.identity
        return self.answer(services.cancel(approval_id, actor=self.person, identity=identity, **body))


class RemeasureView(OneApprovalView):
    """A fresh look at what a call would change."""

    @described(
        operation_id="remeasure",
        request=json_body(EMPTY),
        responses=answers(ApprovalSerializer, 400, 403, 404, 409, 413, 415),
    )
    def post(self, request: Request, approval_id: UUID) -> Response:
        """Measure the effect of a pending request again."""
        self.approval(approval_id)
        read_body(request, EMPTY)
        return self.answer(services.remeasure(approval_id, actor=self.person))
