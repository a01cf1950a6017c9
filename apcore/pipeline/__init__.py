"""The path of one call: named steps in order, and the engine that walks them (§5.16)."""

from apcore.pipeline.engine import run_pipeline
from apcore.pipeline.runner import Body, Invocation, Runner, settled
from apcore.pipeline.state import PipelineState
from apcore.pipeline.step import Step
from apcore.pipeline.strategy import STANDARD_STEPS, Strategy

__all__ = [
    "STANDARD_STEPS",
    "Body",
    "Invocation",
    "PipelineState",
    "Runner",
    "Step",
    "Strategy",
    "run_pipeline",
    "settled",
]
