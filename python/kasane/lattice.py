"""Lattice QCD: gauge fields, observables, the Wilson flow, quenched ensembles and hybrid Monte Carlo, quark propagators, correlators,
files.

A gauge field is a complex array [T, Z, Y, X, 4, 3, 3]: the link that leaves site (x, y, z, t) along mu = x, y, z, t is
links[t, z, y, x, mu], a matrix [row, column]. A quark field is a complex array [T, Z, Y, X, 4, 3]: spin (DeGrand-Rossi basis) and colour.
Functions of a gauge field take such an array or a GaugeField, which is already in the order of the updates, on a device where there is one.
Observables take links of any numbers; chains, the flow, quark solvers and files take matrices of SU(3), to 1e-5 or closer.
"""

from __future__ import annotations

import operator
import os
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._core import QuarkSolveLog
from .arrays import DeviceResult, NotPickled, as_array, as_device_array, check_finite, html_table, is_on_device, not_pickled, shows_fields
from .errors import ComputationError, InputError

__all__ = [
    "Estimate",
    "Flow",
    "GaugeField",
    "HmcConfiguration",
    "Propagator",
    "QuarkSolveLog",
    "Quarks",
    "QuenchedConfiguration",
    "WilsonSolver",
    "cold_start",
    "effective_mass",
    "estimate",
    "flow",
    "hmc",
    "hot_start",
    "plaquette",
    "point_source",
    "polyakov_loop",
    "quenched",
    "read_gauge",
    "read_propagator",
    "topological_charge",
    "weak_start",
    "write_gauge",
]

Path = Union[str, os.PathLike]
_LINKS = ("T", "Z", "Y", "X", 4, 3, 3)


def _links(links: Any) -> np.ndarray:
    array = as_array(links, np.complex128, _LINKS, "links")
    check_finite(array, "links")
    return array


_MOST_INT = 2**31 - 1
_MOST_SEED = 2**64 - 1


def _whole(value: Any, name: str, least: int = 0, most: int = _MOST_INT) -> int:
    """A whole number from `least` to `most`. Raises InputError."""
    try:
        number = operator.index(value)
    except TypeError:
        raise InputError(f"is {value!r}: a whole number is expected", name) from None
    if number < least:
        raise InputError(f"is {number}: it must be at least {least}", name)
    if number > most:
        raise InputError(f"is {number}: it must be at most {most}", name)
    return number


def _four(values: Any, name: str) -> List[int]:
    """The whole numbers (X, Y, Z, T) or (x, y, z, t). Raises InputError."""
    if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
        raise InputError(f"is {values!r}: four whole numbers are expected, along x, y, z and t", name)
    if len(values) != 4:
        raise InputError(f"are {len(values)} numbers: four are expected, along x, y, z and t", name)
    return [_whole(n, name) for n in values]


shows_fields(QuarkSolveLog)
not_pickled(QuarkSolveLog, "store its values")


