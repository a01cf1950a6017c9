"""How usage is written."""

from typing import Any

from rest_framework import serializers

from apcore.telemetry.latency import RELATIVE_ERROR

_WITHIN = f"In milliseconds, within {RELATIVE_ERROR:.0%} of the call at that rank."


class LatencySerializer(serializers.Serializer[Any]):
    """How long calls took and when the last one was; null without calls."""

    error_rate = serializers.FloatField(min_value=0, max_value=1, allow_null=True)
    fault_count = serializers.IntegerField(help_text="Errors of modules' own, and not of their callers.")
    fault_rate = serializers.FloatField(
        min_value=0, max_value=1, allow_null=True, help_text="Their share of the calls without errors of callers."
    )
    avg_latency_ms = serializers.FloatField(allow_null=True, help_text="In milliseconds, exact.")
    p50_latency_ms = serializers.FloatField(allow_null=True, help_text=_WITHIN)
    p95_latency_ms = serializers.FloatField(allow_null=True, help_text=_WITHIN)
    p99_latency_ms = serializers.FloatField(allow_null=True, help_text=_WITHIN)
    last_called_at = serializers.DateTimeField(allow_null=True)


class CallFiguresSerializer(LatencySerializer):
    """Some calls in figures."""

    call_count = serializers.IntegerField()
    error_count = serializers.IntegerField()


class PeriodUsageSerializer(CallFiguresSerializer):
    """The calls of one hour, or of one day where hours were merged into days."""

    start = serializers.DateTimeField()
    hours = serializers.IntegerField(help_text="1 or 24.")


class CalledModuleSerializer(CallFiguresSerializer):
    """A module that was called."""

    module_id = serializers.CharField()


class UsageSummarySerializer(LatencySerializer):
    """All modules, most calls first."""

    since = serializers.DateTimeField()
    hours = serializers.IntegerField()
    total_calls = serializers.IntegerField()
    total_errors = serializers.IntegerField()
    latency_relative_error = serializers.FloatField()
    modules = CalledModuleSerializer(many=True)


class ModuleUsageSerializer(CalledModuleSerializer):
    """One module."""

    since = serializers.DateTimeField()
    latency_relative_error = serializers.FloatField()
    callers = serializers.DictField(child=CallFiguresSerializer(), help_text="By the kind of caller.")
    trend = PeriodUsageSerializer(many=True)
