"""The command line: parse, call, print."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from symnmf.contract import Result

app = typer.Typer(
    help="Groups that move together, or crash together: certified symmetric NMF.\n\n"
    "Exit codes: 0 converged, 1 ended without meeting the criterion (the result is written all "
    "the same), 2 wrong input, 3 another process was lost. Under torchrun 1 and 2 become 0, lest "
    "it start again.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

#: How to print words that are not ours.
PLAIN: dict[str, Any] = {"markup": False, "highlight": False, "soft_wrap": True}

#: The two kinds of dependence: folder, estimator, and what it means.
TITLES = {
    "tpdm": ("tail", "crash together (tail dependence)"),
    "corr": ("correlation", "move together (correlation)"),
}

Out = Annotated[Path, typer.Option("--out", help="Folder for the results.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of the start and of every draw.")]
SolverName = Annotated[str, typer.Option("--solver", help="A name of `symnmf solvers`.")]
Starts = Annotated[
    int, typer.Option("--starts", help="Starts whose groups are compared: do they agree?")
]
Returns = Annotated[
    Path | None, typer.Option("--returns", help="Table of returns: .csv or .parquet.")
]
Prices = Annotated[Path | None, typer.Option("--prices", help="Table of prices: .csv or .parquet.")]
Dependence = Annotated[
    str, typer.Option("--dependence", help="tail (crash together) or correlation.")
]
Fraction = Annotated[
    float | None, typer.Option("--q", help="Fraction of days taken as extreme; 0.05.")
]
Tail = Annotated[str, typer.Option("--tail", help="lower (losses) or upper.")]
Missing = Annotated[
    str, typer.Option("--missing", help="error, drop-columns, drop-rows or pairwise.")
]
MaxMissing = Annotated[
    float, typer.Option("--max-missing", help="Fraction that drop-columns tolerates.")
]
Force = Annotated[bool, typer.Option("--force", help="Replace results that are there.")]


@app.command()
def demo(
    out: Out = Path("demo"),
    synthetic: Annotated[
        bool, typer.Option("--synthetic", help="A synthetic market whose groups are known.")
    ] = False,
    n: Annotated[int, typer.Option("--n", help="Instruments of the synthetic market.")] = 100,
    seed: Seed = 7,
    solver: SolverName = "auto",
) -> None:
    """Find the groups of twenty stocks, in crashes and in ordinary days."""
    from symnmf.data import read_panel
    from symnmf.data.samples import sp500_prices
    from symnmf.dependence import estimate
    from symnmf.synthetic import benchmark_matrix

    console = Console()
    if synthetic:
        console.print(f"A synthetic market of {n} instruments with known groups, seed {seed}.")
    else:
        panel = read_panel(sp500_prices(), kind="prices")
        first, last = panel.summary.first, panel.summary.last
        console.print(f"Daily prices of {len(panel.names)} S&P 500 stocks, {first} to {last}.")
    good = True
    for kind, (dependence, title) in TITLES.items():
        if synthetic:
            market = benchmark_matrix(kind, n, seed=seed)
            S, k, truth = market.operator, market.k, market.labels
        else:
            S, k, truth = estimate(dependence, panel), 4, None
        good = _demo_part(console, S, k, truth, out / kind, title, solver, seed) and good
    raise typer.Exit(0 if good else 1)


def _demo_part(
    console: Console,
    S: Any,
    k: int,
    truth: Any,
    folder: Path,
    title: str,
    solver: str,
    seed: int,
) -> bool:
    """Factorize, save, show; whether the criterion was met."""
    from sklearn.metrics import adjusted_rand_score

    from symnmf.factorize import factorize
    from symnmf.files import write_text
    from symnmf.groups.naming import groups, ordered
    from symnmf.plot import heat_maps
    from symnmf.results import save

    result = ordered(factorize(S, k, solver, seed=seed, n_init=5, progress=True))
    save(result, folder, force=True)
    write_text(folder / "groups.html", heat_maps(S, result, title).to_html())
    _show(console, f"Instruments that {title}, k = {k}", result)
    if truth is not None:
        ari = adjusted_rand_score(truth, result.labels())
        console.print(f"Agreement with the true groups (ARI): {ari:.2f}")
    else:
        for group in groups(result):
            console.print(f"  {group.name}: {', '.join(group.members)}", **PLAIN)
    console.print(f"Files: {folder}; open {folder / 'groups.html'} in a browser\n")
    return result.status.good


@app.command()
def fit(
    k: Annotated[int, typer.Option("--k", help="Number of groups.")],
    matrix: Annotated[
        Path | None,
        typer.Option(
            "--matrix", help="Dependence matrix: .csv, .parquet, .npy, .npz, or a folder."
        ),
    ] = None,
    returns: Returns = None,
    prices: Prices = None,
    dependence: Dependence = "tail",
    q: Fraction = None,
    tail: Tail = "lower",
    missing: Missing = "error",
    max_missing: MaxMissing = 0.0,
    compare: Annotated[
        Path | None,
        typer.Option("--compare", help="Your own classes: .csv with a name and a class a row."),
    ] = None,
    out: Out = Path("symnmf-out"),
    solver: SolverName = "auto",
    seed: Seed = 0,
    starts: Starts = 5,
    max_iter: Annotated[int | None, typer.Option("--max-iter", help="Most iterations.")] = None,
    max_seconds: Annotated[
        float | None, typer.Option("--max-seconds", help="Most wall time.")
    ] = None,
    force: Force = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run that was interrupted.")
    ] = False,
    save_every: Annotated[
        float, typer.Option("--save-every", help="Seconds between two checkpoints.")
    ] = 60.0,
    nproc: Annotated[
        int, typer.Option("--nproc", help="Processes of this machine that share the rows.")
    ] = 1,
    timeout: Annotated[
        float, typer.Option("--timeout", help="Seconds to wait for another process.")
    ] = 300.0,
) -> None:
    """Find the groups of a table or a dependence matrix, and certify the answer.

    Example: symnmf fit --prices prices.csv --k 10 --out groups

    On several machines: torchrun --nnodes N --nproc-per-node P -m symnmf fit ...
    """
    from symnmf import launch
    from symnmf.operators.group import first_decides, join

    if nproc > 1 and not launch.inside():
        raise typer.Exit(launch.again(sys.argv[1:], nproc))
    from symnmf.data.matrix import read_classes
    from symnmf.engine import Checkpoint
    from symnmf.factorize import factorize
    from symnmf.files import write_json
    from symnmf.groups.naming import ordered
    from symnmf.results import check_free, save

    classes = None if compare is None else read_classes(compare)
    group = join(timeout)
    replace = force or resume
    if group is None:
        check_free(out, force=replace)
    else:
        first_decides(group, lambda: check_free(out, force=replace))
    resume = resume or launch.restarted()
    S, record = _operator(matrix, returns, prices, dependence, q, tail, missing, max_missing, group)
    result = factorize(
        S,
        k,
        solver,
        seed=seed,
        n_init=starts,
        max_iter=max_iter,
        max_seconds=max_seconds,
        progress=True,
        checkpoint=Checkpoint(out / "checkpoint", save_every, overwrite=force),
        resume=resume,
    )
    if group is not None and group.rank > 0:
        group.leave()
        raise typer.Exit(0)
    result = ordered(result)
    save(result, out, force=replace)
    if group is not None:
        group.leave()
    if record:
        write_json(out / "data.json", record)
    console = Console()
    for step in [*record.get("panel", ()), *record.get("dependence", ())]:
        console.print(f"- {step}", **PLAIN)
    _show(console, str(matrix or returns or prices), result)
    if classes is not None:
        _compare(console, result, classes, out)
    console.print(f"Files: {out}")
    raise typer.Exit(launch.exit_code(0 if result.status.good else 1))


def _compare(console: Console, result: Result, classes: dict[str, str], out: Path) -> None:
    """Groups against the user's own classes: two numbers, and a table as a file."""
    from symnmf.files import atomic, safe_cell
    from symnmf.groups.naming import compare

    found = compare(result, classes)
    with atomic(out / "classes.csv") as temporary:
        found.table.rename(index=safe_cell, columns=safe_cell).to_csv(temporary)
    left = f"; {len(found.missing)} names have no class" if found.missing else ""
    console.print(
        f"Against your classes: ARI {found.ari:.2f}, NMI {found.nmi:.2f}{left}; see classes.csv",
        **PLAIN,
    )


