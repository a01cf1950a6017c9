"""Moments in words."""

from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.timesince import timesince, timeuntil
from django.utils.translation import gettext as _

from django_apcore.admin.presenters.values import visible


def ago(moment: datetime) -> str:
    """`5 minutes ago`."""
    if (timezone.now() - moment).total_seconds() < 60:
        return _("less than a minute ago")
    return _("{time} ago").format(time=_plain(timesince(moment, depth=1)))


def since_and_by(moment: datetime, user: User | None) -> str:
    """`5 minutes ago by ada`."""
    if user is None:
        return ago(moment)
    return _("{ago} by {name}").format(ago=ago(moment), name=visible(user.get_username()))


def until(moment: datetime) -> str:
    """`in 23 hours`, or how long it is over."""
    left = (moment - timezone.now()).total_seconds()
    if left <= 0:
        return _("expired {ago}").format(ago=ago(moment))
    if left < 60:
        return _("in less than a minute")
    return _("in {time}").format(time=_plain(timeuntil(moment, depth=1)))


def duration(length: timedelta) -> str:
    """`1 day, 6 hours`."""
    start = timezone.now()
    return _plain(timesince(start, start + length, depth=2))


def moment(value: datetime) -> str:
    """Date and time, in the current time zone, which is named."""
    local = timezone.localtime(value)
    return f"{date_format(local, 'DATETIME_FORMAT')} {local.tzname()}"


def capital(text: str) -> str:
    """The text as the beginning of a sentence."""
    return text[:1].upper() + text[1:]


def _plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")
