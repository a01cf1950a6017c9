"""Source texts of modules, to be written into files."""

CLASS_MODULE = '''
class {name}:
    """A module class"""

    description = "Do the work of {name}"
    input_schema = {{"type": "object", "properties": {{"a": {{"type": "integer"}}}}}}
    output_schema = {{"type": "object"}}

    def execute(self, inputs, context):
        return {{"done": "{name}"}}
'''


def module_class(name: str = "Worker") -> str:
    return CLASS_MODULE.format(name=name)
