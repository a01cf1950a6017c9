"""What a module sends: mail and task messages, held until the commit."""
