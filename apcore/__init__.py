"""The protocol core of governed operations: modules with schemas, called through one path (no Django in here).

The public names are listed in ``__init__.pyi``; each is imported when it is first used, so that importing the package
costs next to nothing.
"""

import lazy_loader

__getattr__, __dir__, _names = lazy_loader.attach_stub(__name__, __file__)

# A star import keeps the built-in NotImplementedError.
__all__ = [name for name in _names if name != "NotImplementedError"]
