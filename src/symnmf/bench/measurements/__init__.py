"""The measurements of the package: one module each, with its ``MEASUREMENT``."""
