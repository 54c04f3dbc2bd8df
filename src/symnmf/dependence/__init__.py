"""From observations to a dependence matrix."""
