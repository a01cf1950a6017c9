"""A real Celery worker process that knows the modules of the stage."""

import os

import django

django.setup()

from django_apcore.testing import allow_all, override_runtime  # noqa: E402 - Django has to be set up first
from project.celery import app  # noqa: E402
from tests.django_apcore import stage  # noqa: E402
from tests.django_apcore.races.racer import use_queue  # noqa: E402
from tests.django_apcore.races.slow import create_slowly  # noqa: E402

if __name__ == "__main__":
    modules = {**stage.MODULES, "test.groups.slow": create_slowly}
    with override_runtime(modules=modules, installed=False, acl=allow_all()):
        use_queue(os.environ["RACE_QUEUE"])
        app.worker_main(["worker", "--concurrency=1", "--loglevel=ERROR", "--queues", os.environ["RACE_QUEUE"]])
