"""What a module writes, seen at the connection: every row, counted by the database itself."""
