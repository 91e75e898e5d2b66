"""Numba kernels: arrays in, arrays out. Values are float64.

Indices are int32, or int64 in matrices of 2^31 entries.
"""
