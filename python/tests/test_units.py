"""Quantities of astropy, and snapshots as data of yt and pynbody; each test runs where its package is installed."""

import numpy as np
import pytest

import kasane
from kasane.gravity import Leapfrog, Particles, Simulation, Snapshot, Tree, accelerations, galactic, plummer, read_snapshot


@pytest.fixture
def units():
    return pytest.importorskip("astropy.units")


@pytest.fixture
def galaxy():
    """300 particles of types 1, 2 and 4 in galactic units."""
    particles = plummer(300, seed=4, mass=5.0, scale=2.0, G=43007.1)
    particles.type = np.repeat(np.array([4, 1, 2], dtype=np.uint8), 100)
    return Snapshot(particles, 0.25, units="galactic")


def test_quantities_are_numbers_in_galactic_units(units):
    x = np.arange(6.0).reshape(2, 3)
    p = Particles(x * 1e3 * units.pc, x * 1e5 * units.cm / units.s, [2e10, 4e10] * units.Msun, softening=[100, 200] * units.pc)
    assert np.allclose(p.position, x, rtol=1e-14) and np.allclose(p.velocity, x, rtol=1e-14)
    assert np.allclose(p.mass, [2, 4], rtol=1e-14) and np.allclose(p.softening, [0.1, 0.2], rtol=1e-14)
    assert Particles(x * units.kpc, mass=1e10 * units.Msun).mass.tolist() == pytest.approx([1, 1], rel=1e-14)
    assert galactic(3.5) == 3.5 and galactic(250 * units.km / units.s) == pytest.approx(250, rel=1e-14)
    moved = p.placed(position=[1, 0, 0] * units.Mpc)
    assert np.allclose(moved.position - p.position, [1000, 0, 0])


def test_a_quantity_in_kpc_is_not_copied(units):
    x = np.ones((4, 3)) * units.kpc
    assert np.shares_memory(Particles(x).position, x.value)


def test_the_constant_of_gravity_is_that_of_galactic_units(units):
    constants = pytest.importorskip("astropy.constants")
    assert galactic(constants.G) == pytest.approx(43007.1, rel=1e-4)  # GADGET's kpc, Msun and G differ in the fourth digit


def test_a_simulation_runs_until_a_quantity(units, galaxy):
    one = (1 * units.kpc / (units.km / units.s)).to(units.Gyr)
    sim = Simulation(galaxy, force=Tree(softening=galactic(100 * units.pc), G=43007.1), step=Leapfrog(galactic(one / 256)), device="cpu")
    assert sim.run(until=one * 0.5).time == 0.5  # from 0.25
    assert sim.steps == 64


@pytest.mark.parametrize(
    "bad, key, message",
    [
        (lambda u: Particles(np.ones((2, 3)) * u.s), "position", "the unit s: a length"),
        (lambda u: Particles(np.ones((2, 3)), np.ones((2, 3)) * u.kpc), "velocity", "the unit kpc: a velocity"),
        (lambda u: Particles(np.ones((2, 3)), mass=1 * u.K), None, "the unit K"),
        (lambda u: Snapshot(Particles(np.ones((2, 3)))).quantity("position"), "units", "no physical scale"),
        (lambda u: Snapshot(Particles(np.ones((2, 3))), units="galactic").quantity("colour"), "name", "velocity"),
        (lambda u: Snapshot(Particles(np.ones((2, 3))), units="galactic").quantity("potential"), "name", "has none"),
    ],
)
def test_units_that_do_not_fit_are_refused(units, bad, key, message):
    with pytest.raises(kasane.InputError, match=message) as error:
        bad(units)
    assert error.value.key == key


