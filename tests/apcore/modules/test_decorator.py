import dataclasses
from typing import Annotated

import pytest
from pydantic import Field

from apcore.context import Context
from apcore.errors import InvalidModuleIdError, ModuleLoadError
from apcore.modules import FunctionModule, define_module, module
from apcore.modules.decorator import generate_module_id


def greet(name: str) -> dict[str, str]:
    """Greet somebody.

    Args:
        name: Who is greeted.
    """
    return {"greeting": f"Hello {name}"}


class EmailService:
    def send(self, to: str, subject: str, body: str) -> dict:
        """Send email"""
        return {"success": True}


def in_module(module_name, name="send_email"):
    def f(to: str) -> dict:
        return {}

    f.__module__, f.__name__, f.__qualname__ = module_name, name, name
    return f


@pytest.mark.req("R-5.11.1-01", "R-5.11.1-02", "R-5.11.1-03")
def test_decorator_and_call_make_equal_modules():
    def described(function_module):
        definition = define_module(function_module.id, function_module)
        fields = {field.name for field in dataclasses.fields(definition)} - {"module", "execute", "activity"}
        return {name: getattr(definition, name) for name in fields}, definition.execute({"name": "A"}, None)

    decorated = module(id="app.greet", tags=["text"])(greet)
    called = module(greet, id="app.greet", tags=["text"])
    assert described(decorated) == described(called)


@pytest.mark.req("R-5.11.3-02", "R-5.11.6-01")
def test_without_options_the_id_comes_from_the_name():
    assert module(in_module("myapp.services.email")).id == "myapp.services.email.send_email"
    assert module()(in_module("myapp.services.email")).id == "myapp.services.email.send_email"


@pytest.mark.req("R-5.11.6-03")
@pytest.mark.parametrize(("name", "expected"), [("SendEmail", "send_email"), ("sendEmail", "send_email")])
def test_a_name_in_another_letter_case_is_normalised(name, expected):
    assert generate_module_id(in_module("myapp.Services", name)) == f"myapp.services.{expected}"


@pytest.mark.req("R-5.11.6-03")
@pytest.mark.parametrize(
    ("module_name", "name"), [("__main__", "f"), ("myapp", "<lambda>"), ("myapp", "_private"), ("myapp._x", "f")]
)
def test_a_name_that_cannot_be_an_id_is_refused_with_advice(module_name, name):
    with pytest.raises(InvalidModuleIdError) as caught:
        module(in_module(module_name, name))
    assert "id=" in caught.value.suggestion


@pytest.mark.parametrize("thing", [EmailService, 5, "send"])
def test_only_functions_and_methods_can_be_wrapped(thing):
    with pytest.raises(TypeError, match="takes a function"):
        module(thing, id="a.b")


def test_a_method_without_its_object_is_refused_at_registration_with_advice():
    made = module(EmailService.send, id="a.b")

    assert list(made.input_schema["properties"]) == ["to", "subject", "body"]
    with pytest.raises(ModuleLoadError, match=r"module\(instance\.send\)"):
        define_module("a.b", made)


@pytest.mark.req("R-5.11.7-01")
def test_the_description_comes_from_the_option_the_docstring_or_the_name():
    def send_letter(to: str) -> dict:
        return {}

    assert module(greet, id="a.b", description="Given").description == "Given"
    assert module(greet, id="a.b").description == "Greet somebody."
    assert module(send_letter, id="a.b").description == "Send letter"


@pytest.mark.req("R-5.11.4-06", "R-5.11.7-02")
def test_parameters_are_described_by_the_docstring():
    assert module(greet, id="a.b").input_schema["properties"]["name"]["description"] == "Who is greeted."


@pytest.mark.req("R-5.11.12-01")
def test_the_samples_of_the_specification_work():
    @module(id="email.send", tags=["email", "notification"])
    def send_email(
        to: Annotated[str, Field(description="Recipient email")],
        subject: Annotated[str, Field(description="Email subject", max_length=200)],
        body: Annotated[str, Field(description="Email body")],
        context: Context,
    ) -> dict:
        """Email sending module"""
        return {"success": True, "message_id": "msg_123"}

    inputs = {"to": "a@example.com", "subject": "Hello", "body": "World"}
    decorated = define_module("email.send", send_email)
    assert decorated.description == "Email sending module"
    assert decorated.input_schema["properties"]["subject"]["maxLength"] == 200
    assert decorated.execute(inputs, Context.create()) == {"success": True, "message_id": "msg_123"}

    bound = module(EmailService().send, id="email.send")
    assert isinstance(bound, FunctionModule)
    assert list(bound.input_schema["properties"]) == ["to", "subject", "body"]
    assert define_module("email.send", bound).execute(inputs, None) == {"success": True}
