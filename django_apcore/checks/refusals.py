"""What is refused when modules are found and admitted: all of it, where the start of a process ends at the first."""

from collections.abc import Callable
from typing import Any, Final

from django.apps import apps
from django.core.checks import CheckMessage, Error, register

from apcore import errors
from apcore.discovery import FoundModule, resolve_display
from apcore.errors import ModuleError
from apcore.registry import resolve_dependencies
from apcore.registry.admission import admit
from django_apcore import runtime
from django_apcore.checks.configuration import with_settings
from django_apcore.conf import ApcoreSettings
from django_apcore.discovery import bound_modules_of, displays_of, find_bindings, find_commands, find_modules

Kind = tuple[tuple[type[ModuleError], ...], str, str]

_KINDS: Final[tuple[Kind, ...]] = (
    (
        (errors.InvalidModuleIdError, errors.ModuleIdConflictError, errors.InvalidInputError),
        "django_apcore.E008",
        "IDs are lower-case words joined by dots, without reserved words, and each ID exists once.",
    ),
    (
        (errors.SchemaParseError, errors.SchemaCircularRefError, errors.SchemaNotFoundError),
        "django_apcore.E009",
        "Schemas are JSON Schema, Draft 2020-12, with an object at the top.",
    ),
    (
        (errors.FuncMissingTypeHintError, errors.FuncMissingReturnTypeError),
        "django_apcore.E010",
        "Annotate every parameter and the result: input and output schema are made from them.",
    ),
    (
        (
            errors.BindingFileInvalidError,
            errors.BindingInvalidTargetError,
            errors.BindingModuleNotFoundError,
            errors.BindingCallableNotFoundError,
            errors.BindingNotCallableError,
            errors.BindingSchemaInferenceFailedError,
        ),
        "django_apcore.E011",
        "A target_id is 'package.module:function' or 'package.module:Class.method', and can be imported.",
    ),
    (
        (
            errors.DependencyNotFoundError,
            errors.DependencyVersionMismatchError,
            errors.CircularDependencyError,
        ),
        "django_apcore.E012",
        "Declare as optional what a module can do without; install the app that brings the others.",
    ),
    (
        (errors.SchemaValidationError,),
        "django_apcore.E013",
        "Write another alias into the display section of the binding file.",
    ),
    (
        (errors.ConfigError,),
        "django_apcore.E014",
        "Every app in APCORE['CONVENTION_APPS'] has a directory with the name of APCORE['CONVENTIONS_DIR'].",
    ),
    (
        (ModuleError,),
        "django_apcore.E015",
        "A module has a description, an input schema, an output schema, and execute() or plan() and apply().",
    ),
)


@register("apcore")
@with_settings
def check_admission(conf: ApcoreSettings) -> list[CheckMessage]:
    """E008 to E015: definitions that no registry admits. What a process has admitted at its start is not read again."""
    unknown = sorted(set(conf.convention_apps) - {config.label for config in apps.get_app_configs()})
    found: list[CheckMessage] = [
        Error(
            f"APCORE['CONVENTION_APPS'] names {label!r}, which is no installed app.",
            hint="The names are labels of apps in INSTALLED_APPS.",
            id="django_apcore.E014",
        )
        for label in unknown
    ]
    return found if runtime.is_registered() else found + refusals()


def refusals() -> list[CheckMessage]:
    """Find the modules of all installed apps and try them one by one; none is loaded. Raises what no error of ours is:
    a file that cannot be imported tells more by its traceback.
    """
    trial = _Trial()
    configs = list(apps.get_app_configs())
    found: list[FoundModule] = []
    for config in configs:
        for search in (find_modules, find_commands):
            found += trial.attempt(search, [config]) or ()
    files = trial.attempt(find_bindings, configs) or []
    for file in files:
        found += trial.attempt(bound_modules_of, [file]) or ()
    displays = displays_of(files)
    admitted: dict[str, FoundModule] = {}
    for each in found:
        beside = {"companion": each.companion, "schemas": each.schemas}
        earlier = admitted.get(each.module_id)
        definition = trial.attempt(admit, each.module_id, each.module, admitted, of=each, earlier=earlier, **beside)
        if definition is not None:
            admitted[each.module_id] = each
            trial.attempt(resolve_display, [definition], displays, of=each)
    if not trial.messages:  # where a module is refused, those that need it would be named in vain
        trial.attempt(resolve_dependencies, found)
    return trial.messages


class _Trial:
    """Goes on after an error, and keeps it as a message."""

    def __init__(self) -> None:
        self.messages: list[CheckMessage] = []

    def attempt(
        self,
        function: Callable[..., Any],
        *args: Any,
        of: FoundModule | None = None,
        earlier: FoundModule | None = None,
        **options: Any,
    ) -> Any:
        try:
            return function(*args, **options)
        except ModuleError as error:
            self.messages.append(_message(error, of, earlier))
            return None


def _message(error: ModuleError, of: FoundModule | None, earlier: FoundModule | None) -> CheckMessage:
    _, check_id, hint = next(kind for kind in _KINDS if isinstance(error, kind[0]))
    notes = [f"In {of.file}"] if of else getattr(error, "__notes__", [])
    if earlier and of and earlier.file != of.file:
        notes = [f"In {earlier.file} and in {of.file}"]
    reason = str(error.__cause__ or "")
    cause = [f"{type(error.__cause__).__name__}: {reason}"] if reason and reason not in error.message else []
    text = ". ".join([error.message.rstrip("."), *cause, *notes])
    return Error(f"{text}.", hint=error.suggestion or hint, obj=error.module_id or (of and of.module_id), id=check_id)
