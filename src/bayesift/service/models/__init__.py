"""Fitted models that answer over HTTP."""
