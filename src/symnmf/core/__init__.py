"""Problem, objective, spectrum, bounds, certificate and result; the interface of a solver."""
