"""The endpoints, one file per resource."""

__all__: list[str] = []
