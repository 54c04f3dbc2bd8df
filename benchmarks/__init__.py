"""Speed and memory, as ratios within one run; nothing here is asserted in a test."""
