"""Self-gravity: particles, forces, simulations, galaxies in equilibrium, snapshots.

Any consistent system of units serves; G is an option of the force (default 1). Quantities have the units that their names say in
brackets: [length], [mass], [time].
"""

from __future__ import annotations

import os
import tempfile
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Tuple, Union

import numpy as np

from . import _core
from ._core import Adaptive, Block, Diagnostics, Direct, ForceAudit, Leapfrog, Tree
from .arrays import (
    DeviceResult,
    NotPickled,
    as_array,
    as_device_array,
    check_finite,
    html_table,
    is_on_device,
    not_pickled,
    number,
    require_host,
    shows_fields,
    vector3,
    whole,
)
from .display import LiveView, ProgressBar
from .errors import InputError, LogicError
from .units import galactic, plain, quantity

__all__ = [
    "Adaptive",
    "Block",
    "Diagnostics",
    "Direct",
    "ForceAudit",
    "Leapfrog",
    "LiveView",
    "LocalForce",
    "Particles",
    "Simulation",
    "Snapshot",
    "Tree",
    "accelerations",
    "galactic",
    "plummer",
    "potentials",
    "read_snapshot",
    "sample",
    "write_snapshot",
]

Force = Union[Direct, Tree]
Step = Union[Leapfrog, Adaptive, Block]


def _force(force: Any) -> Force:
    if not isinstance(force, (Direct, Tree)):
        raise InputError(f"is {type(force).__name__}: Direct(...) or Tree(...) is expected", "force")
    return force


def _mac(tree: Tree) -> str:
    name, value = tree.mac
    return f"{name}={value:g}"


def _describe(option: Any) -> str:
    names = {
        Direct: ("softening", "G", "precision", "kernel"),
        Tree: ("softening", "G", "multipole", "kernel"),
        Leapfrog: ("dt",),
        Adaptive: ("dt_max", "eta"),
        Block: ("dt_max", "eta"),
    }[type(option)]
    parts = [f"{name}={getattr(option, name)!r}" for name in names]
    if isinstance(option, Tree):
        parts.insert(0, _mac(option))
    return f"{type(option).__name__}({', '.join(parts)})"


def _again(kind: Any, keywords: Dict[str, Any]) -> Any:
    return kind(**keywords)


def _keywords(option: Any) -> Dict[str, Any]:
    """The properties of an option, which are the arguments that it was made with."""
    keywords = {name: getattr(option, name) for name in dir(option) if not name.startswith("_")}
    if isinstance(option, Tree):
        name, value = keywords.pop("mac")
        keywords[name] = value
    return keywords


def _reduce(option: Any) -> Tuple[Any, ...]:
    """For pickling and copying."""
    return _again, (type(option), _keywords(option))


for _option in (Direct, Tree, Leapfrog, Adaptive, Block):
    _option.__repr__ = _describe  # type: ignore[method-assign,assignment]
    setattr(_option, "__reduce__", _reduce)
for _shown in (Direct, Tree, Leapfrog, Adaptive, Block, Diagnostics, ForceAudit):
    shows_fields(_shown)


def _describe_diagnostics(d: Diagnostics) -> str:
    return f"Diagnostics(time={d.time:g}, energy={d.energy:.10g}, kinetic={d.kinetic:.6g}, virial_ratio={d.virial_ratio:.4f})"


def _describe_audit(a: ForceAudit) -> str:
    return f"ForceAudit(count={a.count}, median={a.median:.2e}, p99={a.p99:.2e}, max={a.max:.2e})"


Diagnostics.__repr__ = _describe_diagnostics  # type: ignore[method-assign,assignment]
ForceAudit.__repr__ = _describe_audit  # type: ignore[method-assign,assignment]
for _result in (Diagnostics, ForceAudit):
    not_pickled(_result, "store its values")


def _is_number(value: Any) -> bool:
    try:
        return not is_on_device(value) and np.ndim(value) == 0
    except (TypeError, ValueError):  # a list that is no array
        return False


