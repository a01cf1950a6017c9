"""The URLs of the REST face, for `path("api/apcore/", include("django_apcore.api.urls"))`."""

from django.urls import path, re_path

from django_apcore.api.links import APP_NAME
from django_apcore.api.views.approvals import (
    ApprovalChangesView,
    ApprovalListView,
    ApprovalView,
    ApproveView,
    CancelView,
    RejectView,
    RemeasureView,
)
from django_apcore.api.views.calls import CallView, SubmitView, ValidateView
from django_apcore.api.views.documentation import DocsView, SchemaView, UnknownView
from django_apcore.api.views.health import HealthView
from django_apcore.api.views.metrics import MetricsView
from django_apcore.api.views.modules import ModuleListView, ModuleSchemaView, ModuleView
from django_apcore.api.views.streams import StreamView
from django_apcore.api.views.task_events import TaskEventsView
from django_apcore.api.views.tasks import TaskCancelView, TaskListView, TaskView
from django_apcore.api.views.usage import UsageView

app_name = APP_NAME

urlpatterns = [
    path("modules/", ModuleListView.as_view(), name="modules"),
    path("modules/<str:module_id>/", ModuleView.as_view(), name="module"),
    path("modules/<str:module_id>/schema/", ModuleSchemaView.as_view(), name="module-schema"),
    path("modules/<str:module_id>/call/", CallView.as_view(), name="module-call"),
    path("modules/<str:module_id>/validate/", ValidateView.as_view(), name="module-validate"),
    path("modules/<str:module_id>/submit/", SubmitView.as_view(), name="module-submit"),
    path("modules/<str:module_id>/stream/", StreamView.as_view(), name="module-stream"),
    path("tasks/", TaskListView.as_view(), name="tasks"),
    path("tasks/<uuid:task_id>/", TaskView.as_view(), name="task"),
    path("tasks/<uuid:task_id>/cancel/", TaskCancelView.as_view(), name="task-cancel"),
    path("tasks/<uuid:task_id>/events/", TaskEventsView.as_view(), name="task-events"),
    path("approvals/", ApprovalListView.as_view(), name="approvals"),
    path("approvals/<uuid:approval_id>/", ApprovalView.as_view(), name="approval"),
    path("approvals/<uuid:approval_id>/changes/", ApprovalChangesView.as_view(), name="approval-changes"),
    path("approvals/<uuid:approval_id>/approve/", ApproveView.as_view(), name="approval-approve"),
    path("approvals/<uuid:approval_id>/reject/", RejectView.as_view(), name="approval-reject"),
    path("approvals/<uuid:approval_id>/cancel/", CancelView.as_view(), name="approval-cancel"),
    path("approvals/<uuid:approval_id>/remeasure/", RemeasureView.as_view(), name="approval-remeasure"),
    path("health/", HealthView.as_view(), name="health"),
    path("usage/", UsageView.as_view(), name="usage"),
    path("metrics/", MetricsView.as_view(), name="metrics"),
    path("schema/", SchemaView.as_view(), name="schema"),
    path("docs/", DocsView.as_view(), name="docs"),
    re_path(r"", UnknownView.as_view(), name="unknown"),
]
