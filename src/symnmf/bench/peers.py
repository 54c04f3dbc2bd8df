"""Other programs, where they are installed: a dense S in, a factor or labels out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import torch

#: From S (n×n float32), k and a seed to a factor (n×k) or labels (n).
Peer = Callable[[np.ndarray, int, int], np.ndarray]


def scikit_learn(solver: str, init: str, passes: int = 200) -> Peer:
    """NMF with two factors, combined into one."""

    def run(S: np.ndarray, k: int, seed: int) -> np.ndarray:
        from sklearn.decomposition import NMF

        model = NMF(k, init=init, solver=solver, max_iter=passes, tol=1e-4, random_state=seed)
        W = model.fit_transform(S)
        return symmetrized(W, model.components_.T)

    return run


def pyplanc(algorithm: str, iterations: int) -> Peer:
    """Its symmetric NMF, in float64 as it requires, from its own start."""

    def run(S: np.ndarray, k: int, seed: int) -> np.ndarray:
        import pyplanc as library

        out = library.symNMF(
            np.asfortranarray(S, dtype=np.float64),
            k,
            niter=iterations,
            algo=algorithm,
            ncores=torch.get_num_threads(),
        )
        return symmetrized(np.array(out.W), np.array(out.H))

    return run


def nmf_torch(S: np.ndarray, k: int, seed: int) -> np.ndarray:
    """HALS in batches with two factors, combined into one."""
    from nmf import run_nmf

    threads = torch.get_num_threads()
    W, H, _ = run_nmf(S, k, algo="hals", mode="batch", n_jobs=threads, random_state=seed)
    return symmetrized(np.asarray(W, dtype=np.float64), np.asarray(H, dtype=np.float64).T)


def spectral_clustering(S: np.ndarray, k: int, seed: int) -> np.ndarray:
    """Labels from the eigenvectors of the normalized Laplacian."""
    from sklearn.cluster import SpectralClustering

    model = SpectralClustering(k, affinity="precomputed", random_state=seed)
    labels: np.ndarray = model.fit_predict(S)
    return labels


def faiss(S: np.ndarray, k: int, seed: int) -> np.ndarray:
    """Labels of spherical K-means on the rows of S."""
    import faiss as library

    library.omp_set_num_threads(torch.get_num_threads())
    rows = np.ascontiguousarray(S / np.linalg.norm(S, axis=1, keepdims=True), dtype=np.float32)
    model = library.Kmeans(S.shape[1], k, spherical=True, niter=50, seed=seed)
    model.train(rows)
    labels: np.ndarray = model.index.search(rows, 1)[1][:, 0]
    return labels


#: Name in tables → program.
PEERS: dict[str, Peer] = {
    "scikit-learn NMF, cd": scikit_learn("cd", "nndsvda"),
    "scikit-learn NMF, mu": scikit_learn("mu", "nndsvda"),
    "pyplanc gnsym": pyplanc("gnsym", 100),
    "pyplanc anlsbpp": pyplanc("anlsbpp", 60),
    "nmf-torch HALS": nmf_torch,
    "scikit-learn spectral clustering": spectral_clustering,
    "faiss spherical K-means": faiss,
}


def symmetrized(W: np.ndarray, H: np.ndarray) -> np.ndarray:
    """One factor of two: the mean direction of each pair of columns, at their common size.

    Example:
        >>> symmetrized(np.array([[4.0]]), np.array([[1.0]]))
        array([[2.]])
    """
    if W.shape != H.shape:
        return H
    w, h = (np.maximum(np.linalg.norm(X, axis=0), 1e-300) for X in (W, H))
    one: np.ndarray = (W / w + H / h) / 2 * np.sqrt(w * h)
    return one


@contextmanager
def silence() -> Iterator[None]:
    """Discard what a library prints, also when it does not use Python to print."""
    saved = [os.dup(1), os.dup(2)]
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        for descriptor in (1, 2):
            os.dup2(nowhere, descriptor)
        yield
    finally:
        for descriptor, copy in enumerate(saved, start=1):
            os.dup2(copy, descriptor)
            os.close(copy)
        os.close(nowhere)
