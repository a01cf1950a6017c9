"""Links between the parts of a long list."""

from django.core.paginator import Paginator

from django_apcore.admin.presenters.paging import page_links, page_range


def test_one_page_needs_no_links() -> None:
    assert page_links(Paginator(range(50), 50).page(1), {}) == []


def test_links_keep_the_filter_and_leave_out_the_number_of_the_first_page() -> None:
    links = page_links(Paginator(range(120), 50).page(2), {"kind": "store.Track", "action": "update"})

    assert [(link.text, link.url, link.current) for link in links] == [
        ("‹", "?kind=store.Track&action=update#changes", False),
        ("1", "?kind=store.Track&action=update#changes", False),
        ("2", "", True),
        ("3", "?kind=store.Track&action=update&p=3#changes", False),
        ("›", "?kind=store.Track&action=update&p=3#changes", False),
    ]


def test_two_hundred_pages_are_elided() -> None:
    page = Paginator(range(10_000), 50).page(100)
    texts = [link.text for link in page_links(page, {})]

    assert "…" in texts
    assert len(texts) < 15
    assert page_range(page) == "4,951 to 5,000 of 10,000"
