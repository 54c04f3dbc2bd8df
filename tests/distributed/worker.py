"""One process of a group: does what it is told and prints what it found, as JSON (rank 0)."""

import hashlib
import json
import os
import sys
import warnings
from pathlib import Path

import numpy as np
import torch

torch.set_num_threads(1)

import symnmf as sn  # noqa: E402
from symnmf.distributed.process_group import join  # noqa: E402
from symnmf.errors import SymnmfError  # noqa: E402
from symnmf.operators.sharding import shard  # noqa: E402
from symnmf.operators.stored import open_matrix, write_matrix  # noqa: E402


def digest(x):
    return hashlib.sha256(x.contiguous().numpy().tobytes()).hexdigest()


def factors(group, folder):
    """Digests of factors and labels, for every solver on every matrix."""
    found = {}
    whole = sn.as_operator(open_matrix(folder / "corr").rows.whole)
    for columns in (1, 3):
        X = torch.rand(whole.n, columns, generator=torch.Generator().manual_seed(1))
        found[f"shard {columns}"] = [digest(shard(whole, group).matmul(X))]
    for kind in ("tpdm", "corr"):
        S = open_matrix(folder / kind, process_group=group)
        for solver, options in (
            ("adagrad", {"max_iter": 20}),
            ("admm", {"max_iter": 20}),
            ("block-svrg-adaptgrow", {"max_iter": 20}),
            ("sketched", {}),
        ):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = sn.factorize(S, 31, solver, seed=7, **options)
            found[f"{kind} {solver}"] = [digest(result.H), digest(result.labels())]
        km = sn.spherical_kmeans(S, 31, seed=7)
        found[f"{kind} kmeans"] = [digest(km.labels)]
        found[f"{kind} numbers"] = [S.frob_sq(), S.mean(), S.trace()]
    return found


def contract(group, folder):
    """Largest differences between a shared-out operator and the same one in memory."""
    found = {}
    for kind in ("tpdm", "corr"):
        S, whole = open_matrix(folder / kind, process_group=group), open_matrix(folder / kind)
        if kind == "corr":
            S = shard(sn.as_operator(whole.rows.whole), group)
        rng = torch.Generator().manual_seed(1)
        X = torch.randn(S.n, 5, generator=rng)
        i, j = torch.randperm(S.n, generator=rng)[:70], torch.randperm(S.n, generator=rng)[:50]
        pairs = {
            "matmul": (S.matmul(X), whole.matmul(X)),
            "block": (S.block(i, j), whole.block(i, j)),
            "block_matmul": (S.block_matmul(i, j, X[:50]), whole.block_matmul(i, j, X[:50])),
            "entries": (S.entries(i[:50], j), whole.entries(i[:50], j)),
            "diag": (S.diag(), whole.diag()),
            "row_norms": (S.row_norms(), whole.row_norms()),
        }
        found[kind] = {k: float(((a - b).norm() / b.norm()).abs()) for k, (a, b) in pairs.items()}
        found[kind]["same"] = S.same(X)
        found[kind]["different"] = S.same(X + group.process_index)
        found[kind]["agree"] = S.agree(float(group.process_index + 1), group.process_index == 0)
    return found


def small(group, folder):
    """Operators with fewer rows than processes have chunks."""
    B = torch.rand(2, 3, generator=torch.Generator().manual_seed(2))
    S = shard(sn.GramOperator(B), group)
    formed = B @ B.T
    norms = float((S.row_norms() - formed.norm(dim=1)).abs().max())
    return [norms, float((S.matmul(B) - formed @ B).abs().max()), S.frob_sq()]


def held(group, folder):
    """Bytes of the matrix that this process has in memory or mapped and touched."""
    S = open_matrix(folder / "corr", process_group=group)
    S.matmul(torch.ones(S.n, 3))
    smaps, inside, resident = Path("/proc/self/smaps").read_text().splitlines(), False, 0
    for line in smaps:
        if "-" in line.split()[0] and not line.startswith(("VmFlags", "Size")):
            inside = "data.npy" in line
        elif inside and line.startswith("Rss:"):
            resident += int(line.split()[1]) * 1024
    size = torch.tensor([resident / (folder / "corr" / "data.npy").stat().st_size])
    return group.gather(size, [1] * group.process_count).tolist()


def hang(group, folder):
    """Rank 1 stops answering."""
    S = open_matrix(folder / "corr", process_group=group)
    if group.process_index == 1:
        import time

        time.sleep(60)
    S.matmul(torch.ones(S.n, 3))


def refusal(group, act):
    """What every process says when it is refused; None where it is not."""
    try:
        act()
    except SymnmfError as wrong:
        return group.texts(str(wrong))
    return group.texts("")


