"""The `bayesift` command: each command is a file that parses, calls and prints."""

from bayesift.cli.process import main

__all__ = ["main"]