class GaugeField(NotPickled):
    """The links of a lattice in the order of the updates, from an array [T, Z, Y, X, 4, 3, 3], on a device (auto, cpu, cuda, cuda:1).

    An array of CuPy, torch or JAX in the memory of a CUDA device is read there (auto: on its device), and nothing passes through the host.
    """

    _instead = "store its array()"

    def __init__(self, links: Any, device: str = "auto", threads: int = 0) -> None:
        if is_on_device(links) and device != "cpu":
            there = as_device_array(links, np.complex128, _LINKS, "links")
            self._core = _core.Links(there, f"cuda:{there.device}" if device == "auto" else device)
        else:
            self._core = _core.Links(_links(links), device, threads)

    @classmethod
    def _started(cls, extents: Sequence[int], start: str, epsilon: float, seed: int, device: str, threads: int) -> GaugeField:
        self = cls.__new__(cls)
        self._core = _core.Links(_four(extents, "extents"), start, epsilon, _whole(seed, "seed", most=_MOST_SEED), device, threads)
        return self

    @property
    def extents(self) -> Tuple[int, int, int, int]:
        """(X, Y, Z, T)."""
        x, y, z, t = self._core.extents
        return x, y, z, t

    @property
    def device(self) -> str:
        """Where the links are: cpu, cuda:0."""
        return self._core.device

    def array(self, out: Any = None) -> Any:
        """A copy of the links on the host, [T, Z, Y, X, 4, 3, 3]; with `out`, an array of CuPy or torch on the field's device, they are
        written into it, and nothing passes through the host."""
        if out is None:
            return self._core.array()
        x, y, z, t = self.extents
        self._core.copy_to(as_device_array(out, np.complex128, (t, z, y, x, 4, 3, 3), "out", writable=True))
        return out

    def copy(self) -> GaugeField:
        """The same links in memory of their own, on the default device."""
        return GaugeField(self.array())

    def plaquette(self) -> float:
        """Mean Re tr U / 3 of all planes."""
        space, time = self._core.plaquette()
        return (space + time) / 2

    def plaquettes(self) -> Tuple[float, float]:
        """The same of the planes in space, and of those of space and time."""
        return self._core.plaquette()

    def link_trace(self) -> float:
        """Mean Re tr U / 3 of all links."""
        return self._core.link_trace()

    def polyakov_loop(self) -> complex:
        """Mean over space of tr prod_t U_t / 3."""
        return self._core.polyakov_loop()

    def topological_charge(self) -> float:
        """Q from the clover-leaf field strength."""
        return self._core.topological_charge()

    def energy_density(self) -> float:
        """E from the clover-leaf field strength."""
        return self._core.energy_density()

    def reunitarise(self) -> None:
        """Projects every link back to SU(3). Raises InputError, and changes none, where a link's first two rows are zero, parallel or not
        finite."""
        self._core.reunitarise()

    def update(self, beta: float, seed: int, sweep: int, sweeps: int = 1, overrelaxation: int = 4) -> None:
        """The quenched sweeps sweep, sweep + 1, ...: each one of heatbath, then those of overrelaxation, and reunitarisation. Ctrl-C ends
        them between two sweeps, with the links of the sweeps before. Raises InputError where a link is not in SU(3)."""
        numbers = (_whole(seed, "seed", most=_MOST_SEED), _whole(sweep, "sweep", most=2**62), _whole(sweeps, "sweeps", most=2**62))
        overrelaxation = _whole(overrelaxation, "overrelaxation")
        self._core.require_su3("links")
        self._core.update(beta, *numbers, overrelaxation)

    def _facts(self) -> List[Tuple[str, Any]]:
        return [("extents", "x".join(str(n) for n in self.extents)), ("plaquette", f"{self.plaquette():.6f}")]

    def __repr__(self) -> str:
        return "GaugeField(" + ", ".join(f"{k} {v}" for k, v in self._facts()) + ")"

    def _repr_html_(self) -> str:
        return html_table("GaugeField", self._facts())


def _field(links: Any) -> GaugeField:
    return links if isinstance(links, GaugeField) else GaugeField(links)


def _array(links: Any) -> np.ndarray:
    return links.array() if isinstance(links, GaugeField) else _links(links)


def cold_start(extents: Sequence[int], device: str = "auto", threads: int = 0) -> GaugeField:
    """All links 1 on a lattice (X, Y, Z, T)."""
    return GaugeField._started(extents, "cold", 0.0, 0, device, threads)


def hot_start(extents: Sequence[int], seed: int = 1, device: str = "auto", threads: int = 0) -> GaugeField:
    """Haar-distributed links, a function of (seed, link)."""
    return GaugeField._started(extents, "hot", 0.0, seed, device, threads)


def weak_start(extents: Sequence[int], epsilon: float, seed: int = 1, device: str = "auto", threads: int = 0) -> GaugeField:
    """U = exp(i epsilon P) with Gaussian P."""
    return GaugeField._started(extents, "weak", epsilon, seed, device, threads)


def plaquette(links: Any) -> float:
    """Mean Re tr U / 3 of all plaquettes."""
    return _field(links).plaquette()


def polyakov_loop(links: Any) -> complex:
    """Mean over space of tr prod_t U_t / 3."""
    return _field(links).polyakov_loop()


def topological_charge(links: Any) -> float:
    """Q from the clover-leaf field strength; near an integer on smooth fields (flow them first)."""
    return _field(links).topological_charge()


