"""`bayesift demo`."""


def demo() -> None:
    """See what bayesift does, on a corpus that needs no download."""
