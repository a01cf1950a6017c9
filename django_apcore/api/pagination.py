"""Long lists, page by page."""

from typing import Any

from rest_framework.pagination import PageNumberPagination


class Pages(PageNumberPagination):
    """`?page=` and `?page_size=`; the answer has `count`, `next`, `previous` and `results`."""

    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 500

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        """The framework says `nullable`, which OpenAPI 3.1 does not know: a first page would break its description."""
        described: dict[str, Any] = super().get_paginated_response_schema(schema)
        for name in ("next", "previous"):
            link = described["properties"][name]
            described["properties"][name] = {"type": ["string", "null"], "format": "uri", "example": link["example"]}
        return described
