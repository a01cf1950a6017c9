"""An app whose models cover every kind of write that the ORM knows."""