def _operator(
    matrix: Path | None,
    returns: Path | None,
    prices: Path | None,
    dependence: str,
    q: float | None,
    tail: str,
    missing: str,
    max_missing: float,
    group: Any,
) -> tuple[Any, dict[str, Any]]:
    """The dependence matrix of what the caller has, and what was done to it."""
    from dataclasses import asdict

    from symnmf.data import read_matrix, read_panel
    from symnmf.dependence import estimate
    from symnmf.errors import InvalidInput
    from symnmf.operators import as_operator
    from symnmf.operators.store import open_matrix, shard

    given = {"--matrix": matrix, "--returns": returns, "--prices": prices}
    named = [name for name, path in given.items() if path is not None]
    if len(named) != 1:
        problem = f"{' and '.join(named)} were given together" if named else "nothing was given"
        raise InvalidInput("input", problem, f"Pass exactly one of {', '.join(given)}")
    if matrix is not None and matrix.is_dir():
        return open_matrix(matrix, group=group), {}
    if matrix is not None:
        S = as_operator(read_matrix(matrix))
        return S if group is None else shard(S, group), {}
    kind = named[0].removeprefix("--")
    panel = read_panel(returns or prices, kind=kind, missing=missing, max_missing=max_missing)
    options = {"tail": tail, "q": q} if dependence == "tail" else {}
    S = estimate(dependence, panel, **options)
    record = {"panel": list(panel.summary.steps), "dependence": list(S.about.steps)}
    S = S if group is None else shard(S, group)
    return S, {**record, "summary": asdict(panel.summary)}


