"""A function as a module (§5.11)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict, Unpack

from apcore.errors import FuncMissingReturnTypeError, FuncMissingTypeHintError
from apcore.modules.annotations import ModuleAnnotations
from apcore.modules.callables import by_name, innermost, is_async, lacks_its_object
from apcore.modules.examples import ModuleExample
from apcore.schema import UNRESOLVED, FunctionSchema, generate_schema_from_function


class ModuleOptions(TypedDict, total=False):
    """What may be said about a function module beyond its code (§5.11.3).

    `effect="transactional"` says that everything the function does is a row of the project's databases or goes through
    a hook that is captured, so that a preview can measure it. `timeout_ms` limits one execution. Schemas given here
    replace those of the type hints: a pydantic model or a JSON Schema.
    """

    description: str | None
    documentation: str | None
    name: str | None
    annotations: ModuleAnnotations | Mapping[str, Any] | None
    tags: Sequence[str]
    version: str
    metadata: Mapping[str, Any] | None
    examples: Sequence[ModuleExample | Mapping[str, Any]]
    effect: str | None
    timeout_ms: int | None
    input_schema: Any
    output_schema: Any


class FunctionModule:
    """A module that runs a function; calling the object calls the function as it was written (§5.11).

    `execute(inputs, context)` builds the declared Python types from the inputs, passes the context to the parameter
    that is annotated with `Context`, and turns the result into JSON. `schema` takes the place of what the signature
    says. A signature that names a class which its file makes further down is read when somebody asks what it says.
    Raises FuncMissingTypeHintError and FuncMissingReturnTypeError (§5.11.11), and TypeError for an unknown option.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        id: str,  # noqa: A002 - §5.11.3 fixes the name
        schema: FunctionSchema | None = None,
        **options: Unpack[ModuleOptions],
    ) -> None:
        unknown = sorted(options.keys() - ModuleOptions.__annotations__.keys())
        if unknown:
            raise TypeError(f"module() has no option {', '.join(map(repr, unknown))}")
        functools.update_wrapper(self, function, updated=())
        self.function = function
        self.id = id
        self.name = options.get("name") or str(innermost(function).__name__)
        self.annotations = options.get("annotations")
        self.tags = options.get("tags", ())
        self.version = options.get("version", "1.0.0")
        self.metadata = options.get("metadata")
        self.examples = options.get("examples", ())
        self.effect = options.get("effect")
        self.timeout_ms = options.get("timeout_ms")
        self._options = options
        self._schema = _readable_now(function) if schema is None else schema

    @property
    def schema(self) -> FunctionSchema:
        """What the signature says, or what was said in its place."""
        if self._schema is None:
            self._schema = generate_schema_from_function(self.function)
        return self._schema

    @property
    def description(self) -> str:
        return self._options.get("description") or self.schema.description

    @property
    def documentation(self) -> str:
        return self._options.get("documentation") or self.schema.documentation

    @property
    def input_schema(self) -> Any:
        return _first_given(self._options.get("input_schema"), self.schema.input_schema)

    @property
    def output_schema(self) -> Any:
        return _first_given(self._options.get("output_schema"), self.schema.output_schema)

    @functools.cached_property
    def execute(self) -> Callable[[Any, Any], Any]:
        return _execute(self.function, self.schema)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<FunctionModule {self.id}>"


def _readable_now(function: Callable[..., Any]) -> FunctionSchema | None:
    """What the signature says; None where it names what does not exist yet."""
    try:
        return generate_schema_from_function(function)
    except (FuncMissingTypeHintError, FuncMissingReturnTypeError) as error:
        if UNRESOLVED in error.details:
            return None
        raise


def _execute(function: Callable[..., Any], schema: FunctionSchema) -> Callable[[Any, Any], Any]:
    if lacks_its_object(function):
        raise TypeError(
            f"{function.__qualname__}() is a method without its object: module(instance.{function.__name__})"
        )
    bind, serialise, context_parameter = schema.bind, schema.serialise, schema.context_parameter
    call = by_name(function) if schema.has_positional_only else function

    def arguments(inputs: Any, context: Any) -> Mapping[str, Any]:
        return bind(inputs) if context_parameter is None else {**bind(inputs), context_parameter: context}

    def execute(inputs: Any, context: Any) -> Any:
        return serialise(call(**arguments(inputs, context)))

    async def execute_async(inputs: Any, context: Any) -> Any:
        return serialise(await call(**arguments(inputs, context)))

    return execute_async if is_async(function) else execute


def _first_given(given: Any, inferred: Any) -> Any:
    return inferred if given is None else given
