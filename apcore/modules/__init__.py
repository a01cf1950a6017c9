"""What a module is: its definition, annotations, examples, and the ways to write one (§4, §5)."""

from apcore.modules.annotations import ModuleAnnotations, merge_annotations
from apcore.modules.base import Module
from apcore.modules.change import UNSET, Change, PreviewResult, Unset
from apcore.modules.companion import NO_COMPANION, Companion, Deprecation
from apcore.modules.decorator import generate_module_id, module, modules_made_in, own_id
from apcore.modules.define import define_module
from apcore.modules.definition import EffectKind, ModuleDefinition
from apcore.modules.dependency import Dependency, read_dependencies
from apcore.modules.descriptor import ModuleDescription, describe
from apcore.modules.examples import ModuleExample
from apcore.modules.function_module import FunctionModule, ModuleOptions
from apcore.modules.isolation import Isolation, ResourceLimits, Sandbox
from apcore.modules.plan import Plan
from apcore.modules.planned import PlannedModule, checked_plan
from apcore.modules.source import home_package, is_installed, source_file

__all__ = [
    "NO_COMPANION",
    "UNSET",
    "Change",
    "Companion",
    "Dependency",
    "Deprecation",
    "EffectKind",
    "FunctionModule",
    "Isolation",
    "Module",
    "ModuleAnnotations",
    "ModuleDefinition",
    "ModuleDescription",
    "ModuleExample",
    "ModuleOptions",
    "Plan",
    "PlannedModule",
    "PreviewResult",
    "ResourceLimits",
    "Sandbox",
    "Unset",
    "checked_plan",
    "define_module",
    "describe",
    "generate_module_id",
    "home_package",
    "is_installed",
    "merge_annotations",
    "module",
    "modules_made_in",
    "own_id",
    "read_dependencies",
    "source_file",
]
