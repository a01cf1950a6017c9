"""Pieces of module files, which fit together in any order and number."""

from textwrap import indent

HELPERS = """
from apcore import FunctionModule, Module, module

LOADED = []
NUMBER = 3


def make(name):
    def made(text: str) -> dict:
        return {"text": text}

    made.__name__ = name
    return FunctionModule(made, id=f"made.{name}", description="Made elsewhere")


def unchanged(value):
    return value


@module(id="helpers.shared")
def shared(text: str) -> dict:
    return {}


class Base:
    input_schema = {"type": "object"}
    output_schema = {"type": "object"}

    def execute(self, inputs, context):
        return {}


class Plain:
    pass


tool = module
"""
"""A file beside the module file, which it may import from."""

SCHEMAS = 'input_schema = {"type": "object"}\noutput_schema = {"type": "object"}\n'
EXECUTE = "def execute(self, inputs, context):\n    return {}\n"
PLAN = "def plan(self, inputs, context): ...\ndef apply(self, plan, context): ...\n"


def class_text(name: str, bases: str = "", *body: str, decorator: str = "") -> str:
    parts = ['description = "A class"\n', *body]
    head = f"class {name}({bases}):" if bases else f"class {name}:"
    return f"{decorator}{head}\n{indent(''.join(parts), '    ')}"


def function_text(name: str, decorator: str = "@module") -> str:
    return f'{decorator}\ndef {name}(text: str) -> dict:\n    """A function"""\n    return {{"text": text}}\n'


IMPORTS = """
import abc
import builtins
import dataclasses
import enum
import functools
import logging
import os
import re
import sys
import typing
from abc import ABC
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, Field

import apcore
from apcore import FunctionModule, Module, ModuleAnnotations, PlannedModule, module
from . import _helpers
from ._helpers import Base, Plain, make, shared, tool, unchanged
"""
