"""Chai, Ng & Chieu (2002): one file a table or figure."""
