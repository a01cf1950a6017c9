"""The schema files of an app: `schemas/{module ID}.schema.yaml`, for the modules of that app and no others."""

from dataclasses import replace
from pathlib import Path

from django.apps import AppConfig

from apcore.discovery import FoundModule
from apcore.schema import SchemaLoader

DIRECTORY = "schemas"


def with_schemas(config: AppConfig, found: FoundModule) -> FoundModule:
    """The module with the schema files of its app, where it has some.

    What a file says wins over the code, and the code fills what it leaves out (`yaml_first`, §4.9).
    """
    directory = Path(config.path, DIRECTORY)
    return replace(found, schemas=SchemaLoader(directory)) if directory.is_dir() else found
