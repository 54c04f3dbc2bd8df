"""Groups: names, comparison, number of groups, stability, windows of time, risk."""