@app.command()
def roll(
    k: Annotated[int, typer.Option("--k", help="Number of groups.")],
    window: Annotated[int, typer.Option("--window", help="Rows of a window.")],
    step: Annotated[int, typer.Option("--step", help="Rows from one window to the next.")],
    returns: Returns = None,
    prices: Prices = None,
    dependence: Dependence = "tail",
    q: Fraction = None,
    tail: Tail = "lower",
    missing: Missing = "error",
    max_missing: MaxMissing = 0.0,
    out: Out = Path("symnmf-roll"),
    seed: Seed = 0,
    force: Force = False,
) -> None:
    """Groups through time: who moved, and when it broke.

    Example: symnmf roll --prices prices.csv --window 1000 --step 21 --k 10 --out through-time
    """
    from symnmf.data import read_panel
    from symnmf.errors import InvalidInput
    from symnmf.groups.rolling import rolling, save_rolling

    given = {"--returns": returns, "--prices": prices}
    named = [name for name, path in given.items() if path is not None]
    if len(named) != 1:
        raise InvalidInput("input", f"got {len(named)} tables", f"Pass one of {', '.join(given)}")
    if (out / "windows.csv").exists() and not force:
        raise InvalidInput("--out", f"{out} already holds windows", "Choose another, or --force")
    kind = named[0].removeprefix("--")
    panel = read_panel(returns or prices, kind=kind, missing=missing, max_missing=max_missing)
    console = Console()

    def show(w: Any) -> None:
        ari = "" if w.ari_before is None else f", ARI {w.ari_before:.2f} with the window before"
        sign = "  BREAK" if w.broke else ""
        status = f"{w.result.status.name}{ari}, {len(w.moved)} moved{sign}"
        console.print(f"{w.first} to {w.last}: {status}", **PLAIN)

    options: dict[str, Any] = {"tail": tail, "q": q} if dependence == "tail" else {}
    found = rolling(panel, window, step, k, dependence, seed=seed, on_window=show, **options)
    save_rolling(found, out)
    console.print(
        f"{len(found.windows)} windows, {len(found.breaks)} breaks. Files: {out}", **PLAIN
    )
    raise typer.Exit(0 if all(w.result.status.good for w in found.windows) else 1)


@app.command()
def rank(
    matrix: Annotated[
        Path, typer.Option("--matrix", help="Dependence matrix, or a folder with one.")
    ],
    most: Annotated[int | None, typer.Option("--most", help="Largest number to consider.")] = None,
    observations: Annotated[
        int | None, typer.Option("--observations", help="T, where S is a correlation.")
    ] = None,
    seed: Seed = 0,
) -> None:
    """How many groups a matrix has, and why.

    Example: symnmf rank --matrix S.npy
    """
    from symnmf.data import read_matrix
    from symnmf.groups.rank import suggest_rank
    from symnmf.operators.store import open_matrix

    S = open_matrix(matrix) if matrix.is_dir() else read_matrix(matrix)
    found = suggest_rank(S, most, observations=observations, seed=seed)
    console = Console()
    console.print(f"{found.k} groups", style="bold", **PLAIN)
    for reason in found.reasons:
        console.print(f"- {reason}", **PLAIN)


