"""Numba kernels: arrays in, arrays out. Values are float64, indices int32, offsets int64."""