class Particles:
    """Particles as arrays of one length n.

    position [n, 3] [length], velocity [n, 3] [length / time] (default: at rest), mass [n] [mass] (a number: for each), id [n] (default:
    1 to n), type [n] of the GADGET convention, 0 to 5 (default: 1), softening [n] [length], or None: one for all, an option of the force.
    Contiguous arrays of float64 (id: uint64, type: uint8) are used as they are, and changing them changes the particles. Quantities of
    astropy become numbers in galactic units.
    """

    def __init__(
        self,
        position: Any,
        velocity: Any = None,
        mass: Any = 1.0,
        id: Any = None,
        type: Any = None,
        softening: Any = None,
    ) -> None:
        position, velocity = plain(position, "length", "position"), plain(velocity, "velocity", "velocity")
        mass, softening = plain(mass, "mass", "mass"), plain(softening, "length", "softening")
        self.position = as_array(position, np.float64, ("n", 3), "position")
        n = len(self.position)
        self.velocity = np.zeros((n, 3)) if velocity is None else as_array(velocity, np.float64, (n, 3), "velocity")
        self.mass = np.full(n, number(mass, "mass")) if _is_number(mass) else as_array(mass, np.float64, (n,), "mass")
        self.id = np.arange(1, n + 1, dtype=np.uint64) if id is None else as_array(id, np.uint64, (n,), "id")
        if type is None or _is_number(type):
            self.type = np.repeat(as_array([1 if type is None else type], np.uint8, (1,), "type"), n)
        else:
            self.type = as_array(type, np.uint8, (n,), "type")
        self.softening = None if softening is None else as_array(softening, np.float64, (n,), "softening")

    @classmethod
    def _of(cls, arrays: Tuple[Any, ...]) -> Particles:
        """From arrays that the library made."""
        self = cls.__new__(cls)
        self.position, self.velocity, self.mass, self.id, self.type, self.softening = arrays
        return self

    def __len__(self) -> int:
        return len(self.mass)

    def _arrays(self) -> Iterator[Tuple[str, np.ndarray]]:
        for name in ("position", "velocity", "mass", "id", "type", "softening"):
            array = getattr(self, name)
            if array is not None:
                yield name, array

    def _checked(self) -> Particles:
        """The same particles, whose arrays may have been assigned, checked again; nothing is copied."""
        return Particles(**dict(self._arrays()))

    def copy(self) -> Particles:
        """The same particles in arrays of their own."""
        arrays = dict(self._arrays())
        return Particles._of(
            tuple(arrays[k].copy() if k in arrays else None for k in ("position", "velocity", "mass", "id", "type", "softening"))
        )

    def __add__(self, other: Particles) -> Particles:
        """The particles of both, with new ids 1, 2, ...; softenings stay only if both have them."""
        if not isinstance(other, Particles):
            return NotImplemented
        both = {name: np.concatenate((array, getattr(other, name))) for name, array in self._arrays() if getattr(other, name) is not None}
        both["id"] = np.arange(1, len(self) + len(other) + 1, dtype=np.uint64)
        return Particles(**both)

    def placed(self, position: Any = (0, 0, 0), velocity: Any = (0, 0, 0), spin: Any = (0, 0, 0)) -> Particles:
        """A copy that is rotated by `spin` (angles about the x, then the y, then the z axis [degrees]), then moved by position [length]
        and velocity [length / time]."""
        position, velocity = plain(position, "length", "position"), plain(velocity, "velocity", "velocity")
        return Particles._of(
            _core.place(self._checked(), vector3(position, "position"), vector3(velocity, "velocity"), vector3(spin, "spin"))
        )

    def _facts(self) -> List[Tuple[str, Any]]:
        counts = np.bincount(self.type, minlength=6)
        kinds = ", ".join(f"type {k}: {c}" for k, c in enumerate(counts) if c)
        return [("particles", f"{len(self)} ({kinds})"), ("mass", f"{self.mass.sum():g}")]

    def __repr__(self) -> str:
        return "Particles(" + ", ".join(f"{k} {v}" for k, v in self._facts()) + ")"

    def _repr_html_(self) -> str:
        return html_table("Particles", self._facts())


