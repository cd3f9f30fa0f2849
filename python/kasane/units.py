"""Units of astropy: quantities become numbers in galactic units (kpc, 1e10 Msun, km/s; the unit of time is 0.978 Gyr), and numbers of a
snapshot become quantities. As in run files, 1 kpc and 1e10 Msun are exactly 1. astropy is imported where quantities are used."""

from __future__ import annotations

from typing import Any, Dict, Tuple

import numpy as np

from .errors import InputError

# Powers of length, mass and time.
DIMENSIONS: Dict[str, Tuple[int, int, int]] = {
    "length": (1, 0, 0),
    "velocity": (1, 0, -1),
    "mass": (0, 1, 0),
    "time": (0, 0, 1),
    "acceleration": (1, 0, -2),
    "potential": (2, 0, -2),
}


def is_quantity(value: Any) -> bool:
    """Whether it is a Quantity of astropy."""
    return hasattr(value, "unit") and hasattr(value, "to_value")


def _powers(unit: Any) -> Tuple[float, float, float]:
    """Powers of length, mass and time of a unit of astropy."""
    basis = unit.decompose()
    found = {base.name: float(power) for base, power in zip(basis.bases, basis.powers)}
    length, mass, time = (found.pop(name, 0.0) for name in ("m", "kg", "s"))
    if found:
        raise InputError(f"has the unit {unit}: a unit of length, mass and time is expected")
    return length, mass, time


def _galactic_unit(length: float, mass: float, time: float) -> Any:
    """kpc^length (1e10 Msun)^mass (kpc / (km/s))^time."""
    from astropy import units  # type: ignore[import-not-found,import-untyped,unused-ignore]

    return units.kpc ** (length + time) * (1e10 * units.Msun) ** mass * (units.km / units.s) ** -time


def galactic(value: Any) -> Any:
    """The number, or the array of numbers, of a Quantity of astropy in galactic units; other values stay as they are.

    For options of forces and steps: Tree(softening=galactic(0.4 * u.kpc), G=galactic(constants.G)). Particles and Simulation take quantities
    themselves.
    """
    if not is_quantity(value):
        return value
    number = value.to_value(_galactic_unit(*_powers(value.unit)))
    return number if np.ndim(number) else float(number)


def plain(value: Any, dimension: str, name: str) -> Any:
    """As galactic(). Raises InputError for a quantity of another dimension."""
    if not is_quantity(value):
        return value
    if _powers(value.unit) != DIMENSIONS[dimension]:
        article = "an" if dimension[0] in "aeiou" else "a"
        raise InputError(f"has the unit {value.unit}: {article} {dimension} is expected", name)
    return galactic(value)


def quantity(value: Any, dimension: str, units_name: str, scales: Tuple[float, float, float]) -> Any:
    """A Quantity of astropy, of numbers in galactic units or in user units of length [cm], mass [g] and velocity [cm/s]."""
    from astropy import units  # type: ignore[import-not-found,import-untyped,unused-ignore]

    speed = units.km / units.s
    shown = {
        "length": units.kpc,
        "velocity": speed,
        "mass": units.Msun,
        "time": units.Gyr,
        "acceleration": speed**2 / units.kpc,
        "potential": speed**2,
    }[dimension]
    length, mass, time = DIMENSIONS[dimension]
    if units_name == "galactic":
        return units.Quantity(value, _galactic_unit(length, mass, time)).to(shown)
    if not all(scale > 0 for scale in scales):
        raise InputError(f"are {units_name!r}: they have no physical scale, as galactic units have", "units")
    one = (scales[0] * units.cm) ** (length + time) * (scales[1] * units.g) ** mass * (scales[2] * units.cm / units.s) ** -time
    return (np.asarray(value) * one).to(shown)
