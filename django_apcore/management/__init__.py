"""The command line: `manage.py apcore`."""