class Snapshot:
    """Particles at one time with their units: "galactic" (kpc, 1e10 Msun, km/s), "nbody" (G = 1) or "user"."""

    def __init__(self, particles: Particles, time: float = 0.0, units: str = "nbody", facts: Optional[Dict[str, Any]] = None) -> None:
        if not isinstance(particles, Particles):
            raise InputError(f"are {type(particles).__name__}: Particles are expected", "particles")
        self.particles = particles
        self.time = number(time, "time")
        self.units = units
        facts = facts or {}
        self.G: float = facts.get("G", 43007.1 if units == "galactic" else 1.0)
        self.acceleration: Optional[np.ndarray] = facts.get("acceleration")
        self.potential: Optional[np.ndarray] = facts.get("potential")
        self.softening: Tuple[float, ...] = tuple(facts.get("softening", (0.0,) * 6))
        self.model: str = facts.get("model", "")
        self._scales: Tuple[float, float, float] = tuple(facts.get("scales", (0.0, 0.0, 0.0)))  # type: ignore[assignment]

    def _kept(self) -> Dict[str, Any]:
        """The facts that stay true while the particles move."""
        return {"G": self.G, "softening": self.softening, "model": self.model, "scales": self._scales}

    def write(self, path: Union[str, os.PathLike], format: str = "hdf5", double_precision: bool = True, compress: bool = False) -> None:
        """Writes it as write_snapshot() does."""
        _core.write_snapshot(
            os.fspath(path), self.particles._checked(), self.time, self.units, self._scales, format, double_precision, compress
        )

    def quantity(self, name: str) -> Any:
        """A Quantity of astropy: time, position, velocity, mass, acceleration or potential. Raises InputError for N-body units, which have
        no scale."""
        kinds = {"position": "length", "velocity": "velocity", "mass": "mass", "time": "time"}
        kind = {**kinds, "acceleration": "acceleration", "potential": "potential"}.get(name)
        if kind is None:
            raise InputError(f"is {name!r}: take time, position, velocity, mass, acceleration or potential", "name")
        value = getattr(self.particles, name) if name in ("position", "velocity", "mass") else getattr(self, name)
        if value is None:
            raise InputError(f"is {name!r}: the snapshot has none", "name")
        return quantity(value, kind, self.units, self._scales)

    def to_yt(self) -> Any:
        """The snapshot as a data set of yt with one kind of particles for each type: ("PartType1", "particle_position_x"). N-body units are
        dimensionless in kasane and carry yt's code units here."""
        import yt  # type: ignore[import-not-found,import-untyped,unused-ignore]

        data: Dict[Any, np.ndarray] = {}
        for kind in np.unique(self.particles.type):
            chosen, name = self.particles.type == kind, f"PartType{kind}"
            data[name, "particle_mass"] = self.particles.mass[chosen]
            data[name, "particle_index"] = self.particles.id[chosen]
            for k, axis in enumerate("xyz"):
                data[name, f"particle_position_{axis}"] = self.particles.position[chosen, k]
                data[name, f"particle_velocity_{axis}"] = self.particles.velocity[chosen, k]
        low, high = self.particles.position.min(axis=0), self.particles.position.max(axis=0)
        margin = 0.01 * float((high - low).max()) or 1.0
        box = np.stack((low - margin, high + margin), axis=1)
        return yt.load_particles(data, bbox=box, sim_time=self.time, **self._code_units())

    def _code_units(self) -> Dict[str, Any]:
        """The units of the numbers, for yt."""
        if self.units == "galactic":
            length, mass, velocity = (1.0, "kpc"), (1e10, "Msun"), (1.0, "km/s")
            return {"length_unit": length, "mass_unit": mass, "velocity_unit": velocity, "time_unit": (1.0, "kpc*s/km")}
        if not all(scale > 0 for scale in self._scales):
            return {}
        one_length, one_mass, one_velocity = self._scales
        return {
            "length_unit": (one_length, "cm"),
            "mass_unit": (one_mass, "g"),
            "velocity_unit": (one_velocity, "cm/s"),
            "time_unit": (one_length / one_velocity, "s"),
        }

    def to_pynbody(self) -> Any:
        """The snapshot as a SimSnap of pynbody: type 0 as gas, 1 as dark matter, 2 to 5 as stars; iord has the ids."""
        import pynbody  # type: ignore[import-not-found,import-untyped,unused-ignore]

        families = {"dm": self.particles.type == 1, "star": self.particles.type > 1, "gas": self.particles.type == 0}
        sim = pynbody.new(**{family: int(chosen.sum()) for family, chosen in families.items() if chosen.any()})
        units = {"pos": "kpc", "vel": "km s^-1", "mass": "1e10 Msol"} if self.units == "galactic" else {}
        if self.units != "galactic" and all(scale > 0 for scale in self._scales):
            units = {k: f"{scale!r} {unit}" for k, scale, unit in zip(("pos", "mass", "vel"), self._scales, ("cm", "g", "cm s^-1"))}
        arrays = {"pos": self.particles.position, "vel": self.particles.velocity, "mass": self.particles.mass, "iord": self.particles.id}
        for name, array in arrays.items():
            kept = array.astype(np.int64) if name == "iord" else array
            shape = (len(sim), 3) if kept.ndim == 2 else (len(sim),)
            sim[name] = np.empty(shape, dtype=kept.dtype)
            for family, chosen in families.items():
                if chosen.any():
                    getattr(sim, family)[name] = kept[chosen]
            if name in units:
                sim[name].units = units[name]
        sim.properties["time"] = self.time * pynbody.units.Unit("s kpc km^-1" if self.units == "galactic" else "1")
        return sim

    def __repr__(self) -> str:
        return f"Snapshot(time={self.time:g}, units={self.units!r}, {self.particles!r})"

    def _repr_html_(self) -> str:
        return html_table("Snapshot", [("time", f"{self.time:g}"), ("units", self.units), *self.particles._facts()])


