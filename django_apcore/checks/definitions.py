"""What a registry admits, and what is doubtful about it all the same."""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from django.core import checks
from django.core.checks import CheckMessage, register

from apcore.errors import InvalidInputError
from apcore.modules import ModuleDefinition
from apcore.modules.conventions import misplaced_context_keys
from apcore.modules.define import MAX_DESCRIPTION, MAX_DOCUMENTATION
from apcore.registry import Registry, tool_name
from django_apcore import runtime
from django_apcore.checks.configuration import with_settings
from django_apcore.conf import ApcoreSettings

Doubt = Callable[[ModuleDefinition], Iterator[CheckMessage]]


@register("apcore")
@with_settings
def check_definitions(conf: ApcoreSettings) -> list[CheckMessage]:
    """W008 to W015: definitions that work, and that hardly anybody meant so."""
    registry = runtime.get_registry()
    return [*doubts(registry), *_shared_tool_names(registry), *_notices(runtime.notices())]


def doubts(registry: Registry) -> list[CheckMessage]:
    """What is doubtful about each module, in the order of their IDs."""
    definitions = (registry.get_definition(name) for name in registry.list(include_hidden=True))
    return [message for each in definitions for doubt in _DOUBTS for message in doubt(each)]


def _approved_blindly(definition: ModuleDefinition) -> Iterator[CheckMessage]:
    if definition.requires_approval and definition.effect == "none" and "x-compensation" not in definition.metadata:
        yield _warning(
            definition.module_id,
            "requires an approval, and nobody can see beforehand what it does, nor is it said how to undo it.",
            "Set effect='transactional', write plan() and apply(), or preview(); or say how it is undone in "
            "metadata['x-compensation'].",
            "W008",
        )


def _transactional_coroutine(definition: ModuleDefinition) -> Iterator[CheckMessage]:
    if definition.is_async and definition.effect == "transactional":
        yield _warning(
            definition.module_id,
            "is a coroutine and transactional: it holds a thread to its end, and what it does on others is not seen.",
            "Write it as a plain function. Callers can await it just the same.",
            "W009",
        )


def _examples_that_do_not_fit(definition: ModuleDefinition) -> Iterator[CheckMessage]:
    hint = "Examples are shown to people and language models, who will call the module like this."
    for example in definition.examples:
        if not definition.input_validator.is_valid(example.inputs):
            text = f"has the example {example.title!r}, whose inputs do not fit the input schema."
            yield _warning(definition.module_id, text, hint, "W010")
        if example.output is not None and not definition.output_validator.is_valid(example.output):
            text = f"has the example {example.title!r}, whose output does not fit the output schema."
            yield _warning(definition.module_id, text, hint, "W010")


def _long_texts(definition: ModuleDefinition) -> Iterator[CheckMessage]:
    limits = {"description": MAX_DESCRIPTION, "documentation": MAX_DOCUMENTATION}
    for name, limit in limits.items():
        if len(getattr(definition, name) or "") > limit:
            text = f"has a {name} of more than {limit} characters."
            hint = "The description is read in lists, by people and language models; details go into the documentation."
            yield _warning(definition.module_id, text, hint, "W012")


def _contradictions(definition: ModuleDefinition) -> Iterator[CheckMessage]:
    if definition.annotations.readonly and definition.annotations.destructive:
        text = "is annotated as readonly and as destructive."
        yield _warning(definition.module_id, text, "Remove the annotation that is not true.", "W013")


def _metadata_that_means_nothing(definition: ModuleDefinition) -> Iterator[CheckMessage]:
    misplaced = misplaced_context_keys(definition.metadata)
    if misplaced:
        text = f"asks in its metadata for {', '.join(misplaced)}, which every context has."
        yield _warning(definition.module_id, text, "Remove it; the list is for keys of context.data.", "W014")


_DOUBTS: Final[tuple[Doubt, ...]] = (
    _approved_blindly,
    _transactional_coroutine,
    _examples_that_do_not_fit,
    _long_texts,
    _contradictions,
    _metadata_that_means_nothing,
)


def _shared_tool_names(registry: Registry) -> Iterator[CheckMessage]:
    for name in sorted({tool_name(module_id) for module_id in registry.list(include_hidden=True)}):
        try:
            registry.module_id_of_tool(name)
        except InvalidInputError as error:
            yield _warning(
                None, f"{error.message}: neither of them can be offered as a tool.", error.suggestion, "W011"
            )


def _notices(texts: Iterable[str]) -> Iterator[CheckMessage]:
    hint = "Mend it or remove it; a file that is not meant to hold modules has a name that starts with an underscore."
    return (_warning(None, text, hint, "W015") for text in texts)


def _warning(module_id: str | None, text: str, hint: str | None, number: str) -> CheckMessage:
    text = text if module_id is None else f"Module '{module_id}' {text}"
    return checks.Warning(text, hint=hint, obj=module_id, id=f"django_apcore.{number}")
