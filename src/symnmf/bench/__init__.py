"""Benchmarks: studies of the founding paper and measurements, one store of results, tables."""