@shows_fields
class Flow(NamedTuple):
    """The Wilson flow of a field: arrays over flow times t [a^2]."""

    t: np.ndarray
    t2E: np.ndarray
    t2E_plaquette: np.ndarray
    charge: np.ndarray
    t0: float  #: with t^2 E = 0.3, or NaN
    field: GaugeField  #: at the last flow time


def flow(links: Any, t_max: float, step: float = 0.01, every: int = 1) -> Flow:
    """Integrates the Wilson flow up to t_max in steps of `step`, or of a little shorter ones that end there where t_max is not a multiple
    of it. Points are at t = 0, after every `every` steps, and at t_max. The given field does not change. Ctrl-C ends the flow at a step."""
    every = _whole(every, "every", 1)
    field = links.copy() if isinstance(links, GaugeField) else GaugeField(links)
    field._core.require_su3("links")
    table, t0 = field._core.flow(t_max, step, every)
    columns = [np.ascontiguousarray(table[:, k]) for k in range(4)]
    return Flow(columns[0], columns[1], columns[2], columns[3], t0, field)


def _first_field(extents: Optional[Sequence[int]], start: Any, start_seed: int, device: str, threads: int) -> GaugeField:
    """The links before the first update of a chain."""
    if not isinstance(start, str):
        field = GaugeField(start.array() if isinstance(start, GaugeField) else start, device, threads)
        field._core.require_su3("start")
        return field
    if start not in ("hot", "cold"):
        raise InputError(f"is {start!r}: hot, cold or an array of links is expected", "start")
    if extents is None:
        raise InputError("are missing: give (X, Y, Z, T)", "extents")
    return cold_start(extents, device, threads) if start == "cold" else hot_start(extents, start_seed, device, threads)


@shows_fields
class QuenchedConfiguration(NamedTuple):
    """One configuration of quenched()."""

    sweep: int
    field: GaugeField  #: the chain's own; the next configuration overwrites it
    plaquette: float


def quenched(
    extents: Optional[Sequence[int]] = None,
    beta: float = 6.0,
    sweeps: Optional[int] = None,
    start: Any = "hot",
    overrelaxation: int = 4,
    seed: int = 1,
    start_seed: int = 1,
    every: int = 1,
    device: str = "auto",
    threads: int = 0,
) -> Iterator[QuenchedConfiguration]:
    """A quenched Markov chain with the Wilson gauge action: yields a configuration after every `every` sweeps, `sweeps` in all (None:
    without end). start: hot, cold, or an array of links in SU(3). The links are those of a quenched run with the same numbers, bit by bit.

    >>> [configuration.sweep for configuration in quenched((4, 4, 4, 4), beta=6.0, sweeps=6, every=2)]
    [2, 4, 6]
    """
    every, overrelaxation = _whole(every, "every", 1), _whole(overrelaxation, "overrelaxation")
    seed = _whole(seed, "seed", most=_MOST_SEED)
    if sweeps is not None:
        sweeps = _whole(sweeps, "sweeps", most=2**62)
    field = _first_field(extents, start, start_seed, device, threads)
    return _chain(field, beta, sweeps, overrelaxation, seed, every)


def _chain(
    field: GaugeField, beta: float, sweeps: Optional[int], overrelaxation: int, seed: int, every: int
) -> Iterator[QuenchedConfiguration]:
    done = 0
    while sweeps is None or done + every <= sweeps:
        field._core.update(beta, seed, done, every, overrelaxation)
        done += every
        yield QuenchedConfiguration(done, field, field.plaquette())


@shows_fields
@dataclass(frozen=True)
class Quarks:
    """Two degenerate flavours of Wilson or clover quarks of a hybrid Monte Carlo chain (docs/lattice-hmc.md).

    kappa = 1 / (2 m + 8); csw of the clover term; boundary in time: antiperiodic or periodic; twisted_mass = 2 kappa mu; masses:
    Hasenbusch's, above 0 and ascending; precision of the iterations of solves: half, single or double; action_rtol, force_rtol:
    residuals of the solves of the action and of forces; chronological: earlier solutions in the first guess of a force's solve;
    gauge_steps of the gauge action in each drift of the quarks.
    """

    kappa: float
    csw: float = 0.0
    boundary: str = "antiperiodic"
    twisted_mass: float = 0.0
    masses: Sequence[float] = ()
    precision: str = "single"
    action_rtol: float = 1e-11
    force_rtol: float = 1e-8
    chronological: int = 3
    gauge_steps: int = 2