@app.command()
def generate(
    kind: Annotated[str, typer.Argument(help="tpdm or corr.")],
    n: Annotated[int, typer.Option("--n", help="Number of instruments.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for the matrix.")],
    seed: Seed = 7,
    samples: Annotated[int, typer.Option("--samples", help="Observations drawn.")] = 40_000,
    dense: Annotated[
        bool, typer.Option("--dense", help="Write S itself where its factor would be smaller.")
    ] = False,
) -> None:
    """Write a benchmark matrix to disk, piece by piece; run again, it goes on.

    Example: symnmf generate tpdm --n 100000 --out tpdm5 && symnmf fit --matrix tpdm5 --k 316
    """
    from rich.progress import BarColumn, Progress, TimeElapsedColumn, TimeRemainingColumn

    from symnmf.generate import generate as write
    from symnmf.operators.store import read_stored

    err = Console(stderr=True)
    columns = (BarColumn(), "{task.percentage:.0f} %", TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, disable=not err.is_terminal) as bar:
        task = bar.add_task("", total=1.0)
        write(
            kind,
            n,
            out,
            seed=seed,
            samples=samples,
            dense=dense,
            report=lambda share: bar.update(task, completed=share),
        )
    stored = read_stored(out)
    size = (out / "data.npy").stat().st_size / 1e9
    Console().print(f"{out}: {stored.form}, {stored.dtype} {stored.shape}, {size:.3g} GB", **PLAIN)


@app.command()
def bench(
    study: Annotated[str, typer.Argument(help="A study that comes with the package, or a .toml.")],
    out: Annotated[Path, typer.Option("--out", help="Folder of results.")] = Path("results"),
    sizes: Annotated[
        str, typer.Option("--sizes", help="Instead of those of the study: 100,1000")
    ] = "",
    seeds: Annotated[str, typer.Option("--seeds", help="Instead of those of the study: 7,42")] = "",
    solvers: Annotated[
        str, typer.Option("--solvers", help="Rows of the registry: adagrad,admm")
    ] = "",
    budget: Annotated[float | None, typer.Option("--budget", help="Seconds of a run.")] = None,
    jobs: Annotated[int, typer.Option("--jobs", help="Runs side by side, sharing the cores.")] = 1,
) -> None:
    """Run a study of the founding paper: what is done is kept, and not repeated.

    Example: symnmf bench phase1 --sizes 100 --solvers adagrad,admm
    """
    from symnmf.bench import plots, tables
    from symnmf.bench.runner import run_study
    from symnmf.bench.store import Store
    from symnmf.bench.study import load
    from symnmf.errors import InvalidInput

    try:
        chosen = load(
            study,
            sizes=[int(n) for n in sizes.split(",") if n],
            seeds=[int(n) for n in seeds.split(",") if n],
            solvers=[name for name in solvers.split(",") if name],
            seconds=budget,
        )
    except ValueError as wrong:
        if isinstance(wrong, InvalidInput):
            raise
        raise InvalidInput("--sizes", f"{wrong}", "Write whole numbers with commas") from wrong
    console, store = Console(), Store(out)

    def show(run: Any, done: int, of: int) -> None:
        words = f"{done} of {of}: {run.kind} {run.n} {run.seed} {run.configuration}"
        console.print(words, **PLAIN)

    made = run_study(chosen, store, show, jobs)
    for path in [*tables.write(chosen, store), *plots.write(chosen, store)]:
        console.print(f"Written: {path}", **PLAIN)
    console.print(f"{made} runs made; results: {store.path(chosen.name)}", **PLAIN)
    if left := tables.missing(chosen, store):
        rows = ", ".join(sorted({run.solver for run in left}))
        console.print(f"{len(left)} runs are missing: not installed: {rows}", **PLAIN)


