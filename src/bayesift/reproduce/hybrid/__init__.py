"""Nandanwar & Murty (2013): one file a table or figure."""
