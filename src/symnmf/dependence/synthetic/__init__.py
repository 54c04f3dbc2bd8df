"""The benchmark matrices of the paper, in memory and on disk."""

from symnmf.dependence.synthetic.in_memory import Benchmark, benchmark_matrix
from symnmf.dependence.synthetic.on_disk import generate

__all__ = ["Benchmark", "benchmark_matrix", "generate"]
