"""Sketch, seed, fit, refine: the work is done on a surrogate of S, the judging on S."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import inf

import torch
from torch import Tensor

from symnmf.contract import Check, Memory, Problem, Solver, State, whole
from symnmf.labels import agreement, hard_labels
from symnmf.objective import error
from symnmf.operators import SymmetricOperator
from symnmf.operators.lowrank import CorrectedOperator
from symnmf.seeds import torch_stream
from symnmf.solvers.checks import positive
from symnmf.solvers.escape import exchange_column
from symnmf.solvers.newton import PGNCG, CurvatureState
from symnmf.solvers.splitting import ADMM, SplitState, consensus
from symnmf.start import group_start, nndsvd_start, random_start, spectral_labels

#: With the leading direction or without, whitened or scaled; and draws of k-means on each.
EMBEDDINGS, DRAWS = ((False, True), (False, False), (True, True), (True, False)), 3
#: Steps that a seed gets before seeds are compared, and between measurements on the surrogate.
TRIAL, INTERVAL = 6, 10
#: Most steps of a fit on the surrogate, and the gain between measurements below which it ends,
#: absolute and as a share of the excess: ADMM, and Gauss–Newton, which gains more where ADMM slows.
MOST_STEPS, SETTLED, SLOW = 300, 1e-4, 0.2
MOST_POLISHED, POLISHED, POLISHED_SLOW = 60, 2e-5, 0.03
#: Fits this near to the best are told apart by how sharp their groups are, and count for agreement.
AS_GOOD, GOOD = 1e-3, 1e-2
#: Seeds this near to the best after their trial are told apart by how sharp their groups are.
IN_THE_RACE = 0.05
#: Moves out of a poor fit; the excess above which they are tried, and above which a fit of ADMM
#: is polished.
MOVES, POOR, ROUGH = 4, 2e-3, 5e-4
#: Steps from look to look in the phases that are judged.
BETWEEN = {"fitted": 0, "refine": 10, "newton": 3, "exact": 10}
#: Most steps of ADMM with the corrected surrogate; stagnant looks that Gauss–Newton gets with it.
MOST_REFINED, CHANCES = 60, 3


@dataclass
class Candidate(Memory):
    """A fit on the surrogate: its factor, its excess there, and the mean margin of its labels."""

    H: Tensor
    excess: float
    sharpness: float


@dataclass
class SketchState(SplitState):
    """Where the solver stands.

    Attributes:
        phase: ``"seed"``, ``"fit"``, ``"escape"``, ``"polish"`` on the surrogate T; ``"fitted"``,
            which asks for a look; ``"refine"`` and ``"newton"`` on T plus a correction;
            ``"exact"`` on S.
        start: number of the start, from 0.
        count: seeds, steps, moves or stagnant looks in this phase.
        excess: on T, at the last measurement.
        anchor, P: factor at the last look, and the correction that S H gave there.
        rival: to be beaten by the next seed or move.
        kept: the best start so far.
        labels: (starts, n) of the starts that are done; ``fits`` their excess.
    """

    phase: str
    start: int
    count: int
    excess: float
    anchor: Tensor | None
    P: Tensor | None
    rival: Candidate | None
    kept: Candidate | None
    labels: Tensor
    fits: tuple[float, ...]


@dataclass(frozen=True)
class Sketched(Solver):
    """A fit of a low-rank-plus-diagonal surrogate, from a spectral seed, refined on S.

        T = U Φ Uᵀ + diag(d)               from the spectrum that the certificate needs anyway
        H₀ = a·P + c·u₁1ᵀ                  P: groups of the rows of U, by k-means
        ADMM with T                        no product of S
        ADMM with T + Π R + R Π − Π R Π,   R = S − T,   Π: columns of H at the last look

    The last surrogate is right on the columns of H, costs one product of S at each look, and has
    the stationary points of S. Where T is S (a Gram operator not much wider than k) there is
    nothing to correct. What ADMM does not settle is left to Gauss–Newton steps, first with the
    corrected surrogate, then with S.

    1. Every start begins with a race of seeds: groups of the spectral embedding (whitened and
       scaled, with and without the leading direction), NNDSVD, the paper's random start.
    2. A fit that is not near the floor is offered moves: the most redundant column is given up
       for the group that the residual shows, if that helps; and Gauss–Newton steps on T.
    3. Of several starts the best is refined; of equally good ones the one with sharper groups.
       Their labels give the ``agreement`` of the certificate.

    Arguments:
        penalty: ρ of ADMM against the size of HᵀH.
        cg_iters: steps of conjugate gradients in a Gauss–Newton step.
        n_init: number of starts; they cost time, but no products of S where T is not S.
    """

    penalty: float = 2.0
    cg_iters: int = 10
    n_init: int = 1

    warm_up = 0

    def __post_init__(self) -> None:
        positive(self, "penalty")
        whole("Sketched.cg_iters", self.cg_iters, 1, inf, "that is positive")
        whole("Sketched.n_init", self.n_init, 1, 10_000, "from 1 to 10000")

    def init_state(self, problem: Problem) -> SketchState:
        """At the start factor; a factor given by the caller is the only seed."""
        H = problem.H0.clone()
        return SketchState(
            **vars(self._split(problem, H)),
            phase="fit" if isinstance(problem.start, Tensor) else "seed",
            start=0,
            count=0,
            excess=float("inf"),
            anchor=None,
            P=None,
            rival=None,
            kept=None,
            labels=torch.empty(0, problem.S.n, dtype=torch.int32, device=H.device),
            fits=(),
        )

    def due(self, state: State, since: int) -> bool:
        """Look when the surrogate is fitted, and from then on after a few steps."""
        assert isinstance(state, SketchState)
        return since >= BETWEEN.get(state.phase, MOST_STEPS)

    def ripe(self, state: State) -> bool:
        """Not while the surrogate is being fitted: the next start may do better."""
        assert isinstance(state, SketchState)
        return state.phase in BETWEEN

    def step(self, problem: Problem, state: State, rng: torch.Generator) -> State:
        """A seed with its trial, a step on the surrogate, a move, or a corrected step."""
        assert isinstance(state, SketchState)
        return PHASES[state.phase](self, problem, state, rng)

    def react(self, problem: Problem, state: State, check: Check) -> State:
        """Where ADMM does not settle, Gauss–Newton steps; where those do not, steps with S.

        Near the floor there is nothing to gain but the gradient: a larger ρ lowers it without
        moving the groups.
        """
        assert isinstance(state, SketchState)
        if state.phase == "refine" and state.excess <= ROUGH and state.count < MOST_REFINED:
            return replace(state, U=state.U / 2, rho=2 * state.rho)  # only V and W have to meet
        if state.phase == "refine":
            return replace(state, phase="newton", count=0, U=_nothing(state.U))
        if state.phase == "newton" and state.count + 1 < CHANCES:
            return replace(state, count=state.count + 1)
        if state.phase == "newton":
            return replace(state, phase="exact", anchor=None, P=None)
        return state

    def interrupted(self, state: State) -> State:
        """The best of the starts and seeds so far."""
        assert isinstance(state, SketchState)
        own = [Candidate(state.H, state.excess, 0.0)] if state.phase != "seed" else []
        found = [c for c in (state.kept, state.rival, *own) if c is not None]
        if state.phase in BETWEEN or not found:
            return state
        return replace(state, H=min(found, key=lambda c: c.excess).H, SH=None)

    def agreement(self, state: State) -> float | None:
        """Mean pairwise ARI of the labels of the starts that are nearly as good as the best."""
        assert isinstance(state, SketchState)
        best = min(state.fits, default=0.0)
        good = [m for m, e in enumerate(state.fits) if e <= best + GOOD]
        return agreement(state.labels[good]) if len(good) > 1 else None

    # The phases, in their order.

    def _seed(self, problem: Problem, state: SketchState, rng: torch.Generator) -> SketchState:
        """Try one seed; after the last one, go on with the best."""
        seeds = _seeds(problem, state.start, self.n_init)
        tried = self._trial(problem, seeds[state.count]())
        rival = _better(tried, state.rival, IN_THE_RACE)
        if state.count + 1 < len(seeds):
            return replace(state, rival=rival, count=state.count + 1)
        return self._begin(problem, state, rival.H)

    def _fit(self, problem: Problem, state: SketchState, rng: torch.Generator) -> SketchState:
        """A step of ADMM on the surrogate; now and then a look at how much it still brings."""
        TW = problem.surrogate.matmul(state.H)
        now = state.excess
        if state.count % INTERVAL == 0:
            now = _excess(problem, state.H, TW)
            settled = state.count > 0 and state.excess - now < max(SETTLED, SLOW * now)
            if settled or state.count >= MOST_STEPS:
                state = replace(state, excess=now, count=0)
                if now <= ROUGH:
                    return self._done(problem, state)
                if now <= POOR:
                    return replace(state, phase="polish", U=_nothing(state.U))
                rival = _candidate(state.H, now)
                return replace(state, phase="escape", U=_nothing(state.U), rival=rival)
        W, U = consensus(state.H, TW, state.U, state.rho)
        return replace(state, H=W, SH=None, U=U, excess=now, count=state.count + 1)

    def _escape(self, problem: Problem, state: SketchState, rng: torch.Generator) -> SketchState:
        """One move and its trial; the first that does not help ends the escape."""
        rival = state.rival
        assert rival is not None
        tried = self._trial(problem, exchange_column(problem.surrogate, rival.H, rng))
        helped = rival.excess - tried.excess > SETTLED
        rival = tried if helped else rival
        if helped and state.count + 1 < MOVES:
            return replace(state, rival=rival, count=state.count + 1)
        return replace(
            state, phase="polish", H=rival.H, SH=None, excess=rival.excess, count=0, rival=None
        )

    def _polish(self, problem: Problem, state: SketchState, rng: torch.Generator) -> SketchState:
        """A Gauss–Newton step on the surrogate, until they bring little."""
        T = problem.surrogate
        if state.count and state.count % BETWEEN["newton"] == 0:
            now = _excess(problem, state.H, T.matmul(state.H))
            settled = state.excess - now < max(POLISHED, POLISHED_SLOW * now)
            state = replace(state, excess=now)
            if settled or state.count >= MOST_POLISHED:
                return self._done(problem, state)
        return replace(self._newton(problem, T, state, rng), count=state.count + 1)

    def _done(self, problem: Problem, state: SketchState) -> SketchState:
        """Keep this start if it is the best; begin the next, or refine."""
        this = _candidate(state.H, state.excess)
        kept = _better(this, state.kept, AS_GOOD)
        labels = hard_labels(state.H)[0].to(torch.int32)
        labels = torch.cat([state.labels, labels[None]])
        state = replace(state, kept=kept, fits=(*state.fits, this.excess), labels=labels, count=0)
        if state.start + 1 < self.n_init + (problem.earlier is not None):
            return replace(state, phase="seed", start=state.start + 1, excess=float("inf"))
        if kept is not this or not len(state.U):  # the dual is not that of the best start
            state = replace(state, **vars(self._split(problem, kept.H)))
        return replace(state, phase="fitted", excess=kept.excess, kept=None)

    def _refine(self, problem: Problem, state: SketchState, rng: torch.Generator) -> SketchState:
        """A step of ADMM with the corrected surrogate; too many of them end it."""
        state, T = self._corrected(problem, state)
        known = state.SH is not None and T is problem.S
        TW = state.SH if known else T.matmul(state.H)
        assert TW is not None
        W, U = consensus(state.H, TW, state.U, state.rho)
        state = replace(state, H=W, SH=None, U=U, phase="refine", count=state.count + 1)
        if state.count < MOST_REFINED:
            return state
        return replace(state, phase="newton", count=0, U=_nothing(U))

    def _gauss_newton(
        self, problem: Problem, state: SketchState, rng: torch.Generator
    ) -> SketchState:
        """A Gauss–Newton step with the corrected surrogate."""
        state, T = self._corrected(problem, state)
        return self._newton(problem, T, state, rng)

    def _exact(self, problem: Problem, state: SketchState, rng: torch.Generator) -> SketchState:
        """A step with S."""
        return self._newton(problem, problem.S, state, rng)

    # Their parts.

    def _corrected(
        self, problem: Problem, state: SketchState
    ) -> tuple[SketchState, SymmetricOperator]:
        """The surrogate that is right at the last look; the product of a look renews it."""
        T = problem.surrogate
        if T is problem.S:
            return state, T
        if state.SH is not None:
            P = CorrectedOperator.correction(T, state.H, state.SH)
            state = replace(state, anchor=state.H, P=P, SH=None)
        assert state.anchor is not None
        assert state.P is not None
        return state, CorrectedOperator(T, state.anchor, state.P)

    def _split(self, problem: Problem, H: Tensor) -> SplitState:
        return ADMM(penalty=self.penalty).start_at(problem, H)

    def _begin(self, problem: Problem, state: SketchState, H: Tensor) -> SketchState:
        """Begin a fit at a factor."""
        fresh = vars(self._split(problem, H))
        return replace(state, **fresh, phase="fit", count=0, excess=float("inf"), rival=None)

    def _trial(self, problem: Problem, H: Tensor) -> Candidate:
        """A few steps on the surrogate."""
        T, state = problem.surrogate, self._split(problem, H)
        W, U = state.H, state.U
        for _ in range(TRIAL):
            W, U = consensus(W, T.matmul(W), U, state.rho)
        return _candidate(W, _excess(problem, W, T.matmul(W)))

    def _newton(
        self, problem: Problem, T: SymmetricOperator, state: SketchState, rng: torch.Generator
    ) -> SketchState:
        """One Gauss–Newton step with T; S H is known afterwards only where T is S."""
        solver = PGNCG(cg_iters=self.cg_iters)
        unit, twin = problem.entry_scale, problem if T is problem.S else problem.on(T)
        SH = state.SH if T is problem.S else None
        stepped = solver.step(twin, CurvatureState(state.H, SH, state.H, 1.0, unit, Memory()), rng)
        return replace(state, H=stepped.H, SH=stepped.SH if T is problem.S else None)


Phase = Callable[[Sketched, Problem, SketchState, torch.Generator], SketchState]
PHASES: dict[str, Phase] = {
    "seed": Sketched._seed,
    "fit": Sketched._fit,
    "escape": Sketched._escape,
    "polish": Sketched._polish,
    "fitted": Sketched._refine,
    "refine": Sketched._refine,
    "newton": Sketched._gauss_newton,
    "exact": Sketched._exact,
}


def _nothing(U: Tensor) -> Tensor:
    """In place of a dual that is not needed; it holds no memory."""
    return U.new_empty(0, 1)


def _excess(problem: Problem, H: Tensor, TH: Tensor) -> float:
    """Excess with T H in place of S H; the error itself where that has no scale."""
    value = error(H, TH, problem.S.frob_sq())
    excess = problem.yardstick.excess(value)
    return value if excess is None else excess


def _candidate(H: Tensor, excess: float) -> Candidate:
    return Candidate(H, excess, float(hard_labels(H)[1].mean()))


def _better(new: Candidate, old: Candidate | None, within: float) -> Candidate:
    """The better fit; of two about as good, the one with sharper groups."""
    if old is None or new.excess < old.excess - within:
        return new
    return new if new.excess <= old.excess + within and new.sharpness > old.sharpness else old


def _seeds(problem: Problem, start: int, starts: int) -> list[Callable[[], Tensor]]:
    """The seeds of a start: all of them for the first, then one each, in turn.

    NNDSVD is the same every time, and only for the first. What an earlier problem left is one more
    start, after the others.
    """
    S, k, earlier = problem.S, problem.k, problem.earlier
    if earlier is not None and start == starts:
        return [lambda: earlier.H.clone()]
    groups = [partial(_group_seed, problem, start, *embedding) for embedding in EMBEDDINGS]
    drawn = partial(random_start, S, k, problem.seed + start)
    if start == 0:
        return [*groups, partial(nndsvd_start, S, k, problem.spectrum), drawn]
    return [[*groups, drawn][(start - 1) % (len(groups) + 1)]]


def _group_seed(problem: Problem, start: int, leading: bool, white: bool) -> Tensor:  # (n, k)
    """Groups of an embedding, of some draws of k-means the one with the least error."""
    T, k, spectrum = problem.surrogate, problem.k, problem.spectrum
    best: tuple[float, Tensor] | None = None
    for draw in range(DRAWS):
        rng = torch_stream(problem.seed, "embedding", start, leading, white, draw)
        labels = spectral_labels(spectrum, k, rng, leading=leading, white=white)
        H = group_start(T, k, spectrum, labels)
        value = error(H, T.matmul(H), problem.S.frob_sq())
        if best is None or value < best[0]:
            best = (value, H)
    assert best is not None
    return best[1]
