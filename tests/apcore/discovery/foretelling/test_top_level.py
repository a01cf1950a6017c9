import pytest

from tests.apcore.discovery.foretelling.samples import EXECUTE, SCHEMAS, class_text, function_text

SEND = function_text("send", decorator="")
WORKER = class_text("Worker", "", SCHEMAS, EXECUTE)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        (function_text("send"), ["m.send"]),
        (function_text("send", "@module()"), ["m.send"]),
        (function_text("send", "@apcore.module"), ["m.send"]),
        (function_text("sendMail", "@module(id=None, tags=['x'])"), ["m.send_mail"]),
        (function_text("send", '@module(id="email.send")'), ["email.send"]),
        (function_text("send", "@module(annotations=ModuleAnnotations(readonly=True))"), ["m.send"]),
        (function_text("send", "@module\n@unchanged\n@functools.lru_cache"), ["m.send"]),
        (function_text("send").replace("def", "async def"), ["m.send"]),
        (function_text("_send") + WORKER, ["m"]),
        (function_text("send") + WORKER, ["m", "m.send"]),
        (SEND + 'module(send, id="email.send")', ["email.send"]),
        (SEND + "sent = module(send)", ["m.sent"]),
        (SEND + 'sent: typing.Any = module(send, id="email.send")', ["email.send"]),
        (SEND + "send = module(send)", ["m.send"]),
        (SEND + "_sent = module(send)\n" + WORKER, ["m"]),
        ("class _S:\n    def get(self, to: str) -> dict: ...\n\ns = _S()\nmodule(s.get, id='mail.get')", ["mail.get"]),
        (function_text("send") + function_text("other") + "__all__ = ['send']", ["m.send"]),
        (function_text("send") + WORKER + "__all__ = ('Worker', 'missing')", ["m"]),
        (function_text("_send") + "__all__ = ['_send']", ["m.send"]),
        ("from ._helpers import shared\n" + WORKER, ["m"]),
        ("if __name__ == '__main__':\n    unchanged(Worker)\n" + WORKER, ["m"]),
        ("if typing.TYPE_CHECKING:\n    from x import Worker, send\n" + WORKER, ["m"]),
        ("def send() -> None:\n    x = make('x')\n" + WORKER, ["m"]),
    ],
)
def test_what_a_text_says_of_functions_and_names_is_foretold(told, text, ids):
    assert told(text) == ids


@pytest.mark.parametrize(
    "text",
    [
        "",
        SEND,
        function_text("send", "@module(id='a.' + 'b')"),
        function_text("send", "@module(id=_helpers.NAME)"),
        function_text("send", "@module(**{'id': 'a.b'})"),
        function_text("send", "@tool"),
        function_text("send", "@_helpers.module(id='a.b')"),
        function_text("send", "@unchanged\n@module"),
        function_text("send", "@functools.partial(module, id='a.b')"),
        function_text("send") + "other = send",
        function_text("send") + "send.tags = ['x']",
        function_text("send", "@module(id='a.b')") + function_text("other", "@module(id='a.b')"),
        SEND + "module(send)",
        SEND + "one = two = module(send, id='a.b')",
        SEND + "module(send, id='send')",
        SEND + "tool(send, id='a.b')\n" + WORKER,
        SEND + "[module(send, id='a.b')]\n" + WORKER,
        SEND + "for each in range(2):\n    module(send, id=f'a.b{each}')\n" + WORKER,
        SEND + "FunctionModule(send, id='a.b')\nmade = FunctionModule(send, id='c.d')\n" + WORKER,
        SEND + "def later():\n    return module(send, id='a.b')\n\nmade = later()\n" + WORKER,
        "made = make('x')\n" + WORKER,
        "made = unchanged(3)\n" + WORKER,
        "made = [make('x')][0]\n" + WORKER,
        "one, two = make('x'), make('y')\n" + WORKER,
        "with unchanged(open(__file__)) as made:\n    pass\n" + WORKER,
        "for made in _helpers.LOADED:\n    pass\n" + WORKER,
        "from ._helpers import *\n" + WORKER,
        WORKER + "__all__ = [Worker.__name__]",
        WORKER + "__all__ = [['Worker'], 'Worker']",
        WORKER + "__all__ = {'Worker': 1}",
        WORKER + "__all__ = ['Worker']\n__all__ += ['send']",
        WORKER + "__all__ = names = ['Worker']",
        WORKER + "__all__ = ['Worker']\n__all__.append('send')",
        WORKER + "globals()['made'] = make('x')",
        WORKER + "sys.modules[__name__].made = make('x')",
        WORKER + "setattr(Worker, 'execute', None)",
        WORKER + "while False:\n    pass",
        "TYPE_CHECKING = True\nif TYPE_CHECKING:\n    class Other(Base): ...\n" + WORKER,
        "__name__ = '__main__'\nif __name__ == '__main__':\n    class Other(Base): ...\n" + WORKER,
    ],
)
def test_any_other_way_to_make_a_module_is_looked_at(told, text):
    assert told(text) is None