def test_a_snapshot_gives_quantities(units, galaxy, tmp_path):
    x = galaxy.quantity("position")
    assert x.unit == units.kpc and np.allclose(x.value, galaxy.particles.position, rtol=1e-14)
    assert np.allclose(galaxy.quantity("mass").to_value(units.Msun), 1e10 * galaxy.particles.mass, rtol=1e-14)
    assert galaxy.quantity("time").to_value(units.Myr) == pytest.approx(0.25 * 977.79, rel=1e-4)
    again = Particles(x, galaxy.quantity("velocity"), galaxy.quantity("mass"))
    assert np.allclose(again.velocity, galaxy.particles.velocity, rtol=1e-13)
    # in user units of a file: parsec, solar masses, km/s
    h5py = pytest.importorskip("h5py")
    galaxy.write(tmp_path / "s.hdf5")
    with h5py.File(tmp_path / "s.hdf5", "r+") as file:
        del file["Kasane"], file["Parameters"]
        for name, value in (("UnitLength_in_cm", 3.085678e18), ("UnitMass_in_g", 1.989e33), ("UnitVelocity_in_cm_per_s", 1e5)):
            file["Units"].attrs[name] = value
    other = read_snapshot(tmp_path / "s.hdf5")
    assert other.units == "user"
    read, given = np.argsort(other.particles.id), np.argsort(galaxy.particles.id)
    assert np.allclose(other.quantity("position").to_value(units.pc)[read], galaxy.particles.position[given], rtol=1e-6)
    assert np.allclose(other.quantity("mass").to_value(units.Msun)[read], galaxy.particles.mass[given], rtol=1e-3)


def test_yt_has_the_particles_and_their_units(galaxy):
    yt = pytest.importorskip("yt")
    yt.set_log_level(50)
    data = galaxy.to_yt()
    every = data.all_data()
    for kind in (1, 2, 4):
        chosen = galaxy.particles.type == kind
        name = f"PartType{kind}"
        order = np.argsort(np.asarray(every[name, "particle_index"]))
        x = every[name, "particle_position_x"].to("kpc")
        assert np.allclose(np.asarray(x)[order], galaxy.particles.position[chosen, 0][np.argsort(galaxy.particles.id[chosen])], rtol=1e-12)
        assert float(every[name, "particle_mass"].sum().to("Msun")) == pytest.approx(1e10 * galaxy.particles.mass[chosen].sum(), rel=1e-12)
        v = every[name, "particle_velocity_z"].to("km/s")
        assert np.allclose(np.sort(np.asarray(v)), np.sort(galaxy.particles.velocity[chosen, 2]), rtol=1e-12)
    assert float(data.current_time.to("Myr")) == pytest.approx(0.25 * 977.79, rel=1e-3)
    own = Snapshot(Particles([[0.0, 0, 0], [1.0, 2, 3]])).to_yt().all_data()
    assert np.asarray(own["PartType1", "particle_position_z"]).tolist() == [0, 3]


def test_pynbody_has_the_particles_and_their_units(galaxy):
    pynbody = pytest.importorskip("pynbody")
    sim = galaxy.to_pynbody()
    p = galaxy.particles
    assert (len(sim.dm), len(sim.star), len(sim.gas)) == (100, 200, 0)
    assert np.array_equal(np.asarray(sim.dm["pos"]), p.position[p.type == 1]) and str(sim["pos"].units) == "kpc"
    assert np.array_equal(np.asarray(sim.star["iord"]), p.id[p.type > 1])
    assert sim["mass"].in_units("Msol").sum() == pytest.approx(1e10 * p.mass.sum(), rel=1e-12)
    assert np.allclose(np.asarray(sim.star["vel"].in_units("km s^-1")), p.velocity[p.type > 1])
    assert pynbody.analysis.halo.center(sim.star, mode="com", with_velocity=False, return_cen=True) == pytest.approx(
        np.average(p.position[p.type > 1], axis=0, weights=p.mass[p.type > 1]), abs=1e-6
    )
    own = Snapshot(Particles([[0.0, 0, 0], [1.0, 2, 3]], type=[0, 1])).to_pynbody()
    assert len(own.gas) == 1 and own.dm["pos"][0].tolist() == [1, 2, 3]


def test_forces_of_quantities_and_of_numbers_agree(units, galaxy):
    p = galaxy.particles
    given = Particles(p.position * units.kpc, mass=(p.mass * 1e10) * units.Msun)
    force = Tree(softening=galactic(0.1 * units.kpc), G=43007.1)
    assert np.allclose(accelerations(given.position, given.mass, force), accelerations(p.position, p.mass, Tree(softening=0.1, G=43007.1)), rtol=1e-5)
