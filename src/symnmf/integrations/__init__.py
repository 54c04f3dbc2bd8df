"""Groups for other libraries."""
