"""Noting random defaults changes nothing for anybody else."""

import functools
import secrets
import uuid
from typing import Any

import pytest
from django.apps import apps
from django.db import models
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState

from django_apcore.effects.active import Run, current_run
from django_apcore.effects.canonical.defaults import random_source, watch_defaults
from tests.matrix.models import Document, Order


def constant() -> str:
    return "x"


@pytest.mark.parametrize(
    ("default", "source"),
    [
        (uuid.uuid4, "uuid"),
        (uuid.uuid1, "uuid"),
        (secrets.token_hex, "token_hex"),
        (functools.partial(secrets.token_urlsafe, 8), "token_urlsafe"),
        (constant, None),
        (dict, None),
        ("text", None),
        (models.NOT_PROVIDED, None),
    ],
)
def test_only_random_functions_count(default: Any, source: str | None) -> None:
    assert random_source(models.CharField(default=default)) == source


def test_values_are_noted_during_a_run_only() -> None:
    watch_defaults()
    Document()
    run = Run()
    token = current_run.set(run)
    try:
        document, given = Document(), Document(id=uuid.uuid4())
        order = Order()
    finally:
        current_run.reset(token)
    assert run.generated == {(Document, "id"): {document.id}, (Order, "token"): {order.token}}
    assert given.id not in run.generated[Document, "id"]


def test_watching_twice_is_watching_once() -> None:
    field = Document._meta.get_field("id")
    watch_defaults()
    make = vars(field)["_get_default"]
    watch_defaults()
    assert vars(field)["_get_default"] is make


def test_the_default_itself_stays() -> None:
    watch_defaults()
    field = Document._meta.get_field("id")
    assert field.default is uuid.uuid4
    assert field.clone().default is uuid.uuid4


def test_migrations_see_no_difference() -> None:
    watch_defaults()
    loader = MigrationLoader(None)
    detector = MigrationAutodetector(loader.project_state(), ProjectState.from_apps(apps))
    assert "matrix" not in detector.changes(graph=loader.graph)
