"""What a module is: its definition, annotations, examples, and the ways to write one (§4, §5)."""

from apcore.modules.annotations import ModuleAnnotations, merge_annotations
from apcore.modules.change import UNSET, Change, PreviewResult, Unset
from apcore.modules.plan import Plan

__all__ = ["UNSET", "Change", "ModuleAnnotations", "Plan", "PreviewResult", "Unset", "merge_annotations"]