@shows_fields
class HmcConfiguration(NamedTuple):
    """One configuration of hmc()."""

    trajectory: int
    field: GaugeField  #: the chain's own; the next configuration overwrites it
    plaquette: float
    dH: float  #: of the last trajectory
    accepted: bool  #: of the last trajectory
    iterations: int  #: of the solves of the last trajectory


def hmc(
    extents: Optional[Sequence[int]] = None,
    beta: float = 6.0,
    action: Union[str, float] = "wilson",
    quarks: Optional[Quarks] = None,
    steps: int = 10,
    trajectories: Optional[int] = None,
    length: float = 1.0,
    integrator: str = "omelyan2",
    start: Any = "hot",
    accept_first: int = 0,
    seed: int = 1,
    start_seed: int = 1,
    first: int = 1,
    every: int = 1,
    device: str = "auto",
    threads: int = 0,
) -> Iterator[HmcConfiguration]:
    """A Markov chain by hybrid Monte Carlo: yields a configuration after every `every` trajectories, `trajectories` in all (None: without
    end).

    action: wilson, symanzik, iwasaki, dbw2, or the weight c1 of the rectangles; quarks: Quarks(...), or None; integrator: leapfrog,
    omelyan2, omelyan4, force_gradient, with `steps` in a trajectory of `length`; start: hot, cold, or an array of links in SU(3);
    accept_first: trajectories without Metropolis's test; first: number of the first trajectory, so that a chain continues from its links.
    The links are those of an HMC run with the same numbers, bit by bit. Ctrl-C ends a trajectory; the field is the one before it.

    >>> last = list(hmc((4, 4, 4, 4), beta=6.0, steps=8, trajectories=3, start="cold"))[-1]
    >>> last.trajectory, 0 < last.plaquette < 1
    (3, True)
    """
    if quarks is not None and not isinstance(quarks, Quarks):
        raise InputError(f"is {type(quarks).__name__}: Quarks(...) is expected", "quarks")
    every, first = _whole(every, "every", 1), _whole(first, "first", 1, 2**62)
    steps, accept_first = _whole(steps, "steps"), _whole(accept_first, "accept_first", most=2**62)
    seed = _whole(seed, "seed", most=_MOST_SEED)
    if trajectories is not None:
        trajectories = _whole(trajectories, "trajectories", most=2**62)
    field = _first_field(extents, start, start_seed, device, threads)
    name, c1 = (action, None) if isinstance(action, str) else ("", float(action))
    chain = _core.HmcChain(field._core, beta, name, c1, quarks, integrator, steps, length, seed)
    return _trajectories(chain, field, trajectories, first, every, accept_first)


def _trajectories(
    chain: Any, field: GaugeField, trajectories: Optional[int], first: int, every: int, accept_first: int
) -> Iterator[HmcConfiguration]:
    done = first - 1
    last = None if trajectories is None else done + trajectories
    while last is None or done + every <= last:
        for _ in range(every):
            done += 1
            _, dH, accepted, iterations = chain.trajectory(field._core, done, done > accept_first)
        yield HmcConfiguration(done, field, field.plaquette(), dH, accepted, iterations)


