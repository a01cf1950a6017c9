"""Long lists, page by page."""

from rest_framework.pagination import PageNumberPagination


class Pages(PageNumberPagination):
    """`?page=` and `?page_size=`; the answer has `count`, `next`, `previous` and `results`."""

    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 500
