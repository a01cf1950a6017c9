"""Errors of a database as Django raises them, on either kind of database."""

import psycopg
from django.db import IntegrityError, OperationalError


def in_the_way() -> OperationalError:
    """What Django makes of a transaction that PostgreSQL cannot serialise."""
    error = OperationalError("could not serialize access")
    error.__cause__ = psycopg.errors.SerializationFailure()
    return error


def there_already() -> IntegrityError:
    """What Django makes of a row that another transaction has put in the place of a new one."""
    error = IntegrityError("duplicate key value violates unique constraint")
    error.__cause__ = psycopg.errors.UniqueViolation()
    return error


def closed() -> OperationalError:
    """What Django makes of a connection that the server has closed."""
    error = OperationalError("the connection is closed")
    error.__cause__ = psycopg.OperationalError()
    return error
