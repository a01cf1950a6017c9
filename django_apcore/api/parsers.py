"""How a request body becomes data."""

from collections.abc import Mapping
from typing import IO, Any

from rest_framework.parsers import BaseParser

from django_apcore.api.errors import RequestError
from django_apcore.api.strict_json import loads
from django_apcore.conf import get_settings


class StrictJSONParser(BaseParser):
    """`application/json`, up to `API_MAX_BODY_BYTES`, parsed by `strict_json.loads`."""

    media_type = "application/json"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        """Raises RequestError (413) for a body that is too large and InvalidInputError for what is not clean JSON."""
        settings = get_settings()
        body = stream.read(settings.api_max_body_bytes + 1)
        if len(body) > settings.api_max_body_bytes:
            raise RequestError.too_large(settings.api_max_body_bytes)
        return loads(body, max_depth=settings.api_max_json_depth)
