"""Gauge fields, observables, quark solver, correlators and files."""

import os
import pickle
import signal
import threading
import time

import numpy as np
import pytest

import kasane
from kasane import lattice
from kasane.errors import ComputationError, InputError
from kasane.lattice import GaugeField, Propagator, Quarks, WilsonSolver, point_source


def shifted(field, mu):
    """field(x + mu) of an array [T, Z, Y, X, ...]."""
    return np.roll(field, -1, axis=3 - mu)


def mean_plaquette(links):
    """Mean Re tr U_mu(x) U_nu(x + mu) U_mu(x + nu)^+ U_nu(x)^+ / 3, in NumPy."""
    total, planes = 0.0, 0
    for mu in range(4):
        for nu in range(mu):
            u, v = links[..., mu, :, :], links[..., nu, :, :]
            loop = u @ shifted(v, mu) @ shifted(u, nu).conj().swapaxes(-1, -2) @ v.conj().swapaxes(-1, -2)
            total += np.trace(loop, axis1=-2, axis2=-1).real.mean() / 3
            planes += 1
    return total / planes


G = np.zeros((4, 4, 4), dtype=complex)  # DeGrand and Rossi's g_1 ... g_4
G[0][0, 3] = G[0][1, 2] = 1j
G[1][0, 3], G[1][1, 2] = -1, 1
G[2][0, 2], G[2][1, 3] = 1j, -1j
for k in range(3):
    G[k] += G[k].conj().T
G[3][0, 2] = G[3][1, 3] = G[3][2, 0] = G[3][3, 1] = 1


def wilson(links, psi, kappa):
    """D psi of the definition, antiperiodic in time, in NumPy."""
    signed = links.copy()
    signed[-1, ..., 3, :, :] *= -1
    hop = np.zeros_like(psi)
    for mu in range(4):
        u = signed[..., mu, :, :]
        forward = np.einsum("...ab,...sb->...sa", u, shifted(psi, mu))
        backward = np.roll(np.einsum("...ba,...sb->...sa", u.conj(), psi), 1, axis=3 - mu)
        hop += np.einsum("st,...ta->...sa", np.eye(4) - G[mu], forward) + np.einsum("st,...ta->...sa", np.eye(4) + G[mu], backward)
    return psi - kappa * hop


def test_the_order_of_the_links_is_that_of_the_definition(links):
    assert links.shape == (8, 4, 4, 4, 4, 3, 3)
    assert np.allclose(links @ links.conj().swapaxes(-1, -2), np.eye(3), atol=1e-12)
    assert lattice.plaquette(links) == pytest.approx(mean_plaquette(links), rel=1e-12)
    loop = np.eye(3)
    for t in range(8):
        loop = loop @ links[t, ..., 3, :, :]
    assert lattice.polyakov_loop(links) == pytest.approx(np.trace(loop, axis1=-2, axis2=-1).mean() / 3, rel=1e-12)


def test_a_gauge_field_gives_its_links_back(links):
    field = GaugeField(links, device="cpu")
    assert np.array_equal(field.array(), links)
    assert field.extents == (4, 4, 4, 8) and "4x4x4x8" in repr(field)
    other = field.copy()
    other.update(5.7, seed=3, sweep=0)
    assert not np.array_equal(other.array(), links) and np.array_equal(field.array(), links)


def test_the_quark_solver_inverts_the_operator_of_the_definition(links):
    random = np.random.default_rng(8)
    psi = random.normal(size=(8, 4, 4, 4, 4, 3)) + 1j * random.normal(size=(8, 4, 4, 4, 4, 3))
    solver = WilsonSolver(links, kappa=0.12, rtol=1e-11, device="cpu")
    assert np.allclose(solver.apply(psi), wilson(links, psi, 0.12), rtol=1e-12, atol=1e-12)
    x = solver.solve(psi)
    assert solver.log.converged and solver.log.true_residual < 1e-11
    assert np.linalg.norm(wilson(links, x, 0.12) - psi) < 1e-10 * np.linalg.norm(psi)
    chi = random.normal(size=psi.shape) + 0j
    assert np.vdot(chi, solver.apply(psi)) == pytest.approx(np.vdot(solver.apply(chi, adjoint=True), psi), rel=1e-12)