def read_snapshot(path: Union[str, os.PathLike]) -> Snapshot:
    """Reads a GADGET snapshot: HDF5, one file or several, or format 1 or 2. Raises InputError: missing, damaged, not a snapshot."""
    arrays, facts = _core.read_snapshot(os.fspath(path))
    return Snapshot(Particles._of(arrays), facts["time"], facts["units"], facts)


def write_snapshot(
    path: Union[str, os.PathLike],
    particles: Particles,
    time: float = 0.0,
    units: str = "nbody",
    format: str = "hdf5",
    double_precision: bool = True,
    compress: bool = False,
) -> None:
    """Writes a GADGET snapshot; format hdf5, gadget1 or gadget2, units galactic or nbody. The file appears complete or not at all."""
    Snapshot(particles, time, units).write(path, format, double_precision, compress)


class Simulation(NotPickled):
    """Particles, a force and time steps on one device.

    particles: Particles, a Snapshot (whose time is the start, and whose G is taken by forces of G = 1), or the name of a snapshot file,
    which is read as a Snapshot; force: Tree(...) or Direct(...), and `sim.force` has the G that is used; step: Leapfrog(dt),
    Adaptive(dt_max) or Block(dt_max); device: auto, cpu, cuda or cuda:1; threads of the CPU, 0: all; time: of the start, finite.

    >>> two = Particles([[0.5, 0, 0], [-0.5, 0, 0]], [[0, 0.5, 0], [0, -0.5, 0]], mass=0.5)
    >>> sim = Simulation(two, force=Direct(precision="double"), step=Leapfrog(1 / 1024), device="cpu")
    >>> round(sim.run(until=1.0).diagnostics().energy, 6)  # -m1 m2 / r / 2
    -0.125
    """

    _instead = "store its particles and its time, and make a new one from them"
    _units: str
    _kept: Optional[Dict[str, Any]]

    def __init__(
        self,
        particles: Union[Particles, Snapshot, str, os.PathLike],
        force: Force,
        step: Step,
        device: str = "auto",
        threads: int = 0,
        time: Optional[float] = None,
    ) -> None:
        if isinstance(particles, (str, os.PathLike)):
            particles = read_snapshot(particles)
        self._units, self._kept = "nbody", None  # of the snapshot at the start
        force = _force(force)
        if isinstance(particles, Snapshot):
            self._units, self._kept = particles.units, particles._kept()
            time = particles.time if time is None else time
            if force.G == 1 and particles.G != 1:
                force = _again(type(force), {**_keywords(force), "G": particles.G})
            particles = particles.particles
        if not isinstance(particles, Particles):
            raise InputError(f"are {type(particles).__name__}: Particles, a Snapshot or a file name are expected", "particles")
        start = 0.0 if time is None else number(plain(time, "time", "time"), "time")
        if not np.isfinite(start):
            raise InputError(f"is {start}: it must be finite", "time")
        self.force = force
        if not isinstance(step, (Leapfrog, Adaptive, Block)):
            raise InputError(f"is {type(step).__name__}: Leapfrog(...), Adaptive(...) or Block(...) is expected", "step")
        self.step_options = step
        self._core = _core.Simulation(particles._checked(), force, step, device, threads, start)

    def run(
        self,
        until: Any,
        callback: Optional[Callable[[Simulation], Any]] = None,
        every: int = 1,
        progress: Optional[bool] = None,
    ) -> Simulation:
        """Takes steps (of dt, or dt_max) until `time` is `until` [time] to half a step, and returns the simulation.

        callback(simulation) is called after every `every` steps; an exception in it ends the run after that step, and so does Ctrl-C:
        the state is then complete and the run can go on. until may be a Quantity of astropy. progress: whether a bar is shown (None: in a
        terminal and in a notebook). Raises ComputationError where a particle is not finite any more.
        """
        until = number(plain(until, "time", "until"), "until")
        every = whole(every, "every", 1)
        begin = self.time
        with ProgressBar("Simulation", progress) as bar:
            while not self._core.advance(until, 0, 0.0):
                target = self.steps + (1 << 62 if callback is None else every)
                while self.steps < target and not self._core.advance(until, target - self.steps, 0.1):
                    bar.update((self.time - begin) / (until - begin), f"t = {self.time:.6g}")
                if callback is not None:
                    callback(self)
                    bar.update((self.time - begin) / (until - begin), f"t = {self.time:.6g}")
        return self

    def step(self, n: int = 1, diagnostics_follow: bool = False) -> Simulation:
        """Takes n steps, 0 or more, and returns the simulation.

        diagnostics_follow: diagnostics() or potential is called next; the last force of a tree then includes the potentials, which saves a
        walk and rounds differently. A run file's steps before each row of energy.csv are such steps.
        """
        self._core.step(n, diagnostics_follow)
        return self

    @property
    def time(self) -> float:
        """Time of all particles [time]."""
        return self._core.time

    @property
    def steps(self) -> int:
        """Steps taken."""
        return self._core.steps

    @property
    def device(self) -> str:
        """Where it runs: cpu, cuda:0."""
        return self._core.device

    @property
    def variant(self) -> str:
        """The variant of direct summation, or the walk of the tree."""
        return self._core.variant

    @property
    def interactions(self) -> float:
        """Pairs that the steps evaluated."""
        return self._core.interactions

    @property
    def particles(self) -> Particles:
        """The present state as read-only arrays in the order given: views of one copy on the host, which the next access after a step
        overwrites. particles.copy() keeps a state."""
        return Particles._of(self._core.particles())

    def copy_state(self, position: Any = None, velocity: Any = None) -> None:
        """Writes the present positions [length] and velocities [length / time] into contiguous arrays [n, 3] of float64: on the host, or of
        CuPy or torch in the memory of the simulation's device, where nothing passes through the host. None: not written."""
        shape = (self._core.size, 3)
        given = {"position": position, "velocity": velocity}
        if any(is_on_device(array) for array in given.values()):
            there = [a if a is None else as_device_array(a, np.float64, shape, k, writable=True) for k, a in given.items()]
            self._core.copy_state_on_device(*there)
        else:
            self._core.copy_state(*(a if a is None else as_array(a, np.float64, shape, k, writable=True) for k, a in given.items()))

    @property
    def acceleration(self) -> np.ndarray:
        """[n, 3] present accelerations [length / time^2]."""
        return self._core.acceleration()

    @property
    def potential(self) -> np.ndarray:
        """[n] potentials with the factor G [length^2 / time^2]."""
        return self._core.potential()

    def diagnostics(self) -> Diagnostics:
        """Energies, momenta, virial ratio, centre of mass and Lagrangian radii."""
        return self._core.diagnostics()

    def audit(self, count: int = 256) -> ForceAudit:
        """Compares the accelerations of a sample of particles, 1 or more, with direct summation in double."""
        return self._core.audit(count)

    def snapshot(self, units: Optional[str] = None) -> Snapshot:
        """The present state in arrays of its own. units: of its numbers (None: those of the Snapshot or file at the start, with its G,
        scales and model; of Particles "nbody")."""
        kept = self._kept if units in (None, self._units) else None
        return Snapshot(self.particles.copy(), self.time, units or self._units, kept)

    def _facts(self) -> List[Tuple[str, Any]]:
        return [
            ("particles", self._core.size),
            ("time", f"{self.time:g} ({self.steps} steps)"),
            ("force", _describe(self.force)),
            ("step", _describe(self.step_options)),
            ("device", f"{self.device}, {self.variant}"),
        ]

    def __repr__(self) -> str:
        try:
            return "Simulation(" + ", ".join(f"{k}: {v}" for k, v in self._facts()) + ")"
        except LogicError:
            return "Simulation(in use by another thread)"

    def _repr_html_(self) -> str:
        try:
            return html_table("Simulation", self._facts())
        except LogicError:
            return html_table("Simulation", [], "in use by another thread")


