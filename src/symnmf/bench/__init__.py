"""The founding paper's studies as data: problems, configurations, a store of results, tables."""
