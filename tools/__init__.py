"""What make and continuous integration run, and no user of the packages needs."""