@app.command()
def plan(
    n: Annotated[int, typer.Option("--n", help="Number of instruments.")],
    k: Annotated[int | None, typer.Option("--k", help="Number of groups; the root of n.")] = None,
    form: Annotated[str, typer.Option("--form", help="dense, gram or tiles.")] = "dense",
    m: Annotated[int, typer.Option("--m", help="Exceedances, for gram.")] = 400,
    nproc: Annotated[int, typer.Option("--nproc", help="Processes that share the rows.")] = 1,
) -> None:
    """What a run needs: memory, disk, products, communication, time.

    Example: symnmf plan --n 100000 --form gram
    """
    from symnmf.memory import free_memory
    from symnmf.plan import plan as needs

    plans = needs(n, k, form=form, m=m, processes=nproc)
    first, have = plans[0], free_memory()
    table = Table("solver", "memory", "naive", "products", "received a product", "time")
    for p in plans:
        table.add_row(
            p.solver,
            _bytes(p.memory),
            _bytes(p.naive),
            str(p.products),
            _bytes(p.traffic),
            _duration(p.seconds),
        )
    console = Console()
    console.print(
        f"n = {n:,}, k = {first.k}, {form}, {nproc} process{'es' if nproc > 1 else ''}; matrix on "
        f"disk {_bytes(first.storage)}, H {_bytes(4 * n * first.k)}, free memory here "
        f"{'unknown' if have is None else _bytes(have)}",
        **PLAIN,
    )
    console.print(table)
    console.print(
        "Memory is that of each process; naive is with n×n residuals instead of the trace "
        "identity. Products are those counted at n = 10,000; time is from the rate measured now.",
        **PLAIN,
    )
    if have is not None and first.memory > have:
        remedy = "gram (never formed), tiles (on disk) or more processes"
        console.print(f"Not enough memory here for {form}: try {remedy}.", **PLAIN)


def _bytes(count: float) -> str:
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if count < 1000 or unit == "TB":
            return f"{count:.3g} {unit}"
        count /= 1000
    return ""


def _duration(seconds: float) -> str:
    for unit, size in (("days", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.2g} s"


@app.command()
def solvers() -> None:
    """List the solvers with what they cost and their options."""
    from symnmf.solvers.registry import solvers as registry

    console, family = Console(), ""
    for row in registry().values():
        if row.family != family:
            family = row.family
            console.print(f"\n{family}", style="bold", **PLAIN)
        options = ", ".join(f"{name}={value}" for name, value in row.parameters.items())
        cost = f"{row.products} products, {row.memory} n×k arrays, {row.tier}"
        console.print(f"  {row.name:<28}{cost}", **PLAIN)
        console.print(f"      {options or 'no options'}", style="dim", **PLAIN)
        console.print(f"      paper: {row.paper}; {row.reference}", style="dim", **PLAIN)


def _show(console: Console, title: str, result: Result) -> None:
    table = Table(title=title, show_header=False, title_justify="left")
    table.add_row("status", result.status.name)
    for name, value in result.certificate.summary():
        table.add_row(name, value)
    spent = (
        f"{result.iterations} iterations, {result.products:.0f} products, {result.seconds:.1f} s"
    )
    table.add_row(f"spent by {result.solver}", spent)
    for note in result.notes:
        table.add_row("note", note)
    console.print(table)


def main() -> None:
    """Entry point: our errors and warnings as a line, not as a traceback."""
    from symnmf.errors import InvalidFile, NotEnough, PeerLost, SymnmfError
    from symnmf.launch import exit_code

    def as_line(message: Warning | str, category: type[Warning], *rest: object) -> None:
        if os.environ.get("RANK", "0") == "0":  # the others say the same
            Console(stderr=True).print(f"{category.__name__}: {message}", **PLAIN)

    warnings.showwarning = as_line  # type: ignore[assignment]
    try:
        app()
    except (SymnmfError, OSError) as wrong:
        rank = os.environ.get("RANK", "0")
        if rank == "0" or isinstance(
            wrong, PeerLost | InvalidFile | NotEnough
        ):  # the others say the same
            who = "Error" if rank == "0" else f"Error in process {rank}"
            Console(stderr=True).print(f"{who}: {wrong}", **PLAIN)
        lost = isinstance(wrong, PeerLost)  # worth another try, unlike wrong input
        sys.exit(3 if lost else exit_code(2))
