"""What people can do to the filter; each is a turn of the one writer."""
