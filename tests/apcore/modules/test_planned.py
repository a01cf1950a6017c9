import asyncio

import pytest

from apcore.errors import ModuleLoadError
from apcore.modules import Change, Plan, PlannedModule, checked_plan, define_module


class Rename(PlannedModule):
    description = "Rename a user"
    input_schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    output_schema = {"type": "object"}

    def plan(self, inputs, context):
        name = inputs["name"]
        return Plan([Change("update", "users.1", f"Rename to {name}")], data=name)

    def apply(self, plan, context):
        return {"name": plan.data, "changes": len(plan.changes)}


class RenameLater(Rename):
    async def plan(self, inputs, context):
        await asyncio.sleep(0)
        return super().plan(inputs, context)


def test_execute_applies_what_was_planned():
    definition = define_module("users.rename", Rename)
    assert not definition.is_async
    assert definition.execute({"name": "Ada"}, None) == {"name": "Ada", "changes": 1}
    assert Rename().execute({"name": "Ada"}, None) == {"name": "Ada", "changes": 1}


def test_an_async_plan_makes_the_module_async():
    definition = define_module("users.rename", RenameLater)
    assert definition.is_async
    assert asyncio.run(definition.execute({"name": "Ada"}, None)) == {"name": "Ada", "changes": 1}
    assert asyncio.run(RenameLater().execute({"name": "Ada"}, None)) == {"name": "Ada", "changes": 1}


def test_plan_and_apply_are_ready_to_call():
    definition = define_module("users.rename", Rename)
    assert definition.effect == "planned"
    plan = definition.plan({"name": "Ada"}, None)
    assert definition.apply(plan, None) == {"name": "Ada", "changes": 1}


def test_a_class_without_the_base_may_plan_as_well():
    class Plain:
        description, input_schema, output_schema = "Plan without a base", {}, {}
        plan, apply = Rename.plan, Rename.apply

    definition = define_module("users.rename", Plain)
    assert definition.effect == "planned"
    assert definition.execute({"name": "Ada"}, None) == {"name": "Ada", "changes": 1}


def test_a_planned_module_must_not_execute_anything_else():
    class Lies(Rename):
        def execute(self, inputs, context):
            return {}

    with pytest.raises(ModuleLoadError, match="must not define another execute"):
        define_module("users.rename", Lies)


def test_a_planned_module_without_apply_is_refused():
    class Half(PlannedModule):
        description, input_schema, output_schema = "Half", {}, {}

        def plan(self, inputs, context): ...

    with pytest.raises(ModuleLoadError, match="apply"):
        define_module("users.half", Half)


def test_what_is_no_plan_is_refused():
    class Careless(Rename):
        def plan(self, inputs, context):
            return [Change("update", "users.1", "Rename")]

    with pytest.raises(TypeError, match="must return a Plan, not list"):
        define_module("users.rename", Careless).execute({"name": "Ada"}, None)
    assert checked_plan(Plan([])) == Plan([])


def test_a_planned_module_may_be_measured_instead():
    class Measured(Rename):
        effect = "transactional"

    assert define_module("users.rename", Measured).effect == "transactional"