def test_several_right_hand_sides_are_solved_as_each_alone(links):
    random = np.random.default_rng(9)
    b = [random.normal(size=(8, 4, 4, 4, 4, 3)) + 0j, point_source((4, 4, 4, 8), (1, 2, 3, 4), 2, 1)]
    solver = WilsonSolver(links, kappa=0.12, rtol=1e-10, device="cpu")
    x = solver.solve(b)
    assert len(x) == len(solver.logs) == 2 and all(log.converged for log in solver.logs)
    for one, right in zip(x, b):
        assert np.array_equal(one, solver.solve(right)) and len(solver.logs) == 1
    assert np.array_equal(solver.propagator((1, 2, 3, 4)).columns[7], 0.24 * x[1])
    with pytest.raises(InputError, match="right-hand sides"):
        solver.solve([])
    with pytest.raises(InputError, match=r"b\[1\].*\(4, 4\)"):
        solver.solve([b[0], np.zeros((4, 4), complex)])
    with pytest.raises(InputError, match=r"b\[1\].*nan"):
        solver.solve([b[0], b[1] * np.nan])
    cut = WilsonSolver(links, kappa=0.12, iteration_limit=2, device="cpu")
    with pytest.raises(ComputationError, match="iteration"):
        cut.solve(b)
    assert len(cut.solve(b, check=False)) == 2 and not cut.logs[1].converged


def test_correlators_are_sums_of_the_propagator(links):
    propagator = WilsonSolver(links, kappa=0.12, rtol=1e-10, device="cpu").propagator((1, 0, 2, 3))
    squares = sum((abs(c) ** 2).sum(axis=(1, 2, 3, 4, 5)) for c in propagator.columns)
    pion = propagator.pion()
    assert np.allclose(pion, np.roll(squares, -3), rtol=1e-12)  # t from the source
    assert (propagator.vector() > 0).all() and propagator.vector()[1] < pion[1]
    assert len(lattice.effective_mass(pion)) == 4 and lattice.effective_mass(pion)[1] > 0


def test_the_flow_smooths_a_copy(links):
    before = links.copy()
    flow = lattice.flow(links, t_max=0.5, step=0.05)
    assert np.array_equal(links, before)
    assert len(flow.t) == 11 and flow.t[-1] == pytest.approx(0.5)
    assert flow.field.plaquette() > lattice.plaquette(links)
    # t^2 E of the plaquettes: E = 2 sum Re tr (1 - U) per site, over six planes
    assert flow.t2E_plaquette[-1] == pytest.approx(0.25 * 36 * (1 - flow.field.plaquette()), rel=1e-12)


def test_the_field_of_a_flow_is_that_of_its_last_point(links):
    flow = lattice.flow(links, t_max=0.1, step=0.02, every=3)
    assert np.allclose(flow.t, [0, 0.06, 0.1], atol=1e-15)
    assert flow.t2E_plaquette[-1] == pytest.approx(0.01 * 36 * (1 - flow.field.plaquette()), rel=1e-12)
    assert np.allclose(lattice.flow(links, t_max=0.1, step=0.04).t, [0, 0.1 / 3, 0.2 / 3, 0.1], atol=1e-15)


def test_ctrl_c_ends_a_flow_and_an_update(links):
    field = GaugeField(links, device="cpu", threads=1)
    for call in (lambda: lattice.flow(field, t_max=1e4, step=1e-3), lambda: field.update(5.7, seed=1, sweep=0, sweeps=10**7)):
        begun = time.monotonic()
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            call()
        assert time.monotonic() - begun < 30
    assert 0 < field.plaquette() < 1


def test_reunitarise_projects_the_links_or_changes_none(links):
    field = GaugeField(2 * links, device="cpu")
    assert lattice.plaquette(field) == pytest.approx(16 * lattice.plaquette(links))  # observables take any matrices
    field.reunitarise()
    assert np.allclose(field.array(), links, atol=1e-14)
    singular = links.copy()
    singular[0, 0, 0, 0, 0] = 0
    field = GaugeField(2 * singular, device="cpu")
    with pytest.raises(kasane.InputError, match=r"zero, parallel.*\(1 of 2048\)"):
        field.reunitarise()
    assert np.array_equal(field.array(), 2 * singular)


def test_the_quark_solver_takes_sources_of_any_size(links):
    solver = WilsonSolver(links, kappa=0.12, rtol=1e-9, device="cpu")
    source = point_source((4, 4, 4, 8))
    x = solver.solve(source)
    for size in (1e-300, 1e-200, 1e155, 1e200, 1e300):
        assert np.allclose(solver.solve(size * source) / size, x, atol=1e-7) and solver.log.true_residual < 1e-9