class Propagator:
    """Twelve columns of the quark propagator S = 2 kappa D^-1 from a point in the time slice source_time: columns[3 * spin + colour] is a
    quark field."""

    def __init__(self, columns: Sequence[Any], source_time: int = 0, facts: Optional[Dict[str, Any]] = None) -> None:
        self.columns = [as_array(c, np.complex128, ("T", "Z", "Y", "X", 4, 3), f"columns[{k}]") for k, c in enumerate(columns)]
        if len(self.columns) != 12 or any(c.shape != self.columns[0].shape for c in self.columns):
            raise InputError("has not twelve columns of one shape", "columns")
        times = self.columns[0].shape[0]
        self.source_time = _whole(source_time, "source_time", most=max(times - 1, 0))
        self.facts = facts or {}

    def pion(self) -> np.ndarray:
        """[T] pseudoscalar correlator, t from the source."""
        return _core.pion_correlator(self.columns, self.source_time)

    def vector(self) -> np.ndarray:
        """[T] vector correlator, the mean of three polarisations."""
        return _core.vector_correlator(self.columns, self.source_time)

    def __repr__(self) -> str:
        t, z, y, x = self.columns[0].shape[:4]
        return f"Propagator({x}x{y}x{z}x{t}, source at t = {self.source_time})"

    def _repr_html_(self) -> str:
        t, z, y, x = self.columns[0].shape[:4]
        return html_table("Propagator", [("extents", (x, y, z, t)), ("source at t", self.source_time), *self.facts.items()])