class LocalForce(NotPickled):
    """The force of n particles, for integrators of one's own: memory is kept between calls.

    device: cpu, where arrays are those of NumPy and of any library on the host; or cuda, cuda:1, where they are those of CuPy, torch, ...
    on that device. They are used without copies, and results are arrays of the same library.

    >>> force = LocalForce(Direct(precision="double"), 2)
    >>> force.accelerations([[0.0, 0, 0], [2.0, 0, 0]], [1.0, 4.0])[:, 0].tolist()  # m / r^2
    [1.0, -0.25]
    """

    _instead = "make a new one from its force"

    def __init__(self, force: Force, n: int, threads: int = 0, device: str = "cpu") -> None:
        self.force = _force(force)
        self._core = _core.LocalForce(force, n, device, threads)

    @property
    def device(self) -> str:
        """Device of the force and of its arrays: cpu, cuda:0."""
        return self._core.device

    def _checked(self, position: Any, mass: Any) -> Tuple[np.ndarray, np.ndarray]:
        n = self._core.size
        require_host(position, "position")
        require_host(mass, "mass")
        position = as_array(position, np.float64, (n, 3), "position")
        mass = as_array(mass, np.float64, (n,), "mass")
        check_finite(position, "position")
        check_finite(mass, "mass")
        return position, mass

    def accelerations(self, position: Any, mass: Any, out: Any = None) -> Any:
        """[n, 3] accelerations [length / time^2] at position [n, 3] [length] of mass [n] [mass]; written into `out` where it is given.
        Arrays on a device are not searched for NaN."""
        if self.device != "cpu":
            return self._on_device(self._core.accelerate_on_device, position, mass, position, out)
        position, mass = self._checked(position, mass)
        out = np.empty_like(position) if out is None else as_array(out, np.float64, position.shape, "out", writable=True)
        self._core.accelerate(position, mass, out)
        return out

    def potentials(self, position: Any, mass: Any, out: Any = None) -> Any:
        """[n] potentials [length^2 / time^2] without that of a particle itself; as accelerations()."""
        if self.device != "cpu":
            return self._on_device(self._core.potential_on_device, position, mass, mass, out)
        position, mass = self._checked(position, mass)
        out = np.empty_like(mass) if out is None else as_array(out, np.float64, mass.shape, "out", writable=True)
        self._core.potential(position, mass, out)
        return out

    def _on_device(self, compute: Callable[..., None], position: Any, mass: Any, like: Any, out: Any) -> Any:
        """The result of `compute`, an array with shape and library of `like`."""
        n = self._core.size
        for name, array in (("position", position), ("mass", mass)):
            if not is_on_device(array):
                raise InputError(f"is in the memory of the host, and the force computes on {self.device}: copy it there", name)
        x = as_device_array(position, np.float64, (n, 3), "position")
        m = as_device_array(mass, np.float64, (n,), "mass")
        if out is not None:
            compute(x, m, as_device_array(out, np.float64, tuple(like.shape), "out", writable=True))
            return out
        result = DeviceResult(like, np.float64, "position" if like is position else "mass")
        compute(x, m, result.memory)
        return result.array()

    def __repr__(self) -> str:
        return f"LocalForce({_describe(self.force)}, n={self._core.size}, {self.device})"

    def _repr_html_(self) -> str:
        return html_table("LocalForce", [("force", _describe(self.force)), ("particles", self._core.size), ("device", self.device)])


