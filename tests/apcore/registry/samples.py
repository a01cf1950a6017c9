"""Texts of module files that tell when they are imported and loaded."""

LAZY = {"extensions": {"lazy_load": True}}
MODULE = """
import builtins

builtins.apcore_test_events.append("{name} import")
{top}

class Worker:
    description = "Works"
    input_schema = {{"type": "object"}}
    output_schema = {{"type": "object"}}
    {attributes}

    def on_load(self):
        builtins.apcore_test_events.append("{name} load")
        {load}

    def execute(self, inputs, context):
        return {{"name": "{name}"}}
"""
FUNCTION = '''
@module({options})
def {name}(text: str) -> dict:
    """A function"""
    return {{"text": text}}
'''


def source(name, *, top="", attributes="", load=""):
    return MODULE.format(name=name, top=top, attributes=attributes, load=load)
