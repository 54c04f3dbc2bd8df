"""The algorithms, each a frozen dataclass of hyper-parameters; the registry names them."""