def _one_force(position: Any, mass: Any, force: Force, threads: int) -> Tuple[LocalForce, np.ndarray, np.ndarray]:
    position = as_array(position, np.float64, ("n", 3), "position")
    mass = as_array(mass, np.float64, (len(position),), "mass")
    return LocalForce(force, len(position), threads), position, mass


def accelerations(position: Any, mass: Any, force: Force, threads: int = 0) -> np.ndarray:
    """[n, 3] accelerations of n particles on the CPU [length / time^2]."""
    local, position, mass = _one_force(position, mass, force, threads)
    return local.accelerations(position, mass)


def potentials(position: Any, mass: Any, force: Force, threads: int = 0) -> np.ndarray:
    """[n] potentials of n particles on the CPU [length^2 / time^2]."""
    local, position, mass = _one_force(position, mass, force, threads)
    return local.potentials(position, mass)


def plummer(count: int, seed: int = 1, mass: float = 1.0, scale: Optional[float] = None, G: float = 1.0) -> Particles:
    """A Plummer sphere in equilibrium; the defaults are standard N-body units (G = M = 1, E = -1/4)."""
    options = {} if scale is None else {"scale": number(scale, "scale")}
    count, seed = whole(count, "count", 1), whole(seed, "seed", 0)
    return Particles._of(_core.plummer(count, seed=seed, mass=number(mass, "mass"), G=number(G, "G"), **options))


