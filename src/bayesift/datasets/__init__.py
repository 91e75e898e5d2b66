"""Corpora: the public ones in their public layout, and people's own files."""