class WilsonSolver(NotPickled):
    """Solves D x = b of the Wilson-clover operator D = A - kappa H on one gauge field.

    boundary of the quarks in time: antiperiodic or periodic; method: bicgstab, nested-bicgstab, cg, gcr, fgmres, refinement, auto;
    inner precision: half, single, double, or auto, which is single for up to 24,576 sites on a GPU and half otherwise.

    Quark fields of CuPy, torch or JAX in the memory of the solver's device are used there, and results are arrays of the same library; the
    links are checked and packed on the host, so that an array of links on a device is copied, which a CopyWarning reports.
    """

    _instead = "store the links and the parameters, and make a new one from them"

    def __init__(
        self,
        links: Any,
        kappa: float,
        csw: float = 0.0,
        boundary: str = "antiperiodic",
        method: str = "bicgstab",
        inner: str = "auto",
        rtol: float = 1e-10,
        iteration_limit: int = 10_000,
        device: str = "auto",
        threads: int = 0,
    ) -> None:
        array = _array(links)
        self.kappa, self.csw, self.boundary = kappa, csw, boundary
        self.extents: Tuple[int, int, int, int] = (array.shape[3], array.shape[2], array.shape[1], array.shape[0])
        self._core = _core.WilsonSolver(array, kappa, csw, boundary, method, inner, rtol, iteration_limit, device, threads)
        self.log: Optional[QuarkSolveLog] = None
        self.logs: List[QuarkSolveLog] = []

    @property
    def device(self) -> str:
        """Where it solves: cpu, cuda:0."""
        return self._core.device

    def _quarks(self, psi: Any, name: str) -> np.ndarray:
        x, y, z, t = self.extents
        return as_array(psi, np.complex128, (t, z, y, x, 4, 3), name)

    def _on_device(self, psi: Any, name: str) -> Tuple[Any, DeviceResult]:
        """A quark field on the solver's device, and memory for another one of its library."""
        x, y, z, t = self.extents
        return as_device_array(psi, np.complex128, (t, z, y, x, 4, 3), name), DeviceResult(psi, np.complex128, name)

    def solve(self, b: Any, check: bool = True) -> Any:
        """x of D x = b; `log` has the course. Where it does not converge, ComputationError is raised, or with check=False the last
        iterate is returned. Ctrl-C ends the solve at an iteration.

        A list of right-hand sides on the host gives a list of solutions, and `logs` their courses: a GPU solves as many at once as its
        memory holds, a CPU one after the other."""
        if isinstance(b, (list, tuple)):
            return self._solve_columns(b, check)
        if is_on_device(b) and self.device != "cpu":
            rhs, result = self._on_device(b, "b")
            self.log = self._core.solve_on_device(rhs, result.memory)
            x = result.array()
        else:
            b = self._quarks(b, "b")
            check_finite(b, "b")
            x, self.log = self._core.solve(b)
        self.logs = [self.log]
        self._require_converged(check)
        return x

    def _solve_columns(self, b: Sequence[Any], check: bool) -> List[np.ndarray]:
        if not b:
            raise InputError("has no right-hand sides: at least one is expected", "b")
        names = [f"b[{k}]" for k in range(len(b))]
        fields = [self._quarks(field, name) for field, name in zip(b, names)]
        for field, name in zip(fields, names):
            check_finite(field, name)
        x, self.logs = self._core.solve_columns(fields)
        self.log = next((log for log in self.logs if not log.converged), self.logs[-1])
        self._require_converged(check)
        return x

    def _require_converged(self, check: bool) -> None:
        for log in self.logs:
            if check and not log.converged:
                raise ComputationError(f"the solve did not converge: {log.end}, true residual {log.true_residual:.2e}")

    def apply(self, psi: Any, adjoint: bool = False) -> Any:
        """D psi, or D^+ psi, in double."""
        if is_on_device(psi) and self.device != "cpu":
            there, result = self._on_device(psi, "psi")
            self._core.apply_on_device(there, result.memory, adjoint)
            return result.array()
        return self._core.apply(self._quarks(psi, "psi"), adjoint)

    def propagator(self, site: Sequence[int] = (0, 0, 0, 0)) -> Propagator:
        """The propagator from the point (x, y, z, t): twelve right-hand sides."""
        site = _four(site, "site")
        columns = self.solve([point_source(self.extents, site, column // 3, column % 3) for column in range(12)])
        for x in columns:
            x *= 2 * self.kappa
        return Propagator(columns, site[3], {"kappa": self.kappa, "csw": self.csw, "boundary": self.boundary})

    def __repr__(self) -> str:
        return f"WilsonSolver({'x'.join(str(n) for n in self.extents)}, kappa={self.kappa:g}, csw={self.csw:g}, {self.boundary})"

    def _repr_html_(self) -> str:
        rows = [("extents", self.extents), ("kappa", self.kappa), ("csw", self.csw), ("boundary", self.boundary), ("last solve", self.log)]
        return html_table("WilsonSolver", rows)


def point_source(extents: Sequence[int], site: Sequence[int] = (0, 0, 0, 0), spin: int = 0, colour: int = 0) -> np.ndarray:
    """The quark field on (X, Y, Z, T) that is 1 at one site (x, y, z, t), spin and colour."""
    spin, colour = _whole(spin, "spin", most=3), _whole(colour, "colour", most=2)
    return _core.point_source(_four(extents, "extents"), _four(site, "site"), spin, colour)


def effective_mass(correlator: Any) -> np.ndarray:
    """[T / 2] m(t) of cosh(m (T/2 - t)) between neighbours; NaN where there is none."""
    return _core.effective_mass(as_array(correlator, np.float64, ("T",), "correlator").tolist())


@shows_fields
@dataclass(frozen=True)
class Estimate:
    """Mean and error of a correlated series; tau: integrated autocorrelation time in measurements."""

    count: int
    mean: float
    error: float
    tau: float
    tau_error: float


def estimate(series: Any) -> Estimate:
    """Mean, error and autocorrelation time of a series in the order of its measurement (Wolff's method). Error and times are NaN where the
    series does not determine them, as two numbers that differ, and where one is not finite; the error of equal numbers is 0."""
    return Estimate(**_core.estimate(as_array(series, np.float64, ("n",), "series").tolist()))


def read_gauge(path: Path) -> Tuple[np.ndarray, Dict[str, Any]]:
    """(links, facts) of a NERSC, ILDG, MILC or openQCD file, whose checksum and plaquette are compared."""
    return _core.read_gauge(os.fspath(path))


def write_gauge(path: Path, links: Any, format: str = "ildg", bits: int = 64, rows: int = 3) -> None:
    """Writes links; format ildg, nersc, milc (bits=32) or openqcd. The file appears complete or not at all."""
    _core.write_gauge(os.fspath(path), _array(links), format, bits, rows)


def read_propagator(path: Path) -> Propagator:
    """Reads a propagator of a point or a wall that `kasane lattice solve` wrote; its facts have kappa, csw, source, plaquette,
    correlators."""
    columns, facts = _core.read_solution(os.fspath(path))
    source = facts["source"]
    kind, _, place = source.partition(":")
    numbers = place.split(",")
    if len(numbers) != {"point": 4, "wall": 1}.get(kind) or not numbers[-1].isdecimal():
        problem = f"has the source {source!r}: a propagator has point:x,y,z,t or wall:t"
        raise InputError([(problem, os.fspath(path), None, None, None)])
    return Propagator(columns, int(numbers[-1]), facts)
