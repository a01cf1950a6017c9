"""Which part of a long list is shown, and the links to the other parts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Page
from django.utils.translation import gettext as _


@dataclass(frozen=True, slots=True)
class PageLink:
    """A link to another page, or without `url` the current page or a gap."""

    text: str
    url: str = ""
    current: bool = False
    label: str = ""


def page_links(page: Page[Any], parameters: Mapping[str, str]) -> list[PageLink]:
    """Links to the previous, the nearby, the outermost and the next pages; none if there is only one page."""
    if page.paginator.num_pages < 2:
        return []
    numbers = page.paginator.get_elided_page_range(page.number, on_each_side=2)
    links = [_link(number, page, parameters) for number in numbers]
    if page.has_previous():
        links.insert(0, PageLink("‹", url(parameters, page.previous_page_number()), label=_("previous page")))
    if page.has_next():
        links.append(PageLink("›", url(parameters, page.next_page_number()), label=_("next page")))
    return links


def page_range(page: Page[Any]) -> str:
    first, last = page.start_index(), page.end_index()
    return _("{first} to {last} of {all}").format(first=f"{first:,}", last=f"{last:,}", all=f"{page.paginator.count:,}")


def url(parameters: Mapping[str, str], number: int = 1) -> str:
    """The address of a page within the same document; the first page needs no number."""
    query = {**parameters, "p": str(number)} if number > 1 else dict(parameters)
    return f"?{urlencode(query)}#changes"


def _link(number: Any, page: Page[Any], parameters: Mapping[str, str]) -> PageLink:
    if not isinstance(number, int):
        return PageLink(str(number))
    if number == page.number:
        return PageLink(str(number), current=True)
    return PageLink(str(number), url(parameters, number), label=_("page {number}").format(number=number))
