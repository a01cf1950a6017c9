import pytest

from tests.apcore.discovery.foretelling.samples import EXECUTE, PLAN, SCHEMAS, class_text

ANNOTATED = "input_schema: dict = {}\noutput_schema: dict = {}\n"


@pytest.mark.parametrize(
    "text",
    [
        class_text("Worker", "", SCHEMAS, EXECUTE),
        class_text("Worker", "", SCHEMAS, "async " + EXECUTE),
        class_text("Worker", "", EXECUTE),
        class_text("Worker", "", EXECUTE, "input_schema = output_schema = {'type': 'object'}\n"),
        class_text("Worker", "", EXECUTE, "input_schema, output_schema = {}, {}\n") + class_text("Other", "", EXECUTE),
        class_text("Worker", "object", SCHEMAS, "@staticmethod\ndef execute(inputs, context): ...\n"),
        class_text("Worker", "Module", EXECUTE),
        class_text("Worker", "apcore.Module", PLAN),
        class_text("Worker", "PlannedModule", PLAN),
        class_text("Worker", "ABC", SCHEMAS, EXECUTE),
        class_text("Worker", "typing.Generic[typing.TypeVar('T')]", SCHEMAS, EXECUTE),
        class_text("_Base", "", EXECUTE) + class_text("Worker", "_Base", SCHEMAS),
        class_text("Worker", "", SCHEMAS, EXECUTE)
        + class_text("Order", "BaseModel", "number: int = Field(default=1)\n"),
        class_text("Worker", "Module", EXECUTE) + class_text("Helper", "", EXECUTE),
        class_text("Worker", "Module", EXECUTE) + class_text("Line", decorator="@dataclass(frozen=True)\n"),
        class_text("Worker", "Module", EXECUTE) + class_text("Mistake", "ValueError"),
        class_text("Worker", "Module", EXECUTE) + class_text("Colour", "enum.Enum", "RED = 1\n"),
        class_text("Worker", "Module", EXECUTE) + class_text("Store", "typing.Protocol", "def get(self): ...\n"),
        class_text("Worker", "Module", EXECUTE, "if True:\n    x = 1\nfor y in ():\n    pass\n"),
        class_text("Worker", "Module", EXECUTE) + "Alias = Worker\n",
        class_text("_Worker", "Module", EXECUTE) + "Worker = _Worker\n",
    ],
)
def test_a_class_that_has_what_a_module_needs_is_foretold(told, text):
    assert told(text) == ["m"]


@pytest.mark.parametrize(
    "text",
    [
        class_text("Worker"),
        class_text("_Worker", "", SCHEMAS, EXECUTE),
        class_text("Worker", "Base"),
        class_text("Worker", "Plain", SCHEMAS, EXECUTE),
        class_text("Worker", "Module", EXECUTE) + class_text("Other", "Base"),
        class_text("Worker", "Module", EXECUTE) + class_text("Other", "_helpers.Plain"),
        class_text("Worker", "", SCHEMAS, "execute = None\n"),
        class_text("Worker", "", SCHEMAS, "execute = other = None\n"),
        class_text("Worker", "", SCHEMAS, "@property\ndef execute(self): ...\n"),
        class_text("Worker", "", SCHEMAS, "if _helpers.NUMBER:\n    def execute(self, inputs, context): ...\n"),
        class_text("Worker", "", SCHEMAS, "from builtins import print as execute\n"),
        class_text("Worker", "", SCHEMAS, EXECUTE, "del execute\n"),
        class_text("Worker", "PlannedModule", EXECUTE),
        class_text("Mixin", "", PLAN) + class_text("Worker", "PlannedModule, Mixin"),
        class_text("Worker", "", EXECUTE, SCHEMAS, decorator="@unchanged\n"),
        class_text("Worker", "", EXECUTE, ANNOTATED, decorator="@dataclass\n"),
        class_text("Worker", "BaseModel", EXECUTE, ANNOTATED),
        class_text("Worker", "", EXECUTE, "__slots__ = ('input_schema',)\n"),
        class_text("Worker", "", SCHEMAS, EXECUTE, "__module__ = 'elsewhere'\n"),
        class_text("Worker", "", EXECUTE, "if _helpers.NUMBER:\n    __slots__ = ('input_schema',)\n"),
        class_text("Worker", "Module", EXECUTE) + class_text("Other", "metaclass=type('M', (type,), {})"),
        class_text("Worker", "Module", EXECUTE) + "Worker.execute = None\n",
        class_text("Worker", "Module", EXECUTE) + "Worker = unchanged(Worker)\n",
        class_text("Worker", "Module", EXECUTE) + "del Worker\n",
        class_text("Worker", "Module", EXECUTE)
        + "import abc\n"
        + class_text("A", "ABC", "@abc.abstractmethod\n", EXECUTE),
        "if _helpers.NUMBER:\n    class Worker(Base): pass\n",
    ],
)
def test_any_other_class_is_looked_at(told, text):
    assert told(text) is None


def test_several_classes_are_foretold_where_they_may_be(told):
    two = class_text("MathOps", "", SCHEMAS, EXECUTE) + class_text("Other", "Module", EXECUTE)

    assert told(two) is None
    assert told(two, multi_class=True) == ["m.math_ops", "m.other"]
    assert told(two.replace("Other", "Math_Ops"), multi_class=True) is None
