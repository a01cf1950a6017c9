"""Finding modules: files, entry points, bindings, conventions, and how they are presented (§3, §5.2, §5.12-§5.14)."""

from apcore.discovery.binding_files import (
    BindingFile,
    binding_files_in,
    read_binding_file,
    write_binding_file,
)
from apcore.discovery.bindings import BindingLoader, bound_modules
from apcore.discovery.candidates import function_modules, module_classes, module_instances
from apcore.discovery.conventions import scan_conventions
from apcore.discovery.display import (
    ResolvedDisplay,
    ResolvedModule,
    Surface,
    SurfaceDisplay,
    display_of,
    resolve_display,
)
from apcore.discovery.entry_points import EntryPoint, discover_multi_class, resolve_entry_point
from apcore.discovery.files import Findings, ForetoldModule, find_modules, modules_in_file
from apcore.discovery.found import FoundModule, Place, the_one
from apcore.discovery.leftovers import warn_about_metadata
from apcore.discovery.loading import imported_anew, load_python_file, load_python_module, python_name
from apcore.discovery.metadata_files import load_metadata
from apcore.discovery.scanning import scan_extensions
from apcore.discovery.settings import BINDING_PATTERN, DiscoverySettings, ScanSettings
from apcore.discovery.targets import resolve_target

__all__ = [
    "BINDING_PATTERN",
    "BindingFile",
    "BindingLoader",
    "DiscoverySettings",
    "EntryPoint",
    "Findings",
    "ForetoldModule",
    "FoundModule",
    "Place",
    "ResolvedDisplay",
    "ResolvedModule",
    "ScanSettings",
    "Surface",
    "SurfaceDisplay",
    "binding_files_in",
    "bound_modules",
    "discover_multi_class",
    "display_of",
    "find_modules",
    "function_modules",
    "imported_anew",
    "load_metadata",
    "load_python_file",
    "load_python_module",
    "module_classes",
    "module_instances",
    "modules_in_file",
    "python_name",
    "read_binding_file",
    "resolve_display",
    "resolve_entry_point",
    "resolve_target",
    "scan_conventions",
    "scan_extensions",
    "the_one",
    "warn_about_metadata",
    "write_binding_file",
]