def test_files_keep_every_bit(tmp_path, links):
    lattice.write_gauge(tmp_path / "u.milc", links, format="milc", bits=32)
    read, facts = lattice.read_gauge(tmp_path / "u.milc")
    assert np.array_equal(read, links.astype(np.complex64).astype(complex)) and facts["format"] == "milc"
    for format, name in (("ildg", "u.lime"), ("nersc", "u.nersc"), ("openqcd", "u.openqcd")):
        lattice.write_gauge(tmp_path / name, links, format=format)
        read, facts = lattice.read_gauge(tmp_path / name)
        assert np.array_equal(read, links) and facts["format"] == format
    damaged = bytearray((tmp_path / "u.lime").read_bytes())
    damaged[len(damaged) // 2] ^= 1
    (tmp_path / "u.lime").write_bytes(damaged)
    with pytest.raises(kasane.InputError, match="checksum"):
        lattice.read_gauge(tmp_path / "u.lime")


def test_a_chain_goes_on_from_its_links():
    whole = [c.plaquette for c in lattice.quenched((4, 4, 4, 4), beta=5.5, sweeps=6, start="cold")]
    assert len(whole) == 6 and whole[0] > whole[-1]
    for configuration in lattice.quenched((4, 4, 4, 4), beta=5.5, sweeps=6, start="cold", every=3):
        assert configuration.plaquette == whole[configuration.sweep - 1]
    endless = lattice.quenched((4, 4, 4, 4), beta=5.5, start=configuration.field)
    assert next(endless).sweep == 1 and next(endless).sweep == 2


def test_hybrid_monte_carlo_samples_the_distribution_of_the_heatbath():
    """<exp(-dH)> = 1 [Creutz 1988], and the plaquette of 4^4 at beta = 5.7 is that of the heatbath, by an independent algorithm."""
    chain = list(lattice.hmc((4, 4, 4, 4), beta=5.7, steps=8, trajectories=220, start="cold", accept_first=5, device="cpu", seed=3))
    assert [c.trajectory for c in chain] == list(range(1, 221))
    thermal = chain[40:]
    weight = lattice.estimate(np.exp([-c.dH for c in thermal]))
    assert abs(weight.mean - 1) < 4 * weight.error and 0.5 < np.mean([c.accepted for c in thermal])
    own = lattice.estimate([c.plaquette for c in thermal])
    heatbath = lattice.estimate(
        [c.plaquette for c in lattice.quenched((4, 4, 4, 4), beta=5.7, sweeps=340, start="cold", seed=8, device="cpu")][40:]
    )
    assert abs(own.mean - heatbath.mean) < 4 * np.hypot(own.error, heatbath.error)


def test_an_hmc_chain_continues_from_its_links():
    options = {"beta": 2.6, "action": "iwasaki", "steps": 6, "integrator": "omelyan4", "device": "cpu"}
    whole = None
    for whole in lattice.hmc((4, 4, 4, 4), trajectories=4, start="hot", **options):
        pass
    for part in lattice.hmc((4, 4, 4, 4), trajectories=2, start="hot", every=2, **options):
        assert part.trajectory == 2
    for rest in lattice.hmc(trajectories=2, start=part.field.array(), first=3, **options):
        pass
    assert rest.trajectory == 4 and np.array_equal(rest.field.array(), whole.field.array())
    assert next(lattice.hmc((4, 4, 4, 4), **{**options, "action": -0.331})).plaquette != 0


def test_quarks_make_forces_that_conserve_the_energy(links):
    """dH falls with the fourth power of the step for a fourth-order integrator, with two flavours and a Hasenbusch mass.

    Of one trajectory dH has either sign and may be small by chance, so the root mean square of several is compared.
    """
    quarks = Quarks(kappa=0.13, csw=1.0, masses=[0.3], force_rtol=1e-10, chronological=0)
    options = {"beta": 5.6, "quarks": quarks, "integrator": "omelyan4", "length": 0.5, "start": links, "accept_first": 1, "device": "cpu"}

    def error(steps):
        results = [next(lattice.hmc(steps=steps, seed=seed, **options)) for seed in range(1, 5)]
        assert all(result.iterations > 0 and result.accepted for result in results)
        return np.sqrt(np.mean([result.dH**2 for result in results]))

    coarse, fine = error(2), error(4)
    assert fine < 0.1 * coarse and fine < 0.1


def test_estimates_of_correlated_series():
    series = np.random.default_rng(0).normal(size=4000)
    e = lattice.estimate(series)
    assert abs(e.mean) < 4 * e.error and e.error == pytest.approx(series.std() / np.sqrt(4000), rel=0.3)
    for undetermined in ([1.0, 5.0], [1.0, 5.0, 2.0, 4.0], [1.0, np.nan], [1.0, np.inf], [2.0]):
        e = lattice.estimate(undetermined)
        assert np.isnan([e.error, e.tau, e.tau_error]).all()
    assert lattice.estimate([0.5] * 10).error == 0


def broken(links):
    bad = links.copy()
    bad[0, 0, 0, 0, 0, 0, 0] = np.nan
    return bad


BAD = [
    (lambda u: lattice.plaquette(u[..., :2]), "links", r"\(8, 4, 4, 4, 4, 3, 2\)"),
    (lambda u: lattice.plaquette(u[:7].copy()), "links", "^links: the extents are 4x4x4x7"),
    (lambda u: lattice.plaquette(broken(u)), "links", "nan"),
    (lambda u: lattice.cold_start((4, 4, 4)), "extents", "3 numbers"),
    (lambda u: lattice.cold_start((4, 4, 4, 3)), "extents", "^extents: the extents are 4x4x4x3: all must be even"),
    (lambda u: lattice.cold_start((4.5, 4, 4, 4)), "extents", "4.5: a whole number"),
    (lambda u: lattice.cold_start((4, 4, 4, -4)), "extents", "at least 0"),
    (lambda u: lattice.cold_start("4448"), "extents", "'4448': four whole numbers"),
    (lambda u: lattice.hot_start((4, 4, 4, 4), seed=-1), "seed", "at least 0"),
    (lambda u: lattice.weak_start((4, 4, 4, 4), -1.0), "epsilon", "above 0"),
    (lambda u: next(lattice.quenched((4, 4, 4, 4), beta=-1.0)), "beta", "above 0"),
    (lambda u: lattice.quenched((4, 4, 4, 4), start="warm"), "start", "hot, cold"),
    (lambda u: lattice.quenched(start=2 * u), "start", r"SU\(3\) \(2048 of 2048\): .*reunitarise"),
    (lambda u: lattice.quenched((4, 4, 4, 4), sweeps=-1), "sweeps", "at least 0"),
    (lambda u: lattice.quenched((4, 4, 4, 4), sweeps=1, every=1.5), "every", "1.5: a whole number"),
    (lambda u: lattice.quenched((4, 4, 4, 4), overrelaxation=-1), "overrelaxation", "at least 0"),
    (lambda u: GaugeField(u).update(5.7, seed=1, sweep=0, overrelaxation=-3), "overrelaxation", "at least 0"),
    (lambda u: GaugeField(u).update(5.7, seed=1, sweep=0, sweeps=-1), "sweeps", "at least 0"),
    (lambda u: GaugeField(2 * u).update(5.7, seed=1, sweep=0), "links", "reunitarise"),
    (lambda u: WilsonSolver(2 * u, kappa=0.12), None, "away from SU.3.*Reunitarise the field"),
    (lambda u: WilsonSolver(u, kappa=0.12, boundary="open"), "boundary", "periodic, antiperiodic"),
    (lambda u: WilsonSolver(u, kappa=0.12, method="qmr"), "method", "nested-bicgstab"),
    (lambda u: WilsonSolver(u, kappa=0.12, inner="quarter"), "inner", "auto, half, single, double"),
    (lambda u: WilsonSolver(u, kappa=0.12).solve(np.zeros((4, 4, 4, 4, 4, 3), complex)), "b", r"\(4, 4, 4, 4, 4, 3\)"),
    (lambda u: WilsonSolver(u, kappa=0.12).solve(np.full((8, 4, 4, 4, 4, 3), np.nan + 0j)), "b", r"nan.* at index \(0, 0, 0, 0, 0, 0\)"),
    (lambda u: WilsonSolver(u, kappa=0.12).apply(np.full((8, 4, 4, 4, 4, 3), "x")), "psi", "<U1.*complex128"),
    (lambda u: GaugeField(u.tolist()[0]), "links", r"\(4, 4, 4, 4, 3, 3\)"),
    (lambda u: GaugeField(u.astype(str)), "links", "<U.*complex128"),
    (lambda u: point_source((4, 4, 4, 8), (0, 0, 4, 0)), "site", "outside"),
    (lambda u: point_source((4, 4, 4, 8), (0, 0, 1.5, 0)), "site", "whole number"),
    (lambda u: point_source((4, 4, 4, 8), spin=4), "spin", "at most 3"),
    (lambda u: Propagator([np.zeros((8, 4, 4, 4, 4, 3), complex)] * 12, source_time=8), "source_time", "at most 7"),
    (lambda u: Propagator([np.zeros((8, 4, 4, 4, 4, 3), complex)] * 12, source_time=-1), "source_time", "at least 0"),
    (lambda u: Propagator([np.zeros((8, 4, 4, 4, 4, 3), complex)] * 11), "columns", "twelve columns"),
    (lambda u: lattice.flow(u, t_max=1.0, step=-0.1), "step", "above 0"),
    (lambda u: lattice.flow(u, t_max=1.0, step=np.nan), "step", "nan"),
    (lambda u: lattice.flow(u, t_max=-1.0), "t_max", "0 or above"),
    (lambda u: lattice.flow(u, t_max=1.0, every=0), "every", "at least 1"),
    (lambda u: lattice.flow(2 * u, t_max=1.0), "links", "SU"),
    (lambda u: lattice.write_gauge("u.x", u, format="scidac"), "format", "nersc, ildg, milc, openqcd"),
    (lambda u: lattice.write_gauge("u.x", u, format="milc"), None, "MILC v5 files have 32"),
    (lambda u: lattice.hmc(start=u, beta=-1.0), "beta", "above 0"),
    (lambda u: lattice.hmc(start=u, steps=0), "steps", "from 1"),
    (lambda u: lattice.hmc(start=u, action="luescher"), "action", "wilson, symanzik, iwasaki, dbw2"),
    (lambda u: lattice.hmc(start=u, integrator="rk4"), "integrator", "leapfrog, omelyan2"),
    (lambda u: lattice.hmc(start=u, every=0), "every", "at least 1"),
    (lambda u: lattice.hmc(start=2 * u), "start", "SU"),
    (lambda u: lattice.hmc(start=u, accept_first=-1), "accept_first", "at least 0"),
    (lambda u: lattice.hmc(start=u, trajectories=-1), "trajectories", "at least 0"),
    (lambda u: lattice.hmc(start=u, first=1.5), "first", "whole number"),
    (lambda u: lattice.hmc(start=u, quarks=0.13), "quarks", "Quarks"),
    (lambda u: lattice.hmc(start=u, quarks=Quarks(kappa=-0.1)), "kappa", "above 0"),
    (lambda u: lattice.hmc(start=u, quarks=Quarks(0.13, masses=[0.3, 0.2])), "masses", "ascend"),
    (lambda u: lattice.hmc(start=u, quarks=Quarks(0.13, masses=[0.3], twisted_mass=0.1)), "twisted_mass", "leave out one"),
    (lambda u: lattice.hmc(start=u, quarks=Quarks(0.13, boundary="open")), "boundary", "periodic, antiperiodic"),
    (lambda u: lattice.hmc(), "extents", "missing"),
    (lambda u: lattice.read_gauge("missing.lime"), None, "missing.lime"),
]


@pytest.mark.parametrize("call, key, message", BAD)
def test_bad_input_is_an_input_error(links, call, key, message):
    with pytest.raises(kasane.InputError, match=message) as error:
        call(links)
    assert key is None or error.value.key == key


def test_a_second_thread_gets_an_error(links):
    field, solver = GaugeField(links, device="cpu"), WilsonSolver(links, kappa=0.12, device="cpu")
    source = point_source((4, 4, 4, 8))
    for work, other in ((lambda: field.update(5.7, 1, 0, 50), field.plaquette), (lambda: solver.solve(source), lambda: solver.apply(source))):
        errors = []

        def repeated(call):
            for _ in range(1000):
                if errors:
                    return
                try:
                    call()
                except kasane.LogicError as error:  # of the thread that came second
                    errors.append(error)

        threads = [threading.Thread(target=repeated, args=(call,)) for call in (work, other)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert "another thread" in str(errors[0])
    assert field.plaquette() > 0 and solver.apply(source).any()


def test_copies_are_reported_and_pickling_is_refused(links):
    with pytest.warns(kasane.CopyWarning, match="complex64"):
        field = GaugeField(links.astype(np.complex64))
    with pytest.warns(kasane.CopyWarning, match="not contiguous"):
        GaugeField(np.asfortranarray(links))
    with pytest.raises(TypeError, match="store its array"):
        pickle.dumps(field)
    with pytest.raises(TypeError, match="store the links"):
        pickle.dumps(WilsonSolver(links, kappa=0.1))
