"""The REST face: reads requests, calls services and the executor, writes answers. It holds no rule of its own."""

__all__: list[str] = []
