"""Before a run: exact cases, recommendation of a solver, tuning, memory and time."""
