"""Open a snapshot of kasane with yt or pynbody, compare with what was written, and make plots.

check_readers.py READER SNAPSHOT EXPECTED.json
READER is "yt", "pynbody", or "families": pynbody with the config.ini of docs/snapshots.md in the working directory. Exit status 0: all agree; 1: they do not, with the difference on standard error.
The JSON holds: count (of types 1, 2, 3, 4), mass (total, 1e10 Msun), first (x, y, z of the first particle of type 1, kpc),
velocity (of the same, km/s), time_gyr, softening (of type 1, kpc), length_cm, mass_g, velocity_cm_s.
"""
import json
import os
import sys
import warnings

import numpy as np

warnings.simplefilter("ignore")  # both readers talk about the cosmology that the file does not have


def close(what, got, wanted, tolerance):
    np.testing.assert_allclose(got, wanted, rtol=tolerance, err_msg=what)


def check_yt(path, e):
    import yt

    yt.set_log_level(50)
    # yt takes units from its caller, never from the file; it keeps the file's own numbers in `parameters`.
    units = {k: yt.load(path).parameters[k] for k in ("UnitLength_in_cm", "UnitMass_in_g", "UnitVelocity_in_cm_per_s")}
    ds = yt.load(path, unit_base=units)
    ad = ds.all_data()
    assert not ds.cosmological_simulation
    for type_, count in zip((1, 2, 3, 4), e["count"]):
        assert len(ad[f"PartType{type_}", "particle_mass"]) == count, type_
    close("length unit", ds.length_unit.to_value("cm"), e["length_cm"], 1e-12)
    close("mass unit", ds.mass_unit.to_value("g"), e["mass_g"], 1e-12)
    close("time", ds.current_time.to_value("Gyr"), e["time_gyr"], 1e-4)  # years of different lengths
    mass = ad["all", "particle_mass"].sum()
    close("total mass", mass.to_value("g"), e["mass"] * e["mass_g"], 1e-12)
    ids = ad["PartType1", "particle_index"]
    first = int(np.argmin(np.asarray(ids)))  # yt sorts particles along a curve; the first one written has the least id
    close("position", ad["PartType1", "particle_position"][first].to_value("cm"), np.multiply(e["first"], e["length_cm"]), 1e-12)
    close("velocity", ad["PartType1", "particle_velocity"][first].to_value("cm/s"), np.multiply(e["velocity"], e["velocity_cm_s"]), 1e-12)
    assert len(ad["PartType1", "Potential"]) == e["count"][0]
    axes = [("all", f"particle_position_{axis}") for axis in "xy"]
    ds.set_code_units()  # all_data() has found the domain: docs/snapshots.md
    plots = yt.ParticlePlot(ds, *axes, ("all", "particle_mass")).save(os.path.join(os.path.dirname(path), "inferred.png"))
    plots += yt.ParticleProjectionPlot(ds, "z", ("PartType1", "particle_mass")).save(os.path.join(os.path.dirname(path), "projected.png"))
    ds = yt.load(path, unit_base=units, bounding_box=[[-200, 200]] * 3)
    plots += yt.ParticlePlot(ds, *axes, ("all", "particle_mass")).save(os.path.join(os.path.dirname(path), "bounded.png"))
    assert len(plots) == 3
    for plot in plots:
        assert os.path.getsize(plot) > 10000, plot


def check_pynbody(path, e):
    import pynbody

    s = pynbody.load(path)
    assert len(s.dm) == sum(e["count"][:3])  # pynbody calls types 1 to 3 "dm"
    assert len(s.star) == e["count"][3]
    close("position", np.asarray(s.dm["pos"][0].in_units("cm")), np.multiply(e["first"], e["length_cm"]), 1e-7)
    close("velocity", np.asarray(s.dm["vel"][0].in_units("cm s**-1")), np.multiply(e["velocity"], e["velocity_cm_s"]), 1e-7)
    close("total mass", float(s["mass"].sum().in_units("g")), e["mass"] * e["mass_g"], 1e-7)
    close("time", float(s.properties["time"].in_units("Gyr")), e["time_gyr"], 1e-4)
    close("eps", float(s.dm["eps"].in_units("cm")[0]), e["softening"] * e["length_cm"], 1e-7)
    assert len(s["phi"]) == sum(e["count"])


def check_families(path, e):
    import pynbody

    s = pynbody.load(path)
    assert [len(family) for family in (s.dm, s.disk, s.bulge, s.star)] == e["count"]
    close("disk", float(s.disk["mass"].sum()) + float(s.bulge["mass"].sum()) + float(s.dm["mass"].sum()) + float(s.star["mass"].sum()),
          e["mass"], 1e-7)


if __name__ == "__main__":
    reader, snapshot, expected = sys.argv[1:]
    with open(expected) as f:
        {"yt": check_yt, "pynbody": check_pynbody, "families": check_families}[reader](snapshot, json.load(f))
