"""A real Celery worker process that knows the modules of the stage."""

import os

import django

django.setup()

from project.celery import app  # noqa: E402 - Django has to be set up first
from tests.django_apcore.races.racer import install  # noqa: E402

if __name__ == "__main__":
    install()
    # A name of its own: RabbitMQ lets no two nodes of one name be there, and tests may run side by side.
    node = f"--hostname=celery@{os.environ['RACE_QUEUE']}-{os.getpid()}"
    app.worker_main(["worker", "--concurrency=1", "--loglevel=ERROR", "--queues", os.environ["RACE_QUEUE"], node])