def sample(model: Union[str, os.PathLike, Mapping[str, Any]], count: Optional[int] = None, seed: Optional[int] = None) -> Snapshot:
    """Samples a model (docs/models.md) as `kasane sample` does: a file, the name of a model that comes with kasane ("m31"), or a
    dictionary of the keys of a model file. count and seed replace those of the model.

    >>> len(sample("dwarf", count=500).particles)
    500
    """
    from .command import call, model_text

    if not isinstance(model, (str, os.PathLike, Mapping)):
        raise InputError(f"is {type(model).__name__}: a file, the name of a model or a dictionary is expected", "model")
    with tempfile.TemporaryDirectory(prefix="kasane-") as directory:
        file = os.fspath(model) if isinstance(model, (str, os.PathLike)) else os.path.join(directory, "model.toml")
        if not isinstance(model, (str, os.PathLike)):
            with open(file, "w", encoding="utf-8") as text:
                text.write(model_text(model))
        output = os.path.join(directory, "sample.hdf5")
        options = [] if count is None else ["--count", str(whole(count, "count", 1))]
        options += [] if seed is None else ["--seed", str(whole(seed, "seed", 0))]
        try:
            call(["sample", file, "-o", output, *options])
        except InputError as error:
            raise _of_arguments(error, directory) from None
        return read_snapshot(output)


def _of_arguments(error: InputError, directory: str) -> InputError:
    """The errors of `kasane sample` as those of sample(): without places in temporary files, with the names of the arguments."""
    problems = []
    for message, file, line, column, key in error.problems:
        if file is not None and file.startswith(directory):
            file = line = column = None
        if message.startswith("--"):  # an option of the command
            key, _, message = message[2:].partition(": ")
        problems.append((message.partition(" (kasane --help")[0], file, line, column, key))
    return InputError(problems)