def differing(group, folder):
    """The refusals of copies that differ in one number, in process 1."""
    other = group.process_index == 1
    place = Path(sys.argv[3]) / f"{group.process_index}"
    found = {}
    rng = torch.Generator().manual_seed(3)
    B = torch.rand(130, 5, generator=rng)
    B[77, 2] += 1e-6 * other
    S = B @ B.T
    found["a factor B"] = refusal(group, lambda: shard(sn.GramOperator(B), group))
    found["a matrix"] = refusal(group, lambda: shard(sn.as_operator(S), group))
    d = torch.full((130,), 0.5 + 1e-6 * other)
    whole = B.clone()
    whole[77, 2] = 0.5
    found["diagonal"] = refusal(group, lambda: shard(sn.GramOperator(whole, d), group))
    names = [f"n{i}" for i in range(130)]
    names[5] = "other" if other else names[5]
    found["names"] = refusal(group, lambda: shard(sn.GramOperator(whole, names=names), group))
    same = shard(sn.GramOperator(whole), group)
    found["rank"] = refusal(group, lambda: sn.factorize(same, 4 if other else 3, max_iter=3))
    place.mkdir()
    os.chdir(place)  # as on hosts: the same path, other files
    for form, array in (("matrix", S), ("factor", B)):
        write_matrix(form, array, form="dense" if form == "matrix" else "gram")
        found[f"a folder of a {form}"] = refusal(
            group, lambda form=form: open_matrix(form, process_group=group)
        )
    np.save(place / "S.npy", S.numpy())
    mapped = np.load(place / "S.npy", mmap_mode="r")
    found["a mapped matrix"] = refusal(group, lambda: shard(sn.as_operator(mapped), group))
    table = np.random.default_rng(0).standard_normal((200, 9))
    table[100, 3] += 1e-9 * other
    found["a table"] = refusal(
        group, lambda: sn.analyse(table, 2, kind="returns", process_group=group)
    )
    missing = folder / ("nowhere" if other else "corr")
    found["a missing folder"] = refusal(
        group, lambda: open_matrix(missing, process_group=group, verify=False)
    )
    return found


def replaced(group, folder):
    """What the processes say when the copy of process 1 changes while it is mapped."""
    place = Path(sys.argv[3]) / f"{group.process_index}"
    write_matrix(place, torch.eye(70) + 0.1, form="dense")
    S = open_matrix(place, process_group=group)
    if group.process_index == 1:
        with (place / "data.npy").open("r+b") as file:
            file.seek(-4, 2)
            file.write(bytes(4))
    return refusal(group, lambda: S.same(torch.ones(70, 1)))


#: Estimates that processes make of their own columns.
IN_SHARES = {
    "ramp": {"dependence": "tail", "dependence_options": {"estimator": "ramp", "q": 0.25}},
    "chi": {"dependence": "tail", "dependence_options": {"estimator": "chi", "q": 0.25}},
    "global": {
        "dependence": "tail",
        "dependence_options": {"estimator": "global", "q": 0.25},
    },
    "semicorrelation": {
        "dependence": "tail",
        "dependence_options": {"estimator": "semicorrelation"},
    },
    "correlation": {"dependence": "correlation", "kind": "prices", "reading": {"start": "2001"}},
    "scores": {"dependence": "correlation"},
}


def estimates(group, folder):
    """Estimates from columns that each process reads itself, and how many it reads and holds."""
    import symnmf.analysis.shared_columns as shared
    from symnmf.analysis.loading import load_data
    from symnmf.data.column_table import ColumnTable

    shared.SHARED_COLUMNS = 100
    found, most, seen = {}, [0], set()
    columns = ColumnTable.columns

    def counted(table, names):
        most[0] = max(most[0], len(names))
        seen.update(names)
        return columns(table, names)

    ColumnTable.columns = counted
    for name, request in IN_SHARES.items():
        file = {"correlation": "prices", "scores": "alike"}.get(name, "returns")
        seen.clear()
        loaded = load_data(
            str(folder / f"{file}.parquet"), request.get("kind", "returns"), request["dependence"],
            request.get("dependence_options", {}), "drop-columns", 0.1, request.get("reading", {}),
            group,
        )  # fmt: skip
        S = loaded.operator
        X = torch.rand(S.n, 3, generator=torch.Generator().manual_seed(1))
        held = torch.tensor([S.rows.data.numel() / (S.n * S.rows.m), len(seen) / S.n, most[0]])
        found[name] = {
            "digest": digest(S.matmul(X)),
            "form": type(S).__name__,
            "names": hashlib.sha256("".join(S.names).encode()).hexdigest(),
            "n": S.n,
            "numbers": [S.frob_sq(), S.mean(), S.trace()],
            "steps": list(loaded.steps),
            "dense": S.block(torch.arange(40), torch.arange(S.n - 40, S.n)).tolist(),
            "held": group.gather(held[None], [1] * group.process_count).tolist(),
        }
    return found


def other_table(group, folder):
    """What the processes say where the table of process 1 differs in one cell, or has holes."""
    import symnmf.analysis.shared_columns as shared

    shared.SHARED_COLUMNS = 100
    name = "returns-other" if group.process_index == 1 else "returns"
    options = {"kind": "returns", "process_group": group}
    options["dependence_options"] = {"estimator": "ramp", "q": 0.25}
    words = refusal(group, lambda: sn.analyse(folder / f"{name}.parquet", 2, **options))
    options |= {"evidence": False, "max_iter": 2, "missing": "drop-columns"}
    holes = sn.analyse(folder / "holes.parquet", 2, **options)
    return [words, holes.panel is not None]


def fork() -> None:
    """Become every process of the group, so that they share one import; end with their faults."""
    for rank in range(int(os.environ["WORLD_SIZE"])):
        if os.fork() == 0:
            os.environ["RANK"] = str(rank)
            return
    codes = [os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(int(os.environ["WORLD_SIZE"]))]
    sys.exit(max(map(abs, codes)))


COMMANDS = (
    factors, contract, small, held, hang, differing, replaced, estimates, other_table,
)  # fmt: skip

if __name__ == "__main__":
    if "RANK" not in os.environ:
        fork()
    group = join(float(os.environ.get("TIMEOUT", "60")))
    answer = {f.__name__: f for f in COMMANDS}[sys.argv[1]](group, Path(sys.argv[2]))
    if group.process_index == 0:
        print(json.dumps(answer))
    group.leave()
