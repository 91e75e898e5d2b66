"""Filters: they watch a stream of documents and retrieve what people find relevant."""
