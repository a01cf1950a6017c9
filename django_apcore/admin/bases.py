"""What the pages of the admin share."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from django.contrib.admin import ModelAdmin
from django.db.models import Model
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from django_apcore.admin.presenters.values import shown, visible

if TYPE_CHECKING:
    AnyModelAdmin = ModelAdmin[Any]
else:
    AnyModelAdmin = ModelAdmin  # Django's class takes no parameter at run time


NOTHING: Final = SafeString('<span class="apcore-none">–</span>')
"""What a list shows where there is nothing to show; narrow windows leave it out."""
_LEAD = 60
"""Characters of a folded text that a column shows."""


class Admin(AnyModelAdmin):
    """Pages of this app: one style sheet, which makes their lists fit narrow windows."""

    class Media:
        css = {"all": ["django_apcore/admin.css"]}


class ReadOnlyAdmin(Admin):
    """Rows that come into being, change and end elsewhere. Whoever may view them may read them here."""

    actions = None

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def page(self, request: HttpRequest, template: str, title: str, **context: Any) -> TemplateResponse:
        """A page instead of a list or a form, by a template that extends `admin/django_apcore/page.html`."""
        known = {**self.admin_site.each_context(request), "title": title, "opts": self.opts, "media": self.media}
        request.current_app = self.admin_site.name
        return TemplateResponse(request, f"admin/django_apcore/{template}.html", {**known, **context})


def json_block(value: Any) -> SafeString | str:
    """JSON for people to read."""
    if value in (None, {}, []):
        return NOTHING
    return format_html('<pre class="apcore-json">{}</pre>', visible(json.dumps(value, indent=2, ensure_ascii=False)))


def status_badge(style: str, sign: str, word: object) -> SafeString:
    """A status by sign, word and colour."""
    template = '<span class="apcore-mark is-{}"><span aria-hidden="true">{}</span> {}</span>'
    return format_html(template, style, sign, word)


def labelled(label: object, value: object) -> SafeString:
    """A cell that says what it is where the table is too narrow for a header."""
    return format_html('<span class="apcore-label">{}</span> {}', label, value)


def folded(text: str) -> SafeString | str:
    """A text as it is, or behind its beginning where it is long."""
    if not text:
        return NOTHING
    told = shown(text)
    if not told.excerpt:
        return told.text
    template = '<details class="apcore-fold"><summary>{}</summary><div class="apcore-whole">{}</div></details>'
    return format_html(template, f"{told.excerpt[:_LEAD].rstrip()}…", told.text)


def dotted(name: str) -> SafeString:
    """A dotted name that a narrow column may break after a dot or an underscore."""
    parts = re.split(r"(?<=[._])", visible(name))
    return format_html_join(SafeString("<wbr>"), "{}", ((part,) for part in parts if part)) if name else NOTHING
