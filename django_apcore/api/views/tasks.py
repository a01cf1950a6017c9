"""Tasks: calls that a worker makes, how far they are, and what came of them."""

from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter
from rest_framework.generics import ListAPIView, get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from django_apcore import services
from django_apcore.api.base import ApiView
from django_apcore.api.bodies import EMPTY, read_body
from django_apcore.api.filters import narrowed
from django_apcore.api.openapi import answers, described, json_body
from django_apcore.api.pagination import Pages
from django_apcore.api.serializers import TaskSerializer, TaskSummarySerializer
from django_apcore.api.visibility import visible_tasks
from django_apcore.models import AsyncTask


class TaskListView(ApiView, ListAPIView[AsyncTask]):
    """The tasks that the caller may see."""

    serializer_class = TaskSummarySerializer
    pagination_class = Pages
    filter_backends = []

    @described(
        operation_id="list_tasks",
        parameters=[
            OpenApiParameter("status", enum=AsyncTask.Status.values),
            OpenApiParameter("module_id", description="Only calls of this module."),
        ],
        responses=answers(TaskSummarySerializer(many=True), 400, 404),
    )
    def get(self, request: Request) -> Response:
        """List tasks, the latest first: your own, or all if you may manage tasks."""
        return self.list(request)

    def get_queryset(self) -> QuerySet[AsyncTask]:
        tasks = visible_tasks(self.request.user, self.call_context.identity).select_related("requested_by")
        return narrowed(tasks, self.request.query_params, AsyncTask.Status.values)


class OneTaskView(ApiView):
    """Base of the views about one task, which the caller may see."""

    def task(self, task_id: UUID) -> AsyncTask:
        """Raises Http404 for what the caller may not see as for what does not exist."""
        tasks = visible_tasks(self.request.user, self.call_context.identity).select_related("requested_by")
        return get_object_or_404(tasks, pk=task_id)

    def answer(self, task: AsyncTask) -> Response:
        context = {"request": self.request, "identity": self.call_context.identity}
        return Response(TaskSerializer(task, context=context).data)


class TaskView(OneTaskView):
    """One task."""

    @described(operation_id="get_task", responses=answers(TaskSerializer, 404))
    def get(self, request: Request, task_id: UUID) -> Response:
        """Read a task: its progress, and its result or error once it has finished."""
        return self.answer(self.task(task_id))


class TaskCancelView(OneTaskView):
    """The end of a task before it is done."""

    @described(
        operation_id="cancel_task",
        request=json_body(EMPTY),
        responses=answers(TaskSerializer, 400, 403, 404, 409, 413, 415),
    )
    def post(self, request: Request, task_id: UUID) -> Response:
        """Ask for the end of a task: at once while it waits, at its next check while it runs."""
        self.task(task_id)
        read_body(request, EMPTY)
        return self.answer(services.cancel_task(task_id, actor=self.person, identity=self.call_context.identity))
